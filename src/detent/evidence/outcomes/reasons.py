"""Why a test failed, and who is to blame: the product, the test itself, or the machine. Pure.

Reads the exception's type, message and place from the report, and asks two questions: is this file a test, and is this module a third-party
package. If that does not settle it, the answer is `unknown`: never an exception, never a guess.
"""

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from detent.evidence.report import TestReport

Sort = Literal["product", "test", "machine", "unknown"]
LONGEST = 200
ASSERTIONS = frozenset({"AssertionError", "DocTestFailure", "Failed", "NotImplementedError", "XFailed"})
SYNTAX = frozenset({"SyntaxError", "IndentationError", "TabError", "ParseError", "RolldownError"})
TIMES_UP = frozenset({"testTimeoutFailure"})
TIMED_OUT = re.compile(
    r"(?:Failed: )?Timeout (?:\(>?|>)[\d.]+s?|(?:Test|Hook) timed out in \d+ ?ms|Exceeded timeout of \d+ ?ms|(?:Error: )?Timeout of \d+ ?ms exceeded"
    r"|test timed out after|thrown: \"Exceeded timeout|test timed out \("
)
NO_ROOM = re.compile(
    r"No space left on device|ENOSPC|Disk quota exceeded|Too many open files|EMFILE|Cannot allocate memory|ENOMEM|heap out of memory"
    r"|OutOfMemoryError|Allowed memory size of|signal: killed|SIGKILL|signal 9\b"
)
EXHAUSTED = frozenset({"MemoryError", "OutOfMemoryError", "NoMemoryError"})
FIXTURE = re.compile(r"fixture '([^']*)' not found")
PLUGINS_BRING = re.compile(r"fixture '[^']*' not found|async def functions are not natively supported")
MODULE = re.compile(
    r"No module named '([^']+)'|cannot import name '[^']*' from '([^']+)'|Cannot find (?:module|package) '([^']+)'|Failed to load url (\S+)"
    r"|Failed to resolve import \"([^\"]+)\"|Could not locate module (\S+)|cannot load such file -- (\S+)|no required module provides package ([^\s;:]+)"
    r"|package (\S+) is not in std|use of (?:undeclared|unresolved) (?:crate or )?module(?: or unlinked crate)? `([^`]+)`|can't find crate for `([^`]+)`"
    r"|unresolved import `([^`]+)`"
)
UNBOUND = re.compile(
    r"name '([^']+)' is not defined|^([A-Za-z_$][\w$]*) is not defined|undefined local variable or method [`']([^']+)'", re.MULTILINE
)
CALL = re.compile(
    r"got an unexpected keyword argument|takes (?:\d+|no|from \d+ to \d+) positional arguments?|missing \d+ required|wrong number of arguments"
)
UNPARSED = re.compile(
    r"syntax error|expected (?:one of|'|`|identifier|item|expression|declaration|\)|;|statement)|unexpected (?:token|end)|' expected|unclosed|unterminated"
    r"|illegal start of|reached end of file while parsing|not a statement|missing condition|class, interface|mismatched closing|stray '|invalid syntax|Parse error",
    re.IGNORECASE,
)
UNWRAPPED = re.compile(
    r"called `(?:Result|Option)::(?:unwrap|expect)\w*\(\)` on |^Error: ", re.MULTILINE
)  # a result of the code that was an error
OLDER_PANIC = re.compile(r"^thread '.*?' panicked at '")  # Rust before 1.73 prints message and place on one line
PANICKED = re.compile(r"^thread '.*' .*panicked at [^\n]*:\d+:\d+:$|^stack backtrace:|^note: run with")
STAR = re.compile(r"^\s*from \S+ import \*", re.MULTILINE)
NOT_INSTALLED = " is a third-party package, and it is not installed here"
TWICE = re.compile(r"\bredeclared in this block\b|\balready declared\b|\b[Dd]uplicate (?:identifier|definition|declaration)\b")
ENDED = "the process ended"
UNFETCHED = re.compile(r"module lookup disabled by GOPROXY=off")
UNUSED = re.compile(r"imported and not used|declared and not used|declared but not used")


class Reason(NamedTuple):
    """Why a test failed: who is to blame, and the cause in one short sentence."""

    sort: Sort
    sentence: str


class FailureFacts(NamedTuple):
    """What a report says about a failed test."""

    kind: str
    message: str
    place: str  # file:line
    is_file: bool  # not a test, but a file that could not be loaded
    is_missing: bool  # according to the adapter, a name does not exist yet
    in_test: bool | None  # whether the place is in a test file; None: no place is known
    all_names: bool = False  # that file has a `from … import *`, so a missing name may belong to the product


def reason(
    report: TestReport,
    test: str,
    is_test: Callable[[str], bool],
    third_party: Callable[[str], bool],
    read: Callable[[str], str | None] = lambda path: None,
) -> Reason:
    """Why a test failed. `third_party`: whether a module is a third-party package (see `is_foreign`); `read`: a file's text."""
    facts = _facts(report, test, is_test, read)
    if not facts.kind and not facts.message:
        late = report.late or "did not finish in time" in report.fault
        return Reason("machine", "the tests did not finish in time") if late else Reason("unknown", "the report does not say why")
    found = (
        _machine(facts) or _plugin(facts, third_party) or _parts(facts) or _modules(facts, third_party) or _names(facts) or _build(facts)
    )
    return Reason(found[0], _sentence(facts, found[1])) if found else Reason(*_exception(facts))


def _facts(report: TestReport, test: str, is_test: Callable[[str], bool], read: Callable[[str], str | None]) -> FailureFacts:
    place = report.places.get(test, "")
    file = place.rpartition(":")[0]
    kind, message = report.kinds.get(test, ""), report.messages.get(test, "")
    all_names = kind == "NameError" and bool(file) and STAR.search(read(file) or "") is not None
    return FailureFacts(kind, message, place, "::" not in test, test in report.missing_names, is_test(file) if file else None, all_names)


Found = tuple[Sort, str] | None


def _machine(facts: FailureFacts) -> Found:
    if facts.kind in TIMES_UP or TIMED_OUT.match(facts.message) or TIMED_OUT.search(facts.message.partition("\n")[0]):
        return "machine", "it did not finish in time"
    if facts.kind in EXHAUSTED or NO_ROOM.search(facts.message):
        return "machine", "the machine ran out of memory, space or files"
    return None


def _plugin(facts: FailureFacts, third_party: Callable[[str], bool]) -> Found:
    """A pytest plugin is missing: the one that defines the fixture, or runs async tests."""
    if not PLUGINS_BRING.search(facts.message):
        return None
    from detent.evidence.changes.dependencies import normalize_name  # few failures need to read manifests
    from detent.evidence.changes.install_lines import ASYNC_PLUGINS, missing_plugins

    declared = frozenset(filter(third_party, map(normalize_name, ASYNC_PLUGINS)))
    missing = next(missing_plugins(facts.message, declared), "")
    return ("test", f"{missing}{NOT_INSTALLED}") if missing else None


def _parts(facts: FailureFacts) -> Found:
    """A fixture that does not exist, or a file that does not parse."""
    if FIXTURE.search(facts.message):
        return "test", "this fixture does not exist"
    if facts.kind in SYNTAX and facts.is_file and not facts.is_missing:
        where: dict[bool | None, tuple[Sort, str]] = {
            True: ("test", "the test file does not parse"),
            False: ("product", "a file of the product does not parse"),
            None: ("unknown", "a file does not parse"),
        }
        return where[facts.in_test]
    return None


def _modules(facts: FailureFacts, third_party: Callable[[str], bool]) -> Found:
    """A missing module: a third-party package, or one still to be written."""
    found = MODULE.search(facts.message) if facts.is_missing or facts.kind == "BuildError" else None
    if found is None:
        return None
    name = next(filter(None, found.groups()), "")
    if "no required module provides" in found[0] or third_party(name):
        return "test", f"{name}{NOT_INSTALLED}"
    bare = found[0].startswith(("Cannot find", "Failed to", "Could not")) and not re.match(r"[./~#]|@/|file:|[A-Z]:", name)
    if bare:
        return "unknown", f"{name} does not exist: an undeclared package, or a name for a file of the product"
    return "product", ""


def _names(facts: FailureFacts) -> Found:
    """A name that is undefined at run time, or that the adapter reports as missing."""
    found = UNBOUND.search(facts.message) if facts.kind in ("NameError", "ReferenceError", "UnexpectedException") else None
    if found is None:
        return ("product", "") if facts.is_missing and not UNUSED.search(facts.message) else None
    name = next(filter(None, found.groups()), "")
    if facts.all_names:
        return "product", ""
    if facts.in_test:
        return "test", f"the test uses {name}, which it neither defines nor imports"
    return ("product", "") if facts.in_test is False else ("unknown", f"the report does not say where {name} should have come from")


def _build(facts: FailureFacts) -> Found:
    """A compile error other than a missing name."""
    if facts.kind != "BuildError":
        return None
    if facts.in_test is False:
        return "product", "a file of the product does not compile"
    if TWICE.search(facts.message):
        return "unknown", "the name is declared elsewhere in the package as well"
    if UNFETCHED.search(facts.message):
        return "test", "a module that it needs is not installed here"
    parsed = not UNPARSED.search(facts.message) and not UNUSED.search(facts.message)
    return (
        ("unknown", "the test does not match the code it calls, or is itself wrong")
        if parsed
        else ("test", "the test file does not compile")
    )


def _exception(facts: FailureFacts) -> tuple[Sort, str]:
    plain = _sentence(facts, "")
    unwrapped = facts.kind in ("panic", "Error") and UNWRAPPED.search(facts.message)
    if facts.kind in ASSERTIONS or facts.in_test is False or unwrapped or CALL.search(facts.message):
        return "product", plain
    if facts.kind == "Exit":
        return "unknown", _sentence(facts, "" if facts.message.startswith(ENDED) else f"{ENDED} before the test did")
    own = "raised in the test itself: because of what the product returned, or by a mistake in the test"
    return "unknown", _sentence(facts, own if facts.in_test else "the report does not say where it came from")


def _sentence(facts: FailureFacts, how: str) -> str:
    """`ValueError: bad input (src/calc.py:12)`, followed by the interpretation."""
    lines = [OLDER_PANIC.sub("", line.strip()) for line in facts.message.splitlines() if line.strip() and not PANICKED.search(line)]
    first = next((line for line in lines if FIXTURE.search(line)), lines[0] if lines else "")
    named = facts.kind and not first.startswith(facts.kind) and f".{facts.kind}:" not in first
    sentence = f"{facts.kind}: {first}" if named and first else first or facts.kind
    sentence = sentence if len(sentence) <= LONGEST else f"{sentence[: LONGEST - 1]}…"
    return sentence + (f" ({facts.place})" if facts.place else "") + (f": {how}" if how else "")


def not_installed(why: Reason) -> str:
    """The third-party package whose absence made a test fail; empty if it failed for another reason."""
    return why.sentence.removesuffix(NOT_INSTALLED).rpartition(": ")[2] if why.sentence.endswith(NOT_INSTALLED) else ""
