"""Which files of a commit are tests, by common names and folders. Deliberately independent of Detent's own rules, which this bench measures."""

import re
from pathlib import PurePosixPath

FOLDERS = frozenset({"test", "tests", "testdata", "testing_data", "spec", "specs", "__tests__", "__snapshots__", "__mocks__", "fixtures", "cassettes"})  # fmt: skip
FILES = re.compile(
    r"^(test_.+\.py|.+_tests?\.py|tests?\.py|conftest\.py|.+_test\.go|.+\.(test|spec|test-d)\.[cm]?[jt]sx?|.+\.snap|.+_spec\.rb|.+Tests?\.(php|java|kt|cs))$"
)
MODULES = re.compile(r"^(test_.+\.py|.+_tests?\.py|tests?\.py|.+_test\.go|.+\.(test|spec|test-d)\.[cm]?[jt]sx?)$")
CODE = frozenset({".py", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".go", ".rs", ".rb", ".php", ".java", ".kt", ".cs", ".c", ".h"})  # fmt: skip
NOT_CODE = frozenset({"docs", "doc", "examples", ".github", "benchmark", "benchmarks", "scripts", "misc"})


def is_test(path: str) -> bool:
    """Whether a path is a test, or data, a snapshot or a helper beside tests."""
    pure = PurePosixPath(path)
    return bool(FILES.match(pure.name)) or any(part in FOLDERS for part in pure.parts[:-1])


def is_module(path: str) -> bool:
    """Whether a path can be given to the runner. JavaScript in a test folder needs no special name."""
    pure = PurePosixPath(path)
    return bool(MODULES.match(pure.name)) or (pure.suffix in (".js", ".mjs", ".cjs") and pure.parts[0] in ("test", "tests", "__tests__"))


def is_code(path: str) -> bool:
    """Whether a path is product code, which a test could need."""
    pure = PurePosixPath(path)
    return pure.suffix in CODE and not is_test(path) and pure.parts[0] not in NOT_CODE
