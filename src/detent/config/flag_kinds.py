"""Which kinds of flags there are: the built-in ones, and those that packages installed beside Detent bring."""

from detent.extensions import FLAGS, load, names
from detent.kernel.flags import KINDS, LEVELS, Kind


def is_kind(name: str) -> bool:
    """Whether there is such a kind of flag."""
    return name in KINDS or load(FLAGS, name, _wrong) is not None


def kind_names() -> tuple[str, ...]:
    """Every kind, the built-in ones first."""
    return (*KINDS, *names(FLAGS, KINDS))


def _wrong(value: object) -> str:
    if not isinstance(value, Kind):
        return f"it is a {type(value).__name__}, not a Kind"
    return "" if value.level in LEVELS else f"its level is '{value.level}'; it must be one of {', '.join(LEVELS)}"
