"""Tests of a change that cannot run because a third-party package is not installed: what is unknown because of that, and the command that helps.

Reads the tip and its manifests; installs nothing.
"""

from detent.evidence.changes.changes import TreeFiles
from detent.evidence.changes.install_lines import PLUGINS, in_clean_checkouts, install_line, line_here
from detent.evidence.looks.repo_look import RepoLook
from detent.evidence.outcomes.outcomes import file_of
from detent.evidence.outcomes.reasons import not_installed
from detent.evidence.running.collect import Collector
from detent.kernel.model import Flag


def unknown_for_want_of_packages(collector: Collector, look: RepoLook, proved: frozenset[str], failing: frozenset[str]) -> str:
    """Why a change whose tests lack a package cannot be verified: no other test proves it, or these tests would count as newly failing."""
    lacks = _lacking(look)
    return _cannot_run(collector, look, lacks) if lacks and (not proved or lacks.keys() & failing) else ""


def flag_lacking(collector: Collector, look: RepoLook) -> list[Flag]:
    """A note on tests that lack a package, if others prove the change."""
    lacks = _lacking(look)
    return (
        [Flag("weak-evidence", _cannot_run(collector, look, lacks).replace("\n", "; "), next(iter(lacks)), level="note")] if lacks else []
    )


def _lacking(look: RepoLook) -> dict[str, str]:
    """The tests in changed files that lack a package: test id to package name."""
    tip, wrote = look.tests(), {c.path for c in look.changed() if c.sort == "test" and c.how != "deleted"}
    failed = sorted(test for test in tip.bad if file_of(tip, test) in wrote)
    return {test: name for test in failed if (name := not_installed(look.why(test)))}


def _cannot_run(collector: Collector, look: RepoLook, lacks: dict[str, str]) -> str:
    """A sentence that says what is unknown, and a line with the command that helps."""
    test, name = next(iter(lacks.items()))
    line = install_line(TreeFiles(look.changes.git, look.tree), name)
    first = f"{test} cannot run, so it is unknown whether it needs this change"
    line = line or (f"pip install {name}" if name in PLUGINS else "install what the tests need")
    line = line_here(line, collector)
    return f"{first}\n{in_clean_checkouts(f'{name} is not installed here: {line}')}"
