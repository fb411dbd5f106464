"""Prompt caching: where the marks stand that let each call read what the one before it wrote. Pure; knows no network.

The service takes four marks. Two stay: behind the tools and behind the system prompt. Two move: behind the newest user message, which
this call writes, and behind the one before it, which the last call wrote and this one reads.
"""

from detent.agents.dialect import Block, Message

MARK: Block = {"type": "ephemeral"}


def request(system: str, tools: list[Block], history: list[Message]) -> Block:
    """The parts of a request that are cached, with their marks. What came in is not changed."""
    parts: Block = {"messages": marked(history)}
    if tools:
        parts["tools"] = [*tools[:-1], {**tools[-1], "cache_control": MARK}]
    if system.strip():
        parts["system"] = [{"type": "text", "text": system, "cache_control": MARK}]
    return parts


def marked(history: list[Message]) -> list[Message]:
    """The conversation with a mark behind each of the two newest user messages."""
    users = [i for i, message in enumerate(history) if message["role"] == "user"][-2:]
    return [_mark(message) if i in users else message for i, message in enumerate(history)]


def _mark(message: Message) -> Message:
    content = message["content"]
    assert isinstance(content, list)
    return {**message, "content": [*content[:-1], {**content[-1], "cache_control": MARK}]}
