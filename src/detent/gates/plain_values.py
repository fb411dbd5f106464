"""Strict parsing of JSON and YAML as agents write them, and finding JSON objects in other text.

A duplicate key, a tag, an alias or a lone surrogate is a ValueError that names its place. Knows no schema: each reader checks its own.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping

Plain = dict[str, "Plain"] | list["Plain"] | str | int | float | bool | None


class _Pairs(dict[str, Plain]):
    """A parsed object that remembers its duplicate keys."""

    doubled: tuple[str, ...] = ()


def json_value(text: str) -> object:
    """Parse a JSON text."""
    try:
        value = json.loads(text, object_pairs_hook=paired)
        _refuse(_faults(value, ""))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


def yaml_value(text: str) -> object:
    """Parse a YAML text. Tags are rejected, since they could make anything of a value."""
    import yaml

    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            at = f"line {event.start_mark.line + 1}"
            if isinstance(event, yaml.AliasEvent):
                raise ValueError(f"{at}: anchors and aliases are not supported; write every value out")
            if getattr(event, "tag", None):
                raise ValueError(f"{at}: the tag {event.tag} is not supported; write the value without it, in quotes if it is text")
        _refuse(f"{path}: appears twice" for path in _doubled_keys(yaml.compose(text, Loader=yaml.SafeLoader), ""))
        value = yaml.safe_load(text)
        _refuse(_faults(value, ""))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except (yaml.YAMLError, ArithmeticError) as e:
        raise ValueError(" ".join(str(e).split())) from e
    return value


def _refuse(faults: Iterator[str]) -> None:
    if message := "; ".join(faults):
        raise ValueError(message)


def paired(pairs: list[tuple[str, Plain]]) -> _Pairs:
    """An object hook for JSON that records duplicate keys."""
    found = _Pairs(pairs)
    found.doubled = tuple(twice([key for key, _ in pairs])) if len(found) < len(pairs) else ()
    return found


def twice(keys: list[str]) -> list[str]:
    """The values that occur more than once."""
    return sorted(key for key, n in Counter(keys).items() if n > 1)


def _faults(value: object, path: str) -> Iterator[str]:
    """Faults of a parsed value: duplicate keys and lone surrogates."""
    if isinstance(value, str) and not _whole(value):
        yield f"{path or 'the text'}: contains half a character (a lone surrogate), which cannot be encoded"
    elif isinstance(value, list):
        for i, below in enumerate(value):
            yield from _faults(below, f"{path}[{i}]")
    elif isinstance(value, dict):
        dot = f"{path}." if path else ""
        yield from (f"{dot}{_shown(key)}: appears twice" for key in getattr(value, "doubled", ()))
        for key, below in value.items():
            if isinstance(key, str) and not _whole(key):
                yield f"{dot}{_shown(key)}: contains half a character (a lone surrogate), which cannot be encoded"
            yield from _faults(below, f"{dot}{_shown(str(key))}")


def _whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(key: str) -> str:
    return key.encode("utf-8", "backslashreplace").decode()


def _doubled_keys(node: object, path: str) -> Iterator[str]:
    """The paths of duplicate keys in a composed YAML document."""
    value = getattr(node, "value", None)
    if not isinstance(value, list):
        return
    pairs = [item for item in value if isinstance(item, tuple)]
    yield from (f"{path}{_shown(key)}" for key in twice([str(key.value) for key, _ in pairs]))
    for key, below in pairs:
        yield from _doubled_keys(below, f"{path}{_shown(str(key.value))}.")
    for i, below in enumerate(item for item in value if not isinstance(item, tuple)):
        yield from _doubled_keys(below, f"{path.removesuffix('.')}[{i}].")


Object = Mapping[str, object]


def spans_of(text: str) -> Iterator[tuple[int, int, Object]]:
    """(start, end, object) for the outermost JSON objects in a text, in order."""
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
    """The source text of the last object with this key; empty if there is none."""
    spans = [text[at:end] for at, end, value in spans_of(text) if name in value]
    return spans[-1] if spans else ""
