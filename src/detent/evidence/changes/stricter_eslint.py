"""Rules of JavaScript linters (ESLint, Biome) that only became more severe. Pure."""

import json
import re
from collections.abc import Mapping
from difflib import SequenceMatcher

from detent.evidence.changes.stricter_values import Value

SEVERITIES: Mapping[str, int] = {"off": 0, "0": 0, "allow": 0, "warn": 1, "1": 1, "error": 2, "2": 2, "deny": 2}
RULE = re.compile(r"(?:@?[\w-]+/)*[a-z][\w-]*")
RULE_LINE = re.compile(r"""\s*["']?((?:@?[a-z][\w-]*/)*[a-z][a-z0-9-]*)["']?:\s*["'](off|warn|error)["'],?""")


def severer(key: str, was: Value, now: Value) -> bool:
    """Whether a rule is at least as severe as before, with the same options. A new rule counts if it is a plain error, since it then keeps
    options set elsewhere."""
    if was == now:
        return True
    if isinstance(was, dict) or isinstance(now, dict):  # groups of rules
        if any(isinstance(each, dict) and "options" in each for each in (was, now)):
            return False
        sides = [each if isinstance(each, dict) else {} for each in (was, now)]
        return all(severer(name, sides[0].get(name), sides[1].get(name)) for name in {*sides[0], *sides[1]})
    old, new = (_severity(each) for each in (was, now))
    if RULE.fullmatch(key) is None or (old is None and was is not None):
        return False
    if now is None or new is None:
        return now is None and old is not None and old[0] == 0
    if old is None:
        return new == (2, ()) and not isinstance(now, list)
    return old[0] <= new[0] and old[1] == new[1]


def only_severer_rules(before: str, after: str) -> bool:
    """The same for a configuration in JavaScript with one rule per line: each changed rule became more severe, is a new error, or is no longer off."""
    old, new = before.splitlines(), after.splitlines()
    for how, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if how == "equal":
            continue
        sides = [[RULE_LINE.fullmatch(line) for line in lines if line.strip()] for lines in (old[a:b], new[c:d])]
        if not all(all(side) for side in sides):
            return False
        was, now = ({found[1]: found[2] for found in side if found} for side in sides)
        if any(len(rules) != len(side) for rules, side in zip((was, now), sides, strict=True)):
            return False
        if not all(severer(name, was.get(name), now.get(name)) for name in {*was, *now}):
            return False
    return bool(old)


def _severity(value: Value) -> tuple[int, tuple[str, ...]] | None:
    first, *rest = value if isinstance(value, list) and value else [value]
    level = SEVERITIES.get(str(first)) if isinstance(first, str | int) and not isinstance(first, bool) else None
    return None if level is None else (level, tuple(json.dumps(each, sort_keys=True) for each in rest))
