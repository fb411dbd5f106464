"""JSON by the interpreter's C scanner, which `json.loads` uses too, without importing the json package: that would take longer

than the rest of a hook.
"""

from _json import encode_basestring_ascii, make_scanner

SPACE = " \t\n\r"


class _Plain:
    """The scanner's context, with the default settings."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def loads(text: str) -> object:
    """The value of a JSON text. ValueError if invalid, with the message of the json package."""
    start = len(text) - len(text.lstrip(SPACE))
    try:
        value, end = make_scanner(_Plain)(text, start)  # type: ignore[arg-type]  # any object with these attributes will do
        whole = not text[end:].strip(SPACE)
    except (ValueError, StopIteration, SystemError):
        whole = False
    if not whole:
        import json

        value = json.loads(text)
    found: object = value
    return found


def dumps(value: object) -> str:
    """JSON of a text, or of nested dicts of texts."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{dumps(key)}: {dumps(each)}" for key, each in value.items()) + "}"
    return str(encode_basestring_ascii(str(value)))
