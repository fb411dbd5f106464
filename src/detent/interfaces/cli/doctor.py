"""`detent doctor`: checks machine and repository, and says how to fix what would not work."""

import json
import os
import platform
import re
import shutil
import sqlite3
import sys
from pathlib import Path

import click

from detent.app import journal_at
from detent.app.opened import accept_journal
from detent.errors import DetentError, JournalError, NoJournal
from detent.git import fingerprint
from detent.git.place import Place, find_place
from detent.git.repo import git_version
from detent.interfaces.cli.doctor_clients import client_rows
from detent.interfaces.cli.doctor_disk import disk_check
from detent.interfaces.cli.doctor_extensions import extension_checks
from detent.interfaces.cli.doctor_project import DoctorCheck, machine_checks, project_checks, row_lines
from detent.interfaces.cli.runner import may_decide

OLDEST_GIT = (2, 30)


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--accept", is_flag=True, help="Accept journal, hooks, git configuration and the installed test runner as they are now.")
def command(as_json: bool, accept: bool) -> int:
    """Check this machine and this repository. Exit 0 if everything that is needed works, 2 if not."""
    if accept:
        place = find_place(Path.cwd())
        may_decide("accept this")
        if accepted := accept_journal(place):
            click.echo(f"Accepted: {accepted}.", err=True)
        fingerprint.remember(place)
        _accept_installed(place)
    there = _repository()
    mine = (
        [_plants(), _journal(), *extension_checks(), *project_checks(), disk_check()]
        if there.ok
        else [*extension_checks(), *machine_checks()]
    )
    checks = [_python(), _git(), there, *mine, *_clients()]
    if as_json:
        click.echo(json.dumps({"ok": _fit(checks), "checks": [c._asdict() for c in checks]}))
    else:
        for c in checks:
            click.echo("\n".join(row_lines(c)))
    return 0 if _fit(checks) else 2


def _accept_installed(place: Place) -> None:
    """Accept the installed test packages as they are."""
    from detent.app.commit_settings import settings_at
    from detent.app.fit import accept_installed
    from detent.git.repo import Git

    git = Git(place, os.environ)
    if git.head():
        accept_installed(git, settings_at(git, "HEAD", os.environ), os.environ.get("PATH", os.defpath))


def _clients() -> list[DoctorCheck]:
    return [DoctorCheck(*row, needed=False) for row in client_rows(os.environ)]


def _fit(checks: list[DoctorCheck]) -> bool:
    return all(c.ok or not c.needed for c in checks)


def _python() -> DoctorCheck:
    return DoctorCheck("python", True, f"{platform.python_version()} at {sys.executable}, SQLite {sqlite3.sqlite_version}")


def _git() -> DoctorCheck:
    git = shutil.which("git")
    if git is None:
        return DoctorCheck("git", False, "not found", "install git")
    version = git_version(git)
    old = tuple(map(int, re.findall(r"\d+", version)[:2])) < OLDEST_GIT
    return DoctorCheck("git", not old, f"{version} at {git}", f"install git {'.'.join(map(str, OLDEST_GIT))} or newer" if old else "")


def _repository() -> DoctorCheck:
    try:
        place = find_place(Path.cwd())
    except DetentError as e:
        return DoctorCheck("repository", False, e.message, e.hint)
    return DoctorCheck("repository", True, str(place.root))


def _plants() -> DoctorCheck:
    """Whether the git hooks, attributes and settings that run programs are as a person last accepted them."""
    try:
        fingerprint.check(find_place(Path.cwd()))
    except DetentError as e:
        return DoctorCheck("git config", "not in a git" in e.message, e.message, e.hint)
    return DoctorCheck("git config", True, "hooks, attributes and settings that run programs are as accepted")


def _journal() -> DoctorCheck:
    try:
        journal = journal_at(Path.cwd())
        fault = journal.first_fault()
    except NoJournal:
        return DoctorCheck("journal", True, "none yet")
    except JournalError as e:
        return DoctorCheck("journal", False, e.message, e.hint)
    except DetentError:
        return DoctorCheck("journal", True, "no repository, no journal")
    if fault:
        return DoctorCheck("journal", False, fault, "the events before it are intact; restore the file from a backup")
    return DoctorCheck("journal", True, f"{sum(h.seq for h in journal.heads())} events of {len(journal.heads())} runs, chain unbroken")
