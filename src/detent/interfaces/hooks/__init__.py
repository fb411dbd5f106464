"""The hooks of clients: `detent hook CLIENT` reads one event on standard input and answers in the client's own form. One row per client.

What is decided by is the run of the checkout; what a client calls its tools and how it wants to be answered stands in the client's own file.
"""

from detent.interfaces.hooks.claude_events import CLAUDE
from detent.interfaces.hooks.codex_events import CODEX
from detent.interfaces.hooks.event import HookClient

CLIENTS: dict[str, HookClient] = {
    "claude": CLAUDE,
    "codex": CODEX,
}
