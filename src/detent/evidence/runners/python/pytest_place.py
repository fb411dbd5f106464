"""Where a test of pytest failed, from the short traceback in its report. Pure."""

import re

from detent.evidence.formats.junit import Problem
from detent.evidence.patterns import is_outside

FRAME = re.compile(r"^(\S[^\n:]*\.\w+):(\d+): in ", re.MULTILINE)
BROKEN = re.compile(r'^E +File "([^"\n]+)", line (\d+)$', re.MULTILINE)  # a file that does not parse
NO_FIXTURE = re.compile(r"^file ([^\n]+), line (\d+)$", re.MULTILINE)
EXAMPLE = re.compile(r"^(\S[^\n]*):(\d+): (?:DocTestFailure|UnexpectedException)$", re.MULTILINE)
INSTALLED = re.compile(r"(?:^|/)(?:site-packages|dist-packages|\.?venv|\.tox|\.nox)/")


def place_of(problem: Problem, file: str) -> str:
    """`file:line`, the innermost of the project's own. Paths of the project are relative in a report; the others are named whole, if at all."""
    if broken := BROKEN.findall(problem.text):
        path, line = broken[-1]
        return f"{file if file and path.endswith(f'/{file}') else path}:{line}"
    if found := NO_FIXTURE.match(problem.text) or EXAMPLE.search(problem.text):
        return f"{file}:{found[2]}" if file else ""
    ours = [f"{path}:{line}" for path, line in FRAME.findall(problem.text) if not is_outside(path) and not INSTALLED.search(path)]
    return ours[-1] if ours else ""
