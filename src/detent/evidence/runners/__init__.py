"""The test runners that Detent understands. A new one: a file, a line here, a row in the docs; it passes the conformance tests."""

from detent.evidence.runners.protocol import Command, Files, Folder, Runner
from detent.evidence.runners.pytest import Pytest
from detent.evidence.runners.words import split

__all__ = ["RUNNERS", "Command", "Files", "Folder", "Runner", "find_command", "refuse"]

RUNNERS: dict[str, Runner] = {
    "pytest": Pytest(),
}


def find_command(files: Files, configured: str = "") -> Command | None:
    """How this project's tests are run: as configured, else as detected. None: no framework is recognised.

    A configured command that no adapter understands is run by a shell, and only its exit code says something.
    """
    if configured.strip():
        words, fault = split(configured)
        adopted = (runner.adopt(words) for runner in RUNNERS.values()) if words and not fault else iter(())
        return next(filter(None, adopted), None) or Command(("sh", "-c", configured))
    return next(filter(None, (runner.detect(files) for runner in RUNNERS.values())), None)


def refuse(command: str, base: Command | None) -> str | None:
    """Why an agent's test command is not taken. Without a framework that is understood, any command is."""
    if base is None or not base.runner:
        return None if command.strip() else "test_command is empty; words alone are not evidence"
    return RUNNERS[base.runner].refuse(command, base)
