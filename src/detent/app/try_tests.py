"""Tries a project's test command and preflight as a run would: on HEAD, in a clean checkout. For `init` and `doctor`."""

import os
import shutil
from collections.abc import Mapping
from typing import NamedTuple

from detent.app.first_look import red_preflight, suite_at
from detent.app.fit import patterns_at
from detent.app.run_configs import sandbox_of
from detent.config import Settings
from detent.errors import DetentError
from detent.evidence.changes.install_lines import install_hint
from detent.evidence.runners import Folder, find_command
from detent.evidence.running.collect import Collector
from detent.evidence.running.installed import refuses_pip
from detent.evidence.running.suite import Suite
from detent.git.place import Place
from detent.git.repo import Git


class Tried(NamedTuple):
    """The result of trying the tests and the preflight."""

    passed: int = 0
    failing: tuple[str, ...] = ()
    preflight: tuple[str, ...] = ()  # commands that fail
    seconds: float = 0.0
    canary: str = ""
    trouble: str = ""  # why the tests could not be run
    hint: str = ""

    @property
    def words(self) -> str:
        """One line for a person."""
        if self.trouble:
            return self.trouble
        counts = f"{self.passed} pass" + (f", {len(self.failing)} fail ({self.failing[0]} …)" if self.failing else "")
        return f"{counts}, {self.seconds:.1f} s" + (f"; preflight fails: {', '.join(self.preflight)}" if self.preflight else "")


def try_tests(place: Place, settings: Settings, env: Mapping[str, str], preflight: tuple[str, ...]) -> Tried | None:
    """Run the tests and the preflight at HEAD; None without a commit, or without a runner that reports single tests."""
    git, path = Git(place, env), env.get("PATH", os.defpath)
    command = find_command(Folder(place.root, path), settings.test.command, settings.test.report)
    if not git.head() or command is None or not command.runner:
        return None
    inside, timeout = sandbox_of(settings, False, env, place.root), float(settings.test.timeout or settings.bash.timeout)
    patterns = patterns_at(command, Folder(place.root, path), settings.test.files)
    suite = Suite(command, timeout, path, tuple(settings.test.env), inside.tests, inside.sandbox, patterns)
    collector, tree = Collector(git, suite, "try", env), git.tree("HEAD")
    try:
        report = suite_at(collector, tree)
        red = red_preflight(collector, tree, preflight)
    except DetentError as e:
        return Tried(trouble=_one_line(e.message)[:300], hint=_help_for(collector, Folder(place.root, path), e.message))
    return Tried(len(report.having("passed")), tuple(sorted(report.bad)), red, report.wall, report.canary)


def _one_line(text: str) -> str:
    """The lines of an error on one line, joined by colons."""
    return ": ".join(" ".join(line.split()).rstrip(":.") for line in text.splitlines() if line.strip())


def _help_for(collector: Collector, files: Folder, output: str) -> str:
    """A hint on what usually helps."""
    command = collector.suite.base
    assert command is not None
    program = shutil.which(command.argv[0]) or command.argv[0]
    if hint := install_hint(command, output, files, refuses_pip(command, collector.home, collector.env)):
        return f"{hint}; the tests run with {program}, [test] command can name another one"
    if "No module named" in output or "ModuleNotFoundError" in output:
        return f"the tests run with {program}: install the project and its test dependencies there, or name another one in [test] command"
    if files.exists("package.json") and not (files.root / "node_modules").exists():
        return "install the packages first: npm install"
    return "run the command by hand and look; [test] command in detent.toml names another one"
