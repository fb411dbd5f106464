"""The hooks of clients: `detent hook CLIENT` reads one event on standard input and answers in the client's own form. One row per client.

What is decided by is the run of the checkout; what a client calls its tools and how it wants to be answered stands in the client's own file,
which is loaded for this client only.
"""

from detent.interfaces.hooks.event import HookClient

CLIENTS: dict[str, str] = {
    "claude": "claude_events",
    "codex": "codex_events",
    "gemini": "gemini_events",
    "qwen": "qwen_events",
    "copilot": "copilot_events",
    "opencode": "opencode_events",
    "cursor": "cursor_events",
}  # the module that has the row, as the client's name in capital letters


def client_of(name: str) -> HookClient:
    module = __import__(f"detent.interfaces.hooks.{CLIENTS[name]}", fromlist=[name])
    found: HookClient = getattr(module, name.upper())
    return found
