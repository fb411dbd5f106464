"""The files of each client that register the MCP server and hooks, as values. They belong to the project, to be committed.

Codex reads its files only in trusted projects. Cursor's follow its documentation and are untested with the program.
"""

import json
import shlex
from collections.abc import Iterable

from detent.interfaces.register.json_file import Json, JsonEntry
from detent.interfaces.register.parts import ClientFile, JsonPart, OwnFile, TomlPart

SECONDS = 60
SERVER_PATIENCE = 3_600  # seconds: a call waits for the tests
CLAUDE_GATED = "Bash|Monitor|Write|Edit|MultiEdit|NotebookEdit"
CODEX_GATED = "Bash|apply_patch"
GEMINI_GATED, QWEN_GATED = "run_shell_command|write_file|replace", "run_shell_command|write_file|edit"
VERSION = JsonEntry(("version",), 1, form=True)
QWEN_FORM = JsonEntry(("$version",), 4, form=True)  # without it Qwen Code rewrites the file at its next start
OPENCODE_SCHEMA = JsonEntry(("$schema",), "https://opencode.ai/config.json", form=True)  # without it opencode adds it at its next start
CODEX_SERVER = """[mcp_servers.detent]
command = {command}
args = {args}
env_vars = ["XDG_STATE_HOME"]
required = true
startup_timeout_sec = 30
tool_timeout_sec = {patience}
default_tools_approval_mode = "approve"
"""
OPENCODE_PLUGIN = """// Written by `detent init --client opencode`; `detent init --client opencode --remove` takes it away.
// Asks Detent before a command is run or a file is written. What cannot be asked is refused.
import {{ spawnSync }} from "node:child_process"

const PROGRAM = {program}
const GATED = ["bash", "write", "edit", "multiedit", "patch", "apply_patch"]

export const Detent = async ({{ directory }}) => ({{
  "tool.execute.before": async (input, output) => {{
    if (!GATED.includes(input.tool)) return
    const asked = {{ hook_event_name: "PreToolUse", tool_name: input.tool, tool_input: output.args, cwd: directory }}
    const options = {{ input: JSON.stringify(asked), cwd: directory, encoding: "utf8", timeout: {milliseconds} }}
    const done = spawnSync(PROGRAM[0], [...PROGRAM.slice(1), "hook", "opencode"], options)
    if (done.error || done.status !== 0) {{
      throw new Error("Detent could not be asked, so nothing is let through: " + (done.error?.message || done.stderr))
    }}
    const said = done.stdout.trim() ? JSON.parse(done.stdout) : {{}}
    if (said.refused) throw new Error(said.refused)
  }},
}})
"""


def claude(program: list[str]) -> tuple[ClientFile, ...]:
    call: Json = {"type": "command", "command": _hook(program, "claude"), "timeout": SECONDS}
    server: Json = {"type": "stdio", **_server(program), "alwaysLoad": True}
    hooks = _gated(("PreToolUse", "Stop", "SessionStart"), CLAUDE_GATED, call, {**call, "onFailure": "block"})
    return JsonPart(".mcp.json", "claude", (_served(server),)), JsonPart(".claude/settings.json", "claude", hooks)


def codex(program: list[str]) -> tuple[ClientFile, ...]:
    call: Json = {"type": "command", "command": _hook(program, "codex"), "timeout": SECONDS}
    hooks = _gated(("PreToolUse", "Stop", "SessionStart"), CODEX_GATED, call)
    server = CODEX_SERVER.format(command=json.dumps(program[0]), args=json.dumps([*program[1:], "mcp"]), patience=SERVER_PATIENCE)
    return TomlPart(".codex/config.toml", server, ("mcp_servers", "detent")), JsonPart(".codex/hooks.json", "codex", hooks)


def gemini(program: list[str]) -> tuple[ClientFile, ...]:
    call: Json = {"name": "detent", "type": "command", "command": _hook(program, "gemini"), "timeout": SECONDS * 1000}
    server: Json = {**_server(program), "timeout": SERVER_PATIENCE * 1000, "trust": True}
    hooks = _gated(("BeforeTool", "AfterAgent", "SessionStart"), GEMINI_GATED, call)
    return (JsonPart(".gemini/settings.json", "gemini", (_served(server), *hooks)),)


def qwen(program: list[str]) -> tuple[ClientFile, ...]:
    call: Json = {"type": "command", "command": _hook(program, "qwen"), "timeout": SECONDS * 1000}
    server: Json = {**_server(program), "timeout": SERVER_PATIENCE * 1000, "trust": True, "alwaysLoadTools": True}
    hooks = _gated(("PreToolUse", "Stop", "SessionStart"), QWEN_GATED, call)
    return (JsonPart(".qwen/settings.json", "qwen", (_served(server), *hooks, QWEN_FORM)),)


def copilot(program: list[str]) -> tuple[ClientFile, ...]:
    call: Json = {"type": "command", "bash": _hook(program, "copilot"), "timeoutSec": SECONDS}
    server: Json = {"type": "local", **_server(program), "tools": ["*"]}
    hooks = _each(("preToolUse", "agentStop", "sessionStart"), call)
    return JsonPart(".github/mcp.json", "copilot", (_served(server),)), JsonPart(".github/hooks/detent.json", "copilot", (VERSION, *hooks))


def opencode(program: list[str]) -> tuple[ClientFile, ...]:
    """The files of opencode, whose hooks are a plugin that calls `detent hook opencode` before a tool runs."""
    server: Json = {"type": "local", "command": [*program, "mcp"], "enabled": True, "timeout": 30_000}
    plugin = OPENCODE_PLUGIN.format(program=json.dumps(program), milliseconds=SECONDS * 1000)
    entries = (OPENCODE_SCHEMA, JsonEntry(("mcp", "detent"), server))
    return JsonPart("opencode.json", "opencode", entries), OwnFile(".opencode/plugins/detent.js", plugin)


def cursor(program: list[str]) -> tuple[ClientFile, ...]:
    hooks = _each(("beforeShellExecution", "preToolUse", "stop"), {"command": _hook(program, "cursor")})
    served = (_served(_server(program)),)
    return JsonPart(".cursor/mcp.json", "cursor", served), JsonPart(".cursor/hooks.json", "cursor", (VERSION, *hooks))


def _hook(program: list[str], client: str) -> str:
    return shlex.join([*program, "hook", client])


def _server(program: list[str]) -> Json:
    return {"command": program[0], "args": [*program[1:], "mcp"]}


def _served(server: Json) -> JsonEntry:
    return JsonEntry(("mcpServers", "detent"), server)


def _gated(names: tuple[str, str, str], gated: str, call: Json, first: Json | None = None) -> tuple[JsonEntry, ...]:
    """Hooks in Claude Code's format: before tools that match `gated`, at the agent's stop, and at the start of a session."""
    before, *others = names
    held = JsonEntry(("hooks", before), {"matcher": gated, "hooks": [first or call]}, item=True)
    return (held, *(JsonEntry(("hooks", name), {"hooks": [call]}, item=True) for name in others))


def _each(names: Iterable[str], call: Json) -> tuple[JsonEntry, ...]:
    return tuple(JsonEntry(("hooks", name), call, item=True) for name in names)
