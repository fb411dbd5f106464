"""The test runners that Detent understands. A new one: a file, a line here, a row in the docs; it passes the conformance tests."""

from collections.abc import Iterator, Mapping
from importlib import import_module

from detent.evidence.runners.adapter import Command, Files, Folder, Runner

__all__ = ["RUNNERS", "UNSEEN", "Command", "Files", "Folder", "Runner", "find_command", "refuse"]

WHERE = {  # in the order in which they are asked whether a configured command is theirs
    "pytest": "python.pytest:Pytest",
    "node": "javascript.node:Node",
    "vitest": "javascript.vitest:Vitest",
    "jest": "javascript.jest:Jest",
    "mocha": "javascript.mocha:Mocha",
    "unittest": "python.unittest:Unittest",
    "go": "go.go:Go",
    "cargo": "rust.cargo:Cargo",
    "rspec": "ruby.rspec:RSpec",
    "phpunit": "php.phpunit:PHPUnit",
    "ctest": "cmake.ctest:CTest",
    "maven": "jvm.maven:Maven",
    "gradle": "jvm.gradle:Gradle",
    "dotnet": "dotnet.dotnet:Dotnet",
}
UNSEEN = frozenset({"dotnet"})  # adapters that were never tried with the real program


class Runners(Mapping[str, Runner]):
    """The adapters by name. One is imported when it is asked for: a submit pays for its own alone."""

    def __getitem__(self, name: str) -> Runner:
        module, _, adapter = WHERE[name].partition(":")
        made: Runner = getattr(import_module(f"{__name__}.{module}"), adapter)()
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(WHERE)

    def __len__(self) -> int:
        return len(WHERE)


RUNNERS = Runners()


def find_command(files: Files, configured: str = "") -> Command | None:
    """How this project's tests are run: as configured, else as detected. None: no framework is recognised.

    A configured command that no adapter understands is run by a shell, and only its exit code says something.
    """
    from detent.evidence.runners.command_words import split
    from detent.evidence.runners.detect import detect
    from detent.evidence.runners.javascript.node_package import is_npm_test, script_words

    if not configured.strip():
        return detect(files)
    words, fault = split(configured)
    if is_npm_test(words):
        words = script_words(files) or words
    adopted = (runner.adopt(words) for runner in RUNNERS.values()) if words and not fault else iter(())
    return next(filter(None, adopted), None) or Command(("sh", "-c", configured))


def refuse(command: str, base: Command | None) -> str | None:
    """Why an agent's test command is not taken. Only where nothing is configured or detected, any command is."""
    from detent.evidence.runners.command_words import split

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
