"""JSON by the interpreter's own C scanner, without the package around it: importing that would cost a hook more than everything else it does.

The same scanner that `json.loads` uses, so the same values and the same faults.
"""

from _json import encode_basestring_ascii, make_scanner

SPACE = " \t\n\r"


class _Plain:
    """What the scanner asks its context for: nothing out of the ordinary."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def loads(text: str) -> object:
    """The value of a JSON text. Raises ValueError: what the scanner alone stumbles over, the package says in words."""
    start = len(text) - len(text.lstrip(SPACE))
    try:
        value, end = make_scanner(_Plain)(text, start)  # type: ignore[arg-type]  # any object with these names will do
        whole = not text[end:].strip(SPACE)
    except (ValueError, StopIteration, SystemError):
        whole = False
    if not whole:
        import json

        value = json.loads(text)
    found: object = value
    return found


def dumps(value: object) -> str:
    """A text, or an object of texts and objects, as JSON."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{dumps(key)}: {dumps(each)}" for key, each in value.items()) + "}"
    return str(encode_basestring_ascii(str(value)))
