"""Codex: events and answers have Claude Code's form; edits come as patches, whose text names the files."""

from detent.interfaces.hooks import claude_events as claude
from detent.interfaces.hooks.event import SHELL, WRITE, HookClient, HookEvent, Json, fields, text

PREFIXES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")


def read(event: Json) -> HookEvent:
    """A patch names its files; one may also be handed to the shell."""
    asked = claude.read(event)
    if event.get("hook_event_name") == "PreToolUse" and event.get("tool_name") == "apply_patch":
        patch = fields(event)
        return HookEvent(WRITE, paths=patched(text(patch.get("command", patch.get("input")))))
    if asked.kind == SHELL:
        return HookEvent(SHELL, asked.command, patched(asked.command))
    return asked


def patched(patch: str) -> tuple[str, ...]:
    """The files that a patch adds, changes, moves or deletes."""
    return tuple(line[len(p) :].strip() for line in patch.split("\n") for p in PREFIXES if line.startswith(p))


CODEX = HookClient("codex", read, claude.refuse, claude.go_on, claude.tell, own_files=(".codex/config.toml", ".codex/hooks.json"))
