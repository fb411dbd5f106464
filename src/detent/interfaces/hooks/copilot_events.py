"""Copilot CLI: its tools by name, and its form of answers (preToolUse, agentStop, sessionStart). Its events do not say which they are."""

from detent.interfaces.hooks.event import BEGIN, OTHER, SHELL, STOP, WRITE, HookClient, HookEvent, Json, text
from detent.interfaces.hooks.light_json import loads

SHELLS = ("bash", "shell", "powershell")
EDITS = ("create", "edit", "str_replace_editor", "write")
PREFIXES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


def read(event: Json) -> HookEvent:
    if "toolName" not in event:
        return HookEvent(STOP if "stopReason" in event else BEGIN if "source" in event else OTHER)
    tool, args = event["toolName"], event.get("toolArgs")
    found = loads(args) if isinstance(args, str) and tool != "apply_patch" else args
    given: Json = found if isinstance(found, dict) else {}
    if tool in SHELLS:
        return HookEvent(SHELL, text(given.get("command")))
    if tool in EDITS:
        return HookEvent(WRITE, paths=(text(given.get("path")),))
    if tool == "apply_patch":
        patch = text(args if isinstance(args, str) else given.get("input"))
        return HookEvent(WRITE, paths=tuple(line[len(p) :].strip() for line in patch.split("\n") for p in PREFIXES if line.startswith(p)))
    return HookEvent(OTHER)


def refuse(reason: str) -> Json:
    return {"permissionDecision": "deny", "permissionDecisionReason": reason}


def go_on(reason: str) -> Json:
    return {"decision": "block", "reason": reason}


def tell(words: str) -> Json:
    return {"additionalContext": words}


COPILOT = HookClient("copilot", read, refuse, go_on, tell, own_files=(".github/mcp.json", ".github/hooks/detent.json"))
