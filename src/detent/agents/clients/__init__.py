"""Headless clients as agents: one row for each. A new one is a file and a line here, and passes the shared tests."""

from detent.agents.clients.claude import CLAUDE
from detent.agents.clients.codex import CODEX
from detent.agents.clients.row import Access, ClientReport, ClientRow, Wants

__all__ = ["CLIENTS", "Access", "ClientReport", "ClientRow", "Wants"]

CLIENTS: dict[str, ClientRow] = {
    "claude": CLAUDE,
    "codex": CODEX,
}
