"""A small agent program: reads its briefing as JSON from standard input, works in its current folder, and prints its reply.

It keeps no state between turns: its actions follow from the briefing and the files. So it can be killed and restarted at any point, or
continue in a clone. It needs only the standard library, because it runs inside the sandbox.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

TEST = "from calc import {name}\n\n\ndef test_{name}():\n    assert {name}(5, 3) == {result}\n"
CODE = "def {name}(a, b):\n    return a {sign} b\n"
OPERATIONS = {
    "adds": ("add", "+", 8),
    "subtracts": ("subtract", "-", 2),
    "multiplies": ("multiply", "*", 15),
    "divides": ("divide", "//", 1),
}
LIST = Path("test-list.md")


def operation(text: str) -> tuple[str, str, int]:
    """The operation that a description names first."""
    words = {**OPERATIONS, **{name: (name, sign, result) for name, sign, result in OPERATIONS.values()}}
    return next(words[word] for word in re.findall(r"\w+", text) if word in words)


def write_test(text: str) -> str:
    name, _, result = operation(text)
    file = Path("tests") / f"test_{name}.py"
    file.write_text(TEST.format(name=name, result=result))
    return str(file)


def write_code(text: str, file: str = "calc.py") -> None:
    name, sign, _ = operation(text)
    code = Path(file)
    if f"def {name}(" not in code.read_text():
        code.write_text("\n\n".join(part for part in (code.read_text(), CODE.format(name=name, sign=sign)) if part))


# -- tdd ---------------------------------------------------------------------------------------------------------------------


def plan(briefing: dict[str, Any]) -> object:
    """Write the list from the request, one entry per operation; then name the first open entry."""
    if not LIST.exists():
        request = briefing["briefing"].partition("## The feature\n")[2].partition("\n## ")[0]
        wanted = [f"{word} two numbers" for word in OPERATIONS if word in request]
        LIST.write_text("# Tests\n\n" + "".join(f"- [ ] {entry}\n" for entry in wanted))
    left = re.findall(r"- \[ \] (.*)", LIST.read_text())
    if not left:
        return {"currentTest": None}
    return {"currentTest": {"description": left[0], "testFile": f"tests/test_{operation(left[0])[0]}.py", "implFile": "calc.py"}}


def tdd(briefing: dict[str, Any]) -> object:
    if briefing["state"] == "PLAN":
        return plan(briefing)
    step = briefing["step"]["description"]
    if briefing["state"] == "RED":
        write_test(step)
    if briefing["state"] == "GREEN":
        write_code(step)
    return f"{briefing['state'].lower()}: {step}"


# -- pr ----------------------------------------------------------------------------------------------------------------------


def plan_file(briefing: dict[str, Any]) -> Path:
    return Path(re.findall(r"`([^`]*plan\.md)`", briefing["briefing"])[0])


def plan_pull_request(briefing: dict[str, Any]) -> object:
    file = plan_file(briefing)
    left = [line[2:] for line in file.read_text().splitlines() if line.startswith("- ") and "[DONE]" not in line]
    if not left:
        return {"summary": "no pull request is left", "no_pr_left": True}
    steps = [{"type": t, "description": f"{t} of {left[0]}", "status": "TODO"} for t in ("RED", "GREEN")]
    head = {"masterPlanPath": str(file), "prTitle": left[0], "summary": left[0], "verificationPlan": "the tests"}
    Path("ACTIVE_PR.json").write_text(json.dumps({**head, "tasks": [{"taskName": left[0], "status": "TODO", "tdd_steps": steps}]}))
    return {"summary": f"planned {left[0]}"}


def do_step(briefing: dict[str, Any]) -> object:
    step = briefing["step"]
    if step["type"] == "RED":
        return {"summary": "a failing test", "test_command": f"pytest {write_test(step['description'])}"}
    write_code(step["description"])
    return {"summary": "the minimal code"}


def mark(briefing: dict[str, Any]) -> object:
    file, commit = plan_file(briefing), re.findall(r"\b[0-9a-f]{10,40}\b", briefing["goal"])[0]
    title = json.loads(Path("ACTIVE_PR.json").read_text())["prTitle"]
    file.write_text(file.read_text().replace(f"- {title}\n", f"- {title} [DONE] {commit[:10]}\n"))
    return {"summary": "marked"}


def pr(briefing: dict[str, Any]) -> object:
    fixed = {
        "NEEDS_ANALYSIS": {"summary": "the function is not there yet", "analysis_decision": "SUCCESS"},
        "CODE_REVIEW": {"overall_assessment": "good", "executive_summary": "read it all", "findings": []},
    }
    doers = {"INITIALIZING": plan_pull_request, "EXECUTING_TDD": do_step, "DEBUGGING": do_step, "FINALIZE_COMPLETE": mark}
    state = briefing["state"]
    return fixed[state] if state in fixed else doers[state](briefing)


def main() -> None:
    briefing = json.load(sys.stdin)
    reply = {"tdd": tdd, "pr": pr}[briefing["workflow"]](briefing)
    print(reply if isinstance(reply, str) else json.dumps(reply))


if __name__ == "__main__":
    main()
