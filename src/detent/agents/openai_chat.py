"""OpenAI's chat dialect: a conversation becomes a request, a stream of chunks a message. Knows no loop, no key and no address.

Services differ in what they leave out: ids and indexes of calls, why a message stopped, token counts.
"""

import hashlib
import json
from typing import TYPE_CHECKING, Any

from detent.agents.agent_protocol import Usage
from detent.agents.arguments import block_of, read_call
from detent.agents.dialect import Block, Conversation, Ear, Message, ModelMessage
from detent.agents.faults import Cut, Key, Trouble, trouble_of
from detent.agents.stream_reading import count
from detent.agents.texts import whole

if TYPE_CHECKING:
    import openai

STOPS = {"stop": "end", "tool_calls": "calls", "function_call": "calls", "length": "length", "content_filter": "refused"}
NAMELESS = "nameless"  # a call that came without a name; no tool has this one, so the model gets an error
EXTRA = "extra_content"  # beside a call: data that a service wants back with it, such as a thought's signature


class Chat:
    """The chat completions API as a Dialect."""

    def __init__(self, client: "openai.OpenAI", key: Key, usage: bool = True, cache_key: bool = False) -> None:
        self.client, self.key, self.usage, self.cache_key = client, key, usage, cache_key

    def request(self, talk: Conversation) -> Block:
        """The request for the next message. It has no length limit: services name that field differently, and all have their own limit."""
        system: list[Message] = [{"role": "system", "content": talk.system}] if talk.system.strip() else []
        messages = [*system, *(sent for message in talk.history for sent in messages_of(message))]
        request: Block = {"model": talk.model, "messages": messages, "stream": True}
        if talk.tools:
            request["tools"] = [function_of(tool) for tool in talk.tools]
        if self.usage:
            request["stream_options"] = {"include_usage": True}
        if self.cache_key:
            begins = json.dumps([talk.system, talk.history[:1]], default=str)
            request["prompt_cache_key"] = hashlib.sha256(begins.encode()).hexdigest()[:32]
        return request

    def receive(self, request: Block, timeout: float, ear: Ear) -> ModelMessage:
        coming, sent = Coming(), dict[str, Any](request)
        with self.client.chat.completions.create(**sent, timeout=timeout) as stream:
            ear.begins(stream)
            for chunk in stream:
                words, other = coming.take(chunk)
                ear.receives(words, words=True)
                ear.receives(other)
                if usage := getattr(chunk, "usage", None):
                    ear.counts(counted(usage))
        if not coming.stop:
            raise Cut("the stream ended before its message did")
        return coming.message()

    def trouble_of(self, error: Exception, model: str) -> Trouble:
        import openai

        return trouble_of(error, model, openai, self.key)

    def close(self) -> None:
        self.client.close()


def function_of(tool: Block) -> Block:
    named = {"name": tool["name"], "description": tool.get("description", ""), "parameters": tool["input_schema"]}
    return {"type": "function", "function": named}


def messages_of(message: Message) -> list[Message]:
    """Our message as OpenAI messages: each tool result becomes a message of its own."""
    blocks: Any = message["content"]
    words = "\n".join(block["text"] for block in blocks if block["type"] == "text")
    if message["role"] == "assistant":
        calls = [call_of(block) for block in blocks if block["type"] == "tool_use"]
        return [{"role": "assistant", "content": words or None, **({"tool_calls": calls} if calls else {})}]
    results = [block for block in blocks if block["type"] == "tool_result"]
    answers: list[Message] = [{"role": "tool", "tool_call_id": block["tool_use_id"], "content": result_of(block)} for block in results]
    user_messages: list[Message] = [{"role": "user", "content": words}] if words else []
    return answers + user_messages


def call_of(block: Block) -> Block:
    called = {"name": block["name"], "arguments": json.dumps(block["input"], ensure_ascii=False)}
    return {"id": block["id"], "type": "function", "function": called, **({EXTRA: block[EXTRA]} if EXTRA in block else {})}


def result_of(block: Any) -> str:
    """The text of a tool result. The dialect has no field for failure, so it is said in the text."""
    text = "\n".join(part["text"] for part in block["content"])
    return f"Error: {text}" if block["is_error"] else text


class Pieces:
    """A tool call that is still streaming in."""

    def __init__(self, id: str) -> None:
        self.id, self.name, self.text = id, "", ""
        self.extra: object = None

    def is_another(self, id: str, name: str, numbered: bool) -> bool:
        """Whether a piece with this id and name begins another call."""
        if id and self.id:
            return id != self.id
        return bool(name and self.name) and (not numbered or is_whole(self.text))


class Coming:
    """A message that is still streaming in."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls: list[Pieces] = []
        self.at: dict[int, Pieces] = {}  # index -> the newest call with it
        self.stop, self.model, self.refused = "", "", False

    def take(self, chunk: Any) -> tuple[str, str]:
        """Add a chunk; returns its text for the reader, and everything else in it."""
        self.model = text_of(chunk.model) or self.model
        if not chunk.choices:
            return "", ""
        choice = chunk.choices[0]
        self.stop = text_of(choice.finish_reason) or self.stop
        delta = choice.delta
        if delta is None:
            return "", ""
        words, refusal = text_of(delta.content), text_of(getattr(delta, "refusal", None))
        self.texts.append(words)
        self.refused = self.refused or bool(refusal)
        return words, refusal + "".join(self._call(piece) for piece in delta.tool_calls or ())

    def _call(self, piece: Any) -> str:
        """Add a piece to its call, which is found by its index, or by id and name if the index is missing or always the same."""
        id, called = text_of(piece.id), piece.function
        name, text = text_of(getattr(called, "name", None)), text_of(getattr(called, "arguments", None))
        number = piece.index if isinstance(getattr(piece, "index", None), int) else None
        into = self.at.get(number) if number is not None else self.calls[-1] if self.calls else None
        if into is None or into.is_another(id, name, number is not None):
            into = Pieces(id)
            self.calls.append(into)
        if number is not None:
            self.at[number] = into
        into.id, into.name, into.text = into.id or id, into.name or name, into.text + text
        into.extra = getattr(piece, EXTRA, None) or into.extra
        return name + text

    def message(self) -> ModelMessage:
        """The complete message. Some services say `stop` where they mean `tool_calls`."""
        text = "".join(self.texts)
        calls = [read_call(each.id, each.name or NAMELESS, each.text) for each in self.calls]
        blocks: list[Block] = [{"type": "text", "text": whole(text)}] if text.strip() else []
        for call, each in zip(calls, self.calls, strict=True):
            blocks.append({**block_of(call), **({EXTRA: each.extra} if each.extra else {})})
        stop = "refused" if self.refused else "calls" if calls and self.stop == "stop" else STOPS.get(self.stop, self.stop)
        return ModelMessage(blocks, text, calls, stop, self.model)


def is_whole(text: str) -> bool:
    return bool(text.strip()) and not read_call("", "", text).fault


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def counted(usage: Any) -> Usage:
    """Our Usage from theirs: their prompt tokens include what came from the cache; ours do not."""
    details = getattr(usage, "prompt_tokens_details", None)
    cached, written = (count(getattr(details, name, 0)) for name in ("cached_tokens", "cache_write_tokens"))
    plain = max(0, count(usage.prompt_tokens) - cached - written)
    return Usage(plain, count(usage.completion_tokens), cached, written)
