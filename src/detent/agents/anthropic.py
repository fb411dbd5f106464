"""The `anthropic` backend: the Claude API through its SDK, which is imported only when an agent is asked. Owns the client, key and dialect.

The key comes from our own environment and goes into the client and nowhere else.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from detent import installation
from detent.agents.agent_protocol import Reply, Usage
from detent.agents.arguments import block_of, read_call
from detent.agents.dialect import Block, Conversation, Ear, Message, ModelMessage, ToolRequest
from detent.agents.faults import Cut, Key, Trouble, trouble_of
from detent.agents.loop import LIMITS, LoopLimits, converse
from detent.agents.question import Asked
from detent.agents.stream_reading import count
from detent.agents.texts import whole
from detent.errors import DetentError

if TYPE_CHECKING:
    import anthropic


ADDRESS = "https://api.anthropic.com"
KEY = Key("ANTHROPIC_API_KEY", "set ANTHROPIC_API_KEY in the environment that starts detent")
MAX_TOKENS = 32_000  # per message
STOPS = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "calls",
    "pause_turn": "pause",
    "max_tokens": "length",
    "model_context_window_exceeded": "context",
    "refusal": "refused",
}


def ask_anthropic(asked: Asked, limits: LoopLimits = LIMITS) -> Reply:
    """One turn of a model. AgentFailed says how it failed; DetentError what a person has to do first."""
    return converse(asked, lambda: Messages(make_client(asked.outer)), asked.rest or asked.turn.model, limits)


def make_client(outer: Mapping[str, str]) -> "anthropic.Anthropic":
    """The SDK's client, with our key and without its own retries. Redirects are off because the key would be sent along."""
    try:
        import anthropic
    except ImportError as e:
        raise DetentError("the anthropic agent needs the package anthropic", f"install it: {installation.extra('anthropic')}") from e
    key = key_of(outer)
    return anthropic.Anthropic(
        api_key=key,
        base_url=outer.get("ANTHROPIC_BASE_URL", "").strip() or ADDRESS,
        max_retries=0,
        open_telemetry=False,
        http_client=anthropic.DefaultHttpxClient(follow_redirects=False),
    )


def key_of(outer: Mapping[str, str]) -> str:
    key = outer.get(KEY.variable, "").strip()
    if not key:
        raise DetentError("the anthropic agent needs a key", KEY.hint)
    return key


class Messages:
    """The Messages API as a Dialect."""

    def __init__(self, client: "anthropic.Anthropic") -> None:
        self.client = client

    def request(self, talk: Conversation) -> Block:
        return {"model": talk.model, "max_tokens": MAX_TOKENS, **request(talk.system, talk.tools, talk.history)}

    def receive(self, request: Block, timeout: float, ear: Ear) -> ModelMessage:
        """Read one streamed message. Tool arguments are collected as raw text, because the SDK accepts truncated JSON as complete."""
        arguments: dict[int, str] = {}
        ended, sent = False, dict[str, Any](request)
        with self.client.messages.stream(**sent, timeout=timeout) as stream:
            ear.begins(stream)
            for event in stream:
                if event.type == "content_block_delta":
                    delta = event.delta
                    words = delta.type == "text_delta"
                    piece = delta.text if delta.type == "text_delta" else delta.partial_json if delta.type == "input_json_delta" else ""
                    if delta.type == "input_json_delta":
                        arguments[event.index] = arguments.get(event.index, "") + piece
                    ear.receives(piece, words)
                    continue
                if event.type in ("message_start", "message_delta"):
                    ear.counts(counted(stream.current_message_snapshot.usage))
                ended = ended or event.type == "message_stop"
                ear.receives("")
            if not ended:
                raise Cut("the stream ended before its message did")
            return as_model_message(stream.current_message_snapshot, arguments)

    def trouble_of(self, error: Exception, model: str) -> Trouble:
        import anthropic

        return trouble_of(error, model, anthropic, KEY)

    def close(self) -> None:
        self.client.close()


def as_model_message(message: Any, arguments: dict[int, str]) -> ModelMessage:
    """The SDK's message as a ModelMessage."""
    blocks: list[Block] = []
    calls: list[ToolRequest] = []
    texts: list[str] = []
    for index, block in enumerate(message.content):
        if block.type == "tool_use":
            text, name = arguments.get(index, ""), str(block.name)
            whole_input = block.input if isinstance(block.input, dict) else {}
            calls.append(
                read_call(str(block.id or ""), name, text) if text.strip() else ToolRequest(str(block.id or ""), name, whole_input)
            )
            blocks.append(block_of(calls[-1]))
        elif block.type == "text":
            texts.append(block.text)
            blocks += [{"type": "text", "text": whole(block.text)}] if block.text.strip() else []
        else:
            blocks.append(block.to_dict(mode="json"))
    stop = str(message.stop_reason or "")
    return ModelMessage(blocks, "".join(texts), calls, STOPS.get(stop, stop), str(message.model))


def counted(usage: Any) -> Usage:
    return Usage(
        count(usage.input_tokens),
        count(usage.output_tokens),
        count(usage.cache_read_input_tokens),
        count(usage.cache_creation_input_tokens),
    )


MARK: Block = {"type": "ephemeral"}


def request(system: str, tools: list[Block], history: list[Message]) -> Block:
    """The system prompt, tools and messages of a request, with cache markers. Does not change its arguments."""
    parts: Block = {"messages": marked(history)}
    if tools:
        parts["tools"] = [*tools[:-1], {**tools[-1], "cache_control": MARK}]
    if system.strip():
        parts["system"] = [{"type": "text", "text": system, "cache_control": MARK}]
    return parts


def marked(history: list[Message]) -> list[Message]:
    """The conversation with a cache marker on each of the two newest user messages."""
    users = [i for i, message in enumerate(history) if message["role"] == "user"][-2:]
    return [_mark(message) if i in users else message for i, message in enumerate(history)]


def _mark(message: Message) -> Message:
    content = message["content"]
    assert isinstance(content, list)
    return {**message, "content": [*content[:-1], {**content[-1], "cache_control": MARK}]}
