"""The tool loop: call the model, run the tool calls it returns, call it again, until it ends its turn. Owns the conversation.

Owns retries and giving up. Making requests and reading streams is left to the dialect, sorting errors to `faults`.
"""

import json
import random
import time
from collections.abc import Callable
from typing import NamedTuple

from detent.agents.agent_protocol import AgentFailed, Answered, PlainAnswer, Progress, Reply, Sort
from detent.agents.arguments import with_unique_ids
from detent.agents.catalog import Price
from detent.agents.dialect import Block, Conversation, Dialect, Message, ModelMessage, ToolRequest
from detent.agents.faults import Trouble, later
from detent.agents.prices import price_of, priced, same_model
from detent.agents.question import Asked
from detent.agents.stream_reading import MessageReading, StreamBroken
from detent.agents.texts import whole
from detent.errors import DetentError


class LoopLimits(NamedTuple):
    """How patient the loop is."""

    retries: int = 5  # per call
    delay: float = 1.0  # seconds before the first retry; doubled each time
    longest: float = 60.0  # seconds; if the service asks for a longer wait, the run is parked
    read: float = 60.0  # seconds without a byte
    calls: int = 32  # tool calls that are run per message
    repeats: int = 5  # this many identical messages in a row: stuck
    round: int = 12  # this many messages with only one or two different sets of calls: stuck


LIMITS = LoopLimits()
ENDINGS: dict[str, tuple[Sort, str]] = {
    "length": ("Truncated", "the model's message was cut at its length limit; none of it was carried out"),
    "context": ("Truncated", "the conversation no longer fits into the model's context"),
    "refused": ("Refused", "the model refused to continue"),
}


def converse(asked: Asked, make: Callable[[], Dialect], model: str, limits: LoopLimits) -> Reply:
    """One turn of a model. If dollars are limited but the model's price is unknown, it is refused before anything is sent."""
    price = price_of(model, asked.turn.catalog.prices)
    if price is None and asked.turn.budget.usd is not None:
        raise DetentError(
            f"the price of {model} is not known, so a limit in dollars cannot be kept",
            f'add it to [prices] in detent.toml: "{model}" = {{ input = 0.5, output = 2.0 }}; or limit tokens: [limits] tokens',
        )
    if price is None:
        asked.tell(Progress("usage", f"price unknown: {model} is counted as free"))
    loop = Loop(asked, make(), model, price, limits)
    try:
        return loop.run()
    finally:
        loop.close()


class Loop:
    """One conversation, from the briefing to the final message."""

    def __init__(self, asked: Asked, dialect: Dialect, model: str, price: Price | None, limits: LoopLimits) -> None:
        self.asked, self.dialect, self.model, self.price, self.limits = asked, dialect, model, price, limits
        self.tools: list[Block] = asked.turn.toolbox.schemas() if asked.turn.toolbox else []
        self.history: list[Message] = [{"role": "user", "content": [{"type": "text", "text": whole(asked.turn.prompt)}]}]
        self.asked_for: list[str] = []  # the calls of each message, as JSON
        self.ids: set[str] = set()  # of all calls so far
        self.reading: MessageReading | None = None

    def close(self) -> None:
        """Close the connections, unless a reader thread still uses one and will close it itself."""
        if self.reading is None or not self.reading.thread.is_alive():
            self.dialect.close()

    def run(self) -> Reply:
        asked = self.asked
        asked.log.add("system", text=asked.turn.system, model=self.model, tools=[tool.get("name") for tool in self.tools])
        asked.log.add("user", content=self.history[0]["content"])
        while True:
            message = with_unique_ids(self._say(), self.ids)
            self.history.append({"role": "assistant", "content": message.blocks})
            asked.log.add("assistant", content=message.blocks, stop=message.stop, usage=asked.meter.usage._asdict())
            if message.stop in ENDINGS:
                raise AgentFailed(*ENDINGS[message.stop])
            if message.stop == "end" and not message.calls:
                return self._finish(message)
            if message.stop == "pause" and message.blocks and not message.calls:
                continue
            self._guard(message)
            results = self._run(message.calls)
            self.history.append({"role": "user", "content": results})
            asked.log.add("results", content=results)

    def _finish(self, message: ModelMessage) -> Reply:
        if not message.text.strip():
            raise AgentFailed("Stuck", "the model ended its turn without saying anything")
        return Reply(message.text, self.asked.meter.usage, self.asked.meter.turns)

    def _guard(self, message: ModelMessage) -> None:
        """Run calls only from a message that stopped for them, and not the same ones forever."""
        if message.stop != "calls" or not message.calls:
            raise AgentFailed(
                "Crashed", f"the model's message stopped with '{message.stop}' and {len(message.calls)} calls, which Detent does not know"
            )
        self.asked_for.append(json.dumps([(call.name, call.arguments) for call in message.calls], sort_keys=True, default=str))
        last, recent = self.asked_for[-self.limits.repeats :], self.asked_for[-self.limits.round :]
        if len(last) == self.limits.repeats and len(set(last)) == 1:
            raise AgentFailed("Stuck", f"the model made the same call {self.limits.repeats} times in a row: {message.calls[0].name}")
        if len(recent) == self.limits.round and len(set(recent)) <= 2:
            raise AgentFailed("Stuck", f"the model is going in circles: the same two calls, {self.limits.round} times in turn")

    # -- one call, retried until it succeeds or cannot ------------------------------------------------------------------------

    def _say(self) -> ModelMessage:
        """The model's next message. The budget is checked before each try, and every try counts against it."""
        request = self.dialect.request(Conversation(self.model, whole(self.asked.turn.system), self.tools, self.history))
        for tried in range(self.limits.retries + 1):
            self.asked.meter.before_call()
            self.asked.meter.stir()
            timeout = self.limits.read * 2 ** min(tried, 3)  # a slow network gets more time
            reading = MessageReading(self.dialect, request, timeout, self.asked)
            self.reading = reading
            try:
                return self._of_the_model(reading.message())
            except StreamBroken as e:
                trouble = self.dialect.trouble_of(e.error, self.model)
            finally:
                self._pay(reading)
            self._wait(trouble, tried)
        raise AssertionError("the last try waits for nothing")

    def _of_the_model(self, message: ModelMessage) -> ModelMessage:
        """Reject a message that another model wrote: there is no fallback, not even a silent one."""
        if not same_model(self.model, message.model):
            raise AgentFailed("ModelUnavailable", f"{self.model} was asked, but {message.model[:100]} answered")
        return message

    def _pay(self, reading: MessageReading) -> None:
        usage, budget = priced(reading.usage(), self.price), self.asked.turn.budget
        self.asked.spend(usage, int(reading.stream is not None))
        if usage.tokens:
            guessed = "" if reading.counted else " (estimated by length: the service did not count them)"
            self.asked.tell(Progress("usage", f"{self.asked.meter.usage.tokens} tokens{guessed}"))
        if reading.whole and reading.counted is None and (budget.tokens is not None or budget.usd is not None):
            raise DetentError(
                f"the service of {self.model} does not count tokens, so a limit on tokens or dollars cannot be kept",
                "limit turns or minutes instead: [limits] turns, [limits] minutes",
            )

    def _wait(self, trouble: Trouble, tried: int) -> None:
        """Wait before the next try. Give up if a retry is hopeless, was tried often enough, or has to wait too long."""
        self.asked.log.add("trouble", sort=trouble.fault.sort, message=trouble.message, wait=trouble.wait, tried=tried + 1)
        if not trouble.fault.again or tried == self.limits.retries or (trouble.wait or 0) > self.limits.longest:
            raise trouble.failed()
        backoff = self.limits.delay * 2**tried * random.uniform(0.5, 1.0)  # jitter, so that waiting clients do not all return at once
        wait = max(trouble.wait or 0.0, min(backoff, self.limits.longest))
        if wait >= self.asked.meter.left():
            raise AgentFailed(
                trouble.fault.sort, f"{trouble.message}; the turn ends before it may be tried again", later(wait) if trouble.wait else ""
            )
        self.asked.tell(Progress("wait", f"{trouble.message}; trying again in {wait:.1f} s"))
        begun = time.monotonic()
        self.asked.meter.stir()
        while (rest := wait - (time.monotonic() - begun)) > 0:
            self.asked.meter.pause(min(rest, 1.0))
            self.asked.meter.stir()  # a requested wait is not silence

    # -- tools -----------------------------------------------------------------------------------------------------------------

    def _run(self, calls: list[ToolRequest]) -> list[Block]:
        """Answer every call of a message, in order."""
        return [self._result(call, self._call(call, number)) for number, call in enumerate(calls)]

    def _call(self, call: ToolRequest, number: int) -> Answered:
        self.asked.meter.check()
        box = self.asked.turn.toolbox
        if box is None:
            return PlainAnswer("there are no tools in this turn; answer in words", True)
        if number >= self.limits.calls:
            return PlainAnswer(f"not run: one message may make at most {self.limits.calls} calls", True)
        if call.fault:
            return PlainAnswer(call.fault, True)
        shown = json.dumps(call.arguments, ensure_ascii=False, default=str)[:200]
        self.asked.tell(Progress("tool", f"{call.name} {shown}"))
        answer = box.call(call.name, call.arguments)
        self.asked.meter.stir()
        self.asked.tell(Progress("result", ("failed: " if answer.failed else "") + answer.text[:200]))
        return answer

    def _result(self, call: ToolRequest, answer: Answered) -> Block:
        text = whole(answer.text) or "(no output)"
        return {"type": "tool_result", "tool_use_id": call.id, "content": [{"type": "text", "text": text}], "is_error": answer.failed}
