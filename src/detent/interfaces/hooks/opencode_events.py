"""opencode: the plugin that `detent init` writes asks in Claude Code's form, and throws what it is answered. It has no stop to hold."""

from detent.interfaces.hooks.event import OTHER, SHELL, WRITE, HookClient, HookEvent, Json, fields, text

EDITS = ("write", "edit", "multiedit")
PATCHES = ("patch", "apply_patch")
PREFIXES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


def read(event: Json) -> HookEvent:
    tool, given = event.get("tool_name"), fields(event)
    if tool == "bash":
        return HookEvent(SHELL, text(given.get("command")))
    if tool in EDITS:
        return HookEvent(WRITE, paths=(text(given.get("filePath")),))
    if tool in PATCHES:
        patch = text(given.get("patchText"))
        return HookEvent(WRITE, paths=tuple(line[len(p) :].strip() for line in patch.split("\n") for p in PREFIXES if line.startswith(p)))
    return HookEvent(OTHER)


def refuse(reason: str) -> Json:
    return {"refused": reason}


OPENCODE = HookClient("opencode", read, refuse, refuse, refuse, own_files=("opencode.json", ".opencode/plugins/detent.js"))
