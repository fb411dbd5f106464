"""The test runners that Detent understands. A new one: a file, a line here, a row in the docs; it passes the conformance tests."""

from detent.evidence.runners.cargo import Cargo
from detent.evidence.runners.ctest import CTest
from detent.evidence.runners.detect import detect
from detent.evidence.runners.go import Go
from detent.evidence.runners.node import Node
from detent.evidence.runners.node_package import is_npm_test, script_words
from detent.evidence.runners.phpunit import PHPUnit
from detent.evidence.runners.protocol import Command, Files, Folder, Runner
from detent.evidence.runners.pytest import Pytest
from detent.evidence.runners.rspec import RSpec
from detent.evidence.runners.words import split

__all__ = ["RUNNERS", "Command", "Files", "Folder", "Runner", "find_command", "refuse"]

RUNNERS: dict[str, Runner] = {
    "pytest": Pytest(),
    "node": Node(),
    "go": Go(),
    "cargo": Cargo(),
    "rspec": RSpec(),
    "phpunit": PHPUnit(),
    "ctest": CTest(),
}


def find_command(files: Files, configured: str = "") -> Command | None:
    """How this project's tests are run: as configured, else as detected. None: no framework is recognised.

    A configured command that no adapter understands is run by a shell, and only its exit code says something.
    """
    if not configured.strip():
        return detect(files)
    words, fault = split(configured)
    if is_npm_test(words):
        words = script_words(files) or words
    adopted = (runner.adopt(words) for runner in RUNNERS.values()) if words and not fault else iter(())
    return next(filter(None, adopted), None) or Command(("sh", "-c", configured))


def refuse(command: str, base: Command | None) -> str | None:
    """Why an agent's test command is not taken. Without a framework that is understood, any command is, but for one that was detected."""
    if base is not None and base.runner:
        return RUNNERS[base.runner].refuse(command, base)
    if not command.strip():
        return "test_command is empty; words alone are not evidence"
    if base is None or base.source == "configured" or command.strip() == base.text:
        return None
    return f"`{command.strip()[:200]}` is not how this project is tested; allowed is `{base.text}`, of which only the exit code is read"
