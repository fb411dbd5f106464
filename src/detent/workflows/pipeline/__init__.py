"""The `pipeline` workflow: from a request to a release, with people deciding at the gates; and `task`, the inner workflow for one task of a session."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from detent.app.workflow import Late, Workflow
from detent.blocks.briefs import read_status
from detent.blocks.common import Part
from detent.door import AnyEvent, AnyRun
from detent.gates.human import PersonDecision
from detent.kernel.model import Briefing, Run, Sent
from detent.workflows.pipeline.pipeline_data import PipelineData
from detent.workflows.pipeline.pipeline_table import PIPELINE
from detent.workflows.pipeline.session import SESSIONS
from detent.workflows.pipeline.session_claims import session_claims, task_claims
from detent.workflows.pipeline.task_table import TASK

if TYPE_CHECKING:
    from detent.app import App
    from detent.blocks.terms import Terms
    from detent.world.work_tree import RepoWorld

HERE = Path(__file__).parent
THE_MACHINES = tuple(
    f"{SESSIONS}/*/{name}" for name in ("status.json", "report.md", "approve-design-history.jsonl", "instructions/**", "diffs/**")
)
STATUSES = {"completed": "done", "implemented": "now", "in-progress": "now", "blocked": "blocked"}


def _start(app: "App", sent: Sent, terms: "Terms") -> str:
    from detent.workflows.pipeline.pipeline_start import start_pipeline

    return start_pipeline(app, sent, terms)


def _shown(app: "App", run: AnyRun, paths: Iterable[str]) -> dict[str, str]:
    from detent.workflows.pipeline.session_folder import shown_documents

    return shown_documents(app.world.git, run, paths)


def _forget(world: "RepoWorld", run: AnyRun) -> None:
    from detent.workflows.pipeline.session_folder import forget_turn

    forget_turn(world, run)


def _bring(world: "RepoWorld", old: AnyRun, run: AnyRun) -> None:
    from detent.workflows.pipeline.session_folder import bring_documents

    bring_documents(world, old, run)


def _result(app: "App", run: AnyRun) -> dict[str, Any]:
    from detent.workflows.pipeline.session_report import REPORT

    report = Path(run.worktree) / run.data.session / REPORT
    return {"report": str(report)} if report.is_file() else {}


def _as_new(run: AnyRun) -> AnyRun:
    from detent.workflows.pipeline.pipeline_data import begun_again

    return begun_again(run)


def _edited(app: "App", run: AnyRun) -> dict[str, str]:
    from detent.workflows.pipeline.session_folder import edited_documents

    writes = tuple(w.removeprefix("$session/") for w in PIPELINE.states[run.state].writes)
    return edited_documents(app.world.git, run, writes)


def _asks(app: "App", run: AnyRun, asked: PersonDecision) -> str:
    from detent.workflows.pipeline.gate_text import gate_text
    from detent.workflows.pipeline.session_folder import documents_diff

    since = documents_diff(app.world.git, run, asked.before, asked.asked, tuple(asked.shown)) if asked.before else None
    return gate_text(run, asked, since)


def _means(run: AnyRun, asked: PersonDecision) -> dict[str, str]:
    from detent.workflows.pipeline.task_facts import meanings

    return meanings(run.data, asked)


def _costs(events: Iterable[AnyEvent]) -> dict[str, dict[str, float]]:
    from detent.workflows.pipeline.session_report import costs

    return {
        role: {"turns": c.turns, "seconds": round(c.seconds, 1), "tokens": c.tokens, "usd": round(c.usd, 6)}
        for role, c in costs(events).items()
    }


def _papers(run: AnyRun) -> tuple[str, ...]:
    from detent.gates.documents import TASKS, design_files

    return (*design_files(run.data), *run.data.research, *((f"{run.data.session}/{TASKS}",) if run.data.tasks else ()))


def _void(run: AnyRun, sent: Sent) -> tuple[str, ...]:
    from detent.workflows.pipeline.pipeline_revise import invalidated

    return invalidated(run, sent)


def _protected(briefing: Briefing) -> tuple[str, ...]:
    return THE_MACHINES if any(w.startswith(SESSIONS) for w in briefing.writes) else (SESSIONS, f"{SESSIONS}/**")


def _plan(run: Run[PipelineData]) -> tuple[Part, ...]:
    return tuple(Part(t.id, t.title, STATUSES.get(t.status, "open"), (), t.depends_on) for t in run.data.tasks)


def _task_title(run: AnyRun) -> str:
    return f"{run.data.task_id}: {run.data.task.title}" if run.data.task else run.id


WORKFLOW = Workflow(
    table=PIPELINE,
    folder=HERE,
    effects=Late("detent.workflows.pipeline.pipeline_effects", "EFFECTS"),
    jobs=Late("detent.workflows.pipeline.pipeline_effects", "JOBS"),
    start=_start,
    options=("lean", "research", "ui", "parallel"),
    read=read_status,
    title=lambda run: str(run.data.request),
    plan=_plan,
    stages=("spec", "acceptance", "research", "architecture", "design", "plan"),
    papers=_papers,
    edited=_edited,
    asks=_asks,
    means=_means,
    costs=_costs,
    void=_void,
    before_rollback=_bring,
    as_new=_as_new,
    result=_result,
    claims=session_claims,
    protected=_protected,
    documents=SESSIONS,
    forget=_forget,
    shown=_shown,
)
TASK_WORKFLOW = Workflow(
    table=TASK,
    folder=HERE / "task",
    prompts=HERE / "prompts",
    hand_in="hand-in-task",
    effects=Late("detent.workflows.pipeline.pipeline_effects", "EFFECTS"),
    jobs=Late("detent.workflows.pipeline.pipeline_effects", "JOBS"),
    read=read_status,
    title=_task_title,
    asks=_asks,
    means=_means,
    claims=task_claims,
    protected=_protected,
    documents=SESSIONS,
    forget=_forget,
    shown=_shown,
)
