"""One process that works a whole pull request through the real machine, and can be killed at any point.

Called as `python -m tests.real_crash_child FOLDER [POINT]`: continues the run with an honest agent. There is a point before and after every
journal write, effect, job and git call; at POINT the process kills itself. Without POINT it runs to the end and prints how many points it
passed.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from detent.app import App, open_app
from detent.git.repo import Git, Out
from detent.kernel.model import Briefing, Sent
from detent.workflows.pr.pr_start import start_pr

PLAN = "docs/plan.md"
TITLE = "feat: one"
STEPS = [{"type": t, "description": t, "status": "TODO"} for t in ("RED", "GREEN")]
ACTIVE = {
    "masterPlanPath": PLAN,
    "prTitle": TITLE,
    "summary": "s",
    "verificationPlan": "v",
    "tasks": [{"taskName": "t", "status": "TODO", "tdd_steps": STEPS}],
}


class Points:
    """Counts the points passed, and kills the process at a chosen one."""

    def __init__(self, die_at: int) -> None:
        self.passed, self.die_at = 0, die_at

    def __call__(self) -> None:
        self.passed += 1
        if self.passed == self.die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **named: Any) -> Any:
            self()
            result = function(*args, **named)
            self()
            return result

        return wrapped


class Fragile:
    """An object with a point before and after some of its methods."""

    def __init__(self, inner: Any, names: tuple[str, ...], points: Points) -> None:
        self._inner, self._names, self._points = inner, names, points

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        return self._points.around(value) if name in self._names else value


class FragileGit(Git):
    """git with a point before and after each call."""

    points: Points

    def call(
        self, *args: str, stdin: bytes = b"", index: Path | None = None, also: Mapping[str, str] | None = None, timeout: float = 300
    ) -> Out:
        self.points()
        out = super().call(*args, stdin=stdin, index=index, also=also, timeout=timeout)
        self.points()
        return out


def fragile(folder: Path, points: Points) -> App:
    app = open_app(folder, create=True)
    git = FragileGit(app.place, os.environ)
    git.points = points
    app.world.git = git
    journal = Fragile(app.journal, ("append", "settled", "claim", "release"), points)
    world = Fragile(app.world, ("settle", "perform"), points)
    app.door.journal, app.door.world = journal, world
    return app


def act(folder: Path, briefing: Briefing) -> Sent:
    """The action of an honest agent; it can be repeated."""
    state, step = briefing.state, briefing.step

    def git(*args: str) -> str:
        return subprocess.run(["git", *args], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()

    if state == "INITIALIZING" and "[DONE]" in (folder / PLAN).read_text():
        return Sent("submit", summary="s", no_pr_left=True)
    if state == "INITIALIZING":
        (folder / "ACTIVE_PR.json").write_text(json.dumps(ACTIVE))
    if state in ("EXECUTING_TDD", "DEBUGGING") and step is not None:
        (folder / "check.sh").write_text("grep -q word code\n")
        if step.type == "GREEN":
            (folder / "code").write_text("word\n")
        return Sent("submit", summary="s", test_command="sh check.sh", expectation="FAIL" if step.type == "RED" else "PASS")
    if state == "NEEDS_ANALYSIS":
        return Sent("submit", summary="s", analysis_decision="SUCCESS")
    if state == "CODE_REVIEW":
        return Sent("submit", summary="s", findings="[]")
    if state == "AWAITING_FINALIZATION":
        git("reset", "-q", "--soft", "main")
        if git("status", "--porcelain"):
            git("commit", "-q", "-m", TITLE)
    if state == "FINALIZE_COMPLETE":
        (folder / PLAN).write_text(f"- {TITLE} [DONE] {git('rev-parse', 'HEAD')}\n")
    return Sent("submit", summary="s")


def main() -> None:
    folder, points = Path(sys.argv[1]), Points(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    os.chdir(folder)
    app = fragile(folder, points)
    head = app.current() or app.newest()
    run = head.run if head else start_pr(app, Sent("start", by="human"))
    for _ in range(40):
        briefing = app.door.next(run)
        if briefing.actor == "none":
            break
        verdict = app.door.submit(run, act(folder, briefing))
        assert verdict.status in ("SUCCESS", "NEEDS_ANALYSIS"), verdict
    print(json.dumps({"points": points.passed, "state": app.door.load(run).run.state}))


if __name__ == "__main__":
    main()
