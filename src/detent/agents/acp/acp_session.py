"""One ACP session from the client's side: messages in, messages out, in the order of the protocol. No I/O and no waiting of its own.

Files and terminals are not offered: the agent uses its own tools inside the sandbox. Other requests get an error; requests for permission
are answered by what the state lets the agent write.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from detent import __version__
from detent.agents.acp.messages import (
    NOT_FOUND,
    NOT_LOGGED_IN,
    SAYS,
    VERSION,
    AcpToolCall,
    Ended,
    Initialized,
    News,
    Opened,
    Permission,
    RpcMessage,
    decode,
    encode_answer,
    news_of,
    request,
)
from detent.agents.acp.permission import MayWrite, chosen, why_not
from detent.agents.agent_protocol import AgentFailed, Sort
from detent.agents.clients.row import ClientReport
from detent.errors import DetentError

CANNOT = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
MOST_ASKED = 500  # permission requests between two calls of the model
MOST_REPROMPTS = 5  # how often an agent that stopped after a refusal gets the reason and is asked to continue
STOPS: dict[str, Sort] = {"refusal": "Refused", "max_tokens": "Truncated", "max_turn_requests": "Budget", "cancelled": "Stopped"}
REPROMPT = "Detent refused what you were about to do:\n{}\nContinue without it and finish what you were asked."


class SessionOrder(NamedTuple):
    """The parameters of one session."""

    program: str
    login: str  # what to do if there is no login or key
    prompt: str
    workspace: Path
    mode: str  # the mode in which the agent asks before it writes; empty: its initial mode
    may_write: MayWrite | None
    calls: Callable[[], int]  # the number of model calls so far
    is_waiting: Callable[[], bool]  # whether the model's last message ended in a tool call


class Session:
    """A session, from `initialize` to the answer to the prompt. `said` is the result so far; `wrong` is an error that ends it at once."""

    def __init__(self, order: SessionOrder, send: Callable[[bytes], None], see: Callable[[News], None]) -> None:
        self.order, self.send, self.see = order, send, see
        self.report = ClientReport()
        self.words: list[str] = []  # the text since the last tool call
        self.wrong: DetentError | None = None
        self.id = ""
        self.waits: dict[int, Callable[[RpcMessage], None]] = {}
        self.known: dict[str, AcpToolCall] = {}
        self.refused: list[str] = []
        self.reprompts = self.asked = self.seen_calls = 0

    @property
    def has_begun(self) -> bool:
        """Whether the session is open, so that the agent can be given its prompt."""
        return self.id != ""

    def begin(self) -> None:
        info = {"name": "detent", "version": __version__}
        self.ask("initialize", self.initialized, protocolVersion=VERSION, clientCapabilities=CANNOT, clientInfo=info)

    def ask(self, method: str, then: Callable[[RpcMessage], None], **params: object) -> None:
        number = len(self.waits)
        self.waits[number] = then
        self.send(request(number, method, **params))

    def take(self, line: RpcMessage) -> None:
        """Handle one message of the agent."""
        if line.method is None:
            then = self.waits.get(line.id) if isinstance(line.id, int) else None
            if then and isinstance(line.id, int):
                self.waits[line.id] = lambda again: None  # a second answer to the same request is ignored
                then(line)
        elif line.id is None:
            if line.method == "session/update" and not self.report.ended:
                self.news(news_of(line.params))
        elif line.method == "session/request_permission":
            self.permit(line.id, decode(line.params, Permission, Permission()))
        else:
            self.send(encode_answer(line.id, error={"code": NOT_FOUND, "message": f"{line.method} is not offered: use your own tools"}))

    # -- from initialize to the prompt ---------------------------------------------------------------------------------------

    def initialized(self, line: RpcMessage) -> None:
        found = decode(line.result, Initialized, Initialized()).protocol_version
        if line.error or found != VERSION:
            words = str(line.error) if line.error else f"it speaks version {found}, Detent speaks version {VERSION}"
            self.wrong = DetentError(
                f"{self.order.program} cannot be driven over ACP: {words}", "install a version of it that speaks ACP version 1"
            )
            return
        self.ask("session/new", self.opened, cwd=str(self.order.workspace), mcpServers=[])

    def opened(self, line: RpcMessage) -> None:
        if line.error and line.error.code == NOT_LOGGED_IN:
            self.wrong = DetentError(f"{self.order.program} does not begin a session: {line.error}", self.order.login)
        elif not (id := decode(line.result, Opened, Opened()).session_id):
            self.fail(f"it does not begin a session: {line.error or 'it names none'}")
        else:
            self.id = id
            if self.order.mode:
                self.ask("session/set_mode", self.in_mode, sessionId=id, modeId=self.order.mode)
            else:
                self.prompt(self.order.prompt)

    def in_mode(self, line: RpcMessage) -> None:
        if line.error:
            self.fail(f"it does not switch to the mode '{self.order.mode}': {line.error}")
        else:
            self.prompt(self.order.prompt)

    def prompt(self, text: str) -> None:
        self.words = []
        self.ask("session/prompt", self.ended, sessionId=self.id, prompt=[{"type": "text", "text": text}])

    def fail(self, words: str, sort: Sort | None = None) -> None:
        self.report = ClientReport(ended=True, failed=words, sort=sort)

    # -- the turn --------------------------------------------------------------------------------------------------------

    def news(self, news: News) -> None:
        if news.call:
            news = news._replace(call=self.learn(news.call))
        if news.kind == SAYS:
            self.words.append(news.text)
        self.see(news)

    def learn(self, call: AcpToolCall) -> AcpToolCall:
        """Merge an update into what is known of a tool call. A new call means that the text so far was not the final answer."""
        if call.tool_call_id not in self.known:
            self.words = []
        found = self.known.get(call.tool_call_id, call).with_news(call)
        self.known[call.tool_call_id] = found
        return found

    def permit(self, id: int | str, asked: Permission) -> None:
        call = self.learn(asked.tool_call)
        why = self.too_often() or why_not(call, self.order.workspace, self.order.may_write)
        if why:
            self.refused.append(why)
        self.see(News("refused" if why else "allowed", text=why, call=call))
        self.send(encode_answer(id, result=chosen(asked, not why)))

    def too_often(self) -> str:
        """Refuse, and end the turn, if the agent keeps asking for permission without a single call of its model in between."""
        calls = self.order.calls()
        self.asked = self.asked + 1 if calls == self.seen_calls else 1
        self.seen_calls = calls
        if self.asked <= MOST_ASKED:
            return ""
        self.wrong = AgentFailed("Stuck", f"{self.order.program} asked for permission {self.asked} times without ever asking its model")
        return "you have asked too often."

    def ended(self, line: RpcMessage) -> None:
        """The answer to the prompt. Its claim of success is not trusted; the model calls that the gateway saw tell how the turn went."""
        if line.error:
            self.fail(str(line.error))
            return
        if self.refused and self.order.is_waiting() and self.reprompts < MOST_REPROMPTS:
            self.reprompts += 1
            reasons, self.refused = dict.fromkeys(self.refused), []
            self.prompt(REPROMPT.format("\n".join(f"- {why}" for why in reasons)))
            return
        stop = decode(line.result, Ended, Ended()).stop_reason or ""
        failed = f"it stopped: {stop}" if stop in STOPS else ""
        self.report = ClientReport("".join(self.words), ended=True, failed=failed, sort=STOPS.get(stop))
