"""Gemini CLI: its tools by name, and its form of answers (BeforeTool, AfterAgent, SessionStart)."""

from detent.interfaces.hooks.event import BEGIN, OTHER, SHELL, STOP, WRITE, HookClient, HookEvent, Json, fields, text

EDITS = ("write_file", "replace")


def read(event: Json) -> HookEvent:
    name, tool = event.get("hook_event_name"), event.get("tool_name")
    if name == "AfterAgent":
        return HookEvent(STOP)
    if name == "SessionStart":
        return HookEvent(BEGIN)
    if name == "BeforeTool" and tool == "run_shell_command":
        return HookEvent(SHELL, text(fields(event).get("command")))
    if name == "BeforeTool" and tool in EDITS:
        return HookEvent(WRITE, paths=(text(fields(event).get("file_path")),))
    return HookEvent(OTHER)


def refuse(reason: str) -> Json:
    return {"decision": "deny", "reason": reason}


def tell(words: str) -> Json:
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": words}}


GEMINI = HookClient("gemini", read, refuse, refuse, tell, own_files=(".gemini/settings.json",), home="GEMINI_PROJECT_DIR")
