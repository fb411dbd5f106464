"""Coverage limits in a configuration of vitest or jest that only were raised. Pure."""

import re

BLOCK = re.compile(r"\b(?:thresholds|coverageThreshold)[\"']?\s*:\s*\{(?:[^{}]*|[^{}]*\bglobal[\"']?\s*:\s*\{[^{}]*\}[^{}]*)\}\s*,?")
LIMIT = re.compile(r"\b(statements|branches|functions|lines)[\"']?\s*:\s*(\d+(?:\.\d+)?)(?=\s*[,}\n])\s*,?")

EMPTY = re.compile(r"\w+[\"']?:\{(?:[\"']?global[\"']?:\{\},?)?\},?")  # a block without its limits


def only_higher_limits(before: str, after: str) -> bool:
    """Whether two versions differ in nothing but limits of coverage that were raised or added."""
    old, new = (BLOCK.findall(text) for text in (before, after))
    if len(new) != 1 or len(old) > 1 or _bare(before) != _bare(after):
        return False
    limits = _limits(new[0])
    if any(limit > 100 for limit in limits.values()) or len(LIMIT.findall(new[0])) != len(limits):
        return False
    if not old:
        return EMPTY.fullmatch(_rest(new[0])) is not None
    return _rest(old[0]) == _rest(new[0]) and all(limit <= limits.get(name, -1) for name, limit in _limits(old[0]).items())


def _bare(text: str) -> str:
    return "".join(BLOCK.sub("", text).split())


def _rest(block: str) -> str:
    return "".join(LIMIT.sub("", block).split()).rstrip(",")


def _limits(block: str) -> dict[str, float]:
    return {name: float(limit) for name, limit in LIMIT.findall(block)}
