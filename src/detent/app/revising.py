"""Revisions: changes of a person to a run's documents, what they make void, and applying them. The same for CLI, MCP and HTTP."""

import difflib
from collections.abc import Mapping
from typing import NamedTuple

from detent.app import App
from detent.app.people import allowed
from detent.app.policy import user
from detent.app.questions import at_work
from detent.app.registry import workflow_of
from detent.errors import DetentError
from detent.kernel.model import Sent, Verdict


class Revision(NamedTuple):
    """A revision before it is applied: the person's documents, their diff, and what it makes void."""

    documents: Mapping[str, str]
    diff: str
    void: tuple[str, ...]


def stages(app: App, run: str) -> tuple[str, ...]:
    """The stages that a person may have done again; none where the workflow has no documents."""
    return workflow_of(app.door.load(run).run.workflow).stages


def edited_documents(app: App, run: str) -> Mapping[str, str]:
    """Documents that a person changed in their checkout and that are not applied yet: path -> text."""
    now = app.door.load(run).run
    flow = workflow_of(now.workflow)
    return flow.edited(app, now) if flow.stages and not app.journal.heads(run)[0].ended else {}


def papers(app: App, run: str) -> dict[str, str]:
    """The documents of a run that a person may revise, as they are where the work is: path -> text."""
    now = app.door.load(run).run
    flow = workflow_of(now.workflow)
    return {path: text for path, text in flow.shown(app, now, flow.papers(now)).items() if text} if flow.stages else {}


def report_text(app: App, run: str) -> str:
    """The report of a session, as it was kept; empty before it is written."""
    now = app.door.load(run).run
    flow = workflow_of(now.workflow)
    return "".join(flow.shown(app, now, (f"{now.data.session}/report.md",)).values()) if flow.stages else ""


def changed_words(app: App, run: str) -> list[str]:
    """A sentence for a person about changed documents that are not applied yet; empty if there are none."""
    names = sorted("/".join(path.split("/")[2:]) for path in edited_documents(app, run))
    of = "" if (mine := app.current()) and mine.run == run else f" --run {run}"
    return [f"You changed {', '.join(names)}. It does not count yet: `detent revise{of}` shows the change and applies it."] if names else []


def looked_at(app: App, run: str, documents: Mapping[str, str], to: str = "") -> Revision:
    """Preview a revision. Changes nothing."""
    now = app.door.load(run).run
    flow = workflow_of(now.workflow)
    begun = " ".join(each.data.task_id for each in at_work(app, run) if each.parent)
    void = flow.void(now, Sent("revise", by="human", to=to, documents=dict(documents), facts={"at_work": begun}))
    return Revision(documents, diff_of(flow.shown(app, now, documents), documents), void)


def diff_of(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The unified diff of documents, with paths inside the session's folder."""
    parts = []
    for path, text in after.items():
        name = "/".join(path.split("/")[2:]) or path
        lines = difflib.unified_diff(before.get(path, "").splitlines(), text.splitlines(), name, name, lineterm="", n=2)
        parts += list(lines)
    return "\n".join(parts)


def revise(app: App, run: str, by: str, documents: Mapping[str, str], to: str = "", text: str = "") -> Verdict:
    """Apply a person's changes, or have a stage done again."""
    allowed(app, by, run)
    known = stages(app, run)
    if not known:
        raise DetentError("only a session of `pipeline` has documents to revise", "to tell the agent something: detent steer TEXT")
    if not documents and to not in known:
        raise DetentError(f"there is no stage '{to}'" if to else "nothing was changed", f"the stages are {', '.join(known)}")
    return app.door.submit(run, Sent("revise", by="human", channel=by, to=to, note=text, documents=dict(documents), facts={"who": user()}))


def first_taken_over(app: App, run: str, by: str, answering: str) -> Verdict | None:
    """If a person who answers has changed a document: apply the change instead, and leave the question open. None if nothing was changed."""
    top = app.door.load(run).run.parent or run
    documents = edited_documents(app, top)
    if not documents:
        return None
    diff = looked_at(app, top, documents).diff
    verdict = revise(app, top, by, documents)
    names = ", ".join(sorted("/".join(path.split("/")[2:]) for path in documents))
    if verdict.status != "SUCCESS":
        return Verdict(
            verdict.status, verdict.state, diff, f"Fix {names}, then answer again.", reasons=(f"you changed {names}:", *verdict.reasons)
        )
    message = f"you changed {names}: your change is applied now, and {answering} was not answered; look at the change, then answer again"
    return Verdict("STALE", verdict.state, diff, "detent decisions", reasons=(message,))
