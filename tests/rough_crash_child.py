"""One process that works a pull request the hard way, with real tests: failures, a scope reduction, a review with findings.

Called as `python -m tests.rough_crash_child FOLDER TARGET [POINT]`: continues until the run has TARGET events and nothing is due, with the calls
of the command line, and prints its state. The points are those of real_crash_child, and three for each program that runs tests: with the
canary planted, while it runs, and after it. At POINT the process kills itself. TARGET 0 is a single turn, whatever its result.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Timer
from typing import Any

from detent.app import App
from detent.app.conversation import briefed, say_to_run
from detent.door import AnyRun
from detent.evidence.running.canary import planted_file
from detent.kernel.model import Briefing, Sent
from detent.workflows.pr.pr_start import start_pr
from detent.world.known_runs import RunConfig
from tests.real_crash_child import Points, fragile

PLAN, TITLE = "docs/plan.md", "feat: add numbers"
RUNNING: list[int] = []  # the points at which tests run
BEFORE_DEATH = 0.2  # seconds that tests run before the kill
ROUGH = "def add(a, b):\n    rough = a + b\n    return rough\n"
SMOOTH = "def add(a, b):\n    return a + b\n"
CODE = {"zero": "def add(a, b):\n    return 0\n", "the same": ROUGH}
TESTS = {
    name: f"from calc import add\n\n\ndef test_{name}():\n    assert add({given}) == {wanted}\n"
    for name, given, wanted in (("add", "1, 2", 3), ("zero", "0, 0", 0))
}
FILES = {"tests/test_add.py", "tests/test_zero.py", "calc.py", PLAN}  # all files that the agent ever writes


def steps(red: str, green: str) -> list[dict[str, str]]:
    return [{"type": t, "description": d, "status": "TODO"} for t, d in (("RED", red), ("GREEN", green))]


HEAD = {"masterPlanPath": PLAN, "prTitle": TITLE, "summary": "s", "verificationPlan": "v"}
WHOLE = {**HEAD, "tasks": [{"taskName": "add", "status": "TODO", "tdd_steps": steps("add", "all at once")}]}
SMALLER = {
    **HEAD,
    "tasks": [
        {
            "taskName": "add zero",
            "status": "TODO",
            "tdd_steps": steps("zero", "zero"),
            "breakdownHistory": {"originalTaskName": "add", "justification": "too much at once"},
        },
        {"taskName": "verify add", "status": "TODO", "tdd_steps": steps("add", "the same")},
    ],
}


def act(folder: Path, briefing: Briefing, run: AnyRun) -> Sent:
    """The action of an agent that fails at first; it can be repeated."""
    state, done = briefing.state, "[DONE]" in (folder / PLAN).read_text()
    if state == "INITIALIZING" and done:
        return Sent("submit", summary="s", no_pr_left=True)
    if state in ("INITIALIZING", "REPLANNING"):
        (folder / "ACTIVE_PR.json").write_text(json.dumps(WHOLE if state == "INITIALIZING" else SMALLER))
    if state in ("EXECUTING_TDD", "DEBUGGING"):
        return work(folder, briefing, run)
    if state == "NEEDS_ANALYSIS":
        return Sent("submit", summary="s", analysis_decision="SUCCESS")
    if state == "FINALIZE_COMPLETE":
        (folder / PLAN).write_text(f"- {TITLE} [DONE] {run.data.last_commit_hash}\n")
    return Sent("submit", summary="s")


def work(folder: Path, briefing: Briefing, run: AnyRun) -> Sent:
    """One step: the first two tries at the code fail, then the scope is reduced."""
    step, failures = briefing.step, run.counts.get("debug", 0)
    assert step is not None
    if step.type == "RED":
        (folder / f"tests/test_{step.description}.py").write_text(TESTS[step.description])
        return Sent("submit", summary="s", test_command=f"pytest tests/test_{step.description}.py", expectation="FAIL")
    if step.description == "all at once" and failures == 2:
        return Sent("scope-reduction")
    wrong = f"def add(a, b):\n    return {10 + failures}\n"
    (folder / "calc.py").write_text(SMOOTH if step.type == "REFACTOR" else CODE.get(step.description, wrong))
    return Sent("submit", summary="s", test_command="pytest", expectation="PASS")


def rough(folder: Path, points: Points) -> App:
    """The app with its points; while tests run, the process dies a little later."""
    app = fragile(folder, points)
    config_of = app.world.config_of

    def fragile_kit(run: AnyRun) -> RunConfig:
        config: RunConfig = config_of(run)

        def start(*args: Any, **named: Any) -> Any:
            points()
            points.passed += 1
            RUNNING.append(points.passed)
            if points.passed == points.die_at:
                Timer(BEFORE_DEATH, os.kill, (os.getpid(), signal.SIGKILL)).start()
            ran = config.suite.start(*args, **named)
            points()
            return ran

        return config._replace(suite=config.suite._replace(start=start))

    app.world.config_of = fragile_kit
    return app


def turn(folder: Path, points: Points, target: int) -> dict[str, Any]:
    """Get the task and submit, until there are TARGET events."""
    RUNNING.clear()
    app = rough(folder, points)
    if app.newest() is None:
        start_pr(app, Sent("start", by="human", channel="terminal"))
        before = 0
    else:
        before = app.door.load(app.chosen(None)).run.seq
    while True:
        briefing = briefed(app, None)
        assert not planted_file(app.place).exists(), "the canary of a run that was killed is gone"
        strange = set(changed(folder)) - FILES
        assert not strange, strange
        run = app.door.load(app.chosen(None)).run
        if briefing.actor == "none" or run.seq >= (target or before + 1):
            app.journal.close()
            return {"points": points.passed, "running": [*RUNNING], "state": run.state, "seq": run.seq}
        verdict = say_to_run(app, None, act(folder, briefing, run))
        assert verdict.status in ("SUCCESS", "NEEDS_ANALYSIS", "FAILURE"), verdict


def changed(folder: Path) -> list[str]:
    said = subprocess.run(["git", "status", "--porcelain", "-uall"], cwd=folder, check=True, capture_output=True, text=True).stdout
    return [line[3:] for line in said.splitlines()]


def main() -> None:
    folder, target, points = Path(sys.argv[1]), int(sys.argv[2]), Points(int(sys.argv[3]) if len(sys.argv) > 3 else 0)
    os.chdir(folder)
    print(json.dumps(turn(folder, points, target)))


if __name__ == "__main__":
    main()
