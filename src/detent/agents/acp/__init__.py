"""Agents that speak the Agent Client Protocol (ACP): one row for each known agent.

The client is our own: it sends four kinds of request and serves one, which needs no SDK.
"""

from detent.agents.acp.acp_row import AcpAgent
from detent.agents.acp.acp_rows import ROWS

__all__ = ["AGENTS", "AcpAgent"]

AGENTS: dict[str, AcpAgent] = {agent.name: agent for agent in ROWS}
