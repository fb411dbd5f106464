"""The test runners that Detent understands. A new one: a file with its RUNNER, a line here, a row in the docs; it passes the conformance tests."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

from detent.errors import DetentError
from detent.evidence.runners.adapter import Command, Files, Folder, Runner

__all__ = ["RUNNERS", "UNSEEN", "Command", "Files", "Folder", "Runner"]

WHERE = {  # in the order in which they are asked whether a configured command is theirs
    "pytest": "python.pytest",
    "node": "javascript.node",
    "vitest": "javascript.vitest",
    "jest": "javascript.jest",
    "mocha": "javascript.mocha",
    "unittest": "python.unittest",
    "go": "go.go",
    "cargo": "rust.cargo",
    "rspec": "ruby.rspec",
    "phpunit": "php.phpunit",
    "ctest": "cmake.ctest",
    "maven": "jvm.maven",
    "gradle": "jvm.gradle",
    "dotnet": "dotnet.dotnet",
    "report": "reports.report_runner",
}
UNSEEN = frozenset({"dotnet"})  # adapters that were never tried with the real program


class Runners(Mapping[str, Runner]):
    """The runners by name. One is imported when it is asked for: a submit pays for its own alone."""

    def __getitem__(self, name: str) -> Runner:
        if name and name not in WHERE:
            return _installed(name)
        found: Runner = import_module(f"{__name__}.{WHERE[name]}").RUNNER
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(WHERE)

    def __len__(self) -> int:
        return len(WHERE)


RUNNERS = Runners()


def _installed(name: str) -> Runner:
    """The runner that a package brings under a name which is not built in."""
    from detent import extensions  # most calls know their runner

    found: Runner | None = extensions.load(extensions.RUNNERS, name, lambda value: _wrong(name, value))
    if found is None:
        raise DetentError(f"there is no test runner '{name}' here", f"known: {', '.join(WHERE)}; install the package that provides it")
    return found


def ask_installed(ask: Callable[[Runner], Command | None], or_say: bool = False) -> Command | None:
    """The first command that a runner of a package gives. `or_say`: where none does, one that cannot be used is an error."""
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
    if not isinstance(value, Runner):
        return "it is not a Runner (detent.evidence.runners)"
    return "" if value.name == name else f"it calls itself '{value.name}'; runner and entry point must have the same name"
