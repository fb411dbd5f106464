"""goose over the protocol: how it is started and what it finds in its home. Starts nothing."""

import json

from detent.agents.acp.acp_row import AcpAgent
from detent.agents.clients.row import Wants

HOSTS = {"chat": ("openai", "OPENAI_HOST", "OPENAI_API_KEY"), "anthropic": ("anthropic", "ANTHROPIC_HOST", "ANTHROPIC_API_KEY")}
DEVELOPER = {"enabled": True, "type": "builtin", "name": "developer", "timeout": 300}


def argv(wants: Wants) -> list[str]:
    return ["acp"]


def env(wants: Wants) -> dict[str, str]:
    provider, address, key = HOSTS[wants.form]
    named = {"GOOSE_PROVIDER": provider, "GOOSE_MODEL": wants.model, address: wants.url, key: wants.token}
    return {**named, "GOOSE_MODE": "approve", "GOOSE_DISABLE_KEYRING": "1", "GOOSE_TELEMETRY_ENABLED": "false"}


def files(wants: Wants) -> dict[str, str]:
    return {".config/goose/config.yaml": json.dumps({"extensions": {"developer": DEVELOPER}})}  # JSON is YAML too


GOOSE = AcpAgent(
    name="goose",
    title="goose",
    program="goose",
    install="see https://github.com/block/goose",
    forms=("chat", "anthropic"),
    argv=argv,
    env=env,
    files=files,
)
