"""opencode: the server in opencode.json, and a plugin that asks `detent hook opencode` before a tool is run. Both belong to the project."""

import json

from detent.interfaces.register.json_file import Json, JsonEntry
from detent.interfaces.register.parts import ClientFile, JsonPart, OwnFile

SECONDS = 60
SCHEMA = JsonEntry(("$schema",), "https://opencode.ai/config.json", form=True)  # without it opencode adds it at its next start
PLUGIN = """// Written by `detent init --client opencode`; `detent init --client opencode --remove` takes it away.
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


def parts(program: list[str]) -> tuple[ClientFile, ...]:
    server: Json = {"type": "local", "command": [*program, "mcp"], "enabled": True, "timeout": 30_000}
    plugin = PLUGIN.format(program=json.dumps(program), milliseconds=SECONDS * 1000)
    return (
        JsonPart("opencode.json", "opencode", (SCHEMA, JsonEntry(("mcp", "detent"), server))),
        OwnFile(".opencode/plugins/detent.js", plugin),
    )
