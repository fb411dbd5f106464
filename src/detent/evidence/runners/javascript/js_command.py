"""Command lines of vitest, jest and mocha: whose call it is, which words select tests, and which options an agent may not use.

Options that only change the display are dropped; every option that is not listed is refused.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from detent.evidence.runners.adapter import Command, Parsed, after_first, parsed, path_fault

BIN = "node_modules/.bin/"
THROUGH = (("npx", "--no-install"), ("npx", "--no"), ("npx",), ("yarn", "run"), ("yarn",), ("pnpm", "exec"), ("pnpm",), ("bunx",), ())
SCRIPTS = (
    ("npm", "test"), ("npm", "t"), ("npm", "run", "test"), ("npm", "run-script", "test"),
    ("yarn", "test"), ("yarn", "run", "test"), ("pnpm", "test"), ("pnpm", "run", "test"),
)  # fmt: skip
SCRIPT_FLAGS = ("-s", "--silent", "--quiet", "-q")
SETTINGS = ("env", "cross-env")


class JsRunner(NamedTuple):
    """The command-line options of one runner."""

    name: str
    pattern: dict[str, str]  # options that select by name, with the spelling that the machine uses
    verbs: tuple[str, ...] = ()  # words before the paths that mean "run the tests"
    shown: tuple[str, ...] = ()  # an agent's flags that only change the display
    shown_values: dict[str, tuple[str, ...]] = {}  # the same with a value; () means any
    flags: tuple[str, ...] = ()  # other flags without a value, in commands of the project
    ours: tuple[str, ...] = ()  # options of the project that the machine sets itself
    never: tuple[str, ...] = ()  # options with which it does not run all tests once
    several: bool = False  # the name option may be repeated

    def after(self, words: tuple[str, ...]) -> tuple[str, ...] | None:
        """The words after a call of this runner; None if it is another program."""
        for before in THROUGH:
            if (
                words[: len(before)] == before
                and words[len(before) :]
                and words[len(before)].removeprefix("./").removeprefix(BIN) == self.name
            ):
                rest = words[len(before) + 1 :]
                while rest and rest[0] in self.verbs:
                    rest = rest[1:]
                return rest
        return None


class JsCommand(NamedTuple):
    """A test command of the project, split into its parts."""

    settings: tuple[str, ...]  # env A=b
    options: tuple[str, ...]  # in order; a value follows as its own word
    paths: tuple[str, ...]


def adopt(words: tuple[str, ...], tool: JsRunner) -> Command | None:
    """A command that runs the runner's tests once, with a bare program name resolved to the project's own; else None."""
    call = take_apart(words, tool)
    if call is None or {word.partition("=")[0] for word in call.options} & set(tool.never):
        return None
    start = len(call.settings)
    own = (f"{BIN}{tool.name}",) if words[start] == tool.name else (words[start],)
    settings = ("env", *call.settings[1:]) if call.settings else ()
    return Command((*settings, *own, *words[start + 1 :]), tool.name, "configured", call.paths)


def take_apart(words: Sequence[str], tool: JsRunner) -> JsCommand | None:
    """The parts of a call of the runner; None if it is not certainly one, or does something other than running tests."""
    start = 0
    if words and words[0] in SETTINGS:
        start = next((at for at, word in enumerate(words) if at and "=" not in word), 0)
    rest = tool.after(tuple(words[start:]))
    if rest is None:
        return None
    flags, paths = _parts(rest, tool)
    return None if paths and paths[0] in NOT_PATHS.get(tool.name, ()) else JsCommand(tuple(words[:start]), tuple(flags), tuple(paths))


NOT_PATHS = {"vitest": ("bench", "related", "list", "init", "typecheck", "complete"), "mocha": ("init", "inspect", "debug")}


def _parts(words: Sequence[str], tool: JsRunner) -> tuple[list[str], list[str]]:
    """Options with their values, and paths. The word after an unknown option counts as its value."""
    options: list[str] = []
    paths: list[str] = []
    flags = {*tool.flags, *tool.shown}
    value_next = False
    for word in words:
        if word.startswith("-"):
            options.append(word)
            value_next = "=" not in word and word not in flags and not word.startswith("--no-")
        elif value_next:
            options.append(word)
            value_next = False
        else:
            paths.append(word)
    return options, paths


def kept(call: JsCommand, tool: JsRunner) -> list[str]:
    """The project's options without those that the machine sets itself."""
    found: list[str] = []
    drops = False
    for word in call.options:
        if word.startswith("-"):
            name = word.partition("=")[0]
            drops = name.partition(".")[0] in tool.ours or name in tool.ours
        if not drops:
            found.append(word)
    return found


def parse(command: str, base: Command, tool: JsRunner) -> Parsed:
    """The selectors of an agent's command, or the fault that refuses it."""
    named = any(word.partition("=")[0] in tool.pattern for word in base.argv)
    return parsed(
        command,
        lambda words: after_program((words[0].removeprefix("./"), *words[1:]), base, tool.after),
        lambda words: options(words, tool, named),
        f"`npx {' '.join((tool.name, *tool.verbs[:1]))}` with test files, folders or {next(iter(tool.pattern))}, or `npm test`, with them after `--`",
    )


def after_program(
    words: tuple[str, ...],
    base: Command,
    after: Callable[[tuple[str, ...]], tuple[str, ...] | None],
    scripts: tuple[tuple[str, ...], ...] = SCRIPTS,
) -> tuple[str, ...] | str | None:
    """The words after the call of the runner; a fault if npm would take an option itself; None if it is another program."""
    if script := next((call for call in scripts if words[: len(call)] == call), None):
        return _after_script(words[len(script) :], script[0])
    rest = after_first(words, base.argv, base.argv[: len(base.argv) - len(base.paths)])
    return rest if rest is not None else after(words)


def _after_script(words: tuple[str, ...], program: str) -> tuple[str, ...] | str:
    at = words.index("--") if "--" in words else len(words)
    before = [word for word in words[:at] if word not in SCRIPT_FLAGS]
    if program == "npm" and (taken := next((word for word in before if word.startswith("-")), "")):
        return f"npm takes the option {taken} for itself unless `--` comes before it"
    return (*before, *words[at + 1 :])


def options(words: tuple[str, ...], tool: JsRunner, named: bool) -> Parsed:
    """The selectors among a runner's options and paths."""
    paths: list[str] = []
    chosen: list[str] = []
    for word, value in _pairs(words, tool):
        if not word.startswith("-"):
            fault = path_fault(word) or _id_fault(word, tool)
            paths.append(word.removeprefix("./"))
        elif word in tool.pattern:
            fault = "" if value.strip() else f"the option {word} has no value"
            fault = fault or ("the project's own command selects by name already" if named else "")
            fault = fault or ("only one pattern of names can be given" if chosen and not tool.several else "")
            chosen.append(f"{tool.pattern[word]}={value}")
        else:
            fault = "" if _is_for_show(word, value, tool) else f"the option {word} can change the result"
        if fault:
            return Parsed(fault=fault)
    return Parsed((*paths, *chosen))


def _id_fault(word: str, tool: JsRunner) -> str:
    name = next(iter(tool.pattern))
    return f"`{word}` is Detent's own test id, which {tool.name} does not know; name the file, or use {name}" if "::" in word else ""


def _pairs(words: tuple[str, ...], tool: JsRunner) -> Iterator[tuple[str, str]]:
    """Each word with its value, if it is an option that takes one."""
    left = list(words)
    while left:
        name, equals, value = left.pop(0).partition("=") if left[0].startswith("-") else (left.pop(0), "", "")
        if not equals and (name in tool.pattern or name in tool.shown_values) and left and not left[0].startswith("-"):
            value = left.pop(0)
        yield name, value


def _is_for_show(option: str, value: str, tool: JsRunner) -> bool:
    if option in tool.shown_values:
        return not tool.shown_values[option] or value in tool.shown_values[option]
    return option in tool.shown and not value
