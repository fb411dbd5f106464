"""A scripted agent of the Agent Client Protocol: a standalone program that does what its script says, right or wrong.

`made` writes it as a program of any name. The script has the answers to `initialize` and `session/new`, and the steps of a turn:
["model"] asks the model at the address in its environment for its next words; ["say", text]; ["send", message]; ["raw", text];
["ask", message] sends a request and keeps the answer; ["answers"] says all answers so far; ["flood", message];
["asks", message] repeats a request endlessly; ["daemon", file]; ["write", file, text]; ["wait", seconds]; ["exit", code]; ["end", result].
"""

import sys
from pathlib import Path
from typing import Any

from tests.project import ROOT

Step = list[Any]
READY: dict[str, Any] = {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []}
NEW: dict[str, Any] = {"sessionId": "s1"}
END: Step = ["end", {"stopReason": "end_turn"}]
TURN: list[Step] = [["model"], END]


def made(file: Path, *steps: Step, ready: dict[str, Any] | None = READY, new: dict[str, Any] | None = NEW) -> Path:
    """Write the program with this script; an answer of None is never sent."""
    script = {"ready": ready, "new": new, "steps": list(steps) or TURN}
    source = (ROOT / "tests" / "acp_agent_program.py").read_text("utf-8")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!{sys.executable}\n" + source.replace("SCRIPT: dict[str, Any] = {}", f"SCRIPT = {script!r}"))
    file.chmod(0o755)
    return file


def update(what: str, **fields: Any) -> dict[str, Any]:
    return {"method": "session/update", "params": {"sessionId": "s1", "update": {"sessionUpdate": what, **fields}}}


def permission(kind: str, path: str = "", **fields: Any) -> dict[str, Any]:
    """A request for permission to use a tool; its options are in an unusual order, as real agents send them."""
    where = {"locations": [{"path": path}]} if path else {}
    call = {"toolCallId": f"{kind} {path}", "title": f"{kind} {path}", "kind": kind, **where, **fields}
    kinds = {"always": "allow_always", "no": "reject_once", "yes": "allow_once", "never": "reject_always"}
    options = [{"optionId": id, "name": id, "kind": kind} for id, kind in kinds.items()]
    return {"method": "session/request_permission", "params": {"sessionId": "s1", "toolCall": call, "options": options}}
