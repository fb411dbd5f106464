"""Checks a checkout before a run starts in it, and fixes the run's settings (its Ground). The same for all workflows."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

import msgspec

from detent.app.opened import App
from detent.app.preflight import default_preflight
from detent.app.run_configs import CONFIGURED, OTHER, REVIEWER
from detent.blocks.common import Ground
from detent.config import Settings
from detent.config.sources import FILE as SETTINGS
from detent.errors import DetentError
from detent.evidence.changes.changes import patterns_of
from detent.evidence.runners import RUNNERS, Command, Files, Folder, find_command
from detent.evidence.running.toolchain import Listing, accept_toolchain, listing, place_of, records, take
from detent.git.checkout import clean_checkout
from detent.git.land_merge import ITEMS
from detent.git.repo import Git
from detent.git.snapshot import hidden_changes, untracked, why_left_out
from detent.git.workspace import borrow, choose_root

IN_PROGRESS = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "BISECT_LOG")
SHORT = 3  # as many files are named one by one


def no_run_is_open(app: App) -> None:
    if (open_run := app.current()) is not None:
        raise DetentError(
            f"run {open_run.run} is open in this checkout ({open_run.state})",
            "continue it with `detent get-task`, or end it with `detent abort`",
        )


def checkout_is_fit(git: Git) -> str:
    head = git.head()
    if not head:
        raise DetentError("this repository has no commit yet", "make a first one: git add -A && git commit -m start")
    if not git.branch():
        raise DetentError("HEAD is detached: there is no branch to build on", "check out a branch: git switch NAME")
    for name in IN_PROGRESS:
        if (git.place.git_dir / name).exists():
            raise DetentError(f"a git operation is in progress ({name})", "finish or abort it first")
    return head


def not_committed(git: Git) -> tuple[list[str], list[str]]:
    """The uncommitted files that stop a run from starting: changed ones, and new ones that could belong to a change."""
    git.call("update-index", "-q", "--refresh")  # a file whose time alone changed is not a change
    changed = [path for path in git.run("diff-index", "-z", "--name-only", "HEAD").items if path != ITEMS]  # that is the tracker's
    return changed, [path for path in untracked(git) if path != ITEMS and not why_left_out(git.place.root, path)]


def is_clean(git: Git, way_out: str = "") -> None:
    """Refuse to start on top of uncommitted work; `way_out` is added to the hint."""
    changed, fresh = not_committed(git)
    staged = git.run("diff-index", "-z", "--cached", "--name-only", "HEAD").items
    hidden = [path for path in hidden_changes(git) if path not in changed]
    if staged:
        raise DetentError(f"{staged[0]} is staged and not committed ({len(staged)} in all)", f"commit it or unstage it{way_out}")
    if changed or fresh:
        found = [*changed, *fresh]
        raise DetentError(f"the checkout has changes that are not committed: {_some(found)}", _way_to_clean(found, way_out))
    if hidden:
        raise DetentError(
            f"{hidden[0]} is changed, but git is set to ignore its changes ({len(hidden)} in all)",
            f"restore it or commit it: git update-index --no-assume-unchanged --no-skip-worktree {hidden[0]}{way_out}",
        )


def _some(paths: list[str]) -> str:
    return ", ".join(paths) if len(paths) <= SHORT else f"{paths[0]} ({len(paths)} in all)"


def _way_to_clean(found: list[str], way_out: str) -> str:
    """How a checkout becomes clean. Settings are never to be stashed: the run would begin without them."""
    them = "it" if len(found) == 1 else "them"
    commit = f"commit {them} with `git add {shlex.join(found) if len(found) <= SHORT else '-A'} && git commit"
    if SETTINGS in found:
        return f"{commit} -m 'Set up Detent'`: a run takes its settings from there"
    return f"{commit}`, or stash {them} with `git stash -u`{way_out}"


def ground(git: Git, settings: Settings, base: str, outer: Mapping[str, str], agent: str, run: str) -> Ground:
    """The Ground of a run: its settings, from the commit `base`, and its test command if one is known."""
    root, path = git.place.root, outer.get("PATH", os.defpath)
    if agent and settings.agents.roles:
        from detent.app.who import roles_are_known  # most projects configure none

        roles_are_known(settings)
    if agent or settings.flags.answered_by == REVIEWER:  # else a workflow that asks one itself has checked it
        settings = _with_reviewer(settings, agent, outer, root)
    command, patterns = command_at(git, base, settings, path)

    there = frozenset(git.run("ls-tree", "-z", "--name-only", base).items)  # one git call instead of one for each possible file

    def read(name: str) -> str | None:
        data = git.read(base, name) if name in there else None
        return data.decode("utf-8", "replace") if data is not None else None

    preflight = settings.preflight.commands
    return Ground(
        settings=msgspec.json.encode(settings.of_a_run()).decode(),
        path=path or os.defpath,
        command=msgspec.json.encode(command).decode() if command else "",
        preflight=tuple(preflight) if preflight is not None else default_preflight(read, root, path),
        agent=agent,
        workspace=str(choose_root(git.place, run)) if agent else "",
        patterns=patterns,
        toolchain="" if settings.workspace.setup and agent else taken(git, command, path),
    )


def command_at(git: Git, base: str, settings: Settings, path: str) -> tuple[Command | None, tuple[str, ...]]:
    """The test command and the patterns of test files, as of a commit; from the checkout where the commit has no tests yet."""

    def found(root: Path) -> tuple[Command | None, tuple[str, ...]]:
        command = find_command(Folder(root, path), settings.test.command, settings.test.report)
        return command, patterns_at(command, Folder(root, path), settings.test.files)

    if git.tree(base) == git.tree("HEAD"):
        return found(git.place.root)
    with clean_checkout(git, git.tree(base)) as folder:
        borrow(git.place.root, folder)
        at_base = found(folder)
    return at_base if at_base[0] is not None else found(git.place.root)


def taken(git: Git, command: Command | None, path: str) -> str:
    """The digest of the packages installed for the tests, and their place."""
    digest = take(_installed(git, command, path), records(git.place.common_dir))
    return f"{digest}@{place_of(git.place.root)}" if digest else ""


def accept_installed(git: Git, settings: Settings, path: str) -> None:
    """Accept, for a person, the packages installed for the tests as they are now."""
    accept_toolchain(
        git.place.root, _installed(git, find_command(Folder(git.place.root, path), settings.test.command, settings.test.report), path)
    )


def _installed(git: Git, command: Command | None, path: str) -> Listing:
    return listing(command, git.place.root, {"PATH": path}, git.place.common_dir / "detent" / "evidence")


def patterns_at(command: Command | None, files: Files, configured: tuple[str, ...]) -> tuple[str, ...]:
    """The patterns of test files, fixed for the run so that no step can change them."""
    return patterns_of(RUNNERS[command.runner], files, configured, command) if command and command.runner else configured


def _with_reviewer(settings: Settings, agent: str, outer: Mapping[str, str], project: Path) -> Settings:
    if settings.review.agent != OTHER:
        return settings
    from detent.app.who import with_reviewer  # imported late: few runs have a reviewer

    return with_reviewer(settings, agent, outer, project)


def reviewer_is_ready(settings: Settings, env: Mapping[str, str], project: Path, agent: str = CONFIGURED) -> str:
    """The spec of the configured reviewer, or ""; an error if it cannot be asked."""
    if not settings.review.agent:
        return ""
    from detent.agents import must_be_ready  # imported late: few runs have a reviewer
    from detent.app.who import catalog_of

    spec = _with_reviewer(settings, agent, env, project).review.agent
    try:
        must_be_ready(spec, env, project, settings.agents.model, catalog_of(settings))
    except DetentError as e:
        raise DetentError(f"[review] agent: {e.message}", e.hint) from e
    return spec
