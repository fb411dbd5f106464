"""Codex: the server in .codex/config.toml, the hooks in .codex/hooks.json. Codex reads both in projects that its user trusts."""

import json
import shlex

from detent.interfaces.register.json_file import Json, JsonEntry
from detent.interfaces.register.parts import ClientFile, JsonPart, TomlPart

GATED = "Bash|apply_patch"
SECONDS = 60
SERVER = """[mcp_servers.detent]
command = {command}
args = {args}
env_vars = ["XDG_STATE_HOME"]
required = true
startup_timeout_sec = 30
tool_timeout_sec = 3600
default_tools_approval_mode = "approve"
"""


def parts(program: list[str]) -> tuple[ClientFile, ...]:
    call: Json = {"type": "command", "command": shlex.join([*program, "hook", "codex"]), "timeout": SECONDS}
    hooks = (
        JsonEntry(("hooks", "PreToolUse"), {"matcher": GATED, "hooks": [call]}, item=True),
        JsonEntry(("hooks", "Stop"), {"hooks": [call]}, item=True),
        JsonEntry(("hooks", "SessionStart"), {"hooks": [call]}, item=True),
    )
    server = SERVER.format(command=json.dumps(program[0]), args=json.dumps([*program[1:], "mcp"]))
    return (
        TomlPart(".codex/config.toml", server, ("mcp_servers", "detent")),
        JsonPart(".codex/hooks.json", "codex", hooks),
    )
