"""Claude Code: the server in .mcp.json, the hooks in .claude/settings.json. Both belong to the project and are meant to be committed."""

import shlex

from detent.interfaces.register.json_file import Json, JsonEntry
from detent.interfaces.register.parts import ClientFile, JsonPart

GATED = "Bash|Monitor|Write|Edit|MultiEdit|NotebookEdit"
SECONDS = 60


def parts(program: list[str]) -> tuple[ClientFile, ...]:
    call: Json = {"type": "command", "command": shlex.join([*program, "hook", "claude"]), "timeout": SECONDS}
    server: Json = {"type": "stdio", "command": program[0], "args": [*program[1:], "mcp"], "alwaysLoad": True}
    hooks = (
        JsonEntry(("hooks", "PreToolUse"), {"matcher": GATED, "hooks": [{**call, "onFailure": "block"}]}, item=True),
        JsonEntry(("hooks", "Stop"), {"hooks": [call]}, item=True),
        JsonEntry(("hooks", "SessionStart"), {"hooks": [call]}, item=True),
    )
    return (
        JsonPart(".mcp.json", "claude", (JsonEntry(("mcpServers", "detent"), server),)),
        JsonPart(".claude/settings.json", "claude", hooks),
    )
