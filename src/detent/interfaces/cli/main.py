"""Where a call begins. Imports as little as the call needs."""

import os
import sys

from detent.interfaces.cli.hot import answer


def main() -> None:
    """Run one command and leave with its exit code."""
    words = sys.argv[1:]
    if (folder := os.environ.get("TDD_PROJECT_ROOT")) and words[:1] != ["hook"] and not "".join(words[:1]).startswith("-C"):
        words = ["-C", folder, *words]
    code = answer(words)
    if not words or (words[0] == "-C" and len(words) == 2):
        from detent.interfaces.cli.first_screen import first_screen_in

        code = first_screen_in(words[-1] if words else "")
    if code is None:
        from detent.interfaces.cli.plain_commands import call

        code = call(words)
    if code is None:
        from detent.interfaces.cli.group import run

        code = run(words)
    sys.exit(code)
