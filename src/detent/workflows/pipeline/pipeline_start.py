"""Starting a session of `pipeline`: its name, branch and folder, and the settings fixed for it."""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from detent.app import App, now
from detent.app.beginning import must_report_each_test, words_of
from detent.app.commit_settings import settings_for
from detent.app.first_look import accepted, with_accepted_baseline
from detent.app.fit import checkout_is_fit, ground, is_clean, no_run_is_open
from detent.app.policy import FLAGS, kinds_of, may_answer
from detent.blocks.terms import Terms
from detent.effects.publish import exclude
from detent.errors import DetentError
from detent.git import fingerprint
from detent.git.commits import free_branch
from detent.git.repo import Git
from detent.kernel.model import Run, Sent
from detent.workflows.pipeline.pipeline_data import PipelineData
from detent.workflows.pipeline.session import SESSIONS


def start_pipeline(app: App, sent: Sent, terms: Terms) -> str:
    """Create a session and return its id: on a branch of its own in this checkout, or in a workspace."""
    if not terms.request.strip():
        raise DetentError("there is no request", 'say what is wanted: detent run --workflow pipeline "add …"')
    if terms.lean and (terms.research or terms.ui):
        raise DetentError("a lean session has neither research nor design", "leave out --lean, or --research and --ui")
    git, run_id = app.world.git, f"pipeline-{secrets.token_hex(3)}"
    no_run_is_open(app)
    head = checkout_is_fit(git)
    exclude(app.place)
    is_clean(git)
    settings, main = settings_for(git, head, app.world.outer)
    may_answer(terms.policies, settings)
    setup = ground(git, settings, main, app.world.outer, terms.agent, run_id)
    setup = msgspec.structs.replace(setup, accepts=kinds_of(terms.policies))
    must_report_each_test(setup)
    name = free_session(git, f"{day(app.world.outer)}_{words_of(terms.request)}")
    data = PipelineData(
        session=f"{SESSIONS}/{name}",
        request=terms.request.strip(),
        mode="lean" if terms.lean else "full",
        setup=setup,
        base=head,
        branch=free_branch(git, f"detent/{name}"),
        good_tree=git.tree(head),
        policies={name: value for name, value in terms.policies.items() if name != FLAGS},
        parallel=terms.parallel,
        wants_research=terms.research,
        wants_ui=terms.ui,
    )
    run = Run(run_id, "pipeline", "INTAKE_LEAN" if terms.lean else "INTAKE", 0, data, worktree=str(app.place.root))
    fingerprint.begin(app.place, app.busy)
    run = msgspec.structs.replace(run, data=msgspec.structs.replace(data, setup=accepted(app, run, git.tree(run.data.base), terms)))
    app.door.start(with_accepted_baseline(run, sent), sent)
    app.worlds.of(run)
    return run_id


def day(env: Mapping[str, str]) -> str:
    """Today's date for a session's name; SOURCE_DATE_EPOCH overrides it for reproducible runs."""
    seconds = env.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(seconds), UTC).date().isoformat() if seconds.isdigit() else now()[:10]


def free_session(git: Git, wanted: str) -> str:
    """The wanted name, with -2, -3, … if a session of that name left its folder or its branch."""
    for n in range(1, 1000):
        name = wanted if n == 1 else f"{wanted}-{n}"
        taken = (git.place.root / SESSIONS / name).exists() or git.run("ls-files", "--", f"{SESSIONS}/{name}").text
        if not taken and not git.resolve(f"refs/heads/detent/{name}"):
            return name
    raise DetentError(f"every session from {wanted} to {wanted}-999 exists", f"remove old folders below {SESSIONS}/")
