"""Where a call begins. Imports as little as the call needs."""

import sys

from detent.interfaces.cli.hot import answer


def main() -> None:
    """Run one command and leave with its exit code."""
    code = answer(sys.argv[1:])
    if code is None:
        from detent.interfaces.cli.plain import call

        code = call(sys.argv[1:])
    if code is None:
        from detent.interfaces.cli.group import run

        code = run(sys.argv[1:])
    sys.exit(code)
