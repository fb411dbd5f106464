"""Qwen Code: events and answers have Claude Code's form, with tools of its own names."""

from detent.interfaces.hooks import claude_events as claude
from detent.interfaces.hooks.event import SHELL, WRITE, HookClient, HookEvent, Json, fields, text

EDITS = {"write_file": "file_path", "edit": "file_path", "notebook_edit": "notebook_path"}


def read(event: Json) -> HookEvent:
    tool = event.get("tool_name")
    if event.get("hook_event_name") != "PreToolUse" or not isinstance(tool, str):
        return claude.read(event)
    if tool == "run_shell_command":
        return HookEvent(SHELL, text(fields(event).get("command")))
    if tool in EDITS:
        return HookEvent(WRITE, paths=(text(fields(event).get(EDITS[tool])),))
    return claude.read(event)


QWEN = HookClient("qwen", read, claude.refuse, claude.go_on, claude.tell, own_files=(".qwen/settings.json",), home="QWEN_PROJECT_DIR")
