"""The work of each tool call, in a thread of its own: open the app, call it, close it. Knows runs, not the protocol.

Imports app/ at the first call, so that the server starts fast.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from detent.errors import DetentError, NoRun
from detent.interfaces.mcp.dialog import Answer, Question
from detent.interfaces.mcp.tools import Check, EscalateForExternalHelp, GetTask, Looked, RequestScopeReduction, SubmitWork
from detent.kernel.model import Briefing, Sent, Verdict
from detent.storage.machine import path_of

if TYPE_CHECKING:
    from detent.app import App

Wanted = Callable[[], bool]
CHANNEL = "mcp"
ASK_THE_USER = "ask the user to start one, in a terminal with `detent start` or on the page of `detent serve`; then call get_task again"
LARGEST = 5_000_000  # bytes of a submitted file or text


@contextmanager
def opened_app(wanted: Wanted, create: bool = False) -> Iterator["App"]:
    """The App of the checkout that the server was started in; one per call, since a journal belongs to one thread."""
    from detent.app import open_app

    app = open_app(Path.cwd(), create, wanted=wanted)
    try:
        yield app
    finally:
        app.journal.close()


def get_task(call: GetTask, wanted: Wanted) -> tuple[Briefing, Question | None]:
    """The next briefing, and at a person's turn the question for a dialog."""
    from detent.app.conversation import briefed
    from detent.interfaces.mcp.asking import question

    try:
        with opened_app(wanted) as app:
            briefing = briefed(app, call.run or None)
            return briefing, question(app, briefing)
    except NoRun as e:
        raise DetentError(e.message, ASK_THE_USER) from e


def answer(given: Answer, port: int | None, wanted: Wanted) -> Verdict | None:
    """Send a person's answer from a dialog, if the run still asks exactly that. `port`: the client's, over HTTP."""
    from detent.app.conversation import say_to_run
    from detent.app.people import DIALOG, allowed, must_be_a_persons_dialog
    from detent.app.policy import user
    from detent.interfaces.mcp.asking import question

    with opened_app(wanted) as app:
        asked = question(app, app.door.next(given.run))
        if asked is None or asked.digest != given.digest or given.choice not in asked.choices:
            return None
        sent = given.sent(asked)
        must_be_a_persons_dialog(app, port, given.run)
        allowed(app, DIALOG, given.run)
        return say_to_run(app, given.run, msgspec.structs.replace(sent, facts={"who": user()})) if sent is not None else None


def submit_work(call: SubmitWork, wanted: Wanted) -> Verdict:
    fields = {k: v for k, v in msgspec.structs.asdict(call).items() if k != "run" and v is not UNSET}
    with opened_app(wanted) as app:
        for name in ("findings", "reply"):
            if name in fields:
                fields[name] = handed_in(app.place.root, name, fields[name])
        return _say(app, call.run, Sent("submit", channel=CHANNEL, **fields))


def request_scope_reduction(call: RequestScopeReduction, wanted: Wanted) -> Verdict:
    with opened_app(wanted) as app:
        return _say(app, call.run, Sent("scope-reduction", channel=CHANNEL, attempt_id=call.attempt_id or ""))


def escalate_for_external_help(call: EscalateForExternalHelp, wanted: Wanted) -> Verdict:
    report = call.markdown_report
    if not report.strip():
        raise DetentError("the report is empty", "write what you tried, the last error, and what you think is wrong")
    if len(report) > LARGEST:
        raise DetentError("the report is larger than 5 MB", "hand in a shorter one")
    with opened_app(wanted) as app:
        sent = Sent("escalate", channel=CHANNEL, report=report, attempt_id=call.attempt_id or "", output=report)
        return _say(app, call.run, sent)


def _say(app: "App", run: Any, sent: Sent) -> Verdict:
    from detent.app.conversation import say_to_run

    return say_to_run(app, run or None, sent)


SPEAK: Mapping[str, Callable[[Any, Wanted], Verdict]] = {
    "submit_work": submit_work,
    "request_scope_reduction": request_scope_reduction,
    "escalate_for_external_help": escalate_for_external_help,
}

# -- check, which needs no run ---------------------------------------------------------------------------------------------------


def check(call: Check, say: Callable[[str], None], wanted: Wanted) -> Looked:
    """Judge a change with `check`. Affects no run."""
    from detent.app.checking import Wish
    from detent.app.checking import check as look
    from detent.interfaces.mcp.mcp_answers import looked

    if call.range and call.worktree:
        raise DetentError("check was not called: give range or worktree, not both", "leave one of them out")
    wish = Wish("worktree" if call.worktree else "range", call.range or "", float(call.budget or 0))
    before = at_work()
    found = look(Path.cwd(), wish, dict(os.environ), say, wanted)
    return looked(found, before or at_work())


def at_work() -> str:
    """A sentence if another call works on a run of this repository now, so that tests run side by side; else empty."""
    try:
        with opened_app(lambda: True) as app:
            found = [f"{run} ({holder.doing}, since {holder.since})" for run, holder in app.journal.held()]
    except DetentError:
        return ""  # no run here, or no readable journal
    return f"Another call worked on {', '.join(found)} at the same time: tests may have run side by side, and slower." if found else ""


# -- submitted files -----------------------------------------------------------------------------------------------------------


def handed_in(root: Path, what: str, text: str) -> str:
    """The text of a field that is JSON, an allowed word, or the path of a file in the checkout."""
    if text.lstrip()[:1] in ("[", "{") or (what == "reply" and text.strip() in ("ALREADY_SATISFIED", "TEST_WRONG")):
        return text
    try:
        return _file_below(root, what, text) or "\n"
    except OSError as e:
        raise DetentError(f"{what}: {text} cannot be read: {e.strerror}", "give the JSON itself, or name a file in the checkout") from e


def _file_below(root: Path, what: str, name: str) -> str:
    """The text of a regular file in the checkout. Files elsewhere are refused, since the agent's sandbox may not let it read them."""
    if "\0" in name:
        raise DetentError(f"{what}: a file name cannot contain NUL", "give the JSON itself, or name a file in the checkout")
    fd = os.open(root / name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        if not Path(path_of(fd) or "/").is_relative_to(root) or not stat.S_ISREG(os.fstat(fd).st_mode):
            raise DetentError(f"{what}: {name} is not a file of this checkout", "give the JSON itself, or name a file in the checkout")
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise DetentError(f"{what}: {name} is larger than 5 MB", "hand in a shorter one")
    return data.decode("utf-8", "replace")
