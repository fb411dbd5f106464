"""Command lines of `node --test`: which calls are node's runner, which words select tests, and which options an agent may not use.

Options that only change the display are dropped; every option that is not listed is refused.
"""

import re
from collections.abc import Sequence

from detent.evidence.runners.adapter import Command, Parsed, parsed
from detent.evidence.runners.javascript.js_command import JsRunner, after_program, options
from detent.evidence.runners.javascript.node_package import CALLS

PATTERN = "--test-name-pattern"
REPORTING = ("--test-reporter", "--test-reporter-destination")  # the machine uses its own
NOT_OURS = ("--watch", "--watch-path", "-e", "--eval", "-p", "--print", "-c", "--check", "-i", "--interactive", "--run", "--test-update-snapshots")  # fmt: skip
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
TOOL = JsRunner(
    "node",
    {PATTERN: PATTERN},
    shown=("--no-warnings", "--enable-source-maps", "--trace-warnings", "--trace-uncaught", "--no-deprecation", "--test"),
    shown_values={"--test-reporter": ("spec", "tap", "dot", "junit"), "--test-reporter-destination": ("stdout", "stderr")},
    several=True,
)


def adopt(words: tuple[str, ...]) -> Command | None:
    """A command that runs node's test runner once; else None."""
    end = program_end(words)
    options, paths = parts(words[end:]) if end else ([], [])
    names = {word.partition("=")[0] for word in options}
    if "--test" not in names or names & set(NOT_OURS):
        return None
    return Command(words, "node", "configured", tuple(paths))


def program_end(words: Sequence[str]) -> int:
    """The number of words up to and including `node`; 0 if they do not certainly call it."""
    at = 0
    if words and words[0] == "env":
        at = next((i for i, word in enumerate(words) if i and "=" not in word), 0)
    return at + 1 if words and words[at].rpartition("/")[2] == "node" else 0


def parts(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """node's options (with `=VALUE` where they take one) and the paths after them."""
    options: list[str] = []
    left = list(words)
    while left and left[0].startswith("-") and left[0] != "--":
        word = left.pop(0)
        options.append(f"{word}={left.pop(0)}" if word.startswith("--") and word in TAKE_A_VALUE and left else word)
        if word in TAKE_A_VALUE and not word.startswith("--") and left:
            options.append(left.pop(0))
    return options, left[1:] if left[:1] == ["--"] else left


def parse(command: str, base: Command) -> Parsed:
    """The selectors of an agent's command, or the fault that refuses it."""
    own = f"`{base.text}`, " if base.text != "node --test" else ""
    named = any(word.startswith(PATTERN) for word in base.argv)
    allowed = f"{own}`node --test` with test files, folders or {PATTERN}, or `npm test`, with them after `--`"
    return parsed(command, lambda words: after_program(words, base, _after_node, CALLS), lambda words: options(words, TOOL, named), allowed)


def _after_node(words: tuple[str, ...]) -> tuple[str, ...] | None:
    return words[1:] if words[0] == "node" and "--test" in words[1:] else None


def matcher(pattern: str) -> re.Pattern[str]:
    """A glob as a regular expression: `**` matches folders, `*` and `?` within one name, `{a,b}` either."""
    table = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")", ",": "|"}
    bits = re.split(r"(\*\*/|\*\*|\*|\?|\{|\}|,)" if "{" in pattern else r"(\*\*/|\*\*|\*|\?)", pattern.removeprefix("./"))
    return re.compile("".join(table.get(bit) or re.escape(bit) for bit in bits))
