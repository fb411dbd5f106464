"""How a project's tests are found out where nothing is configured: one table, the first match wins. Reads files, starts nothing."""

from collections.abc import Callable
from typing import NamedTuple

from detent.evidence.runners.cargo import Cargo
from detent.evidence.runners.ctest import CTest
from detent.evidence.runners.dotnet import Dotnet
from detent.evidence.runners.go import Go
from detent.evidence.runners.gradle import Gradle
from detent.evidence.runners.jest import Jest
from detent.evidence.runners.maven import Maven
from detent.evidence.runners.mocha import Mocha
from detent.evidence.runners.node import Node
from detent.evidence.runners.node_package import npm_test, test_script
from detent.evidence.runners.phpunit import PHPUnit
from detent.evidence.runners.protocol import Command, Files
from detent.evidence.runners.pytest import Pytest
from detent.evidence.runners.rspec import RSpec
from detent.evidence.runners.unittest import Unittest
from detent.evidence.runners.vitest import Vitest


class Sign(NamedTuple):
    """One row: what is seen, and the command it stands for."""

    seen: str
    command: Callable[[Files], Command | None]


def _npm(files: Files) -> Command | None:
    """A runner that is understood, by the script or else as a dependency; any other script as it is, for its exit code."""
    found = next(filter(None, (runner.detect(files) for runner in (Node(), Vitest(), Jest(), Mocha()))), None)
    return found or (npm_test() if test_script(files) else None)


DETECTION: tuple[Sign, ...] = (
    Sign("`pom.xml` with JUnit or TestNG", Maven().detect),
    Sign("`build.gradle` or `build.gradle.kts`", Gradle().detect),
    Sign("`package.json` with a test script, or with vitest, jest or mocha", _npm),
    Sign("test files of `unittest`, and no sign of pytest", Unittest().detect),
    Sign("`pytest.ini`, `pyproject.toml`, `setup.py` or test files of pytest", Pytest().detect),
    Sign("`go.mod` or `go.work`", Go().detect),
    Sign("`Cargo.toml`", Cargo().detect),
    Sign("`.rspec` or `*_spec.rb`", RSpec().detect),
    Sign("`phpunit.xml` or `phpunit.xml.dist`", PHPUnit().detect),
    Sign("`CMakeLists.txt` with `enable_testing` or `include(CTest)`", CTest().detect),
    Sign("`*.sln`, `*.slnx`, or a project of .NET with `Microsoft.NET.Test.Sdk`", Dotnet().detect),
)


def detect(files: Files) -> Command | None:
    """The command of the first row that matches."""
    return next(filter(None, (sign.command(files) for sign in DETECTION)), None)
