"""The cost of a call: `get-task` against starting Python, `submit-work` against the tests alone."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.request import Request, urlopen

from bench import Figure
from detent.evidence.runners import RUNNERS, Command

PLAN = "docs/Plan_Doc/Active_Plan.md"
FILES = {
    PLAN: "- feat: add\n",
    "calc.py": "",
    "tests/test_start.py": "def test_start():\n    assert True\n",
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "ACTIVE_PR.json": '{"masterPlanPath": "p", "prTitle": "feat: add", "summary": "s", "verificationPlan": "v", "tasks": [{"taskName": "t", "status": "TODO", '
    '"tdd_steps": [{"type": "RED", "description": "r", "status": "TODO"}, {"type": "GREEN", "description": "g", "status": "TODO"}, '
    '{"type": "REFACTOR", "description": "f", "status": "TODO"}]}]}',
}  # fmt: skip
ENTRY = "from detent.interfaces.cli.main import main; main()"


def environment(folder: Path) -> dict[str, str]:
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("DETENT_", "GIT_", "TDD_", "PYTHON"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**keep, "XDG_STATE_HOME": str(folder / "state"), "PATH": path, "GIT_CONFIG_GLOBAL": os.devnull}


def make(folder: Path, env: dict[str, str]) -> Path:
    """A small project with its plan accepted, at its first RED step."""
    repo = folder / "project"
    for path, text in FILES.items():
        if path != "ACTIVE_PR.json":
            (repo / path).parent.mkdir(parents=True, exist_ok=True)
            (repo / path).write_text(text)
    for args in (
        ["init", "-qb", "main"],
        ["config", "user.name", "b"],
        ["config", "user.email", "b@b"],
        ["add", "-A"],
        ["commit", "-qm", "start"],
    ):
        subprocess.run(["git", *args], cwd=repo, env=env, check=True)
    call(repo, env, "start")
    (repo / "ACTIVE_PR.json").write_text(FILES["ACTIVE_PR.json"])
    call(repo, env, "submit-work", "--summary", "s")
    call(repo, env, "get-task")
    return repo


def call(repo: Path, env: dict[str, str], *args: str) -> str:
    return subprocess.run([sys.executable, "-m", "detent", *args], cwd=repo, env=env, capture_output=True, text=True).stdout


def timed(argv: Sequence[str], repo: Path, env: dict[str, str], stdin: str) -> float:
    begun = time.perf_counter()
    subprocess.run(argv, cwd=repo, env=env, input=stdin.encode(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begun


def interleaved(repo: Path, env: dict[str, str], times: int, stdin: str = "", **commands: Sequence[str]) -> dict[str, float]:
    """Medians of commands that run alternately, so that noise affects all of them."""
    rounds = by_turns(repo, env, times, stdin, commands)
    return {name: statistics.median(each[name] for each in rounds) for name in commands}


def by_turns(repo: Path, env: dict[str, str], times: int, stdin: str, commands: Mapping[str, Sequence[str]]) -> list[dict[str, float]]:
    return [{name: timed(argv, repo, env, stdin) for name, argv in commands.items()} for _ in range(times)]


def get_task(folder: Path) -> Figure:
    """`get-task` where nothing changed, against starting Python alone."""
    env = environment(folder)
    repo = make(folder, env)
    python = sys.executable
    got = interleaved(repo, env, 40, plain=[python, "-I", "-c", "pass"], task=[python, "-I", "-c", ENTRY, "get-task"])
    return Figure("get-task, nothing changed", got["task"], "python -I -c pass", got["plain"], 2.5)


def first_screen(folder: Path) -> Figure:
    """`detent` without arguments, with an open run, against starting Python alone."""
    env = environment(folder)
    repo = make(folder, env)
    python = sys.executable
    got = interleaved(repo, env, 40, plain=[python, "-I", "-c", "pass"], screen=[python, "-I", "-c", ENTRY])
    return Figure("detent alone", got["screen"], "python -I -c pass", got["plain"], 2.5)


def check_shows(folder: Path) -> Figure:
    """Time to the first line of `detent check`, in a folder where nothing was checked before."""
    env = environment(folder)
    repo = make(folder, env)

    def shown() -> float:
        begun = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, "-I", "-c", ENTRY, "check", "HEAD"], cwd=repo, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as child:
            assert child.stderr is not None
            assert child.stderr.readline().startswith(b"detent check: 1 of 5")
            took = time.perf_counter() - begun
            child.terminate()
        return took

    return Figure("the first words of check", statistics.median(shown() for _ in range(10)), "half a second", 0.5, 1.0)


def serve_opens(folder: Path) -> Figure:
    """Time from starting `detent serve` until its page and its list of runs are answered."""
    env = environment(folder)
    repo = make(folder, env)

    def opened() -> float:
        begun = time.perf_counter()
        argv = [sys.executable, "-I", "-c", ENTRY, "serve", "--no-open", "--port", "0"]
        with subprocess.Popen(argv, cwd=repo, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
            assert child.stdout is not None
            link = child.stdout.readline().split()[-1].partition("#")[0]
            child.stdout.readline()
            token = child.stdout.readline().split()[-1]
            for path in ("", "api/runs"):
                with urlopen(Request(link + path, headers={"Authorization": f"Bearer {token}"})) as answer:
                    assert answer.status == 200
            took = time.perf_counter() - begun
            child.terminate()
        return took

    return Figure("serve, until page and runs are answered", statistics.median(opened() for _ in range(7)), "one second", 1.0, 1.0)


def get_task_bare(folder: Path) -> Figure:
    """`get-task` against Python without site packages, which shows how much of it is our own."""
    env = environment(folder)
    repo = make(folder, env)
    python = sys.executable
    got = interleaved(repo, env, 40, bare=[python, "-I", "-S", "-c", "pass"], task=[python, "-I", "-c", ENTRY, "get-task"])
    return Figure("get-task, nothing changed", got["task"], "python -I -S -c pass", got["bare"], 5.0)


def hook(folder: Path) -> Figure:
    """The wait before each command or edit of an agent, against starting Python alone. The slower of the two counts."""
    env = environment(folder)
    repo = make(folder, env)
    python = sys.executable
    inputs = ({"command": "git status && ls -l src"}, {"file_path": str(repo / "tests/test_add.py"), "content": "x" * 10_000})
    found = []
    for name, given in zip(("Bash", "Write"), inputs, strict=True):
        event = {"hook_event_name": "PreToolUse", "cwd": str(repo), "tool_name": name, "tool_input": given}
        calls = {"plain": [python, "-I", "-c", "pass"], "hook": [python, "-I", "-c", ENTRY, "hook", "claude"]}
        found.append(interleaved(repo, env, 40, stdin=json.dumps(event), **calls))
    got = max(found, key=lambda each: each["hook"] / each["plain"])
    return Figure("hook, before a command or an edit", got["hook"], "python -I -c pass", got["plain"], 2.5)


def submit_work(folder: Path) -> Figure:
    """A GREEN submit that fails, with new code each time, minus the same tests run by hand.

    A failing test runs once more to see whether it is flaky; both runs are subtracted.
    """
    env = environment(folder)
    repo = make(folder, env)
    (repo / "tests/test_add.py").write_text("from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n")
    call(repo, env, "submit-work", "--summary", "s", "--test-command", "pytest", "--expectation", "FAIL")
    call(repo, env, "submit-work", "--summary", "s", "--analysis-decision", "SUCCESS")
    submit = [sys.executable, "-I", "-c", ENTRY, "submit-work", "--summary", "s", "--test-command", "pytest", "--expectation", "PASS"]
    base = Command((sys.executable, "-m", "pytest"), "pytest")
    whole, again = (
        RUNNERS["pytest"].argv(base, which, str(folder / "report")) for which in ((), ("tests/test_add.py",))
    )  # the machine's own calls

    def ours(answer: int) -> float:
        (repo / "calc.py").write_text(f"def add(a, b):\n    return {answer}\n")  # the same tree again would be answered from memory
        took = by_turns(repo, env, 1, "", {"submit": submit, "whole": whole, "again": again})[0]
        return took["submit"] - took["whole"] - took["again"]

    found = [ours(100 + answer) for answer in range(20)]
    said = json.loads(call(repo, env, "status", "--json"))
    assert said["counts"]["debug"] == len(found), said  # each submit was judged
    return Figure("submit-work less the tests", statistics.median(found), "150 ms", 0.150, 1.0)
