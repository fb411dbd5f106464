"""The JSON objects that stand in a text, each with where it begins and ends. Knows nothing of what they mean."""

import json
from collections.abc import Iterator, Mapping

Object = Mapping[str, object]


def spans_of(text: str) -> Iterator[tuple[int, int, Object]]:
    """The objects of a text in order, none inside another."""
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = None, at + 1
        if isinstance(value, dict):
            yield at, end, value
        at = text.find("{", end)


def last_span(text: str, name: str) -> str:
    """The last object that has this key, as it stands there; empty if there is none."""
    spans = [text[at:end] for at, end, value in spans_of(text) if name in value]
    return spans[-1] if spans else ""
