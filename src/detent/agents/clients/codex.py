"""Codex as an agent: how it is called without a terminal, what pays for it, and how its output is read. Starts nothing.

Its own sandbox is off: it cannot be nested in ours, which contains Codex and everything it starts.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from detent.agents.agent_protocol import Progress
from detent.agents.clients.row import Access, ClientReport, ClientRow, Wants
from detent.agents.clients.wire_formats import RESPONSES

ADDRESS = "https://api.openai.com/v1"
CHATGPT = "https://chatgpt.com/backend-api/codex"
TOKEN = "DETENT_MODEL_TOKEN"
LOGIN = "start `codex login` once, or set OPENAI_API_KEY in the environment that starts detent"
CONFIG = """model_provider = "detent"
approval_policy = "never"
sandbox_mode = "danger-full-access"
web_search = "disabled"
check_for_update_on_startup = false
developer_instructions = {system}
[analytics]
enabled = false
[feedback]
enabled = false
[history]
persistence = "none"
[features]
apps = false
plugins = false
remote_plugin = false
shell_snapshot = false
enable_request_compression = false
[model_providers.detent]
name = "detent"
base_url = {url}
wire_api = "responses"
env_key = "{variable}"
supports_websockets = false
request_max_retries = 2
stream_max_retries = 2
[projects.{workspace}]
trust_level = "untrusted"
"""


def model(named: str, configured: str) -> str:
    """The model to ask; empty for Codex's own choice, also where the configured one is a Claude model."""
    return named or ("" if configured.startswith("claude") else configured)


def argv(wants: Wants) -> list[str]:
    words = ["exec", "--json", "--skip-git-repo-check", "--ephemeral", "--ignore-rules", "--color", "never", "-C", str(wants.workspace)]
    return [*words, *(["-m", wants.model] if wants.model else []), "-"]


def env(wants: Wants) -> dict[str, str]:
    """CODEX_HOME must not be below TMPDIR, because Codex keeps programs there that it starts."""
    return {"CODEX_HOME": str(wants.home / ".codex"), "TMPDIR": str(wants.home / "tmp"), wants.variable: wants.token}


def files(wants: Wants) -> dict[str, str]:
    """The project is marked untrusted, so that the MCP servers and hooks it registers for people's sessions stay out."""
    workspace = _quoted(str(wants.workspace))
    config = CONFIG.format(system=_quoted(wants.system), url=_quoted(wants.url), variable=wants.variable, workspace=workspace)
    return {".codex/config.toml": config, "tmp/.keep": ""}


def _quoted(text: str) -> str:
    """A TOML string: JSON's, with the one character that TOML forbids (DEL) escaped as well."""
    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")


# -- what pays ---------------------------------------------------------------------------------------------------------------


class CodexTokens(msgspec.Struct, frozen=True):
    access_token: str = ""
    account_id: str | None = None


class Auth(msgspec.Struct, frozen=True):
    key: str | None = msgspec.field(default=None, name="OPENAI_API_KEY")
    tokens: CodexTokens | None = None


def access(outer: Mapping[str, str]) -> Access | None:
    """A key for Codex alone, its login, or the general OpenAI key, in this order."""
    url = outer.get("OPENAI_BASE_URL", "").strip() or ADDRESS
    if key := outer.get("CODEX_API_KEY", "").strip():
        return Access("the key in CODEX_API_KEY", url, bearer(key), TOKEN, RESPONSES)
    file = Path(outer.get("CODEX_HOME") or Path(outer.get("HOME", "/nonexistent")) / ".codex") / "auth.json"
    if found := _login(file, url):
        return found
    key = outer.get("OPENAI_API_KEY", "").strip()
    return Access("the key in OPENAI_API_KEY", url, bearer(key), TOKEN, RESPONSES) if key else None


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def _login(file: Path, url: str) -> Access | None:
    try:
        auth = msgspec.json.decode(file.read_bytes(), type=Auth)
    except (OSError, msgspec.MsgspecError):
        return None
    if auth.key:
        return Access(f"the key in {file}", url, bearer(auth.key), TOKEN, RESPONSES)
    if auth.tokens is None or not auth.tokens.access_token:
        return None
    account = {"chatgpt-account-id": auth.tokens.account_id} if auth.tokens.account_id else {}
    return Access(f"the login in {file}", CHATGPT, {**bearer(auth.tokens.access_token), **account}, TOKEN, RESPONSES)


# -- how its output is read --------------------------------------------------------------------------------------------------


class CodexItem(msgspec.Struct, frozen=True):
    type: str = ""
    text: str = ""
    command: str = ""


class ItemCompleted(msgspec.Struct, frozen=True, tag="item.completed", tag_field="type"):
    item: CodexItem = CodexItem()


class Completed(msgspec.Struct, frozen=True, tag="turn.completed", tag_field="type"): ...


class CodexError(msgspec.Struct, frozen=True):
    message: str = ""


class Failed(msgspec.Struct, frozen=True, tag="turn.failed", tag_field="type"):
    error: CodexError = CodexError()


LINES = msgspec.json.Decoder(ItemCompleted | Completed | Failed)


def _line(data: bytes) -> ItemCompleted | Completed | Failed | None:
    try:
        line: ItemCompleted | Completed | Failed = LINES.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return line


def read(report: ClientReport, data: bytes) -> ClientReport:
    match _line(data):
        case ItemCompleted(item=CodexItem(type="agent_message", text=text)):
            return report._replace(text=text)
        case Completed():
            return report._replace(ended=True)
        case Failed(error=error):
            return report._replace(ended=True, failed=error.message or "it does not say why")
    return report


def show(data: bytes) -> Iterator[Progress]:
    match _line(data):
        case ItemCompleted(item=CodexItem(type="agent_message", text=text)):
            yield Progress("text", text)
        case ItemCompleted(item=CodexItem(type="command_execution", command=command)):
            yield Progress("tool", command)
        case ItemCompleted(item=CodexItem(type=kind)) if kind != "error":
            yield Progress("tool", kind)


CODEX = ClientRow(
    name="codex",
    program="codex",
    install="npm install -g @openai/codex",
    login=LOGIN,
    costs=False,
    model=model,
    access=access,
    argv=argv,
    env=env,
    files=files,
    read=read,
    show=show,
    how="driven by `codex exec`, its writes judged at submit",
)
