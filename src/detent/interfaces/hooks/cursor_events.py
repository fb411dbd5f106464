"""Cursor: its form of events and answers (beforeShellExecution, preToolUse, stop) as its documentation has it; not seen with the program."""

from detent.interfaces.hooks.event import OTHER, SHELL, STOP, WRITE, HookClient, HookEvent, Json, fields, text

EDITS = ("Write", "Edit", "Delete")


def read(event: Json) -> HookEvent:
    name, tool = event.get("hook_event_name"), event.get("tool_name")
    if name == "stop":
        return HookEvent(STOP)
    if name == "beforeShellExecution":
        return HookEvent(SHELL, text(event.get("command")))
    if name == "preToolUse" and tool in EDITS:
        given = fields(event)
        return HookEvent(WRITE, paths=(text(given.get("file_path", given.get("path"))),))
    return HookEvent(OTHER)


def refuse(reason: str) -> Json:
    return {"permission": "deny", "user_message": reason, "agent_message": reason}


def go_on(reason: str) -> Json:
    return {"followup_message": reason}


def tell(words: str) -> Json:
    return {"additional_context": words}


CURSOR = HookClient("cursor", read, refuse, go_on, tell, own_files=(".cursor/mcp.json", ".cursor/hooks.json"), home="CURSOR_PROJECT_DIR")
