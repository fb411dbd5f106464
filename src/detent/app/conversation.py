"""The calls of an agent to its run, the same for CLI, MCP and HTTP: get a briefing, submit, and which files it may write.

Write rules go to the tools of a driven agent, and as JSON to the hooks of clients. Calls only for people are in person_calls.
"""

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from detent.app import App
from detent.app.plain_text import render_briefing
from detent.app.registry import FOR_PLANS, source_of, workflow_of
from detent.door import DUE, AnyRun
from detent.evidence.runners import RUNNERS, Command
from detent.git.snapshot import stamp
from detent.journal.journal import Hot
from detent.kernel.model import Briefing, Sent, Verdict
from detent.kernel.permit import GREEN, RED, Permit

PROTECTED = (".git", ".git/**", "ORCHESTRATION_STATE.json", "error.log", "*.rejected")
PHASED = (RED, GREEN, "EXECUTING_TDD", "DEBUGGING")  # the states in which the step says whether tests or code are written


def may_write(briefing: Briefing, base: Command | None) -> Callable[[str], str | None]:
    """Why the agent may not write a path in this state, or None: tests only in RED, anything but tests in GREEN."""
    runner = RUNNERS.get(base.runner) if base else None
    phase = _phase(briefing) if runner else ""
    from detent.tools.globs import writable  # imported late: the tools are heavy, and hooks do not need them

    return writable(briefing.writes, protected(briefing), phase, runner.is_test if runner else lambda path: False)


def only(briefing: Briefing, root: Path) -> tuple[Path, ...] | None:
    """For the sandbox: the folders that a role which only writes documents may write (the session's, or none). None: it may write the project."""
    folder = workflow_of(briefing.workflow).documents
    documents = tuple(w for w in briefing.writes if w.startswith(f"{folder}/"))
    if not folder or len(documents) < len(briefing.writes):
        return None
    return tuple({root / "/".join(w.split("/")[:2]) for w in documents})


def protected(briefing: Briefing) -> tuple[str, ...]:
    """Paths that no agent may write, and those that this one may not write in its state."""
    return (*PROTECTED, *workflow_of(briefing.workflow).protected(briefing))


def _phase(briefing: Briefing) -> str:
    return briefing.step.type if briefing.step and briefing.state in PHASED else ""


def rules(briefing: Briefing, base: Command | None) -> str:
    """The rules that a client's hook enforces at this state, as JSON."""
    runner = RUNNERS.get(base.runner) if base else None
    permit = Permit(list(briefing.writes), list(protected(briefing)), _phase(briefing) if runner else "")
    known = {
        "state": briefing.state,
        "actor": briefing.actor,
        "goal": briefing.goal,
        "instruction": briefing.instruction,
        "parked": briefing.not_before or "",
        "command": list(base.argv) if base else [],
        "runner": runner.name if runner else "",
        "tests": list(runner.tests_like if runner else ()),
    }
    return json.dumps({**known, "permit": vars(permit)})


def rules_now(app: App, run: str) -> str:
    """The rules of a run without stored ones, or of its open child. Changes nothing."""
    child = next((h.run for h in app.journal.children(run) if not h.ended), "")
    if child:
        return rules_now(app, child)
    event = app.door.load(run)
    briefing = app.door.briefing(event) if event.briefing or _is_asked(app, event.run) else _between(event.run)
    if event.run.data.setup.workspace:  # driven in its own workspace: hooks in the person's checkout have nothing to enforce
        briefing = msgspec.structs.replace(briefing, actor="none")
    return rules(briefing, base_of(app, event.run))


def _is_asked(app: App, run: AnyRun) -> bool:
    """Whether the agent acts next although the state has a job of the machine, as at a review without a configured reviewer."""
    table = app.door.tables[run.workflow]
    return table.states[run.state].actor == "agent" and not table.kind(run, DUE)


def _between(run: AnyRun) -> Briefing:
    """The briefing of a run whose next move is the machine's: nobody may write until get_task is called."""
    return Briefing(run.id, run.workflow, run.state, "system", "", "", "", "call get_task")


def base_of(app: App, run: AnyRun) -> Command | None:
    """The test command of the run's project."""
    found: Command | None = app.worlds.of(run).config_of(run).suite.base
    return found


def briefed(app: App, run: str | None) -> Briefing:
    """The next briefing of a run. Asking for work never starts a run."""
    chosen = app.chosen(run)
    run_now = app.door.load(chosen).run
    if not app.journal.heads(chosen)[0].ended and (run_now.workflow == FOR_PLANS or not run_now.data.setup.workspace):
        app.worlds.of(run_now).restore(run_now)
    briefing = app.door.next(chosen)
    remember(app, chosen)
    return briefing


def say_to_run(app: App, run: str | None, sent: Sent) -> Verdict:
    """Send something to a run, through the door."""
    chosen = app.chosen(run)
    verdict = app.door.submit(chosen, sent)
    remember(app, chosen)
    return _with_note(app, chosen, verdict) if sent.verb == "submit" else verdict


def _with_note(app: App, run: str, verdict: Verdict) -> Verdict:
    """The verdict, with a note if hooks are registered in this checkout and none has run. The journal keeps the verdict without it."""
    if not (app.place.git_dir / "detent" / "clients").is_dir():
        return verdict
    from detent.app.hooks_seen import silent

    first = app.journal.at(run, 1)
    note = silent(app.place.git_dir, first.at) if first else ""
    return replace(verdict, output=f"{verdict.output.rstrip()}\n\n{note}\n".lstrip("\n")) if note else verdict


def remember(app: App, run: str) -> None:
    """Store the briefing for the fast path of get-task and hooks, if nothing is left to do before it is given."""
    event = app.door.load(run)
    if event.briefing is None or event.run.parent or event.run.data.setup.workspace or app.journal.owed(run):
        return
    source = source_of(event.run.workflow)  # stamped too: the stored briefing is void once the workflow changes
    seen = {**app.worlds.of(event.run).stamps(event.run), str(source): stamp(source)}
    stamps = "\n".join(f"{file}\t{was}" for file, was in seen.items())
    text, raw, code = render_briefing(event.briefing)
    app.journal.keep_hot(Hot(run, event.run.seq, stamps, text, raw, code, rules(event.briefing, base_of(app, event.run))))
