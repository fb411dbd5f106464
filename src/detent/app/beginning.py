"""Starts a run the way most workflows do: in a clean, green checkout on its current branch, or in a workspace on a new branch."""

import secrets
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from detent.app import App
from detent.app.commit_settings import settings_for
from detent.app.first_look import accepted, with_accepted_baseline
from detent.app.fit import checkout_is_fit, ground, is_clean, no_run_is_open
from detent.app.policy import kinds_of, may_answer
from detent.app.registry import workflow_of
from detent.blocks.common import Ground
from detent.blocks.terms import Terms
from detent.door import AnyRun
from detent.errors import DetentError
from detent.evidence.runners import Command
from detent.git import fingerprint
from detent.git.commits import free_branch, slug
from detent.kernel.model import Data, Run, Sent


class Beginning(NamedTuple):
    """The start of a run, for its data: the settings fixed for it, the commit and tree it begins from, and its branch."""

    setup: Ground
    base: str
    tree: str
    branch: str


def begin_run(app: App, sent: Sent, terms: Terms, workflow: str, make: Callable[[Beginning], Data]) -> str:
    """Create a run in the first start state of its workflow, with the data that `make` returns. Returns its id."""
    git, run_id, flow = app.world.git, f"{workflow}-{secrets.token_hex(3)}", workflow_of(workflow)
    no_run_is_open(app)
    head = checkout_is_fit(git)
    is_clean(git)
    settings, main = settings_for(git, head, app.world.outer)
    may_answer(terms.policies, settings)
    setup = ground(git, settings, main, app.world.outer, terms.agent, run_id)
    setup = msgspec.structs.replace(setup, accepts=kinds_of(terms.policies))
    must_report_each_test(setup)
    branch = free_branch(git, f"detent/{words_of(terms.request)}") if setup.workspace else git.branch()
    data = make(Beginning(setup, head, git.tree(head), branch))
    run: AnyRun = Run(run_id, workflow, flow.table.starts[0], 0, data, limits=flow.limits(settings), worktree=str(app.place.root))
    fingerprint.begin(app.place, app.busy)
    run = msgspec.structs.replace(run, data=msgspec.structs.replace(data, setup=accepted(app, run, git.tree(head), terms)))
    app.door.start(with_accepted_baseline(run, sent), sent)
    app.worlds.of(run)
    return run_id


def words_of(text: str) -> str:
    """The words of a branch name, from the first line of a request."""
    return slug(next(iter(text.strip().splitlines()), ""), 50) or "feature"


def must_report_each_test(setup: Ground) -> None:
    if not setup.command:
        raise DetentError(
            "no test framework is recognised here, so nothing could be proved",
            'name the test command in detent.toml: [test] command = "…" (or test.command in tdd.properties)',
        )
    command = msgspec.json.decode(setup.command, type=Command)
    if not command.runner:
        shown = command.argv[-1] if command.argv[:2] == ("sh", "-c") else command.text
        raise DetentError(
            f"`{shown}` says only whether all passed; red-green-refactor needs to tell the tests apart",
            "set [test] command to a runner that Detent understands (docs/runners.md)",
        )
