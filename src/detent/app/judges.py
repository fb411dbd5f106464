"""Whether what judges a range was left alone while its tests ran: the installed test runner, and Detent itself. Looks at files only."""

from collections.abc import Mapping
from pathlib import Path

import detent
from detent.evidence.collect import Collector
from detent.evidence.toolchain import listing, stamps


def judges_now(collector: Collector) -> dict[str, str]:
    """How the installed test runner and Detent itself look."""
    suite = collector.suite
    return stamps(listing(suite.base, collector.home, {"PATH": suite.path}, collector.store), Path(detent.__file__).parent)


def written_meanwhile(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """What is wrong if one of these files is not as it was; empty if all are."""
    other = sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
    more = f" and {len(other) - 1} more" if len(other) > 1 else ""
    return f"{other[0]}{more} was written while the tests ran, and it is part of what judges them" if other else ""
