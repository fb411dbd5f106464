"""opencode over the protocol: how it is started and what it finds in its home. Starts nothing."""

import json

from detent.agents.acp.acp_row import AcpAgent
from detent.agents.clients.row import Wants

PROVIDERS = {"chat": "@ai-sdk/openai-compatible", "anthropic": "@ai-sdk/anthropic"}
QUIET = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "PROJECT_CONFIG", "SHARE")
ASKS = {"edit": "ask", "bash": "allow", "webfetch": "deny", "websearch": "deny", "external_directory": "deny"}


def argv(wants: Wants) -> list[str]:
    return ["acp", "--pure", "--cwd", str(wants.workspace)]


def env(wants: Wants) -> dict[str, str]:
    return {"DETENT_MODEL_TOKEN": wants.token, **{f"OPENCODE_DISABLE_{name}": "1" for name in QUIET}}


def files(wants: Wants) -> dict[str, str]:
    provider = {
        "npm": PROVIDERS[wants.form],
        "name": "detent",
        "options": {"baseURL": f"{wants.url}/v1", "apiKey": wants.token},
        "models": {wants.model: {"name": wants.model}},
    }
    config = {
        "model": f"detent/{wants.model}",
        "small_model": f"detent/{wants.model}",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"detent": provider},
        "permission": ASKS,
    }
    return {".config/opencode/opencode.json": json.dumps(config)}


OPENCODE = AcpAgent(
    name="opencode",
    title="opencode",
    program="opencode",
    install="npm install -g opencode-ai",
    forms=("chat", "anthropic"),
    argv=argv,
    env=env,
    files=files,
)
