"""Detects tests that tampered with their judge: compares the files of the test runner and of Detent before and after. Looks at files only."""

from pathlib import Path
from typing import NamedTuple

import detent
from detent.errors import CannotTell
from detent.evidence.running.collect import Collector
from detent.evidence.running.toolchain import Listing, listing, stamps

OPEN = ("none", "outer")  # sandboxes from which tests can write what is installed


class Judges(NamedTuple):
    """The files of Detent and the test runner: stamps of all, and digests of the test runner's."""

    looks: dict[str, str]
    holds: Listing
    walled: bool = False  # tests run in a sandbox, where these files are read-only


def judges_now(collector: Collector) -> Judges:
    """The state of the installed test runner and of Detent now."""
    suite, trees = collector.suite, tuple(collector.site.installed) or ("",)
    found = [listing(suite.base, collector.of(tree).home, {"PATH": suite.path}, collector.store) for tree in trees]
    holds = {path: digest for each in found for path, digest in each.items()}
    return Judges(stamps(holds, Path(detent.__file__).parent), holds, suite.sandbox.name not in OPEN)


def written_meanwhile(before: Judges, now: Judges) -> str:
    """What is wrong if one of these files was written in between; empty if none was.

    A new stamp with the old content may come from an installer (uv touches the files that it links) or from a test that restored the file.
    Tests in a sandbox could not have written it, so there it is accepted; elsewhere this is CannotTell.
    """
    other = sorted(path for path in before.looks.keys() | now.looks.keys() if before.looks.get(path) != now.looks.get(path))
    if not other:
        return ""
    more = f" and {len(other) - 1} more" if len(other) > 1 else ""
    if all(path in before.holds and before.holds[path] == now.holds.get(path) for path in other):
        if before.walled:
            return ""
        raise CannotTell(
            f"{other[0]}{more} was touched while the tests ran, by an installer or by these tests, though its content is the same; check again"
        )
    return f"{other[0]}{more} was written while the tests ran, and it is part of what judges them"
