"""Claude Code as an agent: how it is called without a terminal, what pays for it, and how its output is read. Starts nothing.

Only its `result` line tells how a turn went: the exit code is 0 for some failed turns, and `subtype` is "success" for an error of the
service.
"""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from detent.agents.agent_protocol import Progress, Sort
from detent.agents.clients.row import Access, ClientReport, ClientRow, Wants
from detent.agents.clients.wire_formats import ANTHROPIC
from detent.errors import DetentError

ADDRESS = "https://api.anthropic.com"
TOOLS = "Bash,Read,Edit,Write,Glob,Grep"  # no tool that asks a person, plans for one, or reaches beyond the model
RETRIES = 3  # after that the run decides
QUIET = ("DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
LOGIN = "set ANTHROPIC_API_KEY in the environment that starts detent, or start `claude` once and log in"
SORTS: dict[str, Sort] = {"error_max_budget_usd": "Budget", "error_max_turns": "Budget"}
STOPS: dict[str, Sort] = {"refusal": "Refused", "max_tokens": "Truncated", "max_output_tokens": "Truncated"}
LOST = "api_error"  # the service or its connection failed, without a status


def model(named: str, configured: str) -> str:
    return named or configured


def argv(wants: Wants) -> list[str]:
    """Never prompts: the listed tools are allowed and no others exist. Settings, hooks and MCP servers of the project are left out."""
    words = ["-p", "--output-format", "stream-json", "--verbose", "--model", wants.model]
    words += ["--tools", TOOLS, "--allowedTools", TOOLS, "--permission-mode", "dontAsk", "--permission-prompts", "none"]
    words += ["--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence"]
    words += ["--append-system-prompt", wants.system] if wants.system else []
    return words + (["--max-budget-usd", f"{wants.usd:.6f}"] if wants.usd is not None else [])


def env(wants: Wants) -> dict[str, str]:
    given = {"ANTHROPIC_BASE_URL": wants.url, wants.variable: wants.token, "CLAUDE_CODE_MAX_RETRIES": str(RETRIES)}
    return {**given, **dict.fromkeys(QUIET, "1"), "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1"}


def files(wants: Wants) -> dict[str, str]:
    return {}


# -- what pays ---------------------------------------------------------------------------------------------------------------


class ClaudeTokens(msgspec.Struct, frozen=True, rename="camel"):
    access_token: str = ""
    expires_at: float = 0  # milliseconds


class Credentials(msgspec.Struct, frozen=True, rename="camel"):
    claude_ai_oauth: ClaudeTokens = ClaudeTokens()


def access(outer: Mapping[str, str]) -> Access | None:
    """A key, a token or the user's login, in Claude Code's own order. DetentError if the login has expired."""
    url = outer.get("ANTHROPIC_BASE_URL", "").strip() or ADDRESS
    if key := outer.get("ANTHROPIC_API_KEY", "").strip():
        return Access("the key in ANTHROPIC_API_KEY", url, {"x-api-key": key}, "ANTHROPIC_API_KEY", ANTHROPIC)
    for name, inside in (("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"), ("CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")):
        if token := outer.get(name, "").strip():
            return Access(f"the token in {name}", url, bearer(token), inside, ANTHROPIC)
    return _login(Path(outer.get("CLAUDE_CONFIG_DIR") or Path(outer.get("HOME", "/nonexistent")) / ".claude") / ".credentials.json", url)


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def _login(file: Path, url: str) -> Access | None:
    try:
        tokens = msgspec.json.decode(file.read_bytes(), type=Credentials).claude_ai_oauth
    except (OSError, msgspec.MsgspecError):
        return None
    if not tokens.access_token:
        return None
    if tokens.expires_at and tokens.expires_at / 1000 < time.time():
        raise DetentError(
            f"the Claude Code login in {file} has expired", "start `claude` once, it renews the login; or set ANTHROPIC_API_KEY"
        )
    return Access(f"the login in {file}", url, bearer(tokens.access_token), "CLAUDE_CODE_OAUTH_TOKEN", ANTHROPIC)


# -- how its output is read --------------------------------------------------------------------------------------------------


class Block(msgspec.Struct, frozen=True):
    type: str = ""
    text: str = ""
    name: str = ""


class ClaudeMessage(msgspec.Struct, frozen=True):
    content: list[Block] = []


class Assistant(msgspec.Struct, frozen=True, tag="assistant", tag_field="type"):
    message: ClaudeMessage = ClaudeMessage()


class OfModel(msgspec.Struct, frozen=True):
    """What one model cost in the whole turn."""

    cost: float = msgspec.field(default=0.0, name="costUSD")


class Denial(msgspec.Struct, frozen=True):
    tool_name: str = ""


class ClaudeResult(msgspec.Struct, frozen=True, tag="result", tag_field="type"):
    is_error: bool = True
    subtype: str = ""
    result: str = ""
    stop_reason: str | None = None
    terminal_reason: str | None = None
    api_error: str | None = None
    api_error_type: str | None = None
    errors: list[str] = []
    models: dict[str, OfModel] = msgspec.field(default={}, name="modelUsage")
    permission_denials: list[Denial] = []


LINES = msgspec.json.Decoder(Assistant | ClaudeResult)


def _line(data: bytes) -> Assistant | ClaudeResult | None:
    try:
        line: Assistant | ClaudeResult = LINES.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return line


def read(report: ClientReport, data: bytes) -> ClientReport:
    line = _line(data)
    return _ended(report, line) if isinstance(line, ClaudeResult) else report


def _ended(report: ClientReport, result: ClaudeResult) -> ClientReport:
    """The result of a turn; it failed if any field says so."""
    well = not result.is_error and result.subtype == "success"
    words = result.result or "; ".join(result.errors) or result.terminal_reason or result.subtype
    sort = SORTS.get(result.subtype) or STOPS.get(result.stop_reason or "") or STOPS.get(result.api_error or "")
    kind = result.api_error_type or (LOST if result.terminal_reason == LOST else "")
    failed = "" if well and not sort else words
    cost = sum(model.cost for model in result.models.values())
    return report._replace(text=result.result, ended=True, failed=failed, kind=kind, sort=sort, usd=cost)


def show(data: bytes) -> Iterator[Progress]:
    match _line(data):
        case Assistant(message=ClaudeMessage(content=blocks)):
            for block in blocks:
                if block.type == "text":
                    yield Progress("text", block.text)
                elif block.type == "tool_use":
                    yield Progress("tool", block.name)
        case ClaudeResult(permission_denials=[_, *_] as denied):
            yield Progress("result", f"Claude Code itself refused: {', '.join(d.tool_name for d in denied)}")


CLAUDE = ClientRow(
    name="claude",
    program="claude",
    install="npm install -g @anthropic-ai/claude-code",
    login=LOGIN,
    costs=True,
    model=model,
    access=access,
    argv=argv,
    env=env,
    files=files,
    read=read,
    show=show,
    how="driven by `claude -p`, its writes judged at submit",
)
