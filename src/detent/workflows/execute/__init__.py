"""The `execute` workflow: takes one work item, in a workspace of its own, to a pushed branch."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from detent.app.workflow import Items, Late, Workflow
from detent.blocks.briefs import summary_of
from detent.blocks.proved import AnyEvent, Chain, Proved
from detent.door import AnyRun
from detent.kernel.model import Briefing, Run, Sent
from detent.workflows.execute.execute_data import ExecuteData, public_status
from detent.workflows.execute.execute_table import EXECUTE

if TYPE_CHECKING:
    from detent.app import App
    from detent.blocks.terms import Terms
    from detent.journal.journal import Head

LONGEST_REPORT = 50_000  # a final report is cut to its last so many characters


def _start(app: "App", sent: Sent, terms: "Terms") -> str:
    from detent.workflows.execute.execute_start import start_execution

    return start_execution(app, sent, terms)


def _starter(app: "App", sent: Sent, terms: "Terms") -> Callable[[str], str]:
    from detent.workflows.execute.execute_start import starter

    return starter(app, sent, terms)


def _last_of(app: "App", item: str) -> "Head | None":
    from detent.workflows.execute.execute_start import last_of

    return last_of(app, item)


def _review(app: "App", branch: str, agent: str, again: bool) -> dict[str, Any]:
    from detent.workflows.execute.execute_by_hand import review

    return review(app, branch, agent, again)


def _waiting_for(app: "App", branch: str) -> AnyRun | None:
    from detent.workflows.execute.execute_by_hand import waiting_for

    return waiting_for(app, branch)


def _claims(event: AnyEvent, chain: Chain) -> list[Proved]:
    from detent.workflows.execute.execute_claims import claims

    return claims(event, chain)


def _read(briefing: Briefing, text: str, known: Mapping[str, str]) -> Sent:
    """The submit of a work agent: its last message as it is, because the final line may say BLOCKED."""
    return Sent("submit", summary=summary_of(text), reply=text[-LONGEST_REPORT:])


def _result(app: "App", run: Run[ExecuteData]) -> dict[str, Any]:
    import json

    from detent.workflows.execute.execute_effects import warnings_file

    file = warnings_file(app.place.common_dir, run.id)
    warnings = json.loads(file.read_text("utf-8")) if file.exists() else []
    return {"item": run.data.item.id, "status": public_status(run.state), "reason": run.data.reason or None, "warnings": warnings}


def _lay(root: Path, run: AnyRun) -> None:
    if getattr(run.data, "plan", ""):  # a stand-in run for main has no plan
        from detent.workflows.execute.execute_effects import lay_plan

        lay_plan(root, run)


def _findings(run: Run[ExecuteData]) -> str:
    review = run.data.review
    if run.cause != "review" or review is None:
        return ""
    issues = (f"- **{i.title}** ({i.severity} {i.type}{i.file_path and f', {i.file_path}'}): {i.description}" for i in review.issues)
    return "\n".join((review.summary, "", *issues))


WORKFLOW = Workflow(
    table=EXECUTE,
    folder=Path(__file__).parent,
    effects=Late("detent.workflows.execute.execute_effects", "EFFECTS"),
    jobs=Late("detent.workflows.execute.execute_effects", "JOBS"),
    start=_start,
    options=("context", "again"),
    doors=("run",),
    read=_read,
    title=lambda run: f"{run.data.item.id}: {run.data.item.title}",
    claims=_claims,
    failures={"Timeout": "out-of-time", "Stuck": "silent"},  # it has time limits of its own
    result=_result,
    lay=_lay,
    in_workspace=("commit_judged_tree", "publish_claims", "snapshot"),
    findings=_findings,
    items=Items(_starter, _last_of, _review, _waiting_for),
)
