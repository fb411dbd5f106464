"""How a project's tests are found out where nothing is configured: one table, the first match wins. Reads files, starts nothing."""

from collections.abc import Callable
from typing import NamedTuple

from detent.evidence.runners.adapter import Command, Files
from detent.evidence.runners.cmake.ctest import CTest
from detent.evidence.runners.dotnet.dotnet import Dotnet
from detent.evidence.runners.go.go import Go
from detent.evidence.runners.javascript.jest import Jest
from detent.evidence.runners.javascript.mocha import Mocha
from detent.evidence.runners.javascript.node import Node
from detent.evidence.runners.javascript.node_package import npm_test, test_script
from detent.evidence.runners.javascript.vitest import Vitest
from detent.evidence.runners.jvm.gradle import Gradle
from detent.evidence.runners.jvm.maven import Maven
from detent.evidence.runners.php.phpunit import PHPUnit
from detent.evidence.runners.python.pytest import Pytest
from detent.evidence.runners.python.unittest import Unittest
from detent.evidence.runners.ruby.rspec import RSpec
from detent.evidence.runners.rust.cargo import Cargo


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
