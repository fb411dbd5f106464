"""Cline over the protocol: how it is started and what it finds in its home. Starts nothing.

It leaves a program behind that outlives every signal to its own group; the sandbox ends it with the turn.
"""

import json

from detent.agents.acp.acp_row import AcpAgent
from detent.agents.clients.row import Wants

PROVIDER = "openai-compatible"
LONG_AGO = "2026-01-01T00:00:00.000Z"


def argv(wants: Wants) -> list[str]:
    return ["--acp"]


def env(wants: Wants) -> dict[str, str]:
    named = {"CLINE_API_KEY": wants.token, "CLINE_PROVIDER": PROVIDER, "CLINE_MODEL": wants.model}
    return {**named, "CLINE_NO_AUTO_UPDATE": "1"}


def files(wants: Wants) -> dict[str, str]:
    settings = {"provider": PROVIDER, "apiKey": wants.token, "model": wants.model, "baseUrl": f"{wants.url}/v1"}
    known = {PROVIDER: {"settings": settings, "updatedAt": LONG_AGO, "tokenSource": "manual"}}
    providers = {"version": 1, "lastUsedProvider": PROVIDER, "modes": {}, "providers": known}
    models = {"version": 1, "providers": {PROVIDER: {"models": {wants.model: {"id": wants.model, "name": wants.model}}}}}
    return {f".cline/data/settings/{name}.json": json.dumps(text) for name, text in (("providers", providers), ("models", models))}


CLINE = AcpAgent(
    name="cline",
    title="Cline",
    program="cline",
    install="npm install -g cline",
    forms=("chat",),
    argv=argv,
    env=env,
    files=files,
)
