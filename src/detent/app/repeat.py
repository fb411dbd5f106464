"""What was tried, as the lines of a shell that repeat it by hand: plain git and the project's own test command, in a checkout beside the person's."""

import shlex
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir

from detent.evidence.outcomes.card import Change, Trial
from detent.evidence.runners import Command
from detent.git.snapshot import BORROWED

TAKE_FILES = ("pytest", "vitest", "jest", "mocha", "node", "rspec", "phpunit")  # runners that are told which test files to run
END = "END"


def lines_that_repeat(trial: Trial, change: Change, runs: Command | None, home: Path, project: str = "") -> list[str]:
    """The lines of a shell that repeat a trial, in the folder of its project; none where the change that it was made with is too long to keep."""
    if not trial.whole:
        return []
    here, there = (_base(change), _tip(change)) if trial.on == "base" else (_tip(change), _base(change))
    folder = f"{gettempdir()}/look-{sha256(repr(trial).encode()).hexdigest()[:8]}"
    laid = [f"git checkout -q {there} -- {shlex.join(trial.laid)}"] if trial.laid else []
    return [
        f"git worktree add -q --detach {folder} {here}",
        f"cd {folder}",
        *(f"ln -s {shlex.quote(str(home / name))} {name}" for name in BORROWED if (home / name).is_dir()),
        *([f"cd {shlex.quote(project)}"] if project else []),
        *laid,
        *_patched(trial.patch, project),
        trial.command or _command(trial, runs),
        f"cd {shlex.quote(str(home))} && git worktree remove --force {folder}",
    ]


def _base(change: Change) -> str:
    return change.base[:12]


def _tip(change: Change) -> str:
    """The tip as git takes it: its commit, or the tree of what is not committed."""
    return change.commits[-1].hash[:12] if change.commits else f"$(git commit-tree {change.after[:12]} -p HEAD -m look)"


def _patched(patch: str, project: str) -> list[str]:
    below = f" --directory={shlex.quote(project)}" if project else ""
    return [f"git apply{below} <<'{END}'", *patch.removesuffix("\n").split("\n"), END] if patch else []


def _command(trial: Trial, runs: Command | None) -> str:
    """The test command, for the files that were run."""
    if runs is None:
        return "true  # no test framework is recognised here"
    if runs.runner not in TAKE_FILES or not trial.tests:
        return _ours(runs) + runs.text
    return _ours(runs) + shlex.join([*(word for word in runs.argv if word not in runs.paths), *trial.tests])


def _ours(runs: Command) -> str:
    """What is installed in place is the person's checkout: the code beside the tests comes first."""
    return "PYTHONPATH=.:src " if runs.runner in ("pytest", "unittest") else ""
