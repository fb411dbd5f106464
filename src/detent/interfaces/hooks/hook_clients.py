"""The table of clients with hooks: how each one's events are read and answered. Most have adopted Claude Code's format.

Decides nothing, and imports next to nothing, since a hook runs before each edit.
"""

from _collections_abc import Sequence  # avoids loading collections

from detent.interfaces.hooks.event import BEGIN, OTHER, SHELL, STOP, WRITE, HookClient, HookEvent, Json, fields, text
from detent.interfaces.hooks.light_json import loads

PATCHED = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
CLAUDE_EDITS = {"Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}
QWEN_EDITS = {"write_file": "file_path", "edit": "file_path", "notebook_edit": "notebook_path"}


def patched(patch: str) -> tuple[str, ...]:
    """The files that a patch in Codex's format adds, changes, moves or deletes."""
    return tuple(line[len(p) :].strip() for line in patch.split("\n") for p in PATCHED if line.startswith(p))


def read_claude(event: Json) -> HookEvent:
    """Read an event in Claude Code's format, which other clients nearly share."""
    name, tool = event.get("hook_event_name"), event.get("tool_name")
    if name == "PreToolUse":
        return tool_call(event, tool, ("Bash", "Monitor"), CLAUDE_EDITS)
    return HookEvent(STOP if name == "Stop" else BEGIN if name == "SessionStart" else OTHER)


def tool_call(event: Json, tool: object, shells: Sequence[str], edits: dict[str, str]) -> HookEvent:
    """Read a tool call with named arguments. `edits`: tool -> the argument that names the file."""
    if tool in shells:
        return HookEvent(SHELL, text(fields(event).get("command")))
    if isinstance(tool, str) and tool in edits:
        return HookEvent(WRITE, paths=(text(fields(event).get(edits[tool])),))
    return HookEvent(OTHER)


def read_codex(event: Json) -> HookEvent:
    """Read an event of Codex, whose edits are patches, possibly inside a shell command."""
    asked = read_claude(event)
    if event.get("hook_event_name") == "PreToolUse" and event.get("tool_name") == "apply_patch":
        patch = fields(event)
        return HookEvent(WRITE, paths=patched(text(patch.get("command", patch.get("input")))))
    return HookEvent(SHELL, asked.command, patched(asked.command)) if asked.kind == SHELL else asked


def read_qwen(event: Json) -> HookEvent:
    """Read an event of Qwen Code, which has Claude Code's tools beside its own."""
    tool = event.get("tool_name")
    if event.get("hook_event_name") == "PreToolUse" and tool in ("run_shell_command", *QWEN_EDITS):
        return tool_call(event, tool, ("run_shell_command",), QWEN_EDITS)
    return read_claude(event)


def read_gemini(event: Json) -> HookEvent:
    name = event.get("hook_event_name")
    if name == "BeforeTool":
        return tool_call(event, event.get("tool_name"), ("run_shell_command",), {"write_file": "file_path", "replace": "file_path"})
    return HookEvent(STOP if name == "AfterAgent" else BEGIN if name == "SessionStart" else OTHER)


def read_copilot(event: Json) -> HookEvent:
    """Read an event of Copilot, whose kind shows only in its fields."""
    if "toolName" not in event:
        return HookEvent(STOP if "stopReason" in event else BEGIN if "source" in event else OTHER)
    tool, args = event["toolName"], event.get("toolArgs")
    found = loads(args) if isinstance(args, str) and tool != "apply_patch" else args
    given: Json = found if isinstance(found, dict) else {}
    if tool in ("bash", "shell", "powershell"):
        return HookEvent(SHELL, text(given.get("command")))
    if tool in ("create", "edit", "str_replace_editor", "write"):
        return HookEvent(WRITE, paths=(text(given.get("path")),))
    if tool == "apply_patch":
        return HookEvent(WRITE, paths=patched(text(args if isinstance(args, str) else given.get("input"))))
    return HookEvent(OTHER)


def read_opencode(event: Json) -> HookEvent:
    """Read an event of the opencode plugin that `detent init` writes. It has no stop event."""
    tool = event.get("tool_name")
    if tool in ("patch", "apply_patch"):
        return HookEvent(WRITE, paths=patched(text(fields(event).get("patchText"))))
    return tool_call(event, tool, ("bash",), {"write": "filePath", "edit": "filePath", "multiedit": "filePath"})


def read_cursor(event: Json) -> HookEvent:
    """Read an event of Cursor, by its documentation; untested with the program."""
    name = event.get("hook_event_name")
    if name == "stop":
        return HookEvent(STOP)
    if name == "beforeShellExecution":
        return HookEvent(SHELL, text(event.get("command")))
    if name == "preToolUse" and event.get("tool_name") in ("Write", "Edit", "Delete"):
        given = fields(event)
        return HookEvent(WRITE, paths=(text(given.get("file_path", given.get("path"))),))
    return HookEvent(OTHER)


def _denied(reason: str) -> Json:
    return {"permissionDecision": "deny", "permissionDecisionReason": reason}


def _before_tool(reason: str) -> Json:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **_denied(reason)}}


def _block(reason: str) -> Json:
    return {"decision": "block", "reason": reason}


def _at_start(words: str) -> Json:
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": words}}


def _deny(reason: str) -> Json:
    return {"decision": "deny", "reason": reason}


def _refused(reason: str) -> Json:
    return {"refused": reason}


CLAUDE_FILES = (".claude/settings.json", ".claude/settings.local.json", ".mcp.json")
ROWS = (
    HookClient("claude", read_claude, _before_tool, _block, _at_start, CLAUDE_FILES, "CLAUDE_PROJECT_DIR"),
    HookClient("codex", read_codex, _before_tool, _block, _at_start, (".codex/config.toml", ".codex/hooks.json")),
    HookClient("gemini", read_gemini, _deny, _deny, _at_start, (".gemini/settings.json",), "GEMINI_PROJECT_DIR"),
    HookClient("qwen", read_qwen, _before_tool, _block, _at_start, (".qwen/settings.json",), "QWEN_PROJECT_DIR"),
    HookClient(
        "copilot",
        read_copilot,
        _denied,
        _block,
        lambda words: {"additionalContext": words},
        (".github/mcp.json", ".github/hooks/detent.json"),
    ),
    HookClient("opencode", read_opencode, _refused, _refused, _refused, ("opencode.json", ".opencode/plugins/detent.js")),
    HookClient(
        "cursor",
        read_cursor,
        lambda reason: {"permission": "deny", "user_message": reason, "agent_message": reason},
        lambda reason: {"followup_message": reason},
        lambda words: {"additional_context": words},
        (".cursor/mcp.json", ".cursor/hooks.json"),
        "CURSOR_PROJECT_DIR",
    ),
)
CLIENTS = {row.name: row for row in ROWS}
