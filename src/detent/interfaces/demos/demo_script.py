"""The script of the `pr` demo, turn by turn: what the agent writes, which git commands it runs, what it hands in. Data only."""

import json
from collections.abc import Mapping
from typing import NamedTuple

from detent.kernel.model import Sent


class DemoTurn(NamedTuple):
    """One turn of the agent."""

    says: str
    sent: Sent
    writes: Mapping[str, str | None] = {}
    git: tuple[tuple[str, ...], ...] = ()
    marks: str = ""  # the plan's entry to mark as done


FILES = {
    "docs/plan.md": "# Plan\n\n- feat: add numbers\n- feat: subtract numbers\n",
    "calculator.py": '"""A small calculator."""\n',
    "tests/test_calculator.py": "import calculator\n\n\ndef test_it_has_a_description():\n    assert calculator.__doc__\n",
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "detent.toml": "",
}
REVIEWER = '''"""A reviewer that knows one rule: every function says what it does."""
import json, re, sys

change = json.load(sys.stdin)["diff"]
added = "\\n".join(line[1:] for line in change.splitlines() if line.startswith("+"))
bare = re.findall(r"def (?!test_)(\\w+)\\(.*\\):\\n    (?!\\"\\"\\")", added)
found = [{"file_path": "calculator.py", "line_number": 1, "category": "style", "severity": "MINOR",
          "description": f"{name} does not say what it does", "recommendation": "add a docstring"} for name in bare]
print(json.dumps({"overall_assessment": "ok", "executive_summary": "read it all", "findings": found}))
'''


def _plan(title: str, name: str, *types: str) -> str:
    steps = [{"type": t, "description": f"{t}: {name}", "status": "TODO"} for t in types]
    head = {"masterPlanPath": "docs/plan.md", "prTitle": title, "summary": title, "verificationPlan": "the tests"}
    return json.dumps({**head, "tasks": [{"taskName": name, "status": "TODO", "tdd_steps": steps}]}, indent=2)


def _test(name: str, sign: str, result: int) -> str:
    return f"from calculator import {name}\n\n\ndef test_{name}():\n    assert {name}(5, 3) == {result}  # 5 {sign} 3\n"


def _code(*functions: str) -> str:
    return '"""A small calculator."""\n' + "".join(f"\n\n{f}" for f in functions)


def _hand_in(command: str, expectation: str, summary: str = "one attempt") -> Sent:
    return Sent("submit", channel="demo", summary=summary, test_command=command, expectation=expectation)


ADD, SUB = "feat: add numbers", "feat: subtract numbers"
WRONG_ADD = "def add(a, b):\n    return a - b\n"
BARE_ADD = "def add(a, b):\n    return a + b\n"
GOOD_ADD = 'def add(a, b):\n    """The sum of two numbers."""\n    return a + b\n'
GOOD_SUB = 'def subtract(a, b):\n    """The difference of two numbers."""\n    return a - b\n'
YES = Sent("submit", channel="demo", summary="it fails because the function is not there yet", analysis_decision="SUCCESS")
SQUASHED = Sent("submit", channel="demo", summary="squashed")
MARKED = Sent("submit", channel="demo", summary="marked in the plan")


def _squash(title: str) -> tuple[tuple[str, ...], ...]:
    return (("reset", "-q", "--soft", "main"), ("commit", "-q", "-m", title))


T_ADD, T_SUB = "tests/test_add.py", "tests/test_subtract.py"
TURNS: tuple[DemoTurn, ...] = (
    DemoTurn("plans the first pull request", Sent("submit", channel="demo", summary="planned"), {"ACTIVE_PR.json": _plan(ADD, "add", "RED", "GREEN", "REFACTOR")}),
    DemoTurn("hands in `true` as test command", _hand_in("true", "FAIL"), {T_ADD: _test("add", "+", 8)}),
    DemoTurn("hands in the failing test", _hand_in(f"pytest {T_ADD}", "FAIL")),
    DemoTurn("confirms why it fails", YES),
    DemoTurn("writes the code, with a mistake", _hand_in(f"pytest {T_ADD}", "PASS"), {"calculator.py": _code(WRONG_ADD)}),
    DemoTurn("reads the error and fixes it", _hand_in(f"pytest {T_ADD}", "PASS"), {"calculator.py": _code(BARE_ADD)}),
    DemoTurn("has nothing to refactor", _hand_in("pytest", "PASS")),
    DemoTurn("answers the reviewer's finding", _hand_in("pytest", "PASS"), {"calculator.py": _code(GOOD_ADD)}),
    DemoTurn("squashes the branch", SQUASHED, git=_squash(ADD)),
    DemoTurn("marks the plan", MARKED, marks=ADD),
    DemoTurn("plans the second pull request", Sent("submit", channel="demo", summary="planned"), {"ACTIVE_PR.json": _plan(SUB, "subtract", "RED", "GREEN")}),
    DemoTurn("hands in the failing test", _hand_in(f"pytest {T_SUB}", "FAIL"), {T_SUB: _test("subtract", "-", 2)}),
    DemoTurn("confirms why it fails", YES),
    DemoTurn("deletes the test to get green, and says \"all tests pass\"", _hand_in("pytest", "PASS", "all tests pass"), {T_SUB: None}),
    DemoTurn("puts it back and writes the code", _hand_in(f"pytest {T_SUB}", "PASS"), {T_SUB: _test("subtract", "-", 2), "calculator.py": _code(GOOD_ADD, GOOD_SUB)}),
    DemoTurn("squashes the branch", SQUASHED, git=_squash(SUB)),
    DemoTurn("marks the plan", MARKED, marks=SUB),
    DemoTurn("says that nothing is left", Sent("submit", channel="demo", summary="done", no_pr_left=True)),
)  # fmt: skip
