"""Product code that knows the tests: changed lines that check who is calling, and so could treat tests differently from real use. Pure.

The changed lines of a file are handed in. Such a check proves nothing; it is shown to a person.
"""

from collections.abc import Collection
from pathlib import PurePosixPath

from detent.evidence.static_analysis.knows_tests_names import NAME_OF
from detent.evidence.static_analysis.knows_tests_names import hits as hits_by_name

TOOLS = frozenset(
    {
        "setup.py",
        "noxfile.py",
        "tasks.py",
        "conf.py",
        "conftest.py",
        "dodo.py",
        "fabfile.py",
        "gulpfile.js",
        "Gruntfile.js",
        "Rakefile",
        "build.rs",
    }
)
SPEAKS_OF_TESTS = ("source files", "the test runner", NAME_OF, "the tests")  # allowed in files that build, document or run a project
Hit = tuple[int, str]


def looks_at_tests(path: str, text: str, lines: Collection[int]) -> tuple[Hit, ...]:
    """The changed lines of a file that check who is calling, each once, with what they check."""
    found = dict[int, str]()
    for line, what in _hits(path, text, lines):
        if line in lines:
            found.setdefault(line, what)
    return tuple(sorted(found.items()))


def _hits(path: str, text: str, lines: Collection[int]) -> list[Hit]:
    where = PurePosixPath(path)
    if where.suffix not in (".py", ".pyi"):
        found = hits_by_name(path, text, lines)
    else:
        from detent.evidence.static_analysis.knows_tests_python import hits  # not every change has Python

        found = hits(text)
    is_tool = where.name in TOOLS or ".config." in where.name
    return [(line, what) for line, what in found if not (is_tool and what.startswith(SPEAKS_OF_TESTS))]
