"""Random teams on the real machine: real git, real pytest. Nothing that was not proved gets through."""

import json
import os
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from detent.app import App, open_app
from detent.fakes import MemoryWorld
from detent.journal.journal_rows import from_entry
from detent.kernel.model import Briefing, Event, Sent
from detent.workflows.pr.pr_data import PrData, current
from detent.workflows.pr.pr_start import start_pr
from detent.workflows.pr.pr_table import PR
from tests.project import PLAN, START
from tests.repos import make_repo, sh
from tests.teams import STYLES, PrTeam

SPOILS = ("delete", "skip", "weaken", "break", "config", "exit")


class RealTeam(PrTeam):
    """An agent that works in a real checkout. Only the lies are taken from the one in memory."""

    def __init__(self, app: App, run: str, rng: random.Random) -> None:
        super().__init__(MemoryWorld(), rng)
        self.app, self.run, self.root, self.count = app, run, app.place.root, 0

    @property
    def data(self) -> PrData:
        data = self.app.door.load(self.run).run.data
        assert isinstance(data, PrData)
        return data

    def act(self, briefing: Briefing, style: str) -> Sent:
        if style == "lying":
            return self._lie(briefing)
        if style == "wrong":
            self._spoil_for_real()
        if style == "honest":
            self._clean()
        return self._work(briefing, style)

    def _clean(self) -> None:
        """Back to the last good tree, as an honest agent who undoes what another one spoiled."""
        tree = self.data.judged_tree or self.data.good_tree
        if tree and self.data.branch:
            sh(self.root, "git", "switch", "-q", self.data.branch.removeprefix("refs/heads/"), check=False)
            sh(self.root, "git", "clean", "-fdq")
            sh(self.root, "git", "read-tree", "-u", "--reset", tree)
            sh(self.root, "git", "read-tree", "HEAD")

    def _work(self, briefing: Briefing, style: str) -> Sent:
        state, step = briefing.state, briefing.step
        if state == "INITIALIZING":
            return self._plan(style)
        if state in ("EXECUTING_TDD", "DEBUGGING") and step is not None:
            if style == "honest":
                self._step(step.type)
            return Sent("submit", summary="s", test_command="pytest", expectation="FAIL" if step.type == "RED" else "PASS")
        if state == "NEEDS_ANALYSIS":
            return Sent("submit", summary="s", analysis_decision="SUCCESS" if style == "honest" else "FAILURE")
        if state == "CODE_REVIEW":
            return Sent("submit", summary="s", findings="[]")
        if state == "AWAITING_FINALIZATION" and style == "honest":
            sh(self.root, "git", "reset", "-q", "--soft", self.data.base)
            sh(self.root, "git", "commit", "-qam", self.data.plan.prTitle if self.data.plan else "")
        if state == "FINALIZE_COMPLETE" and style == "honest" and self.data.plan:
            text, title = (self.root / PLAN).read_text(), self.data.plan.prTitle
            (self.root / PLAN).write_text(text.replace(f"- {title}\n", f"- {title} [DONE] {self.data.last_commit_hash}\n"))
        return Sent("submit", summary="s")

    def _plan(self, style: str) -> Sent:
        titles = [line[2:] for line in (self.root / PLAN).read_text().splitlines() if line.startswith("- ") and "[DONE]" not in line]
        if not titles:
            return Sent("submit", summary="s", no_pr_left=True)
        if style != "lazy":
            steps = [{"type": t, "description": t, "status": "TODO"} for t in ("RED", "GREEN", "REFACTOR")]
            head = {"masterPlanPath": PLAN, "prTitle": titles[0], "summary": "s", "verificationPlan": "v"}
            plan = {**head, "tasks": [{"taskName": "t", "status": "TODO", "tdd_steps": steps}]}
            (self.root / "ACTIVE_PR.json").write_text(json.dumps(plan))
        return Sent("submit", summary="s")

    def _step(self, kind: str) -> None:
        if kind == "RED":
            self.count += 1
            text = f"import calc\n\n\ndef test_it():\n    assert calc.f{self.count}() == {self.count}\n"
            (self.root / f"tests/test_f{self.count}.py").write_text(text)
        if kind == "GREEN":
            wanted = [p.stem.removeprefix("test_f") for p in sorted((self.root / "tests").glob("test_f*.py"))]
            (self.root / "calc.py").write_text("".join(f"def f{n}():\n    return {n}\n\n\n" for n in wanted))

    def _spoil_for_real(self) -> None:
        tests = sorted((self.root / "tests").glob("test_*.py"))
        how = self.rng.choice(SPOILS)
        test = self.rng.choice(tests) if tests else self.root / "tests/test_x.py"
        if how == "delete":
            test.unlink(missing_ok=True)
        elif how == "skip":
            test.write_text("import pytest\n\npytestmark = pytest.mark.skip\n" + (test.read_text() if test.exists() else ""))
        elif how == "weaken":
            test.write_text("def test_it():\n    assert True\n")
        elif how == "break":
            (self.root / "calc.py").write_text("def f1():\n    return 'wrong'\n")
        elif how == "config":
            (self.root / "conftest.py").write_text("collect_ignore_glob = ['tests/test_f*']\n")
        else:
            (self.root / "calc.py").write_text("import os\nos._exit(0)\n")


def play(folder: Path, seed: int, turns: int, weights: tuple[int, ...]) -> tuple[App, str]:
    rng = random.Random(seed)
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
    config = "[debug]\nreduce_scope = 30\nescalate = 30\n[git]\nremote = ''\n"
    app = open_app(make_repo(folder, {**START, PLAN: "- feat: one\n", "detent.toml": config}), create=True, env=env)
    run = start_pr(app, Sent("start", by="human"))
    team = RealTeam(app, run, rng)
    for _ in range(turns):
        app.world.restore(app.door.load(run).run)
        briefing = app.door.next(run)
        if briefing.actor == "none":
            break
        if briefing.actor == "human":
            app.door.submit(run, Sent("resume", by="human"))
            continue
        app.door.submit(run, team.act(briefing, rng.choices(STYLES, weights)[0]))
    return app, run


def judged_again(app: App, tree: str, folder: Path) -> tuple[int, int]:
    """(passed, failed) of a tree, by an independent run in a checkout of its own."""
    folder.mkdir(parents=True)
    sh(app.place.root, "sh", "-c", f"git archive {tree} | tar -x -C {folder}")
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rA"]
    out = subprocess.run(line, cwd=folder, capture_output=True, text=True).stdout
    return out.count("\nPASSED "), out.count("\nFAILED ") + out.count("\nERROR ")


def assert_only_proven_steps_are_done(app: App, run: str, scratch: Path) -> int:
    events: list[Event[Any]] = [from_entry(PR, e) for e in app.journal.events(run, limit=10_000)]
    proved = 0
    for before, event in pairwise(events):
        now = current(before.run.data)
        if now is None or _done(event) <= _done(before):
            continue
        proved += 1
        passed, failed = judged_again(app, event.run.data.good_tree, scratch / str(event.run.seq))
        assert passed >= 1
        assert (failed > 0) == (now[2].type == "RED"), f"{now[2].type} was marked DONE at event {event.run.seq}"
        if now[2].type == "GREEN":
            changed = sh(app.place.root, "git", "diff", "--name-only", before.run.data.good_tree, event.run.data.good_tree)
            assert "test" not in changed
    return proved


def _done(event: Event[Any]) -> int:
    return sum(s.status == "DONE" for t in (event.run.data.plan.tasks if event.run.data.plan else ()) for s in t.tdd_steps)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, *(pytest.param(s, marks=pytest.mark.slow) for s in range(2, 16))])
def test_mixed_teams_never_get_unproven_work_through(tmp_path: Path, seed: int) -> None:
    app, run = play(tmp_path / "p", seed, 40, (5, 1, 2, 1))
    assert assert_only_proven_steps_are_done(app, run, tmp_path / "again") > 0
    app.journal.close()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 8))
def test_agents_who_never_do_the_work_never_get_a_step_done(tmp_path: Path, seed: int) -> None:
    app, run = play(tmp_path / "p", seed, 15, (0, 1, 2, 2))
    assert assert_only_proven_steps_are_done(app, run, tmp_path / "again") == 0
    assert sh(app.place.root, "git", "log", "--format=%s", "main") == "start"
    app.journal.close()
