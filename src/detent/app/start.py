"""Starting a run: what must hold of the checkout, what is fixed for the run, and what is taken over of files that are there."""

import json
import os
import secrets
from pathlib import Path
from typing import Any

import msgspec

from detent.app import App, now
from detent.app.kit import default_preflight, settings_at
from detent.config import Settings
from detent.effects.branch import create_branch
from detent.effects.publish import exclude, publish, set_aside, where
from detent.errors import DetentError
from detent.evidence.collect import Collector
from detent.evidence.runners import Folder, find_command
from detent.evidence.suite import Suite
from detent.gates.plan import ActivePr, Step, read_plan
from detent.git import fingerprint
from detent.git.commits import main_branch
from detent.git.repo import Git
from detent.git.snapshot import take, untracked, why_left_out
from detent.kernel.model import Run, Sent
from detent.workflows.pr_data import PrData, Setup
from detent.workflows.pr_files import ERROR_FILE, PLAN_FILE, STATE_FILE, published

IN_PROGRESS = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "BISECT_LOG")


def start_pr(app: App, sent: Sent, adopt: bool = False, baseline: bool = False, plan: str = "") -> str:
    """Create a run of `pr` in this checkout and give its id."""
    git: Git = app.world.git
    if (open_run := app.current()) is not None:
        raise DetentError(
            f"run {open_run.run} is open in this checkout ({open_run.state})", "go on with `detent get-task`, or end it with `detent abort`"
        )
    head = _checkout_is_fit(git)
    exclude(app.place)
    tracked = tuple(git.run("ls-files", "-z", "--", PLAN_FILE, STATE_FILE, ERROR_FILE, "FINDINGS.json").items)
    set_aside(app.place, (PLAN_FILE, STATE_FILE, ERROR_FILE, "FINDINGS.json"), tracked)
    if not adopt:
        _is_clean(git)
    settings = settings_at(git, head, app.world.outer)
    setup = _setup(git, settings, head, dict(app.world.outer), plan)
    run_id = f"pr-{secrets.token_hex(3)}"
    if baseline:
        setup = msgspec.structs.replace(setup, baseline=_failures(git, setup, settings, head, dict(app.world.outer), run_id))
    setup = msgspec.structs.replace(setup, aside=_aside(app))
    if adopt:
        setup = msgspec.structs.replace(setup, adopted=take(git, run_id).tree, adopted_over=git.tree(head))
    fingerprint.remember(app.place)
    first = _first_state(app, git, setup, run_id, settings)
    limits = {
        "instrument": settings.debug.instrument,
        "reduce_scope": settings.debug.reduce_scope,
        "escalate": settings.debug.escalate,
        "debug": 2 * settings.debug.escalate,
        "review": settings.review.max_rounds - 1,
    }
    event = app.door.start(msgspec.structs.replace(first, limits=limits, worktree=str(app.place.root)), sent)
    publish(app.place, {n: t for n, t in published(event.run).items() if n != PLAN_FILE or t is not None})
    return run_id


def _checkout_is_fit(git: Git) -> str:
    head = git.head()
    if not head:
        raise DetentError("this repository has no commit yet", "make a first one: git add -A && git commit -m start")
    if not git.branch():
        raise DetentError("HEAD is detached: there is no branch to build on", "check out a branch: git switch NAME")
    for name in IN_PROGRESS:
        if (git.place.git_dir / name).exists():
            raise DetentError(f"git is in the middle of something ({name})", "finish or abort it first")
    return head


def _is_clean(git: Git) -> None:
    """Refuse to start over a person's work, unless it is to be taken over."""
    changed = git.run("diff-index", "-z", "--name-only", "HEAD").items
    fresh = [p for p in untracked(git) if not why_left_out(git.place.root, p)]
    staged = git.run("diff-index", "-z", "--cached", "--name-only", "HEAD").items
    if staged:
        raise DetentError(
            f"{staged[0]} is staged and not committed ({len(staged)} in all)", "commit it, unstage it, or take it over with --adopt"
        )
    if changed or fresh:
        first, count = (changed or fresh)[0], len(changed) + len(fresh)
        raise DetentError(
            f"the checkout has changes that are not committed: {first} ({count} in all)", "commit them, or take them over with --adopt"
        )


def _setup(git: Git, settings: Settings, head: str, env: dict[str, str], plan: str) -> Setup:
    """What is fixed for the run. The test command is fixed too, once one is known."""
    root, path = git.place.root, env.get("PATH", os.defpath)
    if plan:
        settings = msgspec.structs.replace(settings, pr=msgspec.structs.replace(settings.pr, plan=plan))
    if git.read(head, settings.pr.plan) is None and not (root / settings.pr.plan).is_file():
        raise DetentError(f"the plan {settings.pr.plan} is not there", "write it, or name it with [pr] plan in detent.toml")
    command = find_command(Folder(root, path), settings.test.command)

    def read(name: str) -> str | None:
        data = git.read(head, name)
        return data.decode("utf-8", "replace") if data is not None else None

    preflight = settings.preflight.commands
    return Setup(
        plan=settings.pr.plan,
        branching=settings.git.branching,
        checkpoint=settings.git.checkpoint,
        block_at=settings.review.block_at,
        independent=bool(settings.review.agent) or settings.review.require_independent,
        settings=msgspec.json.encode(settings).decode(),
        path=path,
        command=msgspec.json.encode(command).decode() if command else "",
        preflight=tuple(preflight) if preflight is not None else default_preflight(read, root, path),
    )


def _failures(git: Git, setup: Setup, settings: Settings, head: str, env: dict[str, str], run: str) -> tuple[str, ...]:
    """The tests that fail before the run begins, accepted by a person."""
    command = find_command(Folder(git.place.root, setup.path), settings.test.command)
    suite = Suite(command, float(settings.test.timeout or settings.bash.timeout), setup.path, tuple(settings.test.env))
    return tuple(sorted(Collector(git, suite, run, env).clean(git.tree(head), lambda: True).bad))


# -- files that are there already ---------------------------------------------------------------------------------------------


def _aside(app: App) -> tuple[str, ...]:
    """The published files that stand in the git dir, since the project tracks files of their names."""
    places = (where(app.place, name) for name in (PLAN_FILE, STATE_FILE, ERROR_FILE, "FINDINGS.json"))
    return tuple(str(file) for file in places if file.parent != app.place.root)


def _first_state(app: App, git: Git, setup: Setup, run: str, settings: Settings) -> Run[PrData]:
    """A new run, or what can be taken over without proof of files that an earlier agent left at the root."""
    fresh = Run(run, "pr", "INITIALIZING", 0, PrData(setup=setup))
    plan = _left_plan(where(app.place, PLAN_FILE))
    if plan is None:
        return fresh
    state = _left_state(where(app.place, STATE_FILE))
    steps = [s for t in plan.tasks for s in t.tdd_steps]
    status = str(state.get("status", ""))
    if all(s.status == "DONE" for s in steps):
        if status in ("", "INITIALIZING"):
            _put_aside(app, (PLAN_FILE, STATE_FILE, ERROR_FILE))
            return fresh
    elif status == "INITIALIZING" and all(s.status == "TODO" for s in steps):
        return fresh
    data = _taken_over(git, setup, plan, run, settings)
    if status == "DEBUGGING":
        failed = state.get("debug_attempt_counter", 1)
        count = min(failed if isinstance(failed, int) and failed > 0 else 1, 5)
        error = where(app.place, ERROR_FILE)
        said = error.read_text("utf-8", "replace") if error.is_file() else str(state.get("last_error", ""))
        return Run(run, "pr", "DEBUGGING", 0, data, counts={"debug": count}, last_error=said)
    return Run(run, "pr", "EXECUTING_TDD", 0, data)


def _taken_over(git: Git, setup: Setup, plan: ActivePr, run: str, settings: Settings) -> PrData:
    """The plan as it stands; its DONE steps are unproven and shown so. Work goes on on the branch that is there, but never on main."""
    main = main_branch(git, settings.git.main)
    if setup.branching and git.branch() == main:
        create_branch(git, run, 0, plan.prTitle, settings.git.main, remote="")
    base = git.run("merge-base", git.head(), git.resolve(main)).text
    tree = setup.first_tree(git.tree("HEAD"))
    tasks = tuple(
        msgspec.structs.replace(t, tdd_steps=tuple(Step(s.type, s.description, s.status) for s in t.tdd_steps)) for t in plan.tasks
    )
    kept = msgspec.structs.replace(plan, tasks=tasks)
    return PrData(setup=setup, plan=kept, branch=git.branch() if setup.branching else "", base=base, good_tree=tree, committed=tree)


def _left_plan(file: Path) -> ActivePr | None:
    return read_plan(file.read_text("utf-8", "replace"))[0] if file.is_file() else None


def _left_state(file: Path) -> dict[str, Any]:
    try:
        raw = json.loads(file.read_text("utf-8", "replace"))
    except (OSError, ValueError, RecursionError):
        return {}
    return raw if isinstance(raw, dict) else {}


def _put_aside(app: App, names: tuple[str, ...]) -> None:
    """Remove stale files from the root; copies stay in the git dir."""
    folder = app.place.git_dir / "detent" / "stale" / now().replace(":", "")
    for name in names:
        if (app.place.root / name).is_file():
            folder.mkdir(parents=True, exist_ok=True)
            os.replace(app.place.root / name, folder / name)
