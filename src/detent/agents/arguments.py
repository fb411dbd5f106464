"""What a model wrote as the arguments of a tool call, read strictly: one whole JSON object, or a fault that the model is told. Pure."""

import json
import math
from typing import NoReturn

from detent.agents.dialect import Block, ModelMessage, ToolRequest


def read_call(id: str, name: str, text: str) -> ToolRequest:
    """The call as the model wrote it. No text is a call without arguments."""
    if not text.strip():
        return ToolRequest(id, name, {})
    try:
        return ToolRequest(id, name, json.loads(text, object_pairs_hook=once, parse_constant=no_number, parse_float=finite))
    except (ValueError, RecursionError) as e:
        return ToolRequest(id, name, {}, f"the arguments are not valid JSON: {e}"[:500])


def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose names stand once each."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name appears twice")
    return found


def no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else no_number(text[:20])


def block_of(call: ToolRequest) -> Block:
    """A call as it is sent back."""
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments if isinstance(call.arguments, dict) else {}}


def told_apart(message: ModelMessage, taken: set[str]) -> ModelMessage:
    """The message with an id of its own for each call: one that has none, or one that was there before, gets a new one. `taken` grows."""
    blocks, calls = [], iter(message.calls)
    renamed: list[ToolRequest] = []
    for block in message.blocks:
        if block["type"] == "tool_use":
            call = next(calls)
            call = call._replace(id=call.id if call.id and call.id not in taken else _fresh(taken))
            taken.add(call.id)
            renamed.append(call)
            block = {**block, "id": call.id}
        blocks.append(block)
    return message._replace(blocks=blocks, calls=renamed)


def _fresh(taken: set[str]) -> str:
    """Nine letters and digits: a form that every service takes."""
    return next(name for n in range(len(taken) + 1) if (name := f"call{n:05}") not in taken)
