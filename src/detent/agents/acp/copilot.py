"""GitHub Copilot CLI over the protocol: how it is started with a model of the user's own. Starts nothing.

A login at GitHub stays outside: its model would have to be reached at GitHub's own addresses.
"""

from detent.agents.acp.acp_row import AcpAgent
from detent.agents.clients.row import Wants

TYPES = {"chat": ("openai", "/v1"), "anthropic": ("anthropic", "")}


def argv(wants: Wants) -> list[str]:
    return ["--acp", "--no-auto-update", "--disable-builtin-mcps"]


def env(wants: Wants) -> dict[str, str]:
    kind, root = TYPES[wants.form]
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_BASE_URL": wants.url + root,
        "COPILOT_PROVIDER_TYPE": kind,
        "COPILOT_PROVIDER_API_KEY": wants.token,
        "COPILOT_PROVIDER_WIRE_API": "completions",
        "COPILOT_MODEL": wants.model,
    }


COPILOT = AcpAgent(
    name="copilot",
    title="Copilot CLI",
    program="copilot",
    install="npm install -g @github/copilot",
    forms=("chat", "anthropic"),
    argv=argv,
    env=env,
)
