"""Publishes a run's claims: notes on its commits, with the trees of its steps. Made from the journal, never read back."""

import re

import msgspec

from detent.blocks.proved import Proved, proved
from detent.door import AnyEvent, AnyRun
from detent.errors import DetentError
from detent.evidence.outcomes.claims import REF, Claim, ClaimedStep, seal, written
from detent.evidence.outcomes.outcomes import compare
from detent.evidence.running.collect import Collector
from detent.git.commits import marker
from detent.git.notes import publish
from detent.git.repo import GitError
from detent.world.work_tree import RepoWorld

WENT_BACK = re.compile(r"from event (\d+) of (\S+)")


def whole_history(world: RepoWorld, run: str) -> list[AnyEvent]:
    """The events of a run, preceded by those of runs it was rolled back from, up to the rollback."""
    events = list(world.runs.history(run))
    first = events[0].sent if events else None
    back = WENT_BACK.fullmatch(first.note) if first and first.verb == "rollback" else None
    return (
        [*(e for e in whole_history(world, back[2]) if e.run.seq <= int(back[1]) or e.run.id != back[2]), *events[1:]] if back else events
    )


def _histories(world: RepoWorld, run: str) -> list[list[AnyEvent]]:
    """The events of a run and of each of its children, including those before a rollback, since a session's tasks make its commits."""
    own = whole_history(world, run)
    parents = dict.fromkeys((run, *(e.run.id for e in own)))
    return [own, *(list(world.runs.history(child.id)) for parent in parents for child in world.runs.family(parent) if child.id != parent)]


def claims_of(world: RepoWorld, run: AnyRun) -> dict[str, Claim]:
    """Every claim of a run and its children, by commit. Needs few git calls, however long the run."""
    collect, each_of = world.collector(run), dict[str, Proved]()
    steps = [each for events in _histories(world, run.id) for each in proved(events, lambda name: world.runs.workflow(name).claims)]
    made = {name: commit for of in {each.run for each in steps} for name, commit in _made(world, of).items()}
    for each in steps:
        commit = each.commit or made.get(marker(each.run, each.seq, each.made), "")
        if commit and each.steps:
            each_of.setdefault(commit, each)
    trees = world.git.trees([f"{commit}^^{{tree}}" for commit in each_of])
    return {
        commit: seal(
            Claim(each.run, each.workflow, _named(collect, each, trees.get(f"{commit}^^{{tree}}", "")), each.base, each.baseline), commit
        )
        for commit, each in each_of.items()
    }


def _made(world: RepoWorld, run: str) -> dict[str, str]:
    """The commits that a run's effects made, by marker ref."""
    lines = world.git.run("for-each-ref", "--format=%(refname) %(objectname)", f"refs/detent/{run}/done/").text.splitlines()
    return {line.split()[0]: line.split()[1] for line in lines}


def _named(collect: Collector, each: Proved, parent: str) -> tuple[ClaimedStep, ...]:
    """The steps, with the newly failing tests of each RED, if their reports are still stored."""
    starts = (parent, *(step.tree for step in each.steps))
    return tuple(
        _with_tests(collect, step, start) if step.phase == "red" else step for step, start in zip(each.steps, starts, strict=False)
    )


def _with_tests(collect: Collector, step: ClaimedStep, start: str) -> ClaimedStep:
    before, now = collect.known(start), collect.known(step.tree)
    return msgspec.structs.replace(step, tests=tuple(sorted(compare(before, now).newly_failing))) if before and now else step


def write_claims(world: RepoWorld, run: AnyRun) -> int:
    """Update the evidence ref from the journal; returns how many claims changed."""
    claims = claims_of(world, run)
    trees = {tree for claim in claims.values() for step in claim.steps for tree in (step.tree, step.over) if tree}
    try:
        return publish(world.git, REF, {commit: written(claim) for commit, claim in claims.items()}, trees) if claims else 0
    except GitError as e:
        raise DetentError(f"the evidence could not be written: {e.message}", "run `detent repair-notes`") from e


def settle_claims(world: RepoWorld, event: AnyEvent) -> None:
    """The effect that publishes a run's claims."""
    write_claims(world, event.run)
