"""A throw-away project for tests that use the real command line in a real repository."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests import warm, warm_pytest
from tests.laid_out import laid_out
from tests.people import REFUSED, at_a_terminal
from tests.repos import PLAIN, make_repo, sh, write

ROOT = Path(__file__).parent.parent
BYTECODE = Path(tempfile.gettempdir()) / f"detent-tests-bytecode-{os.getuid()}"  # shared, so that not each repository compiles pytest
PLUGINS = (
    "anyio",
    "hypothesispytest",
    "xdist",
    "xdist.looponfail",
    "pytest_cov",
    "slipcover",
    "timeout",
)  # of our own environment; no project here needs them
INI = "[pytest]\npythonpath = .\naddopts = " + " ".join(f"-p no:{name}" for name in PLUGINS) + "\n"
PLAN = "docs/Plan_Doc/Active_Plan.md"
START = {
    PLAN: "# Plan\n\n- feat: add numbers\n- feat: subtract numbers\n",
    "calc.py": "",
    "tests/test_start.py": "def test_start():\n    assert True\n",
    "pytest.ini": INI,
    ".gitignore": "__pycache__/\n",
}
RED = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
GREEN = "def add(a, b):\n    return a + b\n"


# Without the probe of new tests, which saves two runs a step; bytecode is shared by all projects.
QUICK = {"DETENT_EVIDENCE_MUTATION": "off", "DETENT_TEST_ENV": "PYTHONPYCACHEPREFIX", "DETENT_BASH_TIMEOUT": "600"}


class Ran:
    """One call of the command line."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self) -> dict[str, Any]:
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value

    def __repr__(self) -> str:
        return f"exit {self.code}\n{self.out}\n{self.err}"


class Project:
    """A repository, and calls of Detent in it."""

    def __init__(self, folder: Path, files: dict[str, str] | None = None, branch: str = "main", made: bool = False) -> None:
        self.root = folder if made else make_repo(folder, START if files is None else files, branch)
        self.env = {**os.environ, **PLAIN, **QUICK, "PYTHONPATH": str(ROOT / "src"), "PYTHONPYCACHEPREFIX": str(BYTECODE)}
        self.env.pop("PYTHONDONTWRITEBYTECODE", None)
        BYTECODE.mkdir(exist_ok=True)
        self.env["PATH"] = f"{warm_pytest.path()}:{os.environ['PATH']}"

    def argv(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "detent", *args]

    def run(self, *args: str, stdin: str = "", **env: str) -> Ran:
        """One call. If only a person may make it, it is repeated at a person's terminal."""
        done = self.alone(*args, stdin=stdin, **env)
        if done.returncode == 2 and REFUSED.search(done.stderr + done.stdout):
            return self.in_person(*args, **env)
        assert done.returncode != 3, f"a bug: {done.stderr}"
        return Ran(done)

    def in_person(self, *args: str, **env: str) -> Ran:
        """One call by a person at a terminal."""
        done = at_a_terminal([*args], self.root, {**self.env, **env})
        assert done.returncode != 3, f"a bug: {done.stderr}"
        return Ran(done)

    def alone(self, *args: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        """One call by a program without a terminal."""
        whole = {**self.env, **env}
        if warm.can(whole):
            return warm.run([*args], self.root, whole, stdin)
        return subprocess.run(self.argv(*args), cwd=self.root, env=whole, input=stdin, capture_output=True, text=True, errors="replace")

    def task(self) -> dict[str, Any]:
        """The next briefing; starts a run if there is none."""
        found = self.run("get-task", "--json").json
        return found if "run" in found else self.run("start", "--json").json

    def submit(self, **fields: Any) -> dict[str, Any]:
        """Submit; the verdict with the exit code."""
        ran = self.run("submit-work", "-", "--json", stdin=json.dumps({"summary": "s", **fields}))
        return {**ran.json, "exit": ran.code}

    def write(self, files: dict[str, str]) -> None:
        write(self.root, files)

    def git(self, *args: str) -> str:
        return sh(self.root, "git", *args)

    @property
    def state(self) -> dict[str, Any]:
        value = json.loads((self.root / "ORCHESTRATION_STATE.json").read_text())
        assert isinstance(value, dict)
        return value

    @property
    def plan(self) -> dict[str, Any]:
        value = json.loads((self.root / "ACTIVE_PR.json").read_text())
        assert isinstance(value, dict)
        return value

    # -- reaching a state ----------------------------------------------------------------------------------------------------

    def write_plan(self, *types: str, title: str = "feat: add numbers") -> None:
        steps = [{"type": t, "description": f"{t} of add", "status": "TODO"} for t in types or ("RED", "GREEN")]
        plan = {"masterPlanPath": PLAN, "prTitle": title, "summary": "s", "verificationPlan": "v"}
        self.write({"ACTIVE_PR.json": json.dumps({**plan, "tasks": [{"taskName": "add", "status": "TODO", "tdd_steps": steps}]})})

    @laid_out
    def planned(self, *types: str) -> "Project":
        """Go to the first step of a plan, on its branch."""
        self.task()
        self.write_plan(*types)
        assert self.submit()["status"] == "SUCCESS"
        assert self.task()["state"] == "EXECUTING_TDD"
        return self

    def red(self, test: str = RED) -> dict[str, Any]:
        self.write({"tests/test_add.py": test})
        return self.submit(test_command="pytest tests/test_add.py", expectation="FAIL")

    @laid_out
    def reddened(self, *types: str) -> "Project":
        """Go to the GREEN step, with its RED proved."""
        self.planned(*types)
        assert self.red()["status"] == "NEEDS_ANALYSIS"
        assert self.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
        return self

    def green(self, code: str = GREEN) -> dict[str, Any]:
        self.write({"calc.py": code})
        return self.submit(test_command="pytest tests/test_add.py", expectation="PASS")

    @laid_out
    def debugging(self, failures: int = 1) -> "Project":
        """Go to DEBUGGING at a GREEN step, after some failures."""
        self.reddened()
        for n in range(failures):
            assert self.green(f"def add(a, b):\n    return {n + 10}\n")["status"] == "FAILURE"
        return self

    @laid_out
    def reviewing(self) -> "Project":
        """Go to CODE_REVIEW, with every step proved."""
        self.reddened()
        assert self.green()["status"] == "SUCCESS"
        assert self.task()["state"] == "CODE_REVIEW"
        return self

    @laid_out
    def finalizing(self) -> "Project":
        self.reviewing()
        self.write({"FINDINGS.json": "[]"})
        assert self.task()["state"] == "AWAITING_FINALIZATION"
        return self

    @laid_out
    def squashed(self) -> "Project":
        self.finalizing()
        self.git("reset", "-q", "--soft", "main")
        self.git("commit", "-q", "-m", "feat: add numbers")
        assert self.submit(commit_hash=self.git("rev-parse", "HEAD"))["state"] == "FINALIZE_COMPLETE"
        return self

    def mark_done(self) -> None:
        text = (self.root / PLAN).read_text()
        self.write({PLAN: text.replace("- feat: add numbers\n", f"- feat: add numbers [DONE] {self.git('rev-parse', 'HEAD')[:10]}\n")})

    @laid_out
    def marked(self) -> "Project":
        """Go to the merge."""
        self.squashed()
        self.mark_done()
        assert self.submit()["state"] == "PLAN_UPDATED"
        return self
