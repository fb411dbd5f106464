"""The known ACP agents: how each is started, and the files it finds in its home. A new agent is a row here. Starts nothing.

For all of them, updates and web access of their own are off, and the turn's model is reached at the address in `wants`.
"""

import json

from detent.agents.acp.acp_row import AcpAgent, no_files
from detent.agents.clients.row import Wants

QUIET_GENERAL = {"disableAutoUpdate": True, "disableUpdateNag": True, "enableAutoUpdate": False}
QUIET = {"privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}}
GEMINI_SETTINGS = {
    "general": {**QUIET_GENERAL, "enableAutoUpdateNotification": False},
    **QUIET,
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": True}},
    "tools": {"exclude": ["google_web_search", "web_fetch"]},
}
QWEN_SETTINGS = {
    "general": QUIET_GENERAL,
    **QUIET,
    "security": {"auth": {"selectedType": "openai"}},
    "tools": {"exclude": ["web_fetch", "web_search"]},
}
COPILOT_TYPES = {"chat": ("openai", "/v1"), "anthropic": ("anthropic", "")}
OPENCODE_PROVIDERS = {"chat": "@ai-sdk/openai-compatible", "anthropic": "@ai-sdk/anthropic"}
OPENCODE_OFF = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "PROJECT_CONFIG", "SHARE")
OPENCODE_ASKS = {"edit": "ask", "bash": "allow", "webfetch": "deny", "websearch": "deny", "external_directory": "deny"}
GOOSE_HOSTS = {"chat": ("openai", "OPENAI_HOST", "OPENAI_API_KEY"), "anthropic": ("anthropic", "ANTHROPIC_HOST", "ANTHROPIC_API_KEY")}
GOOSE_DEVELOPER = {"enabled": True, "type": "builtin", "name": "developer", "timeout": 300}
CLINE_PROVIDER = "openai-compatible"
LONG_AGO = "2026-01-01T00:00:00.000Z"


def gemini_argv(wants: Wants) -> list[str]:
    """Runs without trusting the folder: the project's own Gemini settings are for people's sessions, and are ignored here."""
    return ["--acp", "--skip-trust", "--extensions", "none", *(["-m", wants.model] if wants.model else [])]


def copilot_env(wants: Wants) -> dict[str, str]:
    """The user's own model service. A GitHub login is not supported: its models are reached at GitHub's own addresses."""
    kind, root = COPILOT_TYPES[wants.form]
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_BASE_URL": wants.url + root,
        "COPILOT_PROVIDER_TYPE": kind,
        "COPILOT_PROVIDER_API_KEY": wants.token,
        "COPILOT_PROVIDER_WIRE_API": "completions",
        "COPILOT_MODEL": wants.model,
    }


def opencode_files(wants: Wants) -> dict[str, str]:
    provider = {
        "npm": OPENCODE_PROVIDERS[wants.form],
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
        "permission": OPENCODE_ASKS,
    }
    return {".config/opencode/opencode.json": json.dumps(config)}


def goose_env(wants: Wants) -> dict[str, str]:
    provider, address, key = GOOSE_HOSTS[wants.form]
    named = {"GOOSE_PROVIDER": provider, "GOOSE_MODEL": wants.model, address: wants.url, key: wants.token}
    return {**named, "GOOSE_MODE": "approve", "GOOSE_DISABLE_KEYRING": "1", "GOOSE_TELEMETRY_ENABLED": "false"}


def cline_env(wants: Wants) -> dict[str, str]:
    """Cline leaves a process behind that survives signals to its process group; the sandbox ends it with the turn."""
    named = {"CLINE_API_KEY": wants.token, "CLINE_PROVIDER": CLINE_PROVIDER, "CLINE_MODEL": wants.model}
    return {**named, "CLINE_NO_AUTO_UPDATE": "1"}


def cline_files(wants: Wants) -> dict[str, str]:
    settings = {"provider": CLINE_PROVIDER, "apiKey": wants.token, "model": wants.model, "baseUrl": f"{wants.url}/v1"}
    known = {CLINE_PROVIDER: {"settings": settings, "updatedAt": LONG_AGO, "tokenSource": "manual"}}
    providers = {"version": 1, "lastUsedProvider": CLINE_PROVIDER, "modes": {}, "providers": known}
    models = {"version": 1, "providers": {CLINE_PROVIDER: {"models": {wants.model: {"id": wants.model, "name": wants.model}}}}}
    return {f".cline/data/settings/{name}.json": json.dumps(text) for name, text in (("providers", providers), ("models", models))}


ROWS = (
    AcpAgent(
        name="gemini",
        title="Gemini CLI",
        program="gemini",
        install="npm install -g @google/gemini-cli",
        forms=("gemini",),
        argv=gemini_argv,
        env=lambda wants: {"GEMINI_API_KEY": wants.token, "GOOGLE_GEMINI_BASE_URL": wants.url, "GEMINI_CLI_NO_RELAUNCH": "true"},
        files=lambda _: {".gemini/settings.json": json.dumps(GEMINI_SETTINGS)},
        mode="default",
        chooses=True,
    ),
    AcpAgent(
        name="copilot",
        title="Copilot CLI",
        program="copilot",
        install="npm install -g @github/copilot",
        forms=("chat", "anthropic"),
        argv=lambda _: ["--acp", "--no-auto-update", "--disable-builtin-mcps"],
        env=copilot_env,
        files=no_files,
    ),
    AcpAgent(
        name="opencode",
        title="opencode",
        program="opencode",
        install="npm install -g opencode-ai",
        forms=("chat", "anthropic"),
        argv=lambda wants: ["acp", "--pure", "--cwd", str(wants.workspace)],
        env=lambda wants: {"DETENT_MODEL_TOKEN": wants.token, **{f"OPENCODE_DISABLE_{name}": "1" for name in OPENCODE_OFF}},
        files=opencode_files,
    ),
    AcpAgent(
        name="qwen",
        title="Qwen Code",
        program="qwen",
        install="npm install -g @qwen-code/qwen-code",
        forms=("chat",),
        argv=lambda wants: ["--acp", "--auth-type", "openai", "-m", wants.model],
        env=lambda wants: {"OPENAI_API_KEY": wants.token, "OPENAI_BASE_URL": f"{wants.url}/v1", "OPENAI_MODEL": wants.model},
        files=lambda _: {".qwen/settings.json": json.dumps(QWEN_SETTINGS)},
        mode="default",  # its initial mode asks the model whether a call is harmless
    ),
    AcpAgent(
        name="goose",
        title="goose",
        program="goose",
        install="see https://github.com/block/goose",
        forms=("chat", "anthropic"),
        argv=lambda _: ["acp"],
        env=goose_env,
        files=lambda _: {".config/goose/config.yaml": json.dumps({"extensions": {"developer": GOOSE_DEVELOPER}})},  # JSON is valid YAML
    ),
    AcpAgent(
        name="cline",
        title="Cline",
        program="cline",
        install="npm install -g cline",
        forms=("chat",),
        argv=lambda _: ["--acp"],
        env=cline_env,
        files=cline_files,
    ),
)
