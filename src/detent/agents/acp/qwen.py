"""Qwen Code over the protocol: how it is started and what it finds in its home. Starts nothing."""

import json

from detent.agents.acp.acp_row import AcpAgent
from detent.agents.clients.row import Wants

SETTINGS = {
    "general": {"disableAutoUpdate": True, "disableUpdateNag": True, "enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "security": {"auth": {"selectedType": "openai"}},
    "tools": {"exclude": ["web_fetch", "web_search"]},
}


def argv(wants: Wants) -> list[str]:
    return ["--acp", "--auth-type", "openai", "-m", wants.model]


def env(wants: Wants) -> dict[str, str]:
    return {"OPENAI_API_KEY": wants.token, "OPENAI_BASE_URL": f"{wants.url}/v1", "OPENAI_MODEL": wants.model}


def files(wants: Wants) -> dict[str, str]:
    return {".qwen/settings.json": json.dumps(SETTINGS)}


QWEN = AcpAgent(
    name="qwen",
    title="Qwen Code",
    program="qwen",
    install="npm install -g @qwen-code/qwen-code",
    forms=("chat",),
    argv=argv,
    env=env,
    files=files,
    mode="default",  # the one it begins in asks its model whether a call is harmless
)
