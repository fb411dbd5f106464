"""The cost of a step in runs of the project's suite: CPU time of all its processes against one plain run. Goals: GATE §4.

Three projects with only a sum and tests that keep a processor busy, in many files, so that one changed file is cheap to run.
"""

import json
import sys
from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path
from statistics import median
from typing import Any

from bench import Figure, meter
from bench.commands import environment

PLAN, TITLE = "docs/Plan_Doc/Active_Plan.md", "feat: add numbers"
PLUGINS = ("anyio", "hypothesispytest", "xdist", "xdist.looponfail", "pytest_cov", "slipcover", "timeout")  # of Detent's own environment
BUSY = "import time\n\n\ndef test_busy():\n    until = time.process_time() + {each}\n    while time.process_time() < until:\n        pass\n"
TEST = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
CODE = "def add(a, b):\n    return a + b\n"
TIDIED = "def add(a, b):\n    total = a + b\n    return total\n"
LIST, ENTRY = "test-list.md", "adds two numbers"
NAMED = {"currentTest": {"description": ENTRY, "testFile": "tests/test_add.py", "implFile": "calc.py"}}
TAKEN = ("SUCCESS", "NEEDS_ANALYSIS")
EVIDENCE_SECONDS = 60  # [evidence] seconds
STARTS = 1.5  # CPU seconds of a step for starting programs, allowed on top of its test runs


def _files(seconds: float, files: int) -> dict[str, str]:
    busy = {f"tests/test_busy_{n:02}.py": BUSY.format(each=seconds / files) for n in range(files)}
    ini = "[pytest]\npythonpath = .\naddopts = " + " ".join(f"-p no:{name}" for name in PLUGINS) + "\n"
    settings = "[test]\ncommand = 'pytest'\ntimeout = 600\n\n[git]\nremote = ''\n"
    plain = {"calc.py": "", "pytest.ini": ini, ".gitignore": "__pycache__/\n", "detent.toml": settings, PLAN: f"# Plan\n\n- {TITLE}\n"}
    return {**busy, **plain}


class Walk:
    """One project that an honest agent works through, with the CPU seconds of each part."""

    def __init__(self, folder: Path, seconds: float, files: int) -> None:
        self.root, self.env, self.costs = folder / "project", environment(folder), dict[str, float]()
        self.env.pop("PYTHONDONTWRITEBYTECODE", None)
        self.write(_files(seconds, files))
        for args in (
            ["init", "-qb", "main"],
            ["config", "user.name", "b"],
            ["config", "user.email", "b@b"],
            ["add", "-A"],
            ["commit", "-qm", "s"],
        ):
            self.git(*args)

    def plain(self, times: int) -> tuple[float, float]:
        """The suite alone, as a person runs it: seconds and CPU seconds."""
        self.run("pytest", "-q", "-k", "no_such_test")  # creates the bytecode, which a person's checkout has too
        found = [self.run("pytest", "-q") for _ in range(times)]
        assert all(each.code == 0 for each in found), found[0].out
        return median(each.seconds for each in found), median(each.cpu for each in found)

    def write(self, files: Mapping[str, str]) -> None:
        for path, text in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text)

    def run(self, *argv: str, stdin: str = "") -> meter.Cost:
        return meter.run(argv, self.root, self.env, stdin)

    def git(self, *args: str) -> str:
        got = self.run("git", *args)
        assert got.code == 0, got.err
        return got.out.strip()

    def call(self, part: str, *args: str, stdin: str = "") -> dict[str, Any]:
        """Make one call of Detent and add its cost to a part. A refusal ends the bench, because its cost would mean nothing."""
        got = self.run(sys.executable, "-m", "detent", *args, "--json", stdin=stdin)
        self.costs[part] = self.costs.get(part, 0.0) + got.cpu
        answer: dict[str, Any] = json.loads(got.out) if got.out.startswith("{") else {"error": got.err}
        status = answer.get("status", "ERROR" if "error" in answer else "SUCCESS")
        assert status in TAKEN, f"{part}: {got.out[-2000:]}{got.err[-2000:]}"
        return answer

    def submit(self, part: str, **fields: Any) -> dict[str, Any]:
        """Submit, and fetch the next task, including the work of the machine in between."""
        verdict = self.call(part, "submit-work", "-", stdin=json.dumps({"summary": part, **fields}))
        self.call(part, "get-task")
        return verdict

    def alone(self) -> float:
        """The CPU seconds of the changed test file alone."""
        return self.run("pytest", "-q", "tests/test_add.py").cpu


def pr(walk: Walk) -> float:
    """RED, GREEN, REFACTOR, and the end of the branch; returns the cost of the changed tests alone."""
    walk.call("start", "start")
    steps = [{"type": kind, "description": kind, "status": "TODO"} for kind in ("RED", "GREEN", "REFACTOR")]
    head = {"masterPlanPath": PLAN, "prTitle": TITLE, "summary": "s", "verificationPlan": "v"}
    walk.write({"ACTIVE_PR.json": json.dumps({**head, "tasks": [{"taskName": "add", "status": "TODO", "tdd_steps": steps}]})})
    walk.submit("start")
    walk.write({"tests/test_add.py": TEST})
    changed = walk.alone()
    if walk.submit("RED", test_command="pytest tests/test_add.py", expectation="FAIL")["status"] == "NEEDS_ANALYSIS":
        walk.submit("RED", analysis_decision="SUCCESS")
    for part, code in (("GREEN", CODE), ("REFACTOR", TIDIED)):
        walk.write({"calc.py": code})
        walk.submit(part, test_command="pytest tests/test_add.py", expectation="PASS")
    walk.submit("end", findings=[])
    walk.git("reset", "-q", "--soft", "main")
    walk.git("commit", "-qm", TITLE)
    commit = walk.git("rev-parse", "HEAD")
    walk.submit("end", commit_hash=commit)
    walk.write({PLAN: f"# Plan\n\n- {TITLE} [DONE] {commit[:10]}\n"})
    walk.submit("end")
    return changed


def tdd(walk: Walk) -> float:
    walk.call("start", "start", "--workflow", "tdd", "sums")
    walk.write({LIST: f"- [ ] {ENTRY}\n"})
    walk.submit("start", reply=NAMED)
    walk.write({"tests/test_add.py": TEST})
    changed = walk.alone()
    walk.submit("RED")
    for part, code in (("GREEN", CODE), ("REFACTOR", TIDIED)):
        walk.write({"calc.py": code})
        walk.submit(part)
    walk.submit("end", reply={"currentTest": None})
    return changed


WAYS: dict[str, Callable[[Walk], float]] = {"pr": pr, "tdd": tdd}


def figures(folder: Path, seconds: float, files: int, *ways: str) -> list[Figure]:
    """All parts of each workflow. Start and REFACTOR have no goal of their own; the whole cycle has one."""
    found = []
    for way in ways:
        walk = Walk(folder / way, seconds, files)
        _, suite = walk.plain(5 if seconds < 1 else 1)
        changed = WAYS[way](walk) / suite
        cycle = sum(walk.costs[part] for part in ("RED", "GREEN", "REFACTOR"))
        starts, red = STARTS / suite, changed if way == "pr" else 1.0
        goals = {
            "start": inf,
            "RED": max(0.5 + changed if way == "pr" else 1.2, red + starts),
            "GREEN": max(1.6, 1 + starts),
            "REFACTOR": inf,
            "RED to REFACTOR": max(3.2 if way == "pr" else 4.0, red + 2 + 3 * starts),
            "end": 3 + EVIDENCE_SECONDS / suite,
        }
        for part, goal in goals.items():
            cost = {**walk.costs, "RED to REFACTOR": cycle}[part]
            found.append(Figure(f"{way} {part}, CPU", cost, f"one run of a suite of {seconds:g} s, CPU", suite, round(goal, 2)))
    return found


def quick(folder: Path) -> list[Figure]:
    """Suites of 0.2 and 5 seconds; the smaller is mostly the start of pytest, which counts as part of the suite."""
    return [*figures(folder / "small", 0.2, 20, "pr", "tdd"), *figures(folder / "middle", 5, 20, "pr", "tdd")]


def long(folder: Path) -> list[Figure]:
    """A suite of a minute, with several minutes for each workflow; runs only by name or with --all."""
    return figures(folder / "large", 60, 60, "pr")
