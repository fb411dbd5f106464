"""Renames test files: the file, its functions, classes and titles, in another order and with other line numbers. Pure.

Tests of honest code have the same outcomes under any name.
"""

import ast
import re
import tokenize
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import NamedTuple

from detent.evidence.mutate.keyed_random import KeyedRandom
from detent.evidence.mutate.splice import Page, Splice, spliced
from detent.evidence.mutate.textual import blanked
from detent.evidence.source.js_tokens import UnclearScript
from detent.evidence.source.js_tokens import tokenize as tokens_of
from detent.evidence.source.test_blocks import named_tests

SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
KEYED = re.compile(
    r"request\.(?:node|function|cls|module)\b|\bt\.Name\(|currentTestName|task\.name|_testMethodName|self\.id\(\)|__qualname__|__module__|nodeid"
    r"|[Ss]napshot\b|cassette|\bvcr\b|golden|data_?regression|datadir|pickle|lineno|traceback\.|getsource|runtime\.Caller|inspect\.(?:stack|currentframe)|pytester"
)  # code in a test that may depend on its own name, file or line
TITLED = frozenset({"test", "it", "describe", "suite", "context"})
SYSTEMS = frozenset(
    {
        "linux",
        "windows",
        "darwin",
        "unix",
        "freebsd",
        "openbsd",
        "netbsd",
        "js",
        "wasm",
        "amd64",
        "arm64",
        "arm",
        "386",
        "plan9",
        "android",
        "ios",
    }
)
COMMENTS = {".py": "#", ".rb": "#", ".go": "//", ".rs": "//", ".java": "//", **dict.fromkeys(SCRIPTS, "//")}


class Renamed(NamedTuple):
    """A renamed test file."""

    path: str
    text: str
    words: dict[str, str]  # new word to old word


def looks_at_itself(path: str, text: str) -> bool:
    """Whether the tests of a file may legitimately depend on their own names or lines."""
    return KEYED.search(blanked(path[path.rfind(".") :], text) or text) is not None


def renamed(path: str, text: str, rng: KeyedRandom, ordered: bool, moves: bool = True) -> Renamed | None:
    """Rename a test file. `ordered`: keep the order of its tests; `moves`: rename the file itself too. None if its language is not supported."""
    how = RENAMES.get(PurePosixPath(path).suffix)
    if how is None:
        return None
    new, words = how(text, rng, ordered)
    other = _other_name(path, rng) if moves else path
    own, name = (PurePosixPath(each).name for each in (path, other))
    new = re.sub(rf"(?<![\w.-]){re.escape(own)}(?!\w)", name, new)  # a test may mention its own file, for example as where a warning arises
    return Renamed(other, _moved_down(new, rng), words | ({other: path} if other != path else {}))


def original_id(test: str, made: Renamed) -> str:
    """The original id of a renamed test."""
    for new, old in made.words.items():
        test = test.replace(new, old)
    return test


def with_comment(path: str, text: str, rng: KeyedRandom) -> str | None:
    """The code with a random comment at its end, to change what code that reads its own source sees."""
    mark = COMMENTS.get(PurePosixPath(path).suffix)
    return f"{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{mark} {rng.word()}\n" if mark else None


def _moved_down(text: str, rng: KeyedRandom) -> str:
    """The text with a few blank lines at the top."""
    head = "\n".join(text.split("\n", 2)[:2])
    return text if text.startswith("#!") or "coding" in head else "\n" * (2 + rng.below(5)) + text


def _other_name(path: str, rng: KeyedRandom) -> str:
    """Another name in the same folder by which the runner still finds the file."""
    where = PurePosixPath(path)
    name = where.name
    for pattern in (
        r"(test_)\w+(\.py)",
        r"()\w+(_test\.py)",
        r"()[\w.-]+?([._-](?:test|spec)\.\w+)",
        r"(test[-_])[\w-]+(\.\w+)",
        r"()\w+(_test\.go)",
        r"()\w+(_spec\.rb)",
    ):
        if (found := re.fullmatch(pattern, name)) and not SYSTEMS & set(where.stem.split("_")):
            return str(where.with_name(f"{found[1]}{rng.word()}{found[2]}"))
    return path


# -- the languages ----------------------------------------------------------------------------------------------------------------


def _python(text: str, rng: KeyedRandom, ordered: bool) -> tuple[str, dict[str, str]]:
    """Rename test functions and classes, and every mention of them."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return text, {}
    page = Page(text)
    others: dict[str, str] = {}
    for name, _ in named_tests(tree.body):
        *classes, function = name.split("::")
        others.setdefault(function, f"test_{rng.word()}")
        for each in classes:
            others.setdefault(each, f"Test{rng.word().title()}")
    in_strings = _words_in_strings(tree)
    others = {old: new for old, new in others.items() if old not in in_strings}  # a name in a string may be looked up or expected
    words = [word for word in page.words if word.kind == tokenize.NAME and word.text in others]
    changed = [word for word in words if text[word.start - 1 : word.start] != "." or text[: word.start].endswith("self.")]
    made = spliced(text, tuple(Splice(word.start, word.end, others[word.text]) for word in changed))
    return made if ordered else _reversed(made), {new: old for old, new in others.items()}


def _words_in_strings(tree: ast.Module) -> frozenset[str]:
    """The words of all string literals of a module, except docstrings and other strings that are statements."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone
    )
    return frozenset(word for text in texts for word in re.findall(r"\w+", text))


def _reversed(text: str) -> str:
    """The module with its test functions in reverse order."""
    body = ast.parse(text).body
    tests = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")]
    lines = text.split("\n")
    spans = [(min([node.lineno, *(each.lineno for each in node.decorator_list)]) - 1, node.end_lineno or node.lineno) for node in tests]
    made, at = list[str](), 0
    for (start, end), (first, last) in zip(spans, reversed(spans), strict=True):
        made += [*lines[at:start], *lines[first:last]]
        at = end
    return "\n".join([*made, *lines[at:]])


def _script(text: str, rng: KeyedRandom, ordered: bool) -> tuple[str, dict[str, str]]:
    """Rename test and suite titles that are plain strings."""
    try:
        tokens = tokens_of(text)
    except UnclearScript:
        return text, {}
    splices, words = list[Splice](), dict[str, str]()
    for i, token in enumerate(tokens[2:], 2):
        callee = tokens[i - 2].text
        if token.kind == "string" and tokens[i - 1].text == "(" and callee in TITLED and "%" not in token.text and "$" not in token.text:
            title = token.text[1:-1]
            new = f"{rng.word()} {rng.word()}"
            if title and "\\" not in title:
                splices.append(Splice(token.at + 1, token.end - 1, new))
                words[new] = title
    return spliced(text, tuple(splices)), words


def _go(text: str, rng: KeyedRandom, ordered: bool) -> tuple[str, dict[str, str]]:
    """Rename test functions, and every mention of them."""
    blank = blanked(".go", text)
    others = {
        name: f"Test{rng.word().title()}"
        for name in re.findall(r"^func\s+(Test\w+)\s*\(\s*\w+\s+\*testing\.T", blank, re.MULTILINE)
        if name != "TestMain"
    }
    found = [each for each in re.finditer(r"\bTest\w+\b", blank) if each[0] in others]
    return spliced(text, tuple(Splice(each.start(), each.end(), others[each[0]]) for each in found)), {
        new: old for old, new in others.items()
    }


RENAMES: dict[str, Callable[[str, KeyedRandom, bool], tuple[str, dict[str, str]]]] = {
    ".py": _python,
    ".go": _go,
    **dict.fromkeys(SCRIPTS, _script),
}
