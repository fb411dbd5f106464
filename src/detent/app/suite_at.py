"""How the tests of a range are run: as the commit that it starts from says. Nothing that the range itself brings is asked."""

import os
from collections.abc import Mapping

from detent.app.commit_settings import committed_settings
from detent.app.fit import patterns_at
from detent.app.run_sandbox import sandbox_of
from detent.config import Settings
from detent.errors import CannotTell
from detent.evidence.runners import Folder
from detent.evidence.runners.detect import find_command
from detent.evidence.running.suite import Suite
from detent.git.checkout import clean_checkout
from detent.git.repo import Git
from detent.git.workspace import borrow


def suite_at(git: Git, base: str, env: Mapping[str, str]) -> tuple[Suite, Settings]:
    """The suite of a commit whose tests can be told apart. A file that lies in the checkout is not asked."""
    settings = committed_settings(git, base, env)
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
