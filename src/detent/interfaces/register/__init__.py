"""Registering with clients: the MCP server and the hooks, in the client's own configuration of the project; shown, repeatable, taken back exactly.

A new client: a file here with what it wants written, a file in `interfaces/hooks`, a line in both tables, a page in docs/clients, and a test
against the real program; without one its page says so. What was there before is kept in the git dir, so that taking back restores it byte for byte.
"""

from collections.abc import Callable

from detent.interfaces.register import claude_files as claude
from detent.interfaces.register import codex_files as codex
from detent.interfaces.register import copilot_files as copilot
from detent.interfaces.register import cursor_files as cursor
from detent.interfaces.register import gemini_files
from detent.interfaces.register import opencode_files as opencode
from detent.interfaces.register.parts import ClientFile

PARTS: dict[str, Callable[[list[str]], tuple[ClientFile, ...]]] = {
    "claude": claude.parts,
    "codex": codex.parts,
    "gemini": gemini_files.gemini,
    "qwen": gemini_files.qwen,
    "copilot": copilot.parts,
    "opencode": opencode.parts,
    "cursor": cursor.parts,
}
PROGRAMS: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in PARTS},
    "cursor": ("cursor-agent", "cursor"),
}  # how each is found on PATH
