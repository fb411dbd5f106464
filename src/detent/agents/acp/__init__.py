"""Agents that speak the Agent Client Protocol: a table with one row for each that is known. A new one is a file and a line here.

The client is our own: four requests out and one in. No SDK is needed to say them.
"""

from detent.agents.acp.acp_row import AcpAgent
from detent.agents.acp.cline import CLINE
from detent.agents.acp.copilot import COPILOT
from detent.agents.acp.gemini import GEMINI_CLI
from detent.agents.acp.goose import GOOSE
from detent.agents.acp.opencode import OPENCODE
from detent.agents.acp.qwen import QWEN

__all__ = ["AGENTS", "AcpAgent"]

AGENTS: dict[str, AcpAgent] = {agent.name: agent for agent in (GEMINI_CLI, COPILOT, OPENCODE, QWEN, GOOSE, CLINE)}
