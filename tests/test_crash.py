"""A run that is killed anywhere and taken up again ends as if nothing had happened. The runs are made by `crash_child.py`, in processes of their own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest

import detent
from tests.crash_child import Report

BUILD = Path(detent.__file__).parent
CHILD = Path(__file__).with_name("crash_child.py")
SHARDS = 4
MEMORY = (
    "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
)  # a kill takes nothing from the kernel, so the runs need no disk that is waited for
TRAIL = [
    ("start", "SUCCESS", "INITIALIZING"),
    ("plan", "SUCCESS", "CREATING_BRANCH"),
    ("branched", "SUCCESS", "EXECUTING_TDD"),
    ("red", "NEEDS_ANALYSIS", "NEEDS_ANALYSIS"),
    ("success", "SUCCESS", "EXECUTING_TDD"),
    ("green", "FAILURE", "DEBUGGING"),
    ("green", "SUCCESS", "EXECUTING_TDD"),
    ("none-left", "SUCCESS", "CODE_REVIEW"),
    ("approved", "SUCCESS", "AWAITING_FINALIZATION"),
    ("squashed", "SUCCESS", "FINALIZE_COMPLETE"),
    ("plan-done", "SUCCESS", "PLAN_UPDATED"),
    ("to-merge", "SUCCESS", "MERGING_BRANCH"),
    ("merged", "SUCCESS", "INITIALIZING"),
    ("no-pr-left", "SUCCESS", "DONE"),
]


def sweep(kind: str, first: int = 1, step: int = 1, depth: int = 0, build: Path = BUILD) -> Report:
    """Run the sweep against a build of Detent, in an interpreter that knows no other."""
    with TemporaryDirectory(prefix="detent-crash-", dir=MEMORY) as runs:
        return sweep_in(runs, kind, first, step, depth, build)


def sweep_in(runs: str, kind: str, first: int, step: int, depth: int, build: Path) -> Report:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_", "COVERAGE_"))}
    words = [sys.executable, str(CHILD), runs, kind, str(first), str(step), str(depth)]
    done = subprocess.run(words, env={**inherited, "PYTHONPATH": str(build.parent)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = msgspec.json.decode(done.stdout, type=Report)
    assert report.build == str(build)
    return report


def test_the_undisturbed_run_goes_the_whole_way_and_does_each_thing_once() -> None:
    report = sweep("calls", first=10_000)
    end = report.undisturbed
    assert (report.swept, report.faults) == (0, [])
    assert end.trail == TRAIL
    assert [message for message, _ in end.commits] == ["Greet the world", "plan-done at event 11"]
    assert [seq for _, seq, effect in end.effects if effect == "publish"] == list(range(2, len(TRAIL) + 1))
    assert [(seq, effect) for _, seq, effect in end.effects if effect != "publish"] == [
        (6, "undo_strays"),  # of the failed attempt
        (7, "checkpoint"),
        (11, "commit_plan"),
        (11, "publish_claims"),
        (13, "clear_plan"),
        (14, "leave_workspace"),
    ]
    assert end.jobs == ["r1 2 create_branch", "r1 12 merge"]
    named = [p for p in report.points if "event" in p and "call_reviewer" not in p and "squash" not in p]
    assert len(set(named)) == len(named), "nothing was asked for twice"
    for what in (
        "append of event 14",
        "mark of publish of event 14",
        "effect commit_plan of event 11",
        "job merge of event 12",
        "claim",
        "release",
    ):
        assert {f"before {what}", f"after {what}"} <= set(report.points)


@pytest.mark.sample(1)
@pytest.mark.parametrize("shard", [pytest.param(n, marks=[pytest.mark.slow] if n > 1 else []) for n in range(SHARDS)])
def test_a_run_killed_before_or_after_any_step_of_it_ends_as_if_it_had_not_been(shard: int) -> None:
    report = sweep("calls", first=shard + 1, step=SHARDS)
    assert report.swept >= 30
    assert report.faults == []


@pytest.mark.slow
def test_a_run_killed_again_while_it_is_taken_up_ends_as_if_it_had_not_been() -> None:
    report = sweep("calls", first=9, step=41, depth=6)
    assert report.swept >= 24
    assert report.faults == []


@pytest.mark.slow
def test_a_run_killed_at_any_line_of_the_anchor_ends_as_if_it_had_not_been() -> None:
    report = sweep("lines:/journal/anchor.py", first=3, step=5)
    assert report.swept >= 20
    assert report.faults == []


@pytest.mark.slow
def test_a_run_killed_at_lines_all_over_the_machine_ends_as_if_it_had_not_been() -> None:
    report = sweep("lines", first=50, step=701)
    assert report.swept >= 15
    assert report.faults == []


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.parametrize(
    ("kind", "step", "depth"), [("calls", 3, 20), ("lines:/journal/anchor.py", 1, 0), ("lines:/journal/journal.py", 5, 0), ("lines", 29, 0)]
)
def test_the_long_sweep_finds_no_difference_either(kind: str, step: int, depth: int, shard: int) -> None:
    report = sweep(kind, first=shard * step + 1, step=step * SHARDS, depth=depth)
    assert report.swept >= 25
    assert report.faults == []


# The sweep itself is seen failing: on builds that settle nothing, settle nothing first, or mark before they do.

NOT_AGAIN = ("while self.journal.owed(run):", "while False:")  # else a build that settles nothing would try for ever
BROKEN = {
    "nothing is settled": ("door.py", [("self._settle(run)", "pass"), ("self._settle(target)", "pass"), NOT_AGAIN]),
    "nothing is settled first": (
        "door.py",
        [("self._settle(run)\n            event = self.load(run)\n", "event = self.load(run)\n"), NOT_AGAIN],
    ),
    "what is owed is marked before it is done": (
        "door.py",
        [
            ("self.journal.settled(owed)\n", "pass\n"),
            (
                "entry = self.journal.at(run, owed.seq)\n",
                "self.journal.settled(owed)\n            entry = self.journal.at(run, owed.seq)\n",
            ),
        ],
    ),
    "what is owed is not in the journal": ("journal/journal_rows.py", [("for seq, owes in owing ", "for seq, owes in () ")]),
    "a dead holder counts as alive": ("journal/journal.py", [("if held and is_alive(held):", "if held:")]),
}


def broken_build(folder: Path, file: str, edits: list[tuple[str, str]]) -> Path:
    copy = folder / "broken" / "detent"
    shutil.copytree(BUILD, copy, ignore=shutil.ignore_patterns("__pycache__"))
    text = (copy / file).read_text("utf-8")
    assert edits[0][0] in text, f"{file} no longer holds {edits[0][0]!r}; this test must break it another way"
    for old, new in edits:
        text = text.replace(old, new)
    (copy / file).write_text(text, "utf-8")
    return copy


@pytest.mark.slow
@pytest.mark.parametrize("how", [pytest.param(how, marks=[pytest.mark.slow] if n > 1 else []) for n, how in enumerate(BROKEN)])
def test_the_sweep_reports_a_build_that_does_not_survive_a_crash(tmp_path: Path, how: str) -> None:
    build = broken_build(tmp_path, *BROKEN[how])
    if how == "nothing is settled":  # its plan is never committed, so not even the undisturbed run ends
        with pytest.raises(AssertionError, match="the run does not end"):
            sweep("calls", first=2, step=4, build=build)
    else:
        assert sweep("calls", first=2, step=4, build=build).faults
