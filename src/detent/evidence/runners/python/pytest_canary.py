"""The canary of a pytest run: two test functions in a folder that tests are collected from. Pure: writes nothing.

It is placed beside the tests, because the hooks and fixtures of a `conftest.py` affect only what is below it.
"""

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from itertools import combinations, islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from detent.evidence.runners.adapter import Canary, CanaryFile, Command, Files
from detent.evidence.runners.canary_files import word, words_of
from detent.evidence.runners.python import pytest_command
from detent.evidence.runners.python.pytest_ini import Ini, read_ini

MOST = 3  # folders
TRIES = 20
ENDS_EARLY = ("--sw", "--stepwise", "--sw-skip", "--stepwise-skip", "--co", "--collect-only")
COVERAGE = (".coveragerc", "pyproject.toml", "setup.cfg", "tox.ini")
TEXT = """import sys

import pytest

pytestmark = [{marks}]


def {passes}():
    unittest = sys.modules.get("unittest")

    def plain():
        assert not "{says}"

    def method():
        unittest.TestCase().assertEqual("{says}", "")

    def raising():
        with pytest.raises(ValueError):
            pass

    for wrong in (plain, raising, *([method] if unittest else [])):
        try:
            wrong()
        except (AssertionError, pytest.fail.Exception):
            continue
        raise RuntimeError("{says}: what is wrong was let pass as " + wrong.__name__)


def {fails}():
    assert not "{says}", "{says}"
"""


def canary(base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
    """The canary of such a run, or why there is none."""
    ini = read_ini(base, files)
    own = list(base.argv[pytest_command.program_end(base.argv) :])
    words = [*ini.words, *own]
    if stop := next((w for w in words if w.partition("=")[0] in ENDS_EARLY), ""):
        return f"{stop} would end the run at a test that must fail"
    if _has_limit(words, files):
        return "the project sets a coverage limit, which only pytest's exit code shows; a test that must fail would hide it"
    picked = _paths(list(selectors)) or list(base.paths) or _paths(list(ini.words))
    scope = picked or list(ini.folders)
    folders = list(islice(_folders(scope, ini, files, near, named=bool(picked)), MOST))
    if not folders:
        return "no folder was found that tests are collected from"
    canary_files = [
        _canary_file(folder, ini, _expression("-k", ini, own, selectors), _expression("-m", ini, own, selectors)) for folder in folders
    ]
    kept = tuple(canary_file for canary_file in canary_files if canary_file is not None)
    if not kept:
        return "the command selects tests by names or marks that Detent's own test cannot have"
    if not picked:
        return Canary(base, selectors, kept, tidy)
    again = () if _paths(list(selectors)) else base.paths
    return Canary(base, (*again, *selectors, *(canary_file.path for canary_file in kept)), kept, tidy)


def _has_limit(words: list[str], files: Files) -> bool:
    """Whether pytest-cov may fail a run whose tests pass."""
    if not any(w.startswith("--cov") for w in words):
        return False
    return any(w.startswith("--cov-fail-under") for w in words) or any("fail_under" in (files.read(name) or "") for name in COVERAGE)


def _paths(words: list[str]) -> list[str]:
    return [words[at] for at in pytest_command.paths_at(words, 0)]


# -- where ---------------------------------------------------------------------------------------------------------------------


def _folders(scope: list[str], ini: Ini, files: Files, near: tuple[str, ...], named: bool) -> Iterator[str]:
    """Folders with tests of the run: those of changed test files and conftests, else that of the first test file."""
    within = [s.partition("::")[0].removeprefix("./").rstrip("/") for s in scope]

    def fits(path: str) -> bool:
        where = PurePosixPath(path)
        is_test = any(fnmatch(where.name, pattern) for pattern in ini.files) or (path in near and where.name == "conftest.py")
        entered = named or not any(fnmatch(part, pattern) for part in where.parent.parts for pattern in ini.not_entered)
        return is_test and entered and (not within or any(_inside(path, s) for s in within))

    ours = list(dict.fromkeys(_folder(path) for path in near if fits(path) and files.exists(_folder(path) or ".")))
    ours.sort(key=lambda folder: -folder.count("/"))
    first = next((_folder(s) for s in within if named and s.endswith(".py") and files.exists(s)), None)
    if ours:
        yield from ours
    elif first is not None:
        yield first
    else:
        yield from (_folder(path) for path in islice(filter(fits, files.paths()), 1))


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _inside(path: str, scope: str) -> bool:
    """Whether a file is at, beside or below a path of the command, which may be a pattern."""
    if scope in ("", ".") or (_folder(path) == _folder(scope) and scope.endswith(".py")):
        return True
    where = PurePosixPath(path)
    return any(fnmatch(above.as_posix(), scope) for above in (where, *where.parents))


# -- what ----------------------------------------------------------------------------------------------------------------------


def _expression(option: str, ini: Ini, own: list[str], selectors: tuple[str, ...]) -> str:
    """The expression that the run selects by: those of the command and of the agent together; the configuration's only without them."""
    expressions = [value for words in (own, list(selectors)) if (value := _value(option, words))]
    return " and ".join(f"({each})" for each in expressions) or _value(option, list(ini.words))


def _value(option: str, words: list[str]) -> str:
    found = ""
    for at, each in enumerate(words):
        if each == option and at + 1 < len(words):
            found = words[at + 1]
        elif each.startswith(option) and len(each) > 2 and not each.startswith("--"):
            found = each[2:].removeprefix("=")
    return found


def _canary_file(folder: str, ini: Ini, keywords: str, marks: str) -> CanaryFile | None:
    """A canary file whose tests are named and marked to pass the run's own filters; None if that is impossible."""
    needed, marked = wanted_by(keywords), wanted_by(marks)
    if needed is None or marked is None:
        return None
    for _ in range(TRIES):
        stem, good, bad, says = word(), word(), word(), word()
        path = f"{folder}/{_filled(ini.files, stem)}".lstrip("/")
        passes, fails = (_filled(ini.functions, "_".join([*needed, each]), "_") for each in (good, bad))
        if not _filled(ini.files, stem) or not passes:
            return None
        known = [each.lower() for each in (path, passes, fails, *marked)]
        if all(selects(keywords, lambda w, n=name: w.lower() in n.lower()) for name in (passes, fails)) and not _shut(keywords, known):  # type: ignore[misc]
            text = TEXT.format(marks=", ".join(f"pytest.mark.{m}" for m in marked), passes=passes, fails=fails, says=says)
            return CanaryFile(path, text, stem, good, bad, says)
    return None


def _shut(keywords: str, known: list[str]) -> bool:
    """Whether an expression that accepts the names alone refuses them together with file, folder and marks."""
    return not selects(keywords, lambda w: any(w.lower() in each for each in known))


def _filled(patterns: tuple[str, ...], name: str, joint: str = "") -> str:
    """A name that matches the first usable pattern; empty if none is usable."""
    for pattern in patterns:
        if "*" in pattern and not set(pattern) & set("?[/"):
            return pattern.replace("*", name, 1).replace("*", "")
        if joint and pattern.isidentifier():
            return f"{pattern.rstrip(joint)}{joint}{name}"
    return ""


# -- the output ----------------------------------------------------------------------------------------------------------------

EMPTY = re.compile(r"^=+ (?:FAILURES|ERRORS|short test summary info) =+\n(?=[=-])", re.MULTILINE)
SUMMARY = re.compile(r"^(?:=+ )?\d+ (?:failed|passed|error|skipped|deselected|xfailed|xpassed|warning)s?\b.* in [\d.]+s\b.*$", re.MULTILINE)
COLLECTED = re.compile(r"(?<=^collected )\d+(?= items?$)", re.MULTILINE)


def tidy(output: str, canary: Canary) -> str:
    """pytest's output without the canary: without its lines and sections, and with its share of the counts subtracted."""
    words, count = words_of(canary), len(canary.canary_files)
    left = "".join(line for line in output.splitlines(keepends=True) if not any(w in line for w in words))
    left = EMPTY.sub("", left)
    left = COLLECTED.sub(lambda m: str(max(0, int(m[0]) - 2 * count)), left)
    summaries = list(SUMMARY.finditer(left))
    if not summaries:
        return left
    last = summaries[-1]
    return left[: last.start()] + _recounted(last[0], count) + left[last.end() :]


def _recounted(line: str, count: int) -> str:
    for name in ("failed", "passed"):
        line = re.sub(rf"(\d+) {name}", lambda m, n=name: f"{max(0, int(m[1]) - count)} {n}", line)  # type: ignore[misc]
    return re.sub(r"\b0 failed, ", "", line) if not re.search(r"\b0 failed, 0 passed", line) else line


if TYPE_CHECKING:
    import ast

WORD = re.compile(r"[\w:+\-.\[\]\\/]+|[()]|\S")
MEANING = ("and", "or", "not", "(", ")")
MOST_WORDS = 8


def wanted_by(expression: str) -> tuple[str, ...] | None:
    """The fewest words that together satisfy an expression; None if unknown, or if they cannot be names."""
    words = WORD.findall(expression)
    names = list(dict.fromkeys(w for w in words if w not in MEANING))
    if len(names) > MOST_WORDS:
        return None
    for size in range(len(names) + 1):
        for chosen in combinations(names, size):
            if all(re.fullmatch(r"\w+", w) for w in chosen) and selects(expression, lambda w, c=chosen: w in c):  # type: ignore[misc]
                return chosen
    return None


def selects(expression: str, has: Callable[[str], bool]) -> bool:
    """Whether an expression selects something with these words."""
    if not expression.strip():
        return True
    import ast  # imported late: most runs have no expression

    text = " ".join(w if w in MEANING else str(has(w)) for w in WORD.findall(expression))
    try:
        return _true(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError):
        return False


def _true(node: "ast.expr") -> bool:
    import ast

    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return all(map(_true, values))
        case ast.BoolOp(values=values):
            return any(map(_true, values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _true(operand)
        case ast.Constant(value=bool(value)):
            return value
    raise ValueError("not an expression of words")
