"""Registering with clients: the MCP server and the hooks, in the client's own configuration of the project; shown, repeatable, taken back exactly.

A new client: a file here with what it wants written, a file in `interfaces/hooks`, a line in both tables, a page in docs/clients, and a test
against the real program. What was there before is kept in the git dir, so that taking back restores it byte for byte.
"""

from collections.abc import Callable

from detent.interfaces.register import claude_files as claude
from detent.interfaces.register import codex_files as codex
from detent.interfaces.register.parts import ClientFile

PARTS: dict[str, Callable[[list[str]], tuple[ClientFile, ...]]] = {
    "claude": claude.parts,
    "codex": codex.parts,
}
