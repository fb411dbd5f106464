"""Killed at any point of a pull request that goes the hard way, `get-task` and the next submit bring the run to the same trees, messages and states.

The undisturbed run is kept after each turn. A turn is killed at one of its points, and gone on with to where it ended undisturbed.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from detent.journal.journal import SqliteJournal
from tests.project import BYTECODE, INI, QUICK, ROOT
from tests.real_crash_child import Points
from tests.repos import PLAIN, make_repo, sh
from tests.rough_crash_child import FILES, PLAN, TITLE, turn

CONFIG = "[pr]\nplan = '{plan}'\n[git]\nremote = ''\nsquash = 'auto'\n[debug]\nhypothesize = 1\ninstrument = 1\nreduce_scope = 2\n[review]\nagent = 'command:{reviewer}'\n"
FINDS = '{"findings": [{"file_path": "calc.py", "line_number": 2, "category": "style", "severity": "MINOR", "description": "rough", "recommendation": "smooth it"}]}'
REVIEWER = "#!/bin/sh\ncat > /dev/null\necho asked >> {log}\ngrep -q rough calc.py && echo '{finds}' || echo '[]'\n"
WAY = [
    *("start", "plan", "branched", "red", "success", "green", "green", "scope-reduction", "replan"),
    *("red", "success", "green", "verify", "success", "green", "none-left", "findings", "refactor", "none-left", "approved"),
    *("squashed", "plan-done", "to-merge", "merged", "no-pr-left"),
]


KNOWN = {path.rpartition("/")[2] for path in (*FILES, "tests/test_start.py")}


class Turn(NamedTuple):
    """One turn of the undisturbed run: how many points it has, and how everything stood after it."""

    points: int
    running: list[int]  # those at which tests run, with the canary in the checkout
    events: int
    stood: dict[str, Any]


class Stage:
    """A folder with the project and the state of its user, which stands at one place: a run knows the path of its checkout."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.now, self.turns = folder, folder / "now", list[Turn]()
        self.root = self.now / "p"
        self.env = {**os.environ, **PLAIN, **QUICK, "PYTHONPYCACHEPREFIX": str(BYTECODE), "XDG_STATE_HOME": str(self.now / "state")}
        self.env |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
        reviewer = folder / "reviewer"
        reviewer.write_text(REVIEWER.format(log=self.now / "asked", finds=FINDS))
        reviewer.chmod(0o755)
        config = CONFIG.format(plan=PLAN, reviewer=reviewer)
        start = {
            "tests/test_start.py": "def test_start():\n    assert True\n",
            "calc.py": "",
            "pytest.ini": INI,
            ".gitignore": "__pycache__/\n",
        }
        make_repo(self.root, {PLAN: f"- {TITLE}\n", "detent.toml": config, **start})

    def walk(self) -> None:
        """Go the whole way undisturbed, and keep a copy after each turn."""
        with pytest.MonkeyPatch.context() as here:
            for name, value in self.env.items():
                here.setenv(name, value)
            here.chdir(self.root)
            state = ""
            while state != "DONE":
                shutil.copytree(self.now, self.folder / str(len(self.turns)), symlinks=True)
                done = turn(self.root, Points(0), 0)
                state = done["state"]
                self.turns.append(Turn(done["points"], done["running"], done["seq"], self.standing()))

    def child(self, n: int, point: int | None = None) -> subprocess.CompletedProcess[str]:
        words = [str(self.root), str(self.turns[n].events), *([] if point is None else [str(point)])]
        return subprocess.run([sys.executable, "-m", "tests.rough_crash_child", *words], env=self.env, capture_output=True, text=True)

    def standing(self) -> dict[str, Any]:
        """What must not depend on when the machine was killed."""
        with pytest.MonkeyPatch.context() as here:
            here.setenv("XDG_STATE_HOME", self.env["XDG_STATE_HOME"])
            with closing(SqliteJournal(self.root / ".git/detent/journal.db")) as journal:
                run = journal.heads()[0].run
                events = [(e.on, e.state, e.status, e.tree) for e in journal.events(run, limit=1000)]
                counts = json.loads(journal.at(run, len(events)).body)["run"].get("counts", {})  # type: ignore[union-attr]  # it has events
                fault, owed = journal.first_fault(), list(journal.owed(run))
        refs = sh(self.root, "git", "for-each-ref", "--format=%(refname) %(tree)", "refs/heads/").splitlines()
        reachable = (line.partition(" ")[2] for line in sh(self.root, "git", "rev-list", "--objects", "--all").splitlines())
        return {
            "events": [(*event[:3], _unhashed(self.root, event[3])) for event in events],
            "counts": counts,
            "fault": fault,
            "owed": owed,
            "branches": [
                (ref, sh(self.root, "git", "log", "--topo-order", "--format=%s", ref), _unhashed(self.root, tree))
                for ref, _, tree in (line.partition(" ") for line in refs)
            ],
            "head": sh(self.root, "git", "symbolic-ref", "HEAD"),
            "status": sh(self.root, "git", "status", "--porcelain", "-uall"),
            "strange": {path for path in reachable if path.endswith(".py") and path.rpartition("/")[2] not in KNOWN},
        }

    def killed_at(self, n: int, point: int) -> str:
        """What is different after a turn that was killed at a point and gone on with; empty if nothing is."""
        shutil.rmtree(self.now)
        shutil.copytree(self.folder / str(n), self.now, symlinks=True)
        done = self.child(n, point)
        assert done.returncode == -signal.SIGKILL, f"point {point} of turn {n} was not reached: {done.stderr}"
        done = self.child(n)
        if done.returncode:
            return f"turn {n}, point {point}: {done.stderr[-3000:]}"
        now, calm = self.standing(), self.turns[n].stood
        return "".join(f"turn {n}, point {point}: {name} is {now[name]}, was {calm[name]}\n" for name in calm if now[name] != calm[name])


@cache
def _unhashed(root: Path, tree: str) -> list[str]:
    """What a tree holds; the plan's line names a commit, whose time differs."""
    lines = sh(root, "git", "ls-tree", "-r", tree).splitlines() if tree else []
    return [line for line in lines if not line.endswith(PLAN)] + [f"{PLAN} is there" for line in lines if line.endswith(PLAN)]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    made = Stage(tmp_path_factory.mktemp("rough"))
    made.walk()
    return made


def points_of(stage: Stage) -> list[tuple[int, int]]:
    return [(n, point) for n, each in enumerate(stage.turns) for point in range(1, each.points + 1)]


SAMPLE, PARTS = 4, 8
FAILS = 4  # the turn whose code does not pass


@pytest.mark.slow
def test_killed_at_a_sample_of_points_the_hard_way_ends_the_same(stage: Stage) -> None:
    last = stage.turns[-1].stood
    assert [on for on, *_ in last["events"]] == WAY
    assert last["strange"] == set() and last["status"] == ""
    every = points_of(stage)
    assert len(every) > 300
    sample = [(FAILS, stage.turns[FAILS].running[0]), *(every[(2 * part + 1) * len(every) // (2 * SAMPLE)] for part in range(SAMPLE))]
    assert [said for each in sample if (said := stage.killed_at(*each))] == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(PARTS))
def test_killed_at_every_point_the_hard_way_ends_the_same(stage: Stage, part: int) -> None:
    assert [said for each in points_of(stage)[part::PARTS] if (said := stage.killed_at(*each))] == []
