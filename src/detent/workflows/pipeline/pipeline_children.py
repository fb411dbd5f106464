"""The child runs of a session: which tasks are worked on now, with what data, and the final review. Pure; knows no git and no rows."""

from typing import Literal

import msgspec

from detent.gates.documents import TaskEntry
from detent.gates.reply import ReviewPoint
from detent.kernel.table import Child
from detent.workflows.pipeline.pipeline_data import CORE, DONE, PipelineData, Session, reviewed
from detent.workflows.pipeline.pipeline_tasks import child_name
from detent.workflows.pipeline.session import answered_decisions
from detent.workflows.pipeline.task_data import META, TaskData, needs_qa, needs_security

replace = msgspec.structs.replace


def children(run: Session) -> tuple[Child, ...]:
    """The tasks whose dependencies are done, up to the parallel limit; once all are done, a final review if the tree is not reviewed."""
    data = run.data
    if run.state != "IMPLEMENT_LOOP":
        return ()
    done = {t.id for t in data.tasks if t.status in DONE}
    ready = [t for t in data.tasks if t.id not in done and set(t.depends_on) <= done]
    if ready:
        return tuple(_child(data, t) for t in ready[: max(1, data.parallel)])
    if len(done) < len(data.tasks) or reviewed(data):
        return ()
    return (Child(child_name(data, META), "task", "REVIEW", _meta_data(data)),)


def _child(data: PipelineData, task: TaskEntry) -> Child:
    """The child run of a task, in the session's workspace, or in one of its own where tasks run in parallel."""
    name, made, laid = child_name(data, task.id), _task_data(data, task), data.laid.get(task.id)
    if has_task_workspaces(data):
        setup = replace(data.setup, workspace=f"{data.setup.workspace}.{name}")
        made = replace(made, setup=setup, start_tree=data.good_tree)
    if laid is None:
        return Child(name, "task", "CODE", made)
    return Child(name, "task", "FIX_TESTS", replace(made, laid=laid.tree, points=(ReviewPoint("MERGE", laid.said, blocks=True),)))


def has_task_workspaces(data: PipelineData) -> bool:
    """Whether each task has a workspace of its own."""
    return data.parallel > 1 and data.mode == "full" and bool(data.setup.workspace)


def _inherited(data: PipelineData, id: str, number: int, round: int) -> TaskData:
    strategy: Literal["per-batch", "single-final"] = "single-final" if data.strategy == "single-final" else "per-batch"
    return TaskData(
        setup=data.setup,
        base=data.base,
        branch=data.branch,
        project=data.project,
        policies=data.policies,
        instructed=data.instructed,
        asides=data.asides,
        earlier=(*data.earlier, *answered_decisions(data)),
        session=data.session,
        request=data.request,
        mode=data.mode,
        research=data.research,
        design_specs=data.design_specs,
        records=data.records,
        changed_files=data.changed_files,
        instructions=data.instructions,
        known_issues=data.known_issues,
        tasks=data.tasks,
        good_tree=data.good_tree,
        task_id=id,
        first_question=_first_question(number, round),
        strategy=strategy,
    )


def _first_question(number: int, round: int) -> int:
    """Where the questions of a child are numbered from: UD-3001 is the first about T-003, UD-3101 the first after that task began again.

    Rounds after the ninth get long numbers, so that no two children share one.
    """
    later, nth = divmod(round, 10)
    return number * 1000 + nth * 100 + later * 10_000_000


def _task_data(data: PipelineData, task: TaskEntry) -> TaskData:
    made = _inherited(data, task.id, int(task.id.removeprefix("T-")), data.ended.get(task.id, 0))
    return replace(made, task=task, goal=task.goal, qa=needs_qa(task), security=needs_security(task))


def _meta_data(data: PipelineData) -> TaskData:
    """The data of the final review: the Reviewer alone if each task was reviewed, all three roles if none was, and any core role that has not run yet."""
    single = data.strategy == "single-final" and any(t.status == "implemented" for t in data.tasks)
    missing = set(CORE) - set(data.roles) if data.mode == "full" else set[str]()
    goal = f"{'Single-final' if single else 'Cross-task final'} review of all session changes"
    task = TaskEntry(META, goal, goal, (), ("no finding is left that blocks",), type="review")
    made = replace(_inherited(data, META, 0, 1 + data.ended.get(META, 0)), task=task, goal=goal)
    return replace(made, qa=single or "QA" in missing, security=single or "Security" in missing)
