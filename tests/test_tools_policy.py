"""What may be written, and the patterns that say so."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.tools.globs import expression, writable

MAY = writable(("src/**", "docs/*.md", "tests/", "plan?.txt", "pages/[id].tsx"), ("src/vendor", "**/*.lock", "src/conf/**"))


@pytest.mark.parametrize(
    "path", ["src/a.py", "src/a/b/c.py", "docs/a.md", "tests/x/y.py", "plan1.txt", "pages/[id].tsx", "src/vendored.py"]
)
def test_what_the_state_opens_may_be_written(path: str) -> None:
    assert MAY(path) is None


@pytest.mark.parametrize("path", ["src", "a.py", "docs/x/a.md", "docs/a.txt", "plan.txt", "plan12.txt", "pages/i.tsx", "xsrc/a.py"])
def test_anything_else_may_not_and_the_sentence_names_what_may(path: str) -> None:
    why = MAY(path)
    assert why == f"{path} may not be written in this state. What may be written now: src/**, docs/*.md, tests/, plan?.txt, pages/[id].tsx."


@pytest.mark.parametrize(
    "path", ["src/vendor", "src/vendor/a.py", "src/Vendor/a.py", "src/a.lock", "a.lock", "src/conf/a/b", "src/x.lock/y"]
)
def test_what_is_protected_stays_so_whatever_the_state_opens(path: str) -> None:
    assert (MAY(path) or "").startswith(f"{path} is protected: no agent writes it.")
    assert writable(("**",), ("src/vendor", "**/*.lock", "src/conf/**"))(path)


def test_where_nothing_is_open_nothing_may_be_written() -> None:
    assert writable((), ())("a") == "a may not be written in this state. Nothing may be written now."


def matches(pattern: list[str], names: list[str]) -> bool:
    """The plain meaning of a pattern, without regard to time."""
    if not pattern:
        return not names
    if pattern[0] == "**":
        least = 1 if len(pattern) == 1 else 0
        return any(matches(pattern[1:], names[n:]) for n in range(least, len(names) + 1)) if pattern[1:] else len(names) >= least
    return bool(names) and name_matches(pattern[0], names[0]) and matches(pattern[1:], names[1:])


def name_matches(pattern: str, name: str) -> bool:
    return re.fullmatch("".join({"*": ".*", "?": "."}.get(sign, re.escape(sign)) for sign in pattern), name) is not None


PARTS = st.lists(st.sampled_from(["**", "*", "a", "b", "?", "a*", "*a", "*a*b", "a*a*", "?*b"]), min_size=1, max_size=5)
PATHS = st.lists(st.text("ab.", min_size=1, max_size=5), min_size=1, max_size=6)


@given(PARTS, PATHS)
def test_a_pattern_means_what_it_plainly_says(parts: list[str], names: list[str]) -> None:
    assert bool(expression("/".join(parts)).fullmatch("/".join(names))) == matches(parts, names)
