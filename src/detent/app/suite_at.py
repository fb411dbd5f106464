"""How the tests of a range are run: as the commit that it starts from says. Nothing that the range itself brings is asked."""

import os
from collections.abc import Callable, Mapping

from detent.app.fit import patterns_at
from detent.app.run_sandbox import sandbox_of
from detent.config import Settings, load
from detent.errors import CannotTell, DetentError
from detent.evidence.runners import Folder
from detent.evidence.runners.detect import find_command
from detent.evidence.running.suite import Suite
from detent.git.checkout import clean_checkout
from detent.git.commits import main_branch
from detent.git.repo import Git
from detent.git.workspace import borrow


def read_at(git: Git, rev: str, path: str) -> str | None:
    """A file of a commit or tree, as text."""
    data = git.read(rev, path)
    return data.decode("utf-8", "replace") if data is not None else None


def reader_at(git: Git, rev: str) -> Callable[[str], str | None]:
    """Files of a commit or tree by their paths. Which there are is asked once: of many names that are tried, few are there."""
    out = git.call("ls-tree", "-z", "--name-only", rev)
    names = frozenset(out.items if out.code == 0 else ())  # in a repository without a commit there are none
    return lambda path: read_at(git, rev, path) if path.partition("/")[0] in names else None


def settings_at(git: Git, rev: str, env: Mapping[str, str]) -> Settings:
    """The settings of a commit."""
    return load(reader_at(git, rev), env)


def main_at(git: Git, env: Mapping[str, str]) -> str:
    """The name of the main branch as main itself has it. Only where nothing else tells which branch that is, the checked out commit is asked."""
    try:
        said = main_branch(git, "")
    except DetentError:
        away = git.resolve("refs/remotes/origin/HEAD^{commit}")
        return settings_at(git, away or "HEAD", env).git.main
    return settings_at(git, said, env).git.main


def suite_at(git: Git, base: str, env: Mapping[str, str]) -> tuple[Suite, Settings]:
    """The suite of a commit whose tests can be told apart. A file that lies in the checkout is not asked."""
    settings = settings_at(git, base, env)
    path, home = env.get("PATH", os.defpath), git.place.root
    with clean_checkout(git, git.tree(base)) as folder:
        borrow(home, folder)
        command = find_command(Folder(folder, path), settings.test.command, settings.test.report)
        patterns = patterns_at(command, Folder(folder, path), settings.test.files)
    if command is None or not command.runner:
        said = f"`{command.text}` says only whether all passed" if command else "no test framework is recognised there"
        raise CannotTell(f"the tests of {base[:12]} cannot be told apart: {said}")
    inside = sandbox_of(settings, False, env, home)
    timeout = float(settings.test.timeout or settings.bash.timeout)
    return Suite(command, timeout, path, tuple(settings.test.env), inside.tests, inside.sandbox, patterns), settings
