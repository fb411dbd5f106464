"""What a test script really runs: its commands one by one, with nested scripts expanded, and which of them runs the tests.

Many scripts also check style and types (`eslint . && mocha`). Such commands leave nothing behind, so the tests are the one that is left.
"""

import re
from collections.abc import Iterator, Mapping

from detent.evidence.runners.adapter import ASSIGNMENT, split_words

Words = tuple[str, ...]
CHAIN = re.compile(r"\s*&&\s*")
DEEPEST = 5
RUN = (("npm", "run"), ("npm", "run-script"), ("pnpm", "run"), ("pnpm",), ("yarn", "run"), ("yarn",), ("bun", "run"))
QUIET = frozenset({"-s", "--silent", "-q", "--quiet"})
MEASURES = frozenset({"nyc", "c8"})  # the command after these is run without them
THROUGH = (("npx", "--no-install"), ("npx",), ("pnpm", "exec"), ("pnpm",), ("yarn",))
JUDGES = frozenset(
    {
        "eslint", "xo", "standard", "semistandard", "ts-standard", "jshint", "jscs", "oxlint", "oxfmt", "biome", "prettier", "dprint", "stylelint",
        "tsd", "dtslint", "attw", "publint", "knip", "depcheck", "size-limit", "ls-lint", "cspell", "markdownlint", "remark", "eclint", "evalmd",
        "vue-tsc", "check-dts", "typecheck", "bundlesize", "npm-audit", "aud", "better-npm-audit", "multiocular", "commitlint",
    }
)  # fmt: skip
LOOKS = re.compile(
    r"(?:lint|format|fmt|style|type-?check|audit|prettier|eslint|readme|check[:_-](?:types?|lint|format|style))(?:[:_.-].*)?"
)  # names of scripts that check something
TYPES = frozenset({"tsc", "tsgo", "flow"})  # type checkers, if they write nothing

BUILDS = frozenset({"tsc", "tsgo", "tsup", "unbuild", "rollup", "esbuild", "del-cli", "del", "rimraf", "shx", "size-limit"})


def tests_in(scripts: Mapping[str, object]) -> Words:
    """The one command of the test script that runs tests; empty if there is none, or more than one candidate."""
    done = commands(scripts)
    left = [words for words in done or () if not _judges(words)]
    while len(left) > 1 and _program(left[-1]) in BUILDS:
        left.pop()  # a build after the tests does not matter for them
    return _measured(left[0]) if done is not None and len(left) == 1 else ()


def commands(scripts: Mapping[str, object], name: str = "test") -> list[Words] | None:
    """The commands of `npm run NAME` in order; None if they need a shell."""
    found: list[Words] = []
    for words in _each(scripts, name, 0):
        if words is None:
            return None
        found.append(words)
    return found


def scripts_called(scripts: Mapping[str, object]) -> list[str]:
    """The scripts that the test script calls, including itself."""
    seen: dict[str, None] = {}
    for _ in _each(scripts, "test", 0, seen):
        pass
    return sorted(seen)


def _each(scripts: Mapping[str, object], name: str, depth: int, seen: dict[str, None] | None = None) -> Iterator[Words | None]:
    for each in (f"pre{name}", name, f"post{name}"):
        text = scripts.get(each)
        if not isinstance(text, str) or depth > DEEPEST:
            if each == name:
                yield None
            continue
        if seen is not None:
            seen[each] = None
        for part in CHAIN.split(text.strip()):
            words = _words(part)
            inner = _script(words, scripts) if words else []
            if inner:
                for one in inner:
                    found = _each(scripts, one, depth + 1, seen)
                    yield from (words for words in found if not LOOKS.fullmatch(one))  # by its name it is a check, whatever it runs
            else:
                yield words


def _words(command: str) -> Words | None:
    """A command as words to run without a shell, with its environment settings in front; None if it needs a shell."""
    settings: list[str] = []
    rest = command
    while found := ASSIGNMENT.match(rest):
        word, _, rest = rest.partition(" ")
        if any(c in word[found.end() :] for c in "'\"$`\\"):
            return None
        settings.append(word)
    words, fault = split_words(rest, globs=True)
    return None if fault else (*(("env", *settings) if settings else ()), *words)


def _script(words: Words, scripts: Mapping[str, object]) -> list[str]:
    """The scripts that a command runs, if it does nothing else."""
    for call in RUN:
        rest = [word for word in words[len(call) :] if word not in QUIET]
        if words[: len(call)] != call or len(rest) != 1:
            continue
        if rest[0] in scripts:
            return rest
        if call[0] == "pnpm" and rest[0].startswith("/") and rest[0].endswith("/"):
            return [name for name in scripts if _fits(rest[0][1:-1], name)]
    return []


def _fits(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return False


def _judges(words: Words) -> bool:
    program = _program(words)
    writes = any(word in ("--write", "--fix", "--save") for word in words)
    return not writes and (program in JUDGES or (program in TYPES and "--noEmit" in words) or _audits(words))


def _audits(words: Words) -> bool:
    return words[0] in ("npm", "pnpm", "yarn", "npx") and "audit" in words


def _program(words: Words) -> str:
    rest = next((words[len(call) :] for call in THROUGH if words[: len(call)] == call and words[len(call) :]), words)
    return rest[0].rpartition("/")[2]


def _measured(words: Words) -> Words:
    """A command without the coverage tool around it."""
    if words[0] not in MEASURES:
        return words
    rest = words[1:]
    while rest and rest[0].startswith("-") and ("=" in rest[0] or rest[0] in ("--all", "--check-coverage", "--silent")):
        rest = rest[1:]
    return rest if rest and not rest[0].startswith("-") else words
