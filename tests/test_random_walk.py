"""Random teams of honest, lazy, wrong and lying agents: no end is reached with unproven work."""

import random
from pathlib import Path
from typing import Any

import pytest

from detent.door import Door
from detent.fakes import MemoryJudge, MemoryWorld, run_tests
from detent.journal.holder import this_process
from detent.journal.journal import SqliteJournal
from detent.journal.journal_rows import from_entry
from detent.kernel.model import Briefing, Event, Run, Sent
from detent.kernel.table import Table
from detent.workflows.pr.pr_data import PrData, current
from detent.workflows.pr.pr_table import PR
from tests.teams import STYLES, PrTeam


class Team(PrTeam):
    """The same agent, with eyes on the run it works for (only to repair what a wrong turn spoiled)."""

    door: Door

    def good_tree(self) -> str:
        return str(self.door.load("r").run.data.good_tree)

    @property
    def failed_task(self) -> str:  # type: ignore[override]
        return str(self.door.load("r").run.data.replacing)

    @property
    def failed_red(self) -> str:  # type: ignore[override]
        return str(self.door.load("r").run.data.replacing_red)


def tiny(table: Table[Any], run: Run[Any]) -> Briefing:
    """As much of a briefing as a scripted agent reads."""
    state = table.states[run.state]
    return Briefing(run.id, table.name, run.state, state.actor, state.role, "", "", table.instruction(run), table.step(run))


def play(folder: Path, seed: int, turns: int, weights: tuple[int, ...]) -> tuple[Door, MemoryWorld, SqliteJournal]:
    rng = random.Random(seed)
    world = MemoryWorld({"PLAN.md": "- feat: one\n- feat: two\n"})
    journal = SqliteJournal(folder / "git" / "detent" / "journal.db", create=True)
    journal.db.execute("PRAGMA synchronous=OFF")
    clock = iter(range(10**9))
    door = Door(journal, {"pr": PR}, world, MemoryJudge(world), tiny, lambda: f"t{next(clock)}", lambda doing: this_process("now", doing))
    limits = {"debug": 6, "reduce_scope": 2, "escalate": 4, "review": 2}
    door.start(Run("r", "pr", "INITIALIZING", 0, PrData(), limits=limits), Sent("start", by="human"))
    team = Team(world, rng)
    team.door = door
    for _ in range(turns):
        world.broken = "no runner" if rng.random() < 0.03 else ""
        briefing = door.next("r")
        if briefing.actor == "none":
            break
        if briefing.actor == "system":
            continue  # a job could not be done; it is tried again
        if briefing.actor == "human":
            door.submit(
                "r",
                rng.choice(
                    [Sent("resume", by="human"), Sent("answer", by="human", value="another-round"), Sent("steer", by="human", note="hm")]
                ),
            )
            continue
        assert_the_instruction_is_accepted(door)
        style = rng.choices(STYLES, weights)[0]
        sent = team.act(briefing, style)
        if briefing.state == "DEBUGGING" and rng.random() < 0.15:
            sent = Sent("scope-reduction")
        door.submit("r", sent)
    return door, world, journal


def assert_the_instruction_is_accepted(door: Door) -> None:
    """What a briefing tells an agent to call has a row there, and the row is not locked."""
    run = door.load("r").run
    on = PR.expects(run)
    row = PR.row(run.state, on)
    assert row is not None, f"{run.state} instructs {on}"
    assert "agent" in PR.moves[on].by
    assert not any(lock.shut(run) for lock in row.locks)


def events_of(journal: SqliteJournal) -> list[Event[PrData]]:
    return [from_entry(PR, e) for e in journal.events("r", limit=100_000)]


def assert_every_done_step_was_really_proved(world: MemoryWorld, events: list[Event[PrData]]) -> int:
    """Judge again, from the trees alone, every step that was marked DONE."""
    proved = 0
    before: Event[PrData] | None = None
    for event in events:
        if before is not None:
            was, now = current(before.run.data), current(event.run.data)
            done_before, done_now = _done(before), _done(event)
            if done_now > done_before:
                assert was is not None
                _assert_proof(world, was[2].type, before, event)
                proved += 1
            assert done_now >= done_before or event.run.state in ("INITIALIZING", "EXECUTING_TDD"), (now, event.on)
        before = event
    return proved


def _done(event: Event[PrData]) -> int:
    plan = event.run.data.plan
    return sum(s.status == "DONE" for t in plan.tasks for s in t.tdd_steps) if plan else 0


def _assert_proof(world: MemoryWorld, step: str, before: Event[PrData], event: Event[PrData]) -> None:
    tree = world.trees[event.run.data.good_tree]
    old = world.trees[before.run.data.good_tree]
    now, then = run_tests(tree), run_tests(old)
    shown = any(flag.kind == "rewritten-test" for flag in event.run.flags)
    assert then.ids <= now.ids or (shown and step != "GREEN"), "no test goes without a word"
    if step == "RED" and event.on == "success":
        assert now.bad - then.bad, "a test fails that did not"
    else:
        assert now.ids and not now.bad, "every test passes"
        assert not now.having("skipped") - then.having("skipped")
        assert not any("lint!" in t for t in tree.values())
    if step == "GREEN":
        assert {p: t for p, t in old.items() if p.startswith("tests/")} == {p: t for p, t in tree.items() if p.startswith("tests/")}


def assert_the_end_is_proved(run: Run[Any], events: list[Event[PrData]]) -> None:
    assert run.data.merged == ("feat: one", "feat: two")
    merged = [e for e in events if e.on == "merged" and e.status == "SUCCESS"]
    assert len(merged) == 2
    for at in merged:
        before = events[at.run.seq - 2].run
        assert PR.unproven(before) == ()
        assert before.data.reviewed_tree


SEEDS = [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 100))]


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", SEEDS)
def test_mixed_teams_never_get_unproven_work_through(tmp_path: Path, seed: int) -> None:
    door, world, journal = play(tmp_path, seed, 400, (6, 1, 1, 2))
    events = events_of(journal)
    assert assert_every_done_step_was_really_proved(world, events) > 0
    run = door.load("r").run
    if run.state == "DONE":
        assert_the_end_is_proved(run, events)
    journal.close()


@pytest.mark.sample(2)
@pytest.mark.parametrize("weights", [(0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (0, 1, 1, 1)], ids=["lazy", "wrong", "lying", "all three"])
def test_agents_who_never_do_the_work_never_get_a_step_done(tmp_path: Path, weights: tuple[int, ...]) -> None:
    for seed in range(2):
        door, _, journal = play(tmp_path / str(seed), seed, 200, weights)
        assert door.load("r").run.state not in ("DONE", "AWAITING_FINALIZATION", "MERGING_BRANCH")
        journal.close()


def test_honest_agents_reach_the_end(tmp_path: Path) -> None:
    door, _, journal = play(tmp_path, 1, 600, (1, 0, 0, 0))
    run = door.load("r").run
    assert run.state == "DONE"
    assert_the_end_is_proved(run, events_of(journal))
    journal.close()
