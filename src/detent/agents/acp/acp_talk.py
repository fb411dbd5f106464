"""One turn with an agent over the protocol: its messages kept, shown and answered, and the turn judged by what the model's service said.

The answer to the prompt ends the turn and says nothing of how it went: agents say `end_turn` after a failure of the service, and count
tokens as they like. The gateway saw every call.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from detent.agents.acp.acp_session import Session, SessionOrder
from detent.agents.acp.acp_wire import NAME, AcpWire
from detent.agents.acp.messages import RpcMessage, are_words, read
from detent.agents.acp.view import AcpView
from detent.agents.agent_protocol import AgentFailed, Sort
from detent.agents.clients.dialects import Stop
from detent.agents.clients.gateway import Gateway
from detent.agents.clients.row import ClientRow, ClientSaid, Wants
from detent.agents.clients.talk import ClientTalk, Opens, as_value
from detent.agents.question import Asked
from detent.sandbox.sandbox_protocol import DEVNULL

BEGINS = 120.0  # seconds in which an agent must have begun its session
STOPS: dict[Stop, tuple[Sort, str]] = {
    "": ("Network", "the last answer of the model's service broke off"),
    "tools": ("Crashed", "it stopped before it did what its model last asked for"),
    "length": ("Truncated", "the last answer of its model was cut at its length limit"),
    "refusal": ("Refused", "its model refused"),
}


class Steered:
    """A talk in both directions."""

    words, stdin = NAME, DEVNULL

    def __init__(self, session: Session, view: AcpView, gate: Gateway, wants: Wants, own: bool, patience: float) -> None:
        self.session, self.view, self.gate, self.model, self.own = session, view, gate, wants.model, own
        self.begins = time.monotonic() + patience
        self.judged: ClientSaid | None = None

    @property
    def said(self) -> ClientSaid:
        return self.judged or self.session.said

    def take(self, line: bytes) -> None:
        message = read(line, RpcMessage, RpcMessage())
        if not are_words(message):  # these are kept as whole lines: a key in two pieces would not be seen
            self.view.keep(as_value(line))
        self.session.take(message)
        if self.session.wrong:
            raise self.session.wrong

    def goes_on(self) -> bool:
        if not self.session.has_begun and time.monotonic() > self.begins:
            raise AgentFailed("Stuck", f"{self.session.order.program} did not begin a session in time")
        return not self.session.said.ended

    def end(self) -> None:
        self.view.end()
        if self.session.said.ended and not self.session.said.failed:
            self.judged = self.judge(self.session.said)

    def judge(self, said: ClientSaid) -> ClientSaid:
        """How the turn went, by the last call of the model. An agent that is not ours to know may have another way to its model."""
        last = self.gate.answers.last
        if last is None:
            return said if self.own else said._replace(failed="it ended its turn without asking its model", sort="Crashed")
        if last.fault:
            failed = last.fault.failed()
            return said._replace(failed=f"it reports success, but {failed.message}", sort=None)
        if last.served.stop in STOPS:
            sort, words = STOPS[last.served.stop]
            return said._replace(failed=words, sort=sort)
        asked = {call.model for call in self.gate.answers.calls if call.model}
        if self.model and not self.own and not any(is_same(self.model, name) for name in asked):
            return said._replace(failed=f"{self.model} should have been asked, but {', '.join(sorted(asked))} was", sort="ModelUnavailable")
        return said


def is_same(wanted: str, asked: str) -> bool:
    """Whether a model is the one that was wanted, with its vendor before its name or without."""
    return wanted == asked or wanted.endswith(f"/{asked}") or asked.endswith(f"/{wanted}")


def steering(row: ClientRow, own: bool) -> Opens:
    """How a talk with an agent begins. `own`: a program of the user's, of which nothing is known."""

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
            yield Steered(session, view, gate, wants, own, min(BEGINS, turn.silence))

    return opened


def sender(wire: AcpWire, view: AcpView) -> Callable[[bytes], None]:
    def send(line: bytes) -> None:
        view.sent(as_value(line))
        wire.send(line)

    return send


def is_waiting(gate: Gateway) -> bool:
    last = gate.answers.last
    return last is not None and last.served.stop == "tools"
