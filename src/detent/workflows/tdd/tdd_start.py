"""Starting a run of `tdd`: on a request in a checkout or a workspace, or where the handoff notes of another clone say."""

import re
import secrets

import msgspec

from detent.app import App
from detent.app.first_look import accepted, said_at_start
from detent.app.fit import checkout_is_fit, ground, is_clean, no_run_is_open
from detent.app.policy import kinds_of, may_answer
from detent.app.run_configs import settings_at
from detent.blocks.ground import Ground
from detent.blocks.terms import Terms
from detent.errors import DetentError
from detent.evidence.runners import Command
from detent.gates.testlist import FILE
from detent.git import fingerprint
from detent.git.commits import free_branch
from detent.kernel.model import Run, Sent
from detent.workflows.tdd.tdd_data import begin


def start_tdd(app: App, sent: Sent, terms: Terms) -> str:
    """Create a run of `tdd` and give its id: in this checkout on its branch, or in a workspace on a branch of its own."""
    if not terms.request.strip():
        raise DetentError("there is no feature request", 'say what is wanted: detent run "add …"')
    git, run_id = app.world.git, f"tdd-{secrets.token_hex(3)}"
    no_run_is_open(app)
    head = checkout_is_fit(git)
    is_clean(git)
    settings = settings_at(git, head, app.world.outer)
    may_answer(terms.policies, settings)
    setup = ground(git, settings, head, app.world.outer, terms.agent, run_id)
    setup = msgspec.structs.replace(setup, accepts=kinds_of(terms.policies))
    tests_can_be_told_apart(setup)
    branch = free_branch(git, f"detent/{slug(terms.request)}") if setup.workspace else git.branch()
    text = (git.read(head, FILE) or b"").decode("utf-8", "replace")
    data = begin(terms.request.strip(), text, setup, head, git.tree(head), branch)
    run = Run(run_id, "tdd", "PLAN", 0, data, limits={"retries": settings.tdd.retries}, worktree=str(app.place.root))
    fingerprint.begin(app.place, app.busy)
    run = msgspec.structs.replace(run, data=msgspec.structs.replace(data, setup=accepted(app, run, git.tree(run.data.base), terms)))
    app.door.start(said_at_start(run, sent), sent)
    app.worlds.of(run)
    return run_id


def slug(text: str) -> str:
    """A branch name's words from a request: its first line, [a-z0-9-] only."""
    return re.sub(r"[^a-z0-9]+", "-", text.strip().splitlines()[0].lower()).strip("-")[:50].strip("-") or "feature"


def tests_can_be_told_apart(setup: Ground) -> None:
    if not setup.command:
        raise DetentError(
            "no test framework is recognised here, so nothing could be proved",
            'name the test command in detent.toml: [test] command = "…" (or test.command in tdd.properties)',
        )
    command = msgspec.json.decode(setup.command, type=Command)
    if not command.runner:
        said = command.argv[-1] if command.argv[:2] == ("sh", "-c") else command.text
        raise DetentError(
            f"`{said}` says only whether all passed; red-green-refactor needs to tell the tests apart",
            "set [test] command to a runner that Detent understands (docs/runners.md)",
        )
