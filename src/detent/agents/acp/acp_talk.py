"""One turn with an ACP agent: its messages are recorded, shown and answered, and the turn is judged by what the model's service said.

The agent's answer to the prompt only ends the turn. It does not tell how the turn went: agents report `end_turn` even after the service
failed, and count tokens as they like. The gateway saw every call.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from detent.agents.acp.acp_session import Session, SessionOrder
from detent.agents.acp.acp_wire import NAME, AcpWire
from detent.agents.acp.messages import RpcMessage, are_words, decode
from detent.agents.acp.view import AcpView
from detent.agents.agent_protocol import AgentFailed, Sort
from detent.agents.clients.gateway import Gateway
from detent.agents.clients.row import ClientReport, ClientRow, Wants
from detent.agents.clients.talk import ClientTalk, Opens, as_value
from detent.agents.clients.wire_formats import Stop
from detent.agents.question import Asked
from detent.sandbox.sandbox_protocol import DEVNULL

BEGINS = 120.0  # seconds until the session must be open
STOPS: dict[Stop, tuple[Sort, str]] = {
    "": ("Network", "the last answer of the model's service broke off"),
    "tools": ("Crashed", "it stopped before it did what its model last asked for"),
    "length": ("Truncated", "the last answer of its model was cut at its length limit"),
    "refusal": ("Refused", "its model refused"),
}


class AcpTalk:
    """A ClientTalk in both directions: the agent's messages are answered over its standard input."""

    words, stdin = NAME, DEVNULL

    def __init__(self, session: Session, view: AcpView, gate: Gateway, wants: Wants, own: bool, patience: float) -> None:
        self.session, self.view, self.gate, self.model, self.own = session, view, gate, wants.model, own
        self.begins = time.monotonic() + patience
        self.judged: ClientReport | None = None

    @property
    def report(self) -> ClientReport:
        return self.judged or self.session.report

    def take(self, line: bytes) -> None:
        message = decode(line, RpcMessage, RpcMessage())
        if not are_words(message):  # text is recorded in whole lines, since a key split over two messages would not be redacted
            self.view.keep(as_value(line))
        self.session.take(message)
        if self.session.wrong:
            raise self.session.wrong

    def expects_more(self) -> bool:
        if not self.session.has_begun and time.monotonic() > self.begins:
            raise AgentFailed("Stuck", f"{self.session.order.program} did not begin a session in time")
        return not self.session.report.ended

    def end(self) -> None:
        self.view.end()
        if self.session.report.ended and not self.session.report.failed:
            self.judged = self.judge(self.session.report)

    def judge(self, report: ClientReport) -> ClientReport:
        """Judge the turn by the last model call. An `own` agent may bypass the gateway, so no call there is no failure."""
        last = self.gate.answers.last
        if last is None:
            return report if self.own else report._replace(failed="it ended its turn without asking its model", sort="Crashed")
        if last.fault:
            failed = last.fault.failed()
            return report._replace(failed=f"it reports success, but {failed.message}", sort=None)
        if last.served.stop in STOPS:
            sort, words = STOPS[last.served.stop]
            return report._replace(failed=words, sort=sort)
        asked = {call.model for call in self.gate.answers.calls if call.model}
        if self.model and not self.own and not any(is_same(self.model, name) for name in asked):
            return report._replace(
                failed=f"{self.model} should have been asked, but {', '.join(sorted(asked))} was", sort="ModelUnavailable"
            )
        return report


def is_same(wanted: str, asked: str) -> bool:
    """Whether two names mean the same model; one of them may have the vendor in front."""
    return wanted == asked or wanted.endswith(f"/{asked}") or asked.endswith(f"/{wanted}")


def steering(row: ClientRow, own: bool) -> Opens:
    """How a talk with an ACP agent is opened. `own`: the agent is the user's own command, about which nothing is known."""

    @contextmanager
    def opened(asked: Asked, wants: Wants, gate: Gateway) -> Iterator[ClientTalk]:
        turn = asked.turn
        may_write = turn.toolbox.may_write if turn.toolbox else None
        prompt = f"{turn.system}\n\n{turn.prompt}" if turn.system else turn.prompt
        with AcpWire(wants.home.parent) as wire:
            view = AcpView(asked)
            order = SessionOrder(
                row.program, row.login, prompt, turn.workspace, row.mode, may_write, lambda: gate.calls, lambda: is_waiting(gate)
            )
            session = Session(order, sender(wire, view), view.see)
            session.begin()
            yield AcpTalk(session, view, gate, wants, own, min(BEGINS, turn.silence))

    return opened


def sender(wire: AcpWire, view: AcpView) -> Callable[[bytes], None]:
    def send(line: bytes) -> None:
        view.sent(as_value(line))
        wire.send(line)

    return send


def is_waiting(gate: Gateway) -> bool:
    last = gate.answers.last
    return last is not None and last.served.stop == "tools"
