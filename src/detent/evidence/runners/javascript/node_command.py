"""The shapes of a `node --test` command: which calls are node's runner, which words select tests, and what an agent may not say.

The machine never runs an agent's command. It takes the selectors out of it and makes its own call, so options that only change
the display are taken and dropped, and every option that is not listed here is refused.
"""

import re
from collections.abc import Iterator, Sequence

from detent.evidence.runners.adapter import Command, Parsed
from detent.evidence.runners.command_words import path_fault, split
from detent.evidence.runners.javascript.node_package import CALLS

PATTERN = "--test-name-pattern"
REPORTING = ("--test-reporter", "--test-reporter-destination")  # the machine has its own
NOT_OURS = (
    "--watch",
    "--watch-path",
    "-e",
    "--eval",
    "-p",
    "--print",
    "-c",
    "--check",
    "-i",
    "--interactive",
    "--run",
    "--test-update-snapshots",
)
TAKE_A_VALUE = frozenset(
    {
        "-C", "--conditions", "-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file", "--env-file-if-exists", "--input-type",
        "--experimental-default-type", "--experimental-config-file", "--disable-warning", "--disable-proto", "--icu-data-dir", "--title", "--openssl-config",
        "--redirect-warnings", "--unhandled-rejections", "--stack-trace-limit", "--max-http-header-size", "--dns-result-order", "--localstorage-file",
        "--test-concurrency", "--test-timeout", "--test-shard", "--test-skip-pattern", "--test-isolation", "--experimental-test-isolation",
        "--test-coverage-include", "--test-coverage-exclude", "--test-coverage-lines", "--test-coverage-branches", "--test-coverage-functions",
        "--test-global-setup", "--test-random-seed", "--allow-fs-read", "--allow-fs-write", PATTERN, *REPORTING,
    }
)  # fmt: skip
SHOWN_FLAGS = ("--no-warnings", "--enable-source-maps", "--trace-warnings", "--trace-uncaught", "--no-deprecation", "--test")
SHOWN_REPORTERS = ("spec", "tap", "dot", "junit")
NPM_FLAGS = ("-s", "--silent", "--quiet", "-q")


def adopt(words: tuple[str, ...]) -> Command | None:
    """A command that runs node's own test runner once."""
    end = program_end(words)
    options, paths = parts(words[end:]) if end else ([], [])
    names = {word.partition("=")[0] for word in options}
    if "--test" not in names or names & set(NOT_OURS):
        return None
    return Command(words, "node", "configured", tuple(paths))


def program_end(words: Sequence[str]) -> int:
    """Where the words that call node end, and its options begin; 0 if they do not call it for certain."""
    at = 0
    if words and words[0] == "env":
        at = next((i for i, word in enumerate(words) if i and "=" not in word), 0)
    return at + 1 if words and words[at].rpartition("/")[2] == "node" else 0


def parts(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """node's options (each with its value, joined by `=` where it takes one) and the paths after them."""
    options: list[str] = []
    left = list(words)
    while left and left[0].startswith("-") and left[0] != "--":
        word = left.pop(0)
        options.append(f"{word}={left.pop(0)}" if word.startswith("--") and word in TAKE_A_VALUE and left else word)
        if word in TAKE_A_VALUE and not word.startswith("--") and left:
            options.append(left.pop(0))
    return options, left[1:] if left[:1] == ["--"] else left


def parse(command: str, base: Command) -> Parsed:
    """The selectors of an agent's command, or the one sentence that refuses it."""
    words, fault = split(command)
    if fault:
        return Parsed(fault=_sentence(fault, base))
    rest = _after_program(words, base)
    if rest is None:
        return Parsed(fault=_sentence(f"`{words[0]}` is not a call of the project's test runner", base))
    parsed = _options(rest, any(word.startswith(PATTERN) for word in base.argv)) if isinstance(rest, tuple) else Parsed(fault=rest)
    return Parsed(fault=_sentence(parsed.fault, base)) if parsed.fault else parsed


def _sentence(fault: str, base: Command) -> str:
    own = f"`{base.text}`, " if base.text != "node --test" else ""
    calls = f"{own}`node --test` with test files, folders or {PATTERN}, or `npm test`, with them after `--`"
    return f"{fault}; allowed is one call of the project's own test runner: {calls}"


def _after_program(words: tuple[str, ...], base: Command) -> tuple[str, ...] | str | None:
    """The words after the call of the runner; a sentence if npm would keep them for itself, None if it is another program."""
    if npm := next((call for call in CALLS if words[: len(call)] == call), None):
        return _after_npm(words[len(npm) :])
    bare = base.argv[: len(base.argv) - len(base.paths)]
    for call in (base.argv, bare):
        if call and words[: len(call)] == call:
            return words[len(call) :]
    return words[1:] if words[0] == "node" and "--test" in words[1:] else None


def _after_npm(words: tuple[str, ...]) -> tuple[str, ...] | str:
    at = words.index("--") if "--" in words else len(words)
    before = [word for word in words[:at] if word not in NPM_FLAGS]
    if kept := next((word for word in before if word.startswith("-")), ""):
        return f"npm keeps the option {kept} for itself unless `--` stands before it"
    return (*before, *words[at + 1 :])


def _options(words: tuple[str, ...], narrowed: bool) -> Parsed:
    """Selectors out of node's own words."""
    paths: list[str] = []
    chosen: list[str] = []
    for word, value in _pairs(words):
        if not word.startswith("-"):
            fault = path_fault(word) or (
                f"`{word}` is an id of Detent's, not of node; name the file, or use {PATTERN}" if "::" in word else ""
            )
            paths.append(word.removeprefix("./"))
        elif word == PATTERN:
            fault = "" if value.strip() else f"the option {word} has no value"
            fault = fault or ("the project's own command selects by name already" if narrowed else "")
            chosen.append(f"{PATTERN}={value}")
        else:
            fault = "" if _is_for_show(word, value) else f"the option {word} can change what is judged"
        if fault:
            return Parsed(fault=fault)
    return Parsed((*paths, *chosen))


def _pairs(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Each word with its value; only an option that takes one has one."""
    left = list(words)
    while left:
        name, equals, value = left.pop(0).partition("=") if left[0].startswith("-") else (left.pop(0), "", "")
        if not equals and name in TAKE_A_VALUE and left and not left[0].startswith("-"):
            value = left.pop(0)
        yield name, value


def _is_for_show(option: str, value: str) -> bool:
    if option in REPORTING:
        return value in (SHOWN_REPORTERS if option == "--test-reporter" else ("stdout", "stderr"))
    return option in SHOWN_FLAGS and not value


def matcher(pattern: str) -> re.Pattern[str]:
    """A pattern of file names as a regular expression: `**` any folders, `*` and `?` inside one name, `{a,b}` either."""
    table = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")", ",": "|"}
    bits = re.split(r"(\*\*/|\*\*|\*|\?|\{|\}|,)" if "{" in pattern else r"(\*\*/|\*\*|\*|\?)", pattern.removeprefix("./"))
    return re.compile("".join(table.get(bit) or re.escape(bit) for bit in bits))
