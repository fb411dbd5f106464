"""`detent demo`: watch a run from plan to merge. Until the command line is wired to git, in a world in memory, and it says so."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from detent.door import Door, Hands
from detent.errors import DetentError
from detent.fakes import MemoryJudge, MemoryWorld
from detent.kernel.holder import this_process
from detent.kernel.journal import SqliteJournal
from detent.kernel.model import Run, Sent
from detent.workflows.briefs import brief
from detent.workflows.pr import PR
from detent.workflows.pr_data import PrData

PLAN = """{"masterPlanPath": "PLAN.md", "prTitle": "feat: add numbers", "summary": "s", "verificationPlan": "v", "tasks": [
  {"taskName": "add", "status": "TODO", "tdd_steps": [
    {"type": "RED", "description": "a test for add", "status": "TODO"}, {"type": "GREEN", "description": "add", "status": "TODO"}]}]}"""
Turn = tuple[str, Callable[[MemoryWorld], Sent]]


def _write(path: str, text: str, sent: Sent) -> Callable[[MemoryWorld], Sent]:
    def act(world: MemoryWorld) -> Sent:
        world.files[path] = text
        return sent

    return act


def _squash(world: MemoryWorld) -> Sent:
    return Sent("submit", summary="squashed", commit_hash=world.squash("feat: add numbers"))


def _mark(world: MemoryWorld) -> Sent:
    world.files["PLAN.md"] = f"- feat: add numbers [DONE] {world.head()[:10]}\n"
    return Sent("submit", summary="marked")


RED = Sent("submit", summary="wrote a test", test_command="run-tests", expectation="FAIL")
GREEN = Sent("submit", summary="wrote the code", test_command="run-tests", expectation="PASS")
TURNS: tuple[Turn, ...] = (
    ("writes the plan", _write("ACTIVE_PR.json", PLAN, Sent("submit", summary="planned"))),
    ("hands in `true` as test command", lambda w: Sent("submit", summary="x", test_command="true", expectation="FAIL")),
    ("writes a test that fails", _write("tests/add", "adds: add", RED)),
    ("says that it fails as it should", lambda w: Sent("submit", summary="yes", analysis_decision="SUCCESS")),
    ("deletes the test and claims that all pass", _write("tests/add", "", GREEN)),
    ("puts it back and writes the code", lambda w: _write("src/add", "add", _write("tests/add", "adds: add", GREEN)(w))(w)),
    ("has nothing to say against it (review)", lambda w: Sent("submit", summary="fine", findings="[]")),
    ("squashes the branch", _squash),
    ("marks the plan", _mark),
    ("says that nothing is left", lambda w: Sent("submit", summary="done", no_pr_left=True)),
)


@click.command("demo")
@click.argument("name", default="pr")
def command(name: str) -> int:
    """Watch a scripted agent go through the `pr` workflow: honest turns, one refused call and one deleted test."""
    if name != "pr":
        raise DetentError(f"there is no demo '{name}' yet", "try `detent demo`")
    click.echo("A scripted agent on the real table, gates and journal; files, git and tests are a world in memory.\n")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder  # nothing of the demo stays behind
        world = MemoryWorld({"PLAN.md": "- feat: add numbers\n"})
        journal = SqliteJournal(Path(folder) / "git" / "detent" / "journal.db", create=True)
        clock = iter(range(10**6))
        door = Door(Hands(journal, {"pr": PR}, world, MemoryJudge(world), brief, lambda: f"{next(clock)}", lambda d: this_process("", d)))
        door.start(Run("demo", "pr", "INITIALIZING", 0, PrData()), Sent("start", by="human"))
        for says, act in TURNS:
            state = door.next("demo").state
            verdict = door.submit("demo", act(world))
            click.echo(f"{state:<22} the agent {says:<42} {verdict.status:<14} {' '.join(verdict.reasons)}")
        end = door.next("demo")
        click.echo(f"\n{end.state}: {len(journal.events('demo'))} events in the journal, the chain is {journal.first_fault() or 'unbroken'}.")
        journal.close()
    return 0 if end.state == "DONE" else 1
