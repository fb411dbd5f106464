"""The jobs and effects of `tdd` on a real repository: one commit per phase, handoff notes, ticked boxes, and landing."""

import re
from collections.abc import Mapping

import msgspec

from detent.door import AnyEvent, AnyRun
from detent.effects.publish import write_whole
from detent.errors import DetentError
from detent.evidence.source.test_ids import without_root
from detent.gates.testlist import FILE, ticked
from detent.git.commits import back_to_tip, bring_to, commit_phase, commits_by_event, tip_of
from detent.git.notes import HANDOFFS, write_notes
from detent.git.repo import GitError
from detent.kernel.model import Sent
from detent.workflows.tdd.tdd_data import Note, note_of
from detent.world.before_landing import held_up
from detent.world.landing import bring_in, offer
from detent.world.publish_claims import settle_claims
from detent.world.work_tree import Effects, Jobs, RepoWorld, keep_snapshot, leave, outcome

NOTES = HANDOFFS


PERSONAL = re.compile(r"(?:/home|/Users)/[^/\s:'\"]+|/root(?=/)")
SCRATCH = re.compile(r"(?:/private)?/(?:tmp|var/folders/[^/\s]+/[^/\s]+/T)/[^/\s:'\"]+/?")


def portable(note: Note, roots: tuple[str, ...]) -> Note:
    """The note as it is published, without paths of this machine."""

    def bare(text: str) -> str:
        return PERSONAL.sub("~", SCRATCH.sub("", without_root(text, tuple(root for root in roots if root))))

    details = msgspec.structs.replace(note.error_details, message=bare(note.error_details.message)) if note.error_details else None
    return msgspec.structs.replace(note, error=bare(note.error) if note.error else note.error, error_details=details)


def _commit(world: RepoWorld, event: AnyEvent) -> None:
    run = event.run
    commit_phase(world.git, run.id, run.seq, event.found.tree, run.data.subject, event.at, run.data.base)


def _reset(world: RepoWorld, event: AnyEvent) -> None:
    run = event.run
    kept = world.snapshot(run)
    back_to_tip(world.git, run.id, run.seq, run.data.base)
    bring_to(world.git, run.data.good_tree, kept)


def _take_back(world: RepoWorld, event: AnyEvent) -> None:
    """Undo a failed attempt of a driven agent. In a person's checkout the agent cleans up by itself."""
    if event.run.data.setup.agent and event.run.data.good_tree:
        _reset(world, event)
        tick_list(world, event.run)  # no commit has the ticks before the next plan


def _tick(world: RepoWorld, event: AnyEvent) -> None:
    _tick_in(world, event.run, world.git.read(event.found.tree, FILE))


def tick_list(world: RepoWorld, run: AnyRun) -> None:
    """Tick the entries that a run has proved in the list of its checkout, after a reset to an earlier tree."""
    file = world.place.root / FILE
    _tick_in(world, run, file.read_bytes() if file.is_file() and not file.is_symlink() else None)


def _tick_in(world: RepoWorld, run: AnyRun, text: bytes | None) -> None:
    if text is not None:
        done = frozenset(e.text for e in run.data.entries if e.done)
        write_whole(world.place.root / FILE, ticked(text.decode("utf-8", "surrogateescape"), done))


def notes_of(world: RepoWorld, run: AnyRun) -> Mapping[str, str]:
    """All handoff notes of a run according to the journal, by commit."""
    commits, notes = commits_by_event(world.git, run.id, "phase"), {}
    first = min(commits, default=0)
    at = world.git.resolve(f"{commits[first]}^") if first else tip_of(world.git, run.id, run.data.base)
    for event in world.runs.history(run.id):
        at = commits.get(event.run.seq, at)
        if "write_note" in event.owes and at:
            note = portable(note_of(event.run), (str(world.place.root), event.run.worktree, event.run.data.setup.workspace))
            notes[at] = msgspec.json.format(msgspec.json.encode(note), indent=2).decode() + "\n"
    return notes


def write_run_notes(world: RepoWorld, run: AnyRun) -> int:
    """Rewrite the notes of a run to match the journal, forged ones too; returns how many did not."""
    try:
        return write_notes(world.git, NOTES, notes_of(world, run))
    except GitError as e:
        raise DetentError(f"the handoff notes could not be written: {e.message}", "run `detent repair-notes`") from e


def _note(world: RepoWorld, event: AnyEvent) -> None:
    write_run_notes(world, event.run)


def _nothing(world: RepoWorld, event: AnyEvent) -> None:
    """Nothing: this workflow publishes no files."""


EFFECTS: Effects = {
    "commit_judged_tree": _commit,
    "write_note": _note,
    "tick_boxes": _tick,
    "reset_to_good": _reset,
    "take_back": _take_back,
    "snapshot": keep_snapshot,
    "publish": _nothing,
    "leave_workspace": leave,
    "publish_claims": settle_claims,
}


def _land(world: RepoWorld, run: AnyRun) -> Sent:
    """Land as configured. In a person's own checkout the work is on its branch already; a child's branch is landed by its parent."""
    if run.parent:
        return outcome("offered", branch=run.data.branch)
    lands = bool(run.data.setup.workspace) and world.config_of(run).ways.merge != "branch"
    if (stop := held_up(world, run)) is not None:
        return stop
    landed = bring_in(world, run) if lands else offer(world, run)
    names = {"merged": "landed", "": "offered"}
    return outcome(names.get(landed.outcome, landed.outcome), landed.output, branch=run.data.branch, main=landed.main, **landed.reports)


JOBS: Jobs = {"land_branch": _land}
