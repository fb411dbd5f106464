"""Starting a run of `pr`: what must hold for the checkout, the settings fixed for the run, and what it takes over from existing files."""

import json
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten
from typing import Any

import msgspec

from detent.app import App, now
from detent.app.commit_settings import MainSettings, settings_for
from detent.app.first_look import accepted, with_accepted_baseline
from detent.app.fit import checkout_is_fit, ground, is_clean, no_run_is_open, reviewer_is_ready
from detent.app.forges import way_to_land
from detent.app.policy import kinds_of, may_answer
from detent.app.starting import names_file
from detent.blocks.terms import Terms
from detent.config import Settings
from detent.effects.make_branch import create_branch
from detent.effects.publish import exclude, publish, set_aside, where
from detent.errors import DetentError
from detent.gates.plan import ActivePr, PlannedStep, read_plan
from detent.gates.plan_entries import entries, open_entries
from detent.git import fingerprint
from detent.git.commits import main_branch
from detent.git.place import Place
from detent.git.repo import Git
from detent.git.snapshot import take
from detent.kernel.model import Run, Sent
from detent.workflows.pr.pr_data import PrData, PrSetup
from detent.workflows.pr.pr_shown import ERROR_FILE, PLAN_FILE, STATE_FILE, published

NO_PLAN = 'add one: detent init --entry "what the first pull request does"; or name another plan: detent start PATH'
PUBLISHED = (PLAN_FILE, STATE_FILE, ERROR_FILE, "FINDINGS.json")


def start_pr(app: App, sent: Sent, terms: Terms | None = None) -> str:
    """Create a run of `pr` and return its id: in this checkout, or in a workspace."""
    terms, git, run_id = terms or Terms(), app.world.git, f"pr-{secrets.token_hex(3)}"
    no_run_is_open(app)
    head = checkout_is_fit(git)
    exclude(app.place)
    if not terms.adopt:
        is_clean(git, "" if terms.agent else ", or take it over with --adopt")
    settings, main = settings_for(git, head, app.world.outer)
    reviewer_is_ready(settings, app.world.outer, app.place.root, terms.agent)
    may_answer(terms.policies, settings)
    setup = _setup(git, MainSettings(settings, main), head, app.world.outer, terms, run_id)
    first = Run(run_id, "pr", "INITIALIZING", 0, PrData(setup=setup, base=head if setup.workspace else ""), worktree=str(app.place.root))
    left = None if setup.workspace else _left_plan(where(app.place, PLAN_FILE))
    known = accepted(app, first, git.tree(head), terms, owes_green=left is not None and _is_red(left))
    fixed = {name: getattr(known, name) for name in ("baseline", "red_preflight", "owes_green", "reports")}
    setup = msgspec.structs.replace(setup, **fixed)
    fingerprint.begin(app.place, app.busy)
    world = app.worlds.of(first)
    tracked = tuple(git.run("ls-files", "-z", "--", *PUBLISHED).items)
    set_aside(world.place, PUBLISHED, tracked)
    setup = msgspec.structs.replace(setup, aside=_aside(world.place))
    if terms.adopt:
        setup = msgspec.structs.replace(setup, adopted=take(git, run_id).tree, adopted_over=git.tree(head))
    if not setup.workspace:
        first = _first_state(app, git, setup, run_id, settings)
    first = msgspec.structs.replace(first, data=msgspec.structs.replace(first.data, setup=setup))
    first = with_accepted_baseline(first, sent)
    event = app.door.start(msgspec.structs.replace(first, limits=limits_of(settings), worktree=str(app.place.root)), sent)
    publish(world.place, {n: t for n, t in published(event.run).items() if n != PLAN_FILE or t is not None})
    return run_id


def limits_of(settings: Settings) -> dict[str, int]:
    """The retry limits of a run of `pr`, as configured."""
    return {
        "hypothesize": settings.debug.hypothesize,
        "instrument": settings.debug.instrument,
        "reduce_scope": settings.debug.reduce_scope,
        "escalate": settings.debug.escalate,
        "debug": 2 * settings.debug.escalate,
        "review": settings.review.max_rounds - 1,
    }


def _setup(git: Git, of: MainSettings, head: str, env: Mapping[str, str], terms: Terms, run: str) -> PrSetup:
    settings = of.settings
    if terms.request:
        settings = msgspec.structs.replace(settings, pr=msgspec.structs.replace(settings.pr, plan=terms.request))
    committed, file = git.read(head, settings.pr.plan), git.place.root / settings.pr.plan
    if committed is None and not names_file(git.place.root, settings.pr.plan):
        raise DetentError(f"the plan {shorten(settings.pr.plan, 80, placeholder=' […]')} does not exist", NO_PLAN)
    master = (committed if committed is not None else file.read_bytes()).decode("utf-8", "replace")
    if not entries(master, _pattern(settings.pr.entries)):
        raise DetentError(f"the plan {settings.pr.plan} has no entries: each list item or heading is one pull request", NO_PLAN)
    settings = msgspec.structs.replace(settings, git=msgspec.structs.replace(settings.git, merge=way_to_land(settings, git.place, env)))
    fixed = ground(git, settings, of.commit, env, terms.agent, run)
    return PrSetup(
        plan=settings.pr.plan,
        branching=settings.git.branching,
        checkpoint=settings.git.checkpoint,
        block_at=settings.review.block_at,
        entries=tuple(entry.text for entry in open_entries(master, settings.pr.entries)),
        independent=bool(settings.review.agent) or settings.review.require_independent,
        **{**{name: getattr(fixed, name) for name in fixed.__struct_fields__}, "accepts": kinds_of(terms.policies)},
    )


def _pattern(form: str) -> str:
    """The configured pattern for entries, if it is valid."""
    try:
        re.compile(form)
    except re.error as e:
        raise DetentError(f"[pr] entries is not a pattern: {e}", "write a regular expression, such as '^- ', or leave it out") from e
    return form


# -- files that exist already -------------------------------------------------------------------------------------------------


def _aside(place: Place) -> tuple[str, ...]:
    """The published files that are in the git dir because the project tracks files of the same names."""
    return tuple(str(file) for file in (where(place, name) for name in PUBLISHED) if file.parent != place.root)


def _first_state(app: App, git: Git, setup: PrSetup, run: str, settings: Settings) -> Run[PrData]:
    """A new run, or one that continues without proof from the files that an earlier agent left at the root."""
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
        last_error = error.read_text("utf-8", "replace") if error.is_file() else str(state.get("last_error", ""))
        return Run(run, "pr", "DEBUGGING", 0, data, counts={"debug": count}, last_error=last_error)
    return Run(run, "pr", "EXECUTING_TDD", 0, data)


def _taken_over(git: Git, setup: PrSetup, plan: ActivePr, run: str, settings: Settings) -> PrData:
    """Take over an existing plan; its DONE steps are unproven and shown as such. The work continues on the current branch, but never on main."""
    main = main_branch(git, settings.git.main)
    if setup.branching and git.branch() == main:
        create_branch(git, run, 0, plan.prTitle, settings.git.main, remote="")
    base = git.run("merge-base", git.head(), git.resolve(main)).text
    tree = setup.first_tree(git.tree("HEAD"))
    tasks = tuple(
        msgspec.structs.replace(t, tdd_steps=tuple(PlannedStep(s.type, s.description, s.status) for s in t.tdd_steps)) for t in plan.tasks
    )
    kept = msgspec.structs.replace(plan, tasks=tasks)
    return PrData(setup=setup, plan=kept, branch=git.branch() if setup.branching else "", base=base, good_tree=tree, committed=tree)


def _is_red(plan: ActivePr) -> bool:
    """Whether the next step of an existing plan is a GREEN: the tests of its RED are then expected to fail."""
    left = [s.type for t in plan.tasks for s in t.tdd_steps if s.status != "DONE"]
    return left[:1] == ["GREEN"]


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
