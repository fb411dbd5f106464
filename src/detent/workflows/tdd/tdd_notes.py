"""Continuing a run from its handoff notes alone, in a clone without a journal. The last phase is judged again before anything builds on it."""

import secrets
from pathlib import Path

import msgspec

from detent.app import App
from detent.app.beginning import words_of
from detent.app.commit_settings import settings_for
from detent.app.fit import checkout_is_fit, ground, is_clean
from detent.door import Case
from detent.effects.publish import write_whole
from detent.errors import DetentError
from detent.gates.testlist import FILE, read_list, ticked
from detent.git import fingerprint
from detent.git.commits import free_branch
from detent.git.notes import fetch_notes, list_notes, read_note
from detent.git.repo import ZERO, Git
from detent.git.workspace import remove_workspace
from detent.kernel.model import Run, Sent
from detent.kernel.table import Row
from detent.workflows.tdd.tdd_data import Note, TddData, completed, from_note
from detent.workflows.tdd.tdd_effects import NOTES
from detent.workflows.tdd.tdd_table import TDD
from detent.world.work_tree import RepoWorld

ROWS = {"PLAN": "planned", "RED": "red", "GREEN": "green", "REFACTOR": "refactor"}


def start_from_notes(app: App, sent: Sent, agent: str) -> str:
    """Start a run that continues after the newest handoff note of this branch; its id."""
    git: Git = app.world.git
    head = checkout_is_fit(git)
    is_clean(git)
    settings, main = settings_for(git, head, app.world.outer)
    fetch_notes(git, NOTES, settings.git.remote)
    commit, note = newest_handoff(git, head)
    _list_agrees(git, commit, note)
    if note.next_phase == "COMPLETE":
        raise DetentError("the handoff notes say that this feature is complete", "start another one: detent run REQUEST")
    run_id = f"tdd-{secrets.token_hex(3)}"
    setup = ground(git, settings, main, app.world.outer, agent, run_id)
    fingerprint.begin(app.place, app.busy)
    data = msgspec.structs.replace(
        from_note(note), setup=setup, base=commit, good_tree=git.tree(commit), reds=_reds(git, commit, note),
        branch=free_branch(git, f"detent/{words_of(note.feature_request)}"),
    )  # fmt: skip
    run: Run[TddData] = Run(run_id, "tdd", note.next_phase, 0, data, limits={"retries": settings.tdd.retries}, worktree=str(app.place.root))
    world: RepoWorld = app.worlds.of(run)
    _holds_again(git, world, run, note)
    _tick(world, data)
    app.door.start(run, sent)
    return run_id


def newest_handoff(git: Git, head: str) -> tuple[str, Note]:
    """The newest commit of this branch with a handoff note, and the note."""
    noted = list_notes(git, NOTES)
    commits = git.run("rev-list", "--first-parent", head).text.split()
    commit = next((c for c in commits if c in noted), "")
    if not commit:
        away = "the notes here belong to another branch; check it out first" if noted else "start a run: detent run REQUEST"
        raise DetentError("there is no run in this checkout, and no handoff note on its branch", away)
    return commit, parse(read_note(git, NOTES, commit) or "", commit)


def parse(text: str, commit: str) -> Note:
    try:
        return msgspec.json.decode(text.encode("utf-8", "surrogateescape"), type=Note)
    except msgspec.DecodeError as e:
        raise DetentError(f"the handoff note on {commit[:12]} cannot be read: {e}", "run `detent repair-notes` where the journal is") from e


def _list_agrees(git: Git, commit: str, note: Note) -> None:
    """Check that what the note calls done is ticked in the list of its commit; only the test that was just finished may lack its tick."""
    entries = read_list((git.read(commit, FILE) or b"").decode("utf-8", "replace"))[0]
    just = {note.current_test.description} if note.current_test and note.next_phase == "PLAN" else set()
    wrong = sorted(set(note.completed_tests) - {e.text for e in entries if e.done} - just)
    if wrong:
        raise DetentError(
            f"the handoff note on {commit[:12]} says that '{wrong[0]}' is done, but {FILE} there does not", "look at it before you continue"
        )


def _reds(git: Git, commit: str, note: Note) -> tuple[str, ...]:
    """The tree of this cycle's RED commit; a changed test must still fail on it."""
    for back in git.run("rev-list", "--first-parent", "-n", "4", commit).text.split():
        text = read_note(git, NOTES, back)
        if text and (then := parse(text, back)).phase == "RED" and then.cycle_number == note.cycle_number:
            return (git.tree(back),)
    return ()


def _holds_again(git: Git, world: RepoWorld, run: Run[TddData], note: Note) -> None:
    """Judge the last phase again, on its own commit. Anyone can write a note, but not a proof."""
    parent = git.resolve(f"{run.data.base}^")
    on = "already" if (note.phase, note.next_phase) == ("RED", "PLAN") else ROWS.get(note.phase, "")
    row = TDD.row(note.phase, on)
    if not note.cycle_number or not parent or row is None:
        return
    then = msgspec.structs.replace(run, state=note.phase, data=msgspec.structs.replace(run.data, good_tree=git.tree(parent)))
    tree = world.snapshot(then)
    found = world.judge(Case(then, Sent("submit", by="system"), Row(row.at, row.on, (), row.prove, row.to, row.fail), tree, lambda: True))
    wrong = "; ".join(found.failed) or found.unclear
    if tree == run.data.good_tree and not wrong:
        return
    remove_workspace(world.place)
    if git.resolve(run.data.branch):
        git.update([(run.data.branch, ZERO, run.data.base)])
    raise DetentError(
        f"the notes say that {note.phase} passed at {run.data.base[:12]}, and it does not here: {wrong or 'the tree differs'}",
        "look at it before you continue",
    )


def _tick(world: RepoWorld, data: TddData) -> None:
    file = world.place.root / FILE
    if data.next_phase == "PLAN" and file.is_file():
        write_whole(file, ticked(Path(file).read_text("utf-8", "surrogateescape"), frozenset(completed(data))))
