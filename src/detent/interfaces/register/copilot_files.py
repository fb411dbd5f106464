"""Copilot CLI: the server in .github/mcp.json, the hooks in a file of their own below .github/hooks. Both belong to the project."""

import shlex

from detent.interfaces.register.json_file import Json, JsonEntry
from detent.interfaces.register.parts import ClientFile, JsonPart

SECONDS = 60


def parts(program: list[str]) -> tuple[ClientFile, ...]:
    call: Json = {"type": "command", "bash": shlex.join([*program, "hook", "copilot"]), "timeoutSec": SECONDS}
    server: Json = {"type": "local", "command": program[0], "args": [*program[1:], "mcp"], "tools": ["*"]}
    hooks = tuple(JsonEntry(("hooks", name), call, item=True) for name in ("preToolUse", "agentStop", "sessionStart"))
    return (
        JsonPart(".github/mcp.json", "copilot", (JsonEntry(("mcpServers", "detent"), server),)),
        JsonPart(".github/hooks/detent.json", "copilot", (JsonEntry(("version",), 1, form=True), *hooks)),
    )
