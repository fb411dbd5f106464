"""Whether the tests of a folder are run by the runner of a folder above it: then both are one project. Reads files, starts nothing."""

from collections.abc import Sequence

from detent.evidence.runners import RUNNERS
from detent.evidence.runners.adapter import Command, Files, InnerProject


def takes_in(outer: Command, files: Files, inner: Command, below: InnerProject) -> bool:
    """Whether a command that runs above a folder runs its tests too. `files`: those above."""
    if outer.runner != inner.runner:
        return False  # a command of which only an exit code is read gives way to any that is understood
    return not outer.runner or RUNNERS[outer.runner].reaches(outer, files, below)


def tests_of(command: Command, files: Files) -> Sequence[str]:
    """The test files of a project by their names, as far as its runner knows tests by names."""
    return [path for path in files.paths() if RUNNERS[command.runner].is_test(path)] if command.runner else []
