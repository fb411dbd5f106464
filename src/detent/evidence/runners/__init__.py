"""The test runners that Detent understands. A new one: a file with its RUNNER, a line here, a row in the docs; it passes the conformance tests."""

from collections.abc import Iterator, Mapping
from importlib import import_module

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
        found: Runner = import_module(f"{__name__}.{WHERE[name]}").RUNNER
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(WHERE)

    def __len__(self) -> int:
        return len(WHERE)


RUNNERS = Runners()
