"""Claude Code: its tools by name, and its form of answers (PreToolUse, Stop, SessionStart)."""

from detent.interfaces.hooks.event import BEGIN, OTHER, SHELL, STOP, WRITE, HookClient, HookEvent, Json, fields, text

SHELLS = ("Bash", "Monitor")
EDITS = {"Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}


def read(event: Json) -> HookEvent:
    """An event as Claude Code writes it; other clients write nearly the same."""
    name, tool = event.get("hook_event_name"), event.get("tool_name")
    if name == "Stop":
        return HookEvent(STOP)
    if name == "SessionStart":
        return HookEvent(BEGIN)
    if name != "PreToolUse":
        return HookEvent(OTHER)
    if tool in SHELLS:
        return HookEvent(SHELL, text(fields(event).get("command")))
    if isinstance(tool, str) and tool in EDITS:
        return HookEvent(WRITE, paths=(text(fields(event).get(EDITS[tool])),))
    return HookEvent(OTHER)


def refuse(reason: str) -> Json:
    decision = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"hookSpecificOutput": decision}


def go_on(reason: str) -> Json:
    return {"decision": "block", "reason": reason}


def tell(words: str) -> Json:
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": words}}


CLAUDE = HookClient(
    "claude",
    read,
    refuse,
    go_on,
    tell,
    own_files=(".claude/settings.json", ".claude/settings.local.json", ".mcp.json"),
    home="CLAUDE_PROJECT_DIR",
)
