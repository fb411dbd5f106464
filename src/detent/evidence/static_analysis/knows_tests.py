"""Product code that knows the tests: changed lines that look at who asks them, so that they can answer a test otherwise than life. Pure.

Which lines of a file changed is handed in. That a line looks there is no proof of anything: it is shown.
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
SPEAKS_OF_TESTS = ("source files", "the test runner", NAME_OF, "the tests")  # what those may do that build, document or run a project
Hit = tuple[int, str]


def looks_at_tests(path: str, text: str, lines: Collection[int]) -> tuple[Hit, ...]:
    """Each of these lines of a file that looks at who asks, and what it looks at; a line once."""
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
        from detent.evidence.static_analysis.knows_tests_python import hits  # it reads Python, and not every change has some

        found = hits(text)
    is_tool = where.name in TOOLS or ".config." in where.name
    return [(line, what) for line, what in found if not (is_tool and what.startswith(SPEAKS_OF_TESTS))]
