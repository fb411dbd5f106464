"""Random teams on `tdd`, `execute` and `pipeline`, with the real gates in the world in memory: no end is reached with unproven work."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from detent.app.registry import all_tables
from detent.app.registry import brief_of as brief
from detent.door import Case, Door
from detent.fakes import MemoryJudge, MemoryLook, MemoryWorld, run_tests, tree_id
from detent.gates.item import WorkItem
from detent.gates.judge import judge
from detent.journal.holder import this_process
from detent.journal.journal import SqliteJournal
from detent.journal.journal_rows import from_entry
from detent.kernel.model import Briefing, Event, Found, Run, Sent
from detent.workflows.execute.execute_data import ExecuteData, ExecuteSetup
from detent.workflows.pipeline.pipeline_data import PipelineData
from detent.workflows.pipeline.task_data import is_prepared
from detent.workflows.tdd.tdd_data import completed, first_data
from tests.test_pipeline_tables import FILES, S, as_role, says

TABLES = all_tables()
LIST = "test-list.md"
FORGED = [
    Sent("submit", summary="all tests pass"),
    Sent("submit", summary="done", reply='{"currentTest": null}'),
    Sent("submit", summary="done", reply="ALREADY_SATISFIED"),
    Sent("submit", summary="done", reply="{broken"),
    Sent("outcome", outcome="pushed"),
    Sent("outcome", outcome="green"),
    Sent("outcome", outcome="landed"),
    Sent("child", child="T-001", outcome="COMPLETED"),
    Sent("answer", decision="UD-APPROVE-DESIGN", value="approved"),
    Sent("answer", decision="UD-REVIEW-STRATEGY", value="single-final"),
    Sent("answer", decision="REVIEW", value="override"),
    Sent("resume"),
    Sent("abort"),
    Sent("due"),
]


def open_door(folder: Path, world: MemoryWorld, eyes: Any) -> tuple[Door, SqliteJournal]:
    journal = SqliteJournal(folder / "git" / "detent" / "journal.db", create=True)
    clock = iter(range(10**9))
    return Door(journal, TABLES, world, eyes, brief, lambda: f"t{next(clock)}", lambda doing: this_process("now", doing)), journal


def events_of(journal: SqliteJournal, run: str) -> list[Event[Any]]:
    head = journal.heads(run)[0]
    return [from_entry(TABLES[head.workflow], e) for e in journal.events(run, limit=100_000)]


def assert_the_instruction_fits(door: Door, briefing: Briefing) -> None:
    """What a briefing tells an agent to call has a row there, open to it and not locked."""
    run = door.load(briefing.run).run
    table = TABLES[run.workflow]
    on = table.expects(run)
    row = table.row(run.state, on)
    assert row is not None, f"{run.workflow} at {run.state} instructs {on}"
    assert "agent" in table.moves[on].by
    assert not any(lock.shut(run) for lock in row.locks)
    assert briefing.instruction in briefing.briefing


# -- tdd ---------------------------------------------------------------------------------------------------------------------


class TddWorld(MemoryWorld):
    """Ticks the boxes of proved tests, as the machine does."""

    def settle(self, effect: str, event: Event[Any]) -> None:
        if effect == "tick_boxes":
            for text in completed(event.run.data):
                self.files[LIST] = self.files[LIST].replace(f"- [ ] {text}\n", f"- [x] {text}\n")
        super().settle(effect, event)


def act_tdd(world: MemoryWorld, briefing: Briefing, style: str, rng: random.Random) -> Sent:
    if style == "lying":
        return rng.choice(FORGED)
    if style == "wrong":
        spoil(world, rng)
    text = world.files.get(LIST, "")
    if briefing.state == "PLAN":
        if style != "lazy" and not text:
            world.files[LIST] = text = "- [ ] one\n- [ ] two\n"
        todo = [line[6:] for line in text.splitlines() if line.startswith("- [ ] ")]
        case = {"description": todo[0], "testFile": f"tests/{todo[0]}", "implFile": "src/code"} if todo and style != "lazy" else None
        return Sent("submit", summary="s", reply=json.dumps({"currentTest": case}))
    name = next((line[6:] for line in text.splitlines() if line.startswith("- [ ] ")), "x")
    if style == "honest" and briefing.state == "RED":
        world.files[f"tests/{name}"] = f"case: word-{name}"
    if style == "honest" and briefing.state == "GREEN":
        wanted = [line.partition(": ")[2] for p, t in world.files.items() if p.startswith("tests/") for line in t.splitlines()]
        world.files["src/code"] = "\n".join(sorted(wanted))
    return Sent("submit", summary="s")


def spoil(world: MemoryWorld, rng: random.Random) -> None:
    tests = [p for p in world.files if p.startswith("tests/")]
    how = rng.randrange(5)
    if how == 0 and tests:
        del world.files[rng.choice(tests)]
    elif how == 1 and tests:
        world.files[rng.choice(tests)] = "skip case: x"
    elif how == 2:
        world.files.pop("src/code", None)
    elif how == 3 and LIST in world.files:
        world.files[LIST] = world.files[LIST].replace("[ ]", "[x]")
    else:
        world.files["tests/wrong"] = "wrong: nowhere"


def play_tdd(folder: Path, seed: int, weights: tuple[int, ...]) -> tuple[Run[Any], list[Event[Any]], MemoryWorld]:
    rng = random.Random(seed)
    world = TddWorld({"src/code": "start", "tests/start": "starts: start"})
    door, journal = open_door(folder, world, MemoryJudge(world))
    start: Run[Any] = Run("r", "tdd", "PLAN", 0, first_data("a feature"))
    tree = world.snapshot(start)
    door.start(Run("r", "tdd", "PLAN", 0, first_data("a feature", tree=tree), limits={"retries": 6}), Sent("start", by="human"))
    for _ in range(120):
        briefing = door.next("r")
        if briefing.actor == "none":
            break
        if briefing.actor == "human":
            door.submit("r", Sent("resume", by="human"))
            continue
        assert_the_instruction_fits(door, briefing)
        run = door.load("r").run
        if rng.random() < 0.5:  # someone puts back what was spoiled
            good = world.trees.get(run.data.good_tree, {})
            listed = "".join(f"- [{'x' if e.done else ' '}] {e.text}\n" for e in run.data.entries)
            world.files = {**good, **({LIST: listed} if listed else {})}
        door.submit("r", act_tdd(world, briefing, rng.choices(("honest", "lazy", "wrong", "lying"), weights)[0], rng))
    run = door.load("r").run
    events = events_of(journal, "r")
    journal.close()
    return run, events, world


def assert_phases_are_proved(events: list[Event[Any]], world: MemoryWorld) -> int:
    """Judge again, from the trees alone, every phase that passed."""
    before, proved = None, 0
    for event in events:
        if before is not None and event.status == "SUCCESS" and event.on in ("red", "green", "refactor", "already", "complete"):
            now, then = run_tests(world.trees[event.found.tree]), run_tests(world.trees[before.run.data.good_tree])
            shown = any(flag.kind == "rewritten-test" for flag in event.found.flagged)
            assert then.ids <= now.ids or (shown and event.on in ("red", "refactor")), "no test goes without a word"
            if event.on == "red":
                assert now.bad - then.bad, "a test fails that did not"
                assert not now.having("skipped")
            else:
                assert now.ids and not now.bad and not now.having("skipped")
            proved += 1
        before = event
    return proved


SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 60))]


@pytest.mark.parametrize("seed", SEEDS)
def test_in_tdd_mixed_teams_never_get_unproven_work_through(tmp_path: Path, seed: int) -> None:
    run, events, world = play_tdd(tmp_path, seed, (6, 1, 1, 2))
    assert assert_phases_are_proved(events, world) > 0
    if run.state == "COMPLETE":
        assert TABLES["tdd"].unproven(run) == ()


def test_in_tdd_honest_agents_reach_the_end(tmp_path: Path) -> None:
    run, events, world = play_tdd(tmp_path, 1, (1, 0, 0, 0))
    assert run.state == "COMPLETE" and TABLES["tdd"].unproven(run) == ()
    assert assert_phases_are_proved(events, world) >= 6


@pytest.mark.parametrize("seed", range(3))
def test_in_tdd_agents_who_never_do_the_work_never_complete(tmp_path: Path, seed: int) -> None:
    run, events, _ = play_tdd(tmp_path, seed, (0, 1, 1, 1))
    assert run.state != "COMPLETE"
    assert not any(e.on in ("green", "refactor") and e.status == "SUCCESS" for e in events)


# -- execute -----------------------------------------------------------------------------------------------------------------


def play_execute(folder: Path, seed: int, weights: tuple[int, ...]) -> tuple[Run[Any], list[Event[Any]], MemoryWorld]:
    rng = random.Random(seed)
    world = MemoryWorld({"src/code": "start", "tests/start": "starts: start"})
    door, journal = open_door(folder, world, MemoryJudge(world))
    start: Run[Any] = Run("r", "execute", "QUEUED", 0, ExecuteData())
    tree = world.snapshot(start)
    facts = {"branch": "refs/heads/beads-1-x", "base": "b", "tree": tree, "workspace": "/w", "open_dependencies": "", "failures": "0"}
    review = json.dumps({"issues": [], "summary": "ok", "pr_ready": rng.random() < 0.7})
    world.script = {
        "prepare": [Sent("outcome", by="system", outcome="started", facts=facts)],
        "push": [Sent("outcome", by="system", outcome=rng.choice(["pushed", "rejected"]), facts={"commit": "c"}) for _ in range(3)],
        "rebase": [Sent("outcome", by="system", outcome=rng.choice(["rebased", "conflict"]), facts={"tree": tree})],
        "review_branch": [Sent("outcome", by="system", outcome="ready", reply=review, findings=review) for _ in range(3)],
        "open_pull_request": [Sent("outcome", by="system", outcome="opened")],
    }
    data = ExecuteData(item=WorkItem("1", "x", "d"), setup=ExecuteSetup(pull_request=rng.random() < 0.5))
    door.start(Run("r", "execute", "QUEUED", 0, data), Sent("start", by="human"))
    for _ in range(40):
        briefing = door.next("r")
        if briefing.actor in ("none", "system"):
            break
        if briefing.actor == "human":
            door.submit("r", rng.choice([Sent("answer", by="human", decision="REVIEW", value="override"), Sent("resume", by="human")]))
            continue
        assert_the_instruction_fits(door, briefing)
        style = rng.choices(("honest", "lazy", "wrong", "lying"), weights)[0]
        if style == "honest":
            world.files.update({"src/code": "start\nword", "tests/more": "more: word", "tests/start": "starts: start"})
        if style == "wrong":
            spoil(world, rng)
        door.submit("r", rng.choice(FORGED) if style == "lying" else Sent("submit", summary="did it"))
    run = door.load("r").run
    events = events_of(journal, "r")
    journal.close()
    return run, events, world


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 100))])
def test_in_execute_nothing_is_completed_that_was_not_proved(tmp_path: Path, seed: int) -> None:
    run, events, world = play_execute(tmp_path, seed, (2, 1, 1, 1))
    if run.state == "COMPLETED":
        assert TABLES["execute"].unproven(run) == ()
        report = run_tests(world.trees[run.data.proved_tree])
        assert report.ids and not report.bad
        assert any(e.on in ("done", "rebased") and e.status == "SUCCESS" for e in events)


def test_in_execute_agents_who_never_do_the_work_never_complete_and_honest_ones_can(tmp_path: Path) -> None:
    assert all(play_execute(tmp_path / f"l{seed}", seed, (0, 2, 1, 1))[0].state != "COMPLETED" for seed in range(5))
    assert any(play_execute(tmp_path / f"h{seed}", seed, (1, 0, 0, 0))[0].state == "COMPLETED" for seed in range(5))


# -- pipeline ----------------------------------------------------------------------------------------------------------------


class SessionWorld(MemoryWorld):
    """A world whose session folder is outside the tree, and whose jobs do what their rules say."""

    base_tree = ""

    def snapshot(self, run: Any) -> str:
        files = {p: t for p, t in self.files.items() if not p.startswith(".agents-work")}
        tree = tree_id(files)
        self.trees[tree] = files
        return tree

    def _by_rule(self, job: str, run: Any) -> Sent | None:
        tree = self.snapshot(run)
        if job == "prepare_dispatch":
            if is_prepared(run):
                return None
            old, new = self.trees[self.base_tree], self.trees[tree]
            changed = [{"path": p, "change_type": "modified", "old_path": ""} for p in sorted({*old, *new}) if old.get(p) != new.get(p)]
            return Sent("outcome", by="system", outcome="prepared", facts={"tree": tree, "changed_files": json.dumps(changed)})
        if job == "run_checks":
            green = not run_tests(self.trees[tree]).bad
            return Sent("outcome", by="system", outcome="green" if green else "red", output="checks", facts={"tree": tree})
        return Sent("outcome", by="system", outcome="landed") if job == "land" else None


class SessionLook(MemoryLook):
    """Reads the session's documents where they lie."""

    def read(self, path: str) -> str | None:
        text = self.world.files.get(path)
        if text is not None:
            self._read[path] = text
        return text


class SessionJudge:
    def __init__(self, world: MemoryWorld) -> None:
        self.world = world

    def judge(self, case: Case) -> Found:
        return judge(case.row, SessionLook(self.world, case))


def act_session(world: MemoryWorld, briefing: Briefing, style: str, rng: random.Random, turn: int) -> Sent:
    role = briefing.role
    if style == "lying":
        return rng.choice([*FORGED, as_role("Reviewer"), as_role("QA"), as_role("Coder")])
    if style == "wrong" and role in ("Coder", "QA", "Integrator", "Docs"):
        spoil(world, rng)
    if style == "honest":
        for path, text in FILES.items():
            world.files.setdefault(path, text)
        if role == "Coder" or briefing.state.startswith("FIX"):
            for path in [p for p in world.files if p.startswith("tests/")]:
                del world.files[path]
            world.files.update({"src/code": f"start\nword\nturn-{turn}", "tests/start": "starts: start", "tests/more": "more: word"})
        if role == "Docs":
            world.files["README.md"] = "how to"
    if style == "lazy" and role == "Reviewer":
        comment = {"severity": "blocker", "category": "bug", "file": "src/code", "line": 1, "message": "no", "suggested_fix": "x"}
        return as_role(role, review_comments=[comment])
    return as_role(role)


def play_session(folder: Path, seed: int, weights: tuple[int, ...], lean: bool) -> tuple[Door, SqliteJournal, SessionWorld]:
    rng = random.Random(seed)
    world = SessionWorld({"src/code": "start", "tests/start": "starts: start"})
    world.base_tree = world.snapshot(None)
    door, journal = open_door(folder, world, SessionJudge(world))
    data = PipelineData(session=S, request="sums", mode="lean" if lean else "full")
    door.start(Run("r", "pipeline", "INTAKE_LEAN" if lean else "INTAKE", 0, data), Sent("start", by="human"))
    for turn in range(150):
        briefing = door.next("r")
        if briefing.actor in ("none", "system"):
            break
        if briefing.actor == "human":
            door.submit("r", answer_for(door, briefing, rng))
            continue
        assert_the_instruction_fits(door, briefing)
        style = rng.choices(("honest", "lazy", "wrong", "lying"), weights)[0]
        door.submit("r", act_session(world, briefing, style, rng, turn))
    return door, journal, world


def answer_for(door: Door, briefing: Briefing, rng: random.Random) -> Sent:
    """A person: approves what is asked, guides what is stuck."""
    run = door.load(briefing.run).run
    if run.state == "BLOCKED":
        return Sent("resume", by="human", guidance="try again")
    asked = [d for d in getattr(run.data, "decisions", ()) if d.status == "pending"]
    if not asked:
        return Sent("resume", by="human")
    fits = {"UD-APPROVE-DESIGN": "approved", "UD-REVIEW-STRATEGY": rng.choice(["per-batch", "single-final"])}
    return says(fits.get(asked[-1].decision_id, rng.choice(list(asked[-1].options) or ["guidance"])), asked[-1].decision_id)


@pytest.mark.parametrize("lean", [False, True], ids=["full", "lean"])
@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 40))])
def test_in_pipeline_done_means_that_nothing_is_open_unproved_or_unreviewed(tmp_path: Path, seed: int, lean: bool) -> None:
    door, journal, world = play_session(tmp_path, seed, (8, 1, 1, 1), lean)
    run = door.load("r").run
    if run.state == "DONE":
        assert TABLES["pipeline"].unproven(run) == ()
        report = run_tests(world.trees[run.data.good_tree])
        assert report.ids and not report.bad
    for head in journal.heads():
        if head.workflow == "task" and head.state in ("COMPLETED", "IMPLEMENTED"):
            assert TABLES["task"].unproven(door.load(head.run).run) == ()
    journal.close()


@pytest.mark.parametrize("lean", [False, True], ids=["full", "lean"])
def test_in_pipeline_an_honest_team_reaches_done(tmp_path: Path, lean: bool) -> None:
    door, journal, _ = play_session(tmp_path, 1, (1, 0, 0, 0), lean)
    assert door.load("r").run.state == "DONE"
    journal.close()


@pytest.mark.slow
def test_in_pipeline_a_team_that_never_does_the_work_never_gets_done(tmp_path: Path) -> None:
    for seed in range(3):
        door, journal, _ = play_session(tmp_path / str(seed), seed, (0, 2, 1, 2), lean=False)
        assert door.load("r").run.state != "DONE"
        journal.close()
