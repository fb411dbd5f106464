"""Registering with clients: the MCP server and the hooks, in the client's own configuration of the project; shown, repeatable, taken back exactly.

A new client: a function in `client_files.py` with what it wants written, a row in `interfaces/hooks/hook_clients.py`, a line here, a page in docs/clients, and a test
against the real program; without one its page says so. What was there before is kept in the git dir, so that taking back restores it byte for byte.
"""

from collections.abc import Callable

from detent.interfaces.register import client_files as files
from detent.interfaces.register.parts import ClientFile

PARTS: dict[str, Callable[[list[str]], tuple[ClientFile, ...]]] = {
    "claude": files.claude,
    "codex": files.codex,
    "gemini": files.gemini,
    "qwen": files.qwen,
    "copilot": files.copilot,
    "opencode": files.opencode,
    "cursor": files.cursor,
}
PROGRAMS: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in PARTS},
    "cursor": ("cursor-agent", "cursor"),
}  # how each is found on PATH
