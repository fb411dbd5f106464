"""Cursor: the server in .cursor/mcp.json, the hooks in .cursor/hooks.json, in the form that its documentation has; not seen with the program."""

import shlex

from detent.interfaces.register.json_file import Json, JsonEntry
from detent.interfaces.register.parts import ClientFile, JsonPart


def parts(program: list[str]) -> tuple[ClientFile, ...]:
    call: Json = {"command": shlex.join([*program, "hook", "cursor"])}
    server: Json = {"command": program[0], "args": [*program[1:], "mcp"]}
    hooks = tuple(JsonEntry(("hooks", name), call, item=True) for name in ("beforeShellExecution", "preToolUse", "stop"))
    return (
        JsonPart(".cursor/mcp.json", "cursor", (JsonEntry(("mcpServers", "detent"), server),)),
        JsonPart(".cursor/hooks.json", "cursor", (JsonEntry(("version",), 1, form=True), *hooks)),
    )
