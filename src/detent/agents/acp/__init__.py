"""Agents that speak the Agent Client Protocol: a table with one row for each that is known.

The client is our own: four requests out and one in. No SDK is needed to say them.
"""

from detent.agents.acp.acp_row import AcpAgent
from detent.agents.acp.acp_rows import ROWS

__all__ = ["AGENTS", "AcpAgent"]

AGENTS: dict[str, AcpAgent] = {agent.name: agent for agent in ROWS}
