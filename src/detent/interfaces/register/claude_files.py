"""Claude Code: the server in .mcp.json, the hooks in .claude/settings.json. Both belong to the project and are meant to be committed."""

import shlex

from detent.interfaces.register.json_file import Entry, Json
from detent.interfaces.register.parts import JsonPart, Part

GATED = "Bash|Monitor|Write|Edit|MultiEdit|NotebookEdit"
SECONDS = 60


def parts(program: list[str]) -> tuple[Part, ...]:
    call: Json = {"type": "command", "command": shlex.join([*program, "hook", "claude"]), "timeout": SECONDS}
    server: Json = {"type": "stdio", "command": program[0], "args": [*program[1:], "mcp"], "alwaysLoad": True}
    hooks = (
        Entry(("hooks", "PreToolUse"), {"matcher": GATED, "hooks": [{**call, "onFailure": "block"}]}, item=True),
        Entry(("hooks", "Stop"), {"hooks": [call]}, item=True),
        Entry(("hooks", "SessionStart"), {"hooks": [call]}, item=True),
    )
    return (
        JsonPart(".mcp.json", "claude", (Entry(("mcpServers", "detent"), server),)),
        JsonPart(".claude/settings.json", "claude", hooks),
    )
