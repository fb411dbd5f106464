"""Gemini CLI and Qwen Code, which has its form: server and hooks in one file of settings. Both belong to the project."""

import shlex

from detent.interfaces.register.json_file import Json, JsonEntry
from detent.interfaces.register.parts import ClientFile, JsonPart

GEMINI_GATED, QWEN_GATED = "run_shell_command|write_file|replace", "run_shell_command|write_file|edit"
QWEN_FORM = JsonEntry(("$version",), 4, form=True)  # without it Qwen Code rewrites the file at its next start
MILLISECONDS = 60_000
SERVER_PATIENCE = 3_600_000  # a call waits for the tests


def gemini(program: list[str]) -> tuple[ClientFile, ...]:
    call: Json = {"name": "detent", "type": "command", "command": shlex.join([*program, "hook", "gemini"]), "timeout": MILLISECONDS}
    hooks = (
        JsonEntry(("hooks", "BeforeTool"), {"matcher": GEMINI_GATED, "hooks": [call]}, item=True),
        JsonEntry(("hooks", "AfterAgent"), {"hooks": [call]}, item=True),
        JsonEntry(("hooks", "SessionStart"), {"hooks": [call]}, item=True),
    )
    return (JsonPart(".gemini/settings.json", "gemini", (_server(program), *hooks)),)


def qwen(program: list[str]) -> tuple[ClientFile, ...]:
    call: Json = {"type": "command", "command": shlex.join([*program, "hook", "qwen"]), "timeout": MILLISECONDS}
    hooks = (
        JsonEntry(("hooks", "PreToolUse"), {"matcher": QWEN_GATED, "hooks": [call]}, item=True),
        JsonEntry(("hooks", "Stop"), {"hooks": [call]}, item=True),
        JsonEntry(("hooks", "SessionStart"), {"hooks": [call]}, item=True),
    )
    return (JsonPart(".qwen/settings.json", "qwen", (_server(program, alwaysLoadTools=True), *hooks, QWEN_FORM)),)


def _server(program: list[str], **more: bool) -> JsonEntry:
    value: Json = {"command": program[0], "args": [*program[1:], "mcp"], "timeout": SERVER_PATIENCE, "trust": True, **more}
    return JsonEntry(("mcpServers", "detent"), value)
