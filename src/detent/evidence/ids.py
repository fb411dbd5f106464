"""What of a test's id stays the same from run to run. Pure."""

import re

CHANGING = re.compile(
    r"0x[0-9a-fA-F]{6,}"
    r"|\d{4}-\d\d-\d\d[T ]\d\d[:-]?\d\d(?:[:-]?\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|/tmp/[^\s\]:]+"
)


def stable(test: str) -> str:
    """The id without times, addresses, uuids and paths of temporary files."""
    return CHANGING.sub("…", test)


def family(test: str) -> str:
    """The test function that a row, a sub-test or a parametrised case belongs to."""
    name = test.partition("[")[0] if test.endswith("]") else test
    head, _, tail = name.rpartition("::")
    return f"{head}::{tail.partition('/')[0]}" if head and "/" in tail else name
