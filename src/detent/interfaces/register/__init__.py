"""Registers the MCP server and hooks in clients' project configuration; repeatable, and undone exactly: the git dir keeps the old files.

To add a client: a function in `client_files.py`, a row in `interfaces/hooks/hook_clients.py`, a line here, a page in docs/clients, and a
test with the real program; without that test its page says so.
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
}  # client -> its programs on PATH
