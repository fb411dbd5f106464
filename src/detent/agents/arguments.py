"""Parsing the arguments of a model's tool call: exactly one JSON object, or a fault that is reported to the model. Pure."""

import json
import math
from typing import NoReturn

from detent.agents.dialect import Block, ModelMessage, ToolRequest


def read_call(id: str, name: str, text: str) -> ToolRequest:
    """The call as the model wrote it. Empty text means no arguments."""
    if not text.strip():
        return ToolRequest(id, name, {})
    try:
        return ToolRequest(id, name, json.loads(text, object_pairs_hook=once, parse_constant=no_number, parse_float=finite))
    except (ValueError, RecursionError) as e:
        return ToolRequest(id, name, {}, f"the arguments are not valid JSON: {e}"[:500])


def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object, rejected if it has duplicate keys."""
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
    """A call as the block that is sent back to the model."""
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments if isinstance(call.arguments, dict) else {}}


def with_unique_ids(message: ModelMessage, taken: set[str]) -> ModelMessage:
    """Give each call of a message a unique id: a missing or repeated id is replaced. Adds the ids to `taken`."""
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
    """A fresh id of nine letters and digits, which every service accepts."""
    return next(name for n in range(len(taken) + 1) if (name := f"call{n:05}") not in taken)
