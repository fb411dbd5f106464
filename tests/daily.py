"""A day of an agent in Claude Code: every call it makes for one pull request, and a stand-in for the client that respects hooks."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from tests.clients.real import Claude, Turn
from tests.clients.stage import NAMED
from tests.project import Project

ENTRY = "Round prices to cents"
STEPS = (("RED", "a price in euros becomes whole cents"), ("GREEN", "round to cents"))
PLAN = {
    "masterPlanPath": "docs/plan.md", "prTitle": ENTRY, "summary": "A price in euros becomes whole cents.", "verificationPlan": "a test for it",
    "tasks": [{"taskName": "cents", "status": "TODO",
               "tdd_steps": [{"type": kind, "description": said, "status": "TODO"} for kind, said in STEPS]}],
}  # fmt: skip
TEST = "from till import cents\n\n\ndef test_a_price_in_euros_becomes_whole_cents():\n    assert cents(1.999) == 200\n"
CODE = "\n\ndef cents(euros: float) -> int:\n    return round(euros * 100)\n"
SQUASH = f"git reset -q --soft main && git commit -q -m '{ENTRY}' && git rev-parse HEAD"
MARK = f'sed -i "s/^- {ENTRY}$/& [DONE] $(git rev-parse HEAD)/" docs/plan.md'
REFUSED = {"tests by hand", "code too early", "frozen"}


def calls(root: Path, code: str) -> dict[str, Turn]:
    """Every call of the agent, by purpose."""
    claude, test = Claude(), {"summary": "s", "test_command": "python3 -m pytest tests/test_cents.py"}
    return {
        "begin": claude.mcp("get_task"),
        "tests by hand": claude.shell("python3 -m pytest -q"),
        "plan": claude.write(root / "ACTIVE_PR.json", json.dumps(PLAN)),
        "planned": claude.mcp("submit_work", summary="planned"),
        "red": claude.mcp("get_task"),
        "a look": {"tool": "Read", "input": {"file_path": str(root / "till.py")}},  # Claude Code overwrites no file that it has not read
        "code too early": claude.write(root / "till.py", code + CODE),
        "test": claude.write(root / "tests" / "test_cents.py", TEST),
        "test handed in": claude.mcp("submit_work", **test, expectation="FAIL"),
        "analysed": claude.mcp("submit_work", summary="there is no code yet", analysis_decision="SUCCESS"),
        "frozen": claude.write(root / "tests" / "test_cents.py", TEST.replace("== 200", "> 0")),
        "code": claude.write(root / "till.py", code + CODE),
        "code handed in": claude.mcp("submit_work", **test, expectation="PASS"),
        "review": claude.mcp("get_task"),
        "findings": claude.write(root / "FINDINGS.json", "[]"),
        "reviewed": claude.mcp("get_task"),
        "squash": claude.shell(SQUASH),
        "squashed": claude.mcp("submit_work", summary="squashed", commit_hash=NAMED),
        "mark": claude.shell(MARK),
        "marked": claude.mcp("submit_work", summary="marked"),
        "landed": claude.mcp("get_task"),
        "no more": claude.mcp("submit_work", summary="the plan is done", no_pr_left=True),
    }


class LikeClaude:
    """Claude Code's handling of such calls: ask the project's hook first, and do nothing that it denies."""

    def __init__(self, project: Project) -> None:
        self.project, self.hash = project, ""
        hooks = json.loads((project.root / ".claude" / "settings.json").read_text())["hooks"]["PreToolUse"][0]
        self.matched, self.hook = re.compile(hooks["matcher"]), hooks["hooks"][0]["command"]

    def play(self, turns: dict[str, Turn]) -> dict[str, str]:
        """The answer to each call."""
        return {name: self.answer(turn) for name, turn in turns.items() if isinstance(turn, dict)}

    def answer(self, turn: dict[str, Any]) -> str:
        tool, given = turn["tool"], turn["input"]
        if self.matched.fullmatch(tool) and (denied := self.denied(tool, given)):
            return denied
        if tool == "Read":
            return Path(given["file_path"]).read_text()
        if tool == "Write":
            Path(given["file_path"]).write_text(given["content"])
            return "written"
        if tool == "Bash":
            return self.shell(given["command"])
        if tool.endswith("get_task"):
            return self.project.run("get-task", "--json").out
        sent = {**given, **({"commit_hash": self.hash} if "commit_hash" in given else {})}
        return self.project.run("submit-work", "-", "--json", stdin=json.dumps(sent)).out

    def denied(self, tool: str, given: dict[str, Any]) -> str:
        event = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given, "cwd": str(self.project.root)}
        done = subprocess.run(self.hook, shell=True, cwd=self.project.root, env=self.project.env, input=json.dumps(event), capture_output=True, text=True, check=True)  # fmt: skip
        told = json.loads(done.stdout)["hookSpecificOutput"] if done.stdout.strip() else {}
        return str(told["permissionDecisionReason"]) if told.get("permissionDecision") == "deny" else ""

    def shell(self, command: str) -> str:
        done = subprocess.run(command, shell=True, cwd=self.project.root, env=self.project.env, capture_output=True, text=True, check=True)
        self.hash = next(iter(re.findall(r"\b[0-9a-f]{40}\b", done.stdout)), self.hash)
        return done.stdout
