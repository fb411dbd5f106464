"""Gemini CLI over the protocol: how it is started and what it finds in its home. Starts nothing."""

import json

from detent.agents.acp.acp_row import AcpAgent
from detent.agents.clients.row import Wants

SETTINGS = {
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "disableAutoUpdate": True, "disableUpdateNag": True},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": True}},
    "tools": {"exclude": ["google_web_search", "web_fetch"]},
}


def argv(wants: Wants) -> list[str]:
    """The folder is not trusted for good: what the project keeps for Gemini is for people's sessions."""
    return ["--acp", "--skip-trust", "--extensions", "none", *(["-m", wants.model] if wants.model else [])]


def env(wants: Wants) -> dict[str, str]:
    return {"GEMINI_API_KEY": wants.token, "GOOGLE_GEMINI_BASE_URL": wants.url, "GEMINI_CLI_NO_RELAUNCH": "true"}


def files(wants: Wants) -> dict[str, str]:
    return {".gemini/settings.json": json.dumps(SETTINGS)}


GEMINI_CLI = AcpAgent(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    install="npm install -g @google/gemini-cli",
    forms=("gemini",),
    argv=argv,
    env=env,
    files=files,
    mode="default",
    chooses=True,
)
