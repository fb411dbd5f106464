"""The `pr` workflow: one plan, pull request by pull request, every step gated."""

from pathlib import Path
from typing import TYPE_CHECKING

from detent.app.workflow import Late, Workflow
from detent.door import AnyEvent
from detent.kernel.model import Sent
from detent.workflows.pr.pr_data import inner_of, shown_findings
from detent.workflows.pr.pr_shown import at_start, being_written, known, plan, protected, published, read, title
from detent.workflows.pr.pr_table import PR

if TYPE_CHECKING:
    from detent.app import App
    from detent.blocks.proved import Chain, Proved
    from detent.blocks.terms import Terms
    from detent.config import Settings


def _start(app: "App", sent: Sent, terms: "Terms") -> str:
    from detent.workflows.pr.pr_start import start_pr

    return start_pr(app, sent, terms)


def _claims(event: AnyEvent, chain: "Chain") -> "list[Proved]":
    from detent.workflows.pr.pr_claims import claims

    return claims(event, chain)


def _limits(settings: "Settings") -> dict[str, int]:
    from detent.workflows.pr.pr_start import limits_of

    return limits_of(settings)


WORKFLOW = Workflow(
    table=PR,
    folder=Path(__file__).parent,
    effects=Late("detent.workflows.pr.pr_effects", "EFFECTS"),
    jobs=Late("detent.workflows.pr.pr_jobs", "JOBS"),
    start=_start,
    options=("adopt",),
    read=read,
    title=title,
    plan=plan,
    at_start=at_start,
    files=published,
    being_written=being_written,
    claims=_claims,
    whole_branch=True,
    known=known,
    protected=protected,
    findings=shown_findings,
    inner=inner_of,
    wants_plan=True,
    limits=_limits,
)
