"""The command line. Imports a command only when it is called."""

import sys


def main() -> None:
    """Run one command and leave with its exit code."""
    from detent.interfaces.cli.group import run

    sys.exit(run(sys.argv[1:]))
