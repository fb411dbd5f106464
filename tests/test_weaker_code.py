"""Code that asks for less than before, by its form, in each language; and honest changes beside it. Each list ends with one that the rule was not
made with."""

import pytest

from detent.evidence.probes.removed_lines import removed
from detent.evidence.static_analysis.weaker_code import weaker

WEAKER: dict[str, tuple[tuple[str, str], ...]] = {  # what stood there, and what stands there now
    "a condition lost a part": (
        ("    if not name or len(name) > 64:", "    if not name:"),
        ("  if (!name || name.length > 64) {", "  if (!name) {"),
        ('\tif name == "" || len(name) > 64 {', '\tif name == "" {'),
        ('  raise ArgumentError, "bad" if name.empty? || name.size > 64', '  raise ArgumentError, "bad" if name.empty?'),
        ("    return user.active and user.paid", "    return user.active"),
        ("    fresh = token.fits(key) and now() < token.ends", "    fresh = token.fits(key)"),
        ("      && request.origin === here", ""),
        ("  const ok = isList(rows) && rows.every(isRow);", "  const ok = isList(rows);"),
    ),
    "an error became something else": (
        ('        raise ValueError("bad quantity")', "        qty = abs(qty)"),
        ('        raise ValueError("bad quantity")', '        log.warning("bad quantity")'),
        ('      throw new RangeError("bad quantity");', "      qty = 1;"),
        ("\t\treturn 0, ErrBad", "\t\tqty = 1"),
        ('      raise ArgumentError, "bad quantity"', "      qty = 1"),
        ("        raise", "        pass"),
        ("    return Promise.reject(new Late())", "    late += 1"),
    ),
    "a yes or no was turned": (
        ("def export(rows, private=True):", "def export(rows, private=False):"),
        ("  strict: true,", "  strict: false,"),
        ("verify_tls: true", "verify_tls: false"),
        ("\tDisableKeepAlives: true, ReadOnly: true,", "\tDisableKeepAlives: true, ReadOnly: false,"),
    ),
    "a number became far larger, or nothing": (
        ("LARGEST = 64", "LARGEST = 64_000_000"),
        ("    if qty <= 0:", "    if qty <= -1000:"),
        ("const ATTEMPTS = 5;", "const ATTEMPTS = 0;"),
        ("  retry(times: 3)", "  retry(times: 300)"),
    ),
    "a comparison asks for something else": (
        ('    if not re.fullmatch(r"[a-z]+", text):', '    if not re.match(r"[a-z]+", text):'),
        ("  if (a.owner === b.owner) {", "  if (a.owner == b.owner) {"),
        ("    return all(row.valid for row in rows)", "    return any(row.valid for row in rows)"),
        ("  return rows.every(isRow)", "  return rows.some(isRow)"),
    ),
    "a pattern lost its beginning or end": (
        ('NAME = re.compile(r"^[a-z]+$")', 'NAME = re.compile(r"[a-z]+")'),
        ("const host = /^https:\\/\\/shop\\./;", "const host = /https:\\/\\/shop\\./;"),
        ("  NAME = /\\A[a-z]+\\z/", "  NAME = /[a-z]+/"),
    ),
    "a decorator was removed": (
        ("@metered", ""),
        ('@limits.per_minute("10")', ""),
        ("  @Throttled(5)", ""),
    ),
}
SAME: tuple[tuple[str, str, str], ...] = (  # before, after, and what else came
    ("    if not name or len(name) > 64:", "    if not is_name(name):", "    return bool(name) and len(name) <= 64"),
    ("    if a and b:", "    if a:", "        if b:"),
    ("    if a or b:", "    if b or a:", ""),
    ("    if word[-2:] in few or word == other:", "    if (", "        words[-2:] in few"),
    ("PERMS = 511  # for Python 2 and 3", "PERMS = 511", ""),
    ("    if x == None or x == 0:", "    if not x:", ""),
    ("    if PY2 or old:", "    if old or other:", ""),
    ('        raise ValueError("bad")', '        raise BadQuantity("bad")', ""),
    ("        raise ValueError(", "        msg = (", "        raise ValueError(msg)"),
    ("        raise NotImplementedError", "        pass", ""),
    ("        throw new Error('x');", "        return fail('x');", ""),
    ("    size = 10", "    size = 20", ""),
    ("    version = 3", "    version = 4", ""),
    ("    if x < 3:", "    if x in few:", ""),
    ("@functools.lru_cache(maxsize=8)", "", ""),
    ("@deprecated", "", ""),
    ('NAME = re.compile(r"^[a-z]+$")', 'NAME = re.compile(r"^[a-z0-9]+$")', ""),
    ("    @parser.escape text, unsafe", "    @parser.quote text", ""),
)


@pytest.mark.parametrize(("what", "was", "now"), [(what, *each) for what, of in WEAKER.items() for each in of])
def test_code_that_asks_for_less_is_named(what: str, was: str, now: str) -> None:
    assert weaker([was], [now] if now else [], [now]) == what


@pytest.mark.parametrize(("was", "now", "also"), SAME)
def test_code_that_asks_otherwise_is_not(was: str, now: str, also: str) -> None:
    assert weaker([was], [now], [now, also]) == ""


def test_a_part_that_is_asked_in_a_line_of_its_own_is_not_lost() -> None:
    assert weaker(["    if a and b.fits():"], ["    if a:", "        if b.fits():"], ["    if a:", "        if b.fits():"]) == ""


def test_what_moved_is_not_weaker() -> None:
    gone = "    if not name or len(name) > 64:"
    assert weaker([gone], ["    if not name:"], ["    if not name:", gone]) == ""


def test_a_weaker_check_is_put_back() -> None:
    was, now = "    if n < 0 or n > 9:", "    if n < 0:"
    patch = f"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -2 +2 @@\n-{was}\n+{now}\n".encode()
    after = f"def f(n):\n{now}\n        raise ValueError(n)\n    return n\n"
    (piece,) = removed(patch, lambda path: True, lambda path: after)
    assert piece.what == "a condition lost a part" and piece.sure
    assert piece.make[0]() == after.replace(now, was)
