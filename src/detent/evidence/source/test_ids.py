"""Test ids that are stable: from run to run, from checkout to checkout, and in every file that stores them. Pure.

A parameter may put an address, a time, a temporary path or ten thousand letters into an id. `readable` makes any id one bounded line,
`stable` blanks what differs between runs, `family` is the test without its row, and `is_named` compares an id with a test's name.
"""

import os
import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

LONGEST = 400
DEEPEST = 5  # nested lists in a title
SHOWN = 300  # letters kept of a longer id
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
NAMES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sep|Oct|Nov|Dec)[a-z]*"
DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*"
CLOCK = r"\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?"
ZONE = r"(?: ?(?:Z|UTC|GMT)?(?:[+-]\d\d:?\d\d(?: \([A-Z][\w ]+\))?)|(?: ?(?:Z|UTC|GMT)\b))?"
TIMES = (
    rf"\d{{4}}[-/]\d\d[-/]\d\d[T _]{CLOCK}{ZONE}",
    r"\b\d{8}[T_-]\d{4,6}(?:\.\d+)?Z?\b",
    rf"(?:{DAY},? )?\d{{1,2}}[ -]{MONTH}[ -]\d{{4}},? {CLOCK}{ZONE}",
    rf"{DAY},? {MONTH} +\d{{1,2}},? (?:\d{{4}} )?{CLOCK}{ZONE}(?: \d{{4}})?",
    r"datetime\.datetime\(\d{4}(?:, \d+){4,6}[^()]*(?:\([^()]*\))?[^()]*\)",
    r"(?<![\w.])1[4-9]\d{8}\.\d+(?![\w.])",
    r"(?<![\w.])1[4-9](?:\d{11}|\d{14}|\d{17})(?![\w.])",
)
UUID = r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"
ADDRESSES = (r"\bat 0x[0-9a-fA-F]+", r"\b0x[0-9a-fA-F]{9,16}\b", r"(?<=:)0x[0-9a-fA-F]{8,16}\b", r"(?<=[\w;\]])@[0-9a-f]{6,8}(?![\w.@])")
HEX = r"\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{24,}\b"
PORT = r"(?<=\blocalhost:)\d{4,5}\b|(?<=127\.0\.0\.1:)\d{4,5}\b|(?<=\[::1\]:)\d{4,5}\b"
PID = r"(?<=\bpid)([ =:_-]?)\d+\b"
BEGINS = r"/(?:private/)?(?:var/)?tmp(?=/)|/(?:private)?/?var/folders(?=/)|(?:/[\w.+-]{1,60}){0,8}/pytest-of-[^/\s]+"
RULES = (
    (re.compile("|".join(TIMES)), "<time>"),
    (re.compile(UUID), "<uuid>"),
    (re.compile("|".join(ADDRESSES)), "<address>"),
    (re.compile(HEX), "<hex>"),
    (re.compile(PORT), "<port>"),
    (re.compile(PID, re.IGNORECASE), r"\1<pid>"),
)
NAMED_FILE = re.compile(r"(?!tmp\w{8})[\w.+-]*[A-Za-z][\w+-]*\.[A-Za-z]\w{0,5}")
PYTHON = re.compile(r"(?P<test>.*?\.py::(?:\w+::)*\w+)(?:\[.*\])?(?: \(.*\))?", re.DOTALL)
NUMBERED = re.compile(r" \(\d+\)\Z")
SCRIPT = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
VALUE = re.compile(
    r"'[^']*'|\"[^\"]*\"|`[^`]*`|(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?n?(?![\w.]*[A-Za-z])|\b(?:true|false|null|undefined|NaN|Infinity)\b|\[[^\[\]]*\]|\{[^{}]*\}"
)


def readable(test: str) -> str:
    """An id as one bounded line for any file. A long one ends with a hash of the whole, so it stays distinct."""
    plain = CONTROL.sub(_escaped, test)
    if len(plain) <= LONGEST:
        return plain
    return f"{plain[:SHOWN]}… {sha256(stable(plain).encode()).hexdigest()[:12]}"


def stable(test_id: str) -> str:
    """An id with everything blanked that differs between runs: addresses, times, uuids, temporary paths, ports, long random words."""
    plain = CONTROL.sub(_escaped, test_id)
    plain = _temporary().sub(lambda found: _kept(found["rest"]), plain)
    for rule, word in RULES:
        plain = rule.sub(word, plain)
    return plain


def family(test_id: str) -> str:
    """The test that an id is a row or sub-test of; else the id itself.

    A report names a row of `it.each` only by its title, like any other test. Its family is that title with the values blanked: tests with different
    words are never one family, even in one suite, so a lost test is not taken for a renamed row.
    """
    plain = NUMBERED.sub("", readable(test_id))
    file, colons, name = plain.partition("::")
    if not colons:
        return plain
    if file.endswith(".py"):
        found = PYTHON.fullmatch(plain)
        return found["test"] if found else plain
    if file.endswith(".go"):
        return f"{file}::{name.partition('/')[0]}"
    if file.endswith(".rs"):
        return re.sub(r"::case_\d+(?:_\w+)?\Z", "", plain)
    if file.endswith(".php"):
        return re.sub(r" with data set .*\Z", "", plain)
    if file.endswith(".rb"):
        return re.sub(r" \[[\d:]+\]\Z", "", plain)
    if file.endswith(SCRIPT):
        return f"{file}::{_blank(name)}"
    bare = re.sub(r"[\[({].*$", "", name).rstrip()
    return f"{file}::{bare or name}"


def package_path(file: str, name: str) -> str:
    """A location-independent path for a file outside the checkout: from its package on, else its last two parts."""
    parts = [part for part in file.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    for at, part in reversed(list(enumerate(parts[:-1]))):
        if part in ("site-packages", "dist-packages", "node_modules"):
            return "/".join(parts[at + 1 :])
    words = name.split(".")
    stems = [*parts[:-1], re.sub(r"\.\w+\Z", "", parts[-1])] if parts else []
    for start in range(len(stems)):
        inside = stems[start:] if stems[-1] != "__init__" else stems[start:-1]
        if inside and words[: len(inside)] == inside and len(words) > 1:
            return "/".join(parts[start:])
    return "/".join(("…", *parts[-2:]))


def without_root(test: str, roots: Iterable[str]) -> str:
    """An id without the folder that the tests ran in: `test[/home/me/app/data/a.json]` becomes `test[data/a.json]`."""
    for root in roots:
        if len(root) > 1:
            test = re.sub(rf"{re.escape(root)}(?:/|(?![\w.-]))", "", test)
    return test


def _escaped(found: re.Match[str]) -> str:
    letter = found[0]
    return NAMES.get(letter) or (f"\\x{ord(letter):02x}" if ord(letter) < 256 else f"\\u{ord(letter):04x}")


def _temporary() -> re.Pattern[str]:
    own = os.environ.get("TMPDIR", "").rstrip("/")
    begins = f"{re.escape(own)}(?=/)|{BEGINS}" if own.count("/") > 1 else BEGINS
    return re.compile(f"(?:{begins})" + r"(?P<rest>(?:/[^\s\"'\])},;:]*)?)")


def _kept(rest: str) -> str:
    """What is kept of a temporary path: the file name, if it looks chosen by a person."""
    name = rest.rpartition("/")[2]
    return f"<tmp>/{name}" if rest.count("/") > 1 and NAMED_FILE.fullmatch(name) else "<tmp>"


def _blank(name: str) -> str:
    for _ in range(DEEPEST):
        name = VALUE.sub("#", name)
    return name


def selects(selector: str, test: str) -> bool:
    """Whether a path or node id selects a test; an uncollectable file stands for its tests."""
    selector = selector.removeprefix("./").rstrip("/")
    inside = test == selector or test.startswith((f"{selector}::", f"{selector}/", f"{selector}["))
    return inside or selector in ("", ".") or selector.startswith(f"{test}::")


def behind_links(selector: str, root: Path) -> str:
    """A selector with links inside the project resolved in its path, since a runner may report either path."""
    path, mark, rest = selector.partition("::")
    real = os.path.relpath(os.path.realpath(root / path), os.path.realpath(root))
    return selector if real.startswith("..") else f"{real}{mark}{rest}"


def is_named(test: str, name: str) -> bool:
    """Whether a test's id ends with a name, in any group, and with any number or parameters."""
    local = re.sub(r"(\[.*\]| \(\d+\))\Z", "", test.partition("::")[2])
    if ".go::" in test:
        local = local.partition("/")[0]
    return local == name or local.endswith((f"::{name}", f" > {name}", f" {name}"))
