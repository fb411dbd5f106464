"""The test runners that Detent understands. A new one: a file, a line here, a row in the docs; it passes the conformance tests."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

from detent.errors import DetentError
from detent.evidence.runners.protocol import Command, Files, Folder, Runner

__all__ = ["RUNNERS", "UNSEEN", "Command", "Files", "Folder", "Runner", "find_command", "refuse"]

WHERE = {  # in the order in which they are asked whether a configured command is theirs
    "pytest": "pytest:Pytest",
    "node": "node:Node",
    "vitest": "vitest:Vitest",
    "jest": "jest:Jest",
    "mocha": "mocha:Mocha",
    "unittest": "unittest:Unittest",
    "go": "go:Go",
    "cargo": "cargo:Cargo",
    "rspec": "rspec:RSpec",
    "phpunit": "phpunit:PHPUnit",
    "ctest": "ctest:CTest",
    "maven": "maven:Maven",
    "gradle": "gradle:Gradle",
    "dotnet": "dotnet:Dotnet",
}
PARTS = ("name", "adopt", "detect", "refuse", "selectors", "full", "argv", "read", "is_test", "is_config", "runner_part")
UNSEEN = frozenset({"dotnet"})  # adapters that were never tried with the real program


class Runners(Mapping[str, Runner]):
    """The adapters by name. One is imported when it is asked for: a submit pays for its own alone."""

    def __getitem__(self, name: str) -> Runner:
        if name and name not in WHERE:
            return _installed(name)
        module, _, adapter = WHERE[name].partition(":")
        made: Runner = getattr(import_module(f"{__name__}.{module}"), adapter)()
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(WHERE)

    def __len__(self) -> int:
        return len(WHERE)


RUNNERS = Runners()


def _installed(name: str) -> Runner:
    """The adapter that a package brings under a name which is not built in."""
    from detent import extensions  # most calls know their runner

    made: Runner | None = extensions.load(extensions.RUNNERS, name, lambda value: _wrong(name, value))
    if made is None:
        raise DetentError(f"there is no test runner '{name}' here", f"known: {', '.join(WHERE)}; install the package that brings it")
    return made() if isinstance(made, type) else made


def _ask_installed(ask: Callable[[Runner], Command | None], or_say: bool = False) -> Command | None:
    """The first command that an adapter of a package gives. `or_say`: where none does, one that cannot be used is an error."""
    from detent import extensions

    faults = list[DetentError]()
    for name in extensions.names(extensions.RUNNERS, WHERE):
        try:
            if (found := ask(_installed(name))) is not None:
                return found
        except DetentError as e:
            faults.append(e)
    if faults and or_say:
        raise faults[0]
    return None


def _wrong(name: str, value: object) -> str:
    lacks = [each for each in PARTS if not hasattr(value, each)]
    if lacks:
        return f"it has no {' and no '.join(lacks)}"
    called = getattr(value, "name", "")
    return "" if called == name else f"it calls itself '{called}'; adapter and entry point must have the same name"


def find_command(files: Files, configured: str = "") -> Command | None:
    """How this project's tests are run: as configured, else as detected. None: no framework is recognised.

    A configured command that no adapter understands is run by a shell, and only its exit code says something.
    """
    from detent.evidence.runners.detect import detect
    from detent.evidence.runners.node_package import is_npm_test, script_words
    from detent.evidence.runners.words import split

    if not configured.strip():
        return detect(files) or _ask_installed(lambda runner: runner.detect(files), or_say=True)
    words, fault = split(configured)
    if is_npm_test(words):
        words = script_words(files) or words
    adopted = (runner.adopt(words) for runner in RUNNERS.values()) if words and not fault else iter(())
    own = next(filter(None, adopted), None)
    more = _ask_installed(lambda runner: runner.adopt(words)) if words and not fault and own is None else None
    return own or more or Command(("sh", "-c", configured))


def refuse(command: str, base: Command | None) -> str | None:
    """Why an agent's test command is not taken. Only where nothing is configured or detected, any command is."""
    from detent.evidence.runners.words import split

    if base is not None and base.runner:
        return RUNNERS[base.runner].refuse(command, base)
    if not command.strip():
        return "test_command is empty; words alone are not evidence"
    given = command.strip()
    if base is None or given == base.text:
        return None
    if given.startswith(f"{base.text} "):
        words, fault = split(given.removeprefix(base.text))
        if not fault and not any(word.startswith("-") for word in words):
            return None  # plain words after it select; the command itself is what is run
    return f"`{given[:200]}` is not how this project is tested; allowed is `{base.text}`, of which only the exit code is read"
