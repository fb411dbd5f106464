"""The plan of one pull request (ACTIVE_PR.json): its form, strict reader, and the gates over it.

Every fault is reported with its path, such as `tasks[1].tdd_steps[0].type`. Knows nothing of git or of states.
"""

import json
from collections.abc import Callable, Iterator
from typing import Literal, cast

from detent.evidence.look import FilesLook
from detent.gates.plain_values import paired
from detent.gates.plan_entries import entry_text, find_entry, open_entries
from detent.kernel.model import OnBranch, Value

FILE = "ACTIVE_PR.json"
TEXT_FIELDS = ("masterPlanPath", "prTitle", "summary", "verificationPlan")
TASK_STATUS = ("TODO", "IN_PROGRESS", "DONE", "ERROR")
STEP_TYPES = ("RED", "GREEN", "REFACTOR")
MOST_NAMED = 8  # plan entries quoted in one message

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None


class PlannedStep(Value, frozen=True, omit_defaults=False):
    """One step of a task. `proof` is the sequence number of the event that proved it; 0 means unproven."""

    type: Literal["RED", "GREEN", "REFACTOR"]
    description: str
    status: Literal["TODO", "DONE"] = "TODO"
    proof: int = 0


class Breakdown(Value, frozen=True):
    """The origin of a re-planned task."""

    originalTaskName: str
    justification: str


class PlanTask(Value, frozen=True, omit_defaults=False):
    """One task of the plan."""

    taskName: str
    tdd_steps: tuple[PlannedStep, ...]
    breakdownHistory: Breakdown | None = None
    finding: str = ""  # the review finding that it answers
    replaces: str = ""  # set on re-planned tasks: the name of the task they replace
    verifies: str = ""  # set on the last re-planned task: the tree that the plan was made from


class ActivePr(Value, frozen=True, omit_defaults=False):
    """The plan of one pull request."""

    masterPlanPath: str
    prTitle: str
    summary: str
    verificationPlan: str
    tasks: tuple[PlanTask, ...]


class PlanData(OnBranch, frozen=True):
    """The part of a run's data that these gates need."""

    plan: ActivePr | None = None
    replacing: str = ""  # the task that a scope reduction replaces
    replacing_red: str = ""  # the description of its RED step
    reviewed_tree: str = ""
    last_commit_hash: str = ""  # the squashed commit
    judged_tree: str = ""  # the tree of a RED run that awaits analysis
    failed_try: str = ""  # the last submit that failed: its tree, and how it was handed in
    laid: str = ""  # a master plan that is in no tree: the machine wrote it for a work item

    def asked_for(self, read: Callable[[str], str | None], setting: Callable[[str], str]) -> str:
        """The plan's entry as it was at the branch's base."""
        return entry_text(self.plan.prTitle, read(f"BASE:{setting('pr.plan')}") or "", setting("pr.entries")) if self.plan else ""

    def step_words(self) -> str:
        task = _open_task(self.plan)
        return next((f"{task.taskName} {step.description}" for step in task.tdd_steps if step.status == "TODO"), "") if task else ""


def verified_from(plan: ActivePr | None) -> str:
    """The tree that a verification task was planned from, if its RED step is next; else ""."""
    task = _open_task(plan)
    return task.verifies if task and task.tdd_steps[0].status == "TODO" else ""


def is_verification(plan: ActivePr | None) -> bool:
    """Whether the next step belongs to a verification task. Its GREEN step has no code left to write."""
    task = _open_task(plan)
    return task is not None and bool(task.verifies)


def _open_task(plan: ActivePr | None) -> PlanTask | None:
    return next((t for t in plan.tasks if any(s.status == "TODO" for s in t.tdd_steps)), None) if plan else None


def read_plan(text: str) -> tuple[ActivePr | None, tuple[str, ...]]:
    """Parse a plan; returns it, or all its faults."""
    try:
        raw = json.loads(text, object_pairs_hook=paired, parse_constant=_no_constant)
    except (ValueError, RecursionError) as e:
        return None, (f"{FILE} is not JSON: {e}",)
    faults = tuple(_plan_faults(raw))
    return (None, faults) if faults else (_build(cast(dict[str, Json], raw)), ())


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not allowed")


def _fields(raw: Json, path: str, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> Iterator[str]:
    """Missing, unknown and duplicate keys of an object."""
    here = path or FILE
    if not isinstance(raw, dict):
        yield f"{here}: must be an object"
        return
    dot = f"{path}." if path else ""
    yield from (f"{dot}{key}: appears twice" for key in getattr(raw, "doubled", ()))
    yield from (f"{dot}{key}: is missing" for key in needed if key not in raw)
    yield from (f"{dot}{key}: is not a known field" for key in raw if key not in (*needed, *optional))


def _text(raw: Json, path: str) -> Iterator[str]:
    if not isinstance(raw, str) or not raw.strip():
        yield f"{path}: must be a non-empty string"


def _plan_faults(raw: Json) -> Iterator[str]:
    yield from _fields(raw, "", (*TEXT_FIELDS, "tasks"))
    if not isinstance(raw, dict):
        return
    for name in TEXT_FIELDS:
        if name in raw:
            yield from _text(raw[name], name)
    tasks = raw.get("tasks", [])
    if not isinstance(tasks, list) or ("tasks" in raw and not tasks):
        yield "tasks: must be a list with at least one task"
        return
    for i, task in enumerate(tasks):
        yield from _task_faults(task, f"tasks[{i}]")


def _task_faults(raw: Json, path: str) -> Iterator[str]:
    yield from _fields(raw, path, ("taskName", "status", "tdd_steps"), ("breakdownHistory",))
    if not isinstance(raw, dict):
        return
    if "taskName" in raw:
        yield from _text(raw["taskName"], f"{path}.taskName")
    if "status" in raw and raw["status"] not in TASK_STATUS:
        yield f"{path}.status: must be one of {', '.join(TASK_STATUS)}"
    if "breakdownHistory" in raw:
        yield from _breakdown_faults(raw["breakdownHistory"], f"{path}.breakdownHistory")
    steps = raw.get("tdd_steps", [])
    if not isinstance(steps, list) or ("tdd_steps" in raw and not steps):
        yield f"{path}.tdd_steps: must be a list with at least one step"
        return
    for i, step in enumerate(steps):
        yield from _step_faults(step, f"{path}.tdd_steps[{i}]")
    yield from _order_faults(steps, path)


def _breakdown_faults(raw: Json, path: str) -> Iterator[str]:
    yield from _fields(raw, path, ("originalTaskName", "justification"))
    if isinstance(raw, dict):
        for name in ("originalTaskName", "justification"):
            if name in raw:
                yield from _text(raw[name], f"{path}.{name}")


def _step_faults(raw: Json, path: str) -> Iterator[str]:
    yield from _fields(raw, path, ("type", "description", "status"))
    if not isinstance(raw, dict):
        return
    if "type" in raw and raw["type"] not in STEP_TYPES:
        yield f"{path}.type: must be one of {', '.join(STEP_TYPES)}"
    if "description" in raw:
        yield from _text(raw["description"], f"{path}.description")
    if "status" in raw and raw["status"] not in ("TODO", "DONE"):
        yield f"{path}.status: must be TODO or DONE"


def _order_faults(steps: list[Json], path: str) -> Iterator[str]:
    """Each GREEN needs a RED before it."""
    red = False
    for i, step in enumerate(steps):
        kind = step.get("type") if isinstance(step, dict) else None
        if kind == "GREEN" and not red:
            yield f"{path}.tdd_steps[{i}].type: a GREEN step must come after a RED step"
        red = True if kind == "RED" else False if kind == "GREEN" else red


def _build(raw: dict[str, Json]) -> ActivePr:
    def step(s: dict[str, str]) -> PlannedStep:
        return PlannedStep(
            cast(Literal["RED", "GREEN", "REFACTOR"], s["type"]), s["description"], cast(Literal["TODO", "DONE"], s["status"])
        )

    def task(t: dict[str, Json]) -> PlanTask:
        history = cast(dict[str, str] | None, t.get("breakdownHistory"))
        steps = tuple(step(s) for s in cast(list[dict[str, str]], t["tdd_steps"]))
        return PlanTask(str(t["taskName"]), steps, Breakdown(**history) if history else None)

    tasks = tuple(task(t) for t in cast(list[dict[str, Json]], raw["tasks"]))
    return ActivePr(str(raw["masterPlanPath"]), str(raw["prTitle"]), str(raw["summary"]), str(raw["verificationPlan"]), tasks)


def plan_is_sound(look: FilesLook[PlanData]) -> str | None:
    """ACTIVE_PR.json is strictly valid, every status is TODO, and its title matches exactly one open entry of the master plan."""
    text = look.read(FILE)
    if text is None:
        return f"{FILE} is missing; write it as the briefing says"
    plan, faults = read_plan(text)
    if plan is None:
        return "\n".join(faults)
    raw = json.loads(text)
    begun = [
        path
        for i, task in enumerate(raw["tasks"])
        for path, status in (
            (f"tasks[{i}].status", task["status"]),
            *((f"tasks[{i}].tdd_steps[{j}].status", step["status"]) for j, step in enumerate(task["tdd_steps"])),
        )
        if status != "TODO"
    ]
    if begun:
        return "\n".join(f"{path}: must be TODO at the start" for path in begun)
    return title_fits(plan.prTitle, _master(look), _form(look))


def _master(look: FilesLook[PlanData]) -> str:
    """The master plan as people left it; a copy that the machine wrote into the workspace is not read back."""
    return look.run.data.laid or look.read(look.setting("pr.plan")) or ""


def _form(look: FilesLook[PlanData]) -> str:
    """The configured pattern of entries, for a plan written by people."""
    return "" if look.run.data.laid else look.setting("pr.entries")


def title_fits(title: str, master: str, form: str = "") -> str | None:
    """Why a title does not match exactly one open entry of the master plan; None if it does."""
    entry, matches = find_entry(title, master, form)
    if entry:
        return None
    left = [e.text for e in open_entries(master, form)]
    known = f": {'; '.join(left[:MOST_NAMED])}" + (" …" if len(left) > MOST_NAMED else "") if left else ", and none is open"
    return f"prTitle: '{title}' matches {matches} open entries of the plan; it must match exactly one{known}"


def no_entry_is_open(look: FilesLook[PlanData]) -> str | None:
    """The master plan has no open entry left."""
    left = open_entries(_master(look), _form(look))
    lowest = (e for e, after in zip(left, [*left[1:], None], strict=True) if after is None or after.depth <= e.depth)
    return f"the plan still has an open entry: {next(lowest).text}" if left else None


def replan_keeps_the_rest(look: FilesLook[PlanData]) -> str | None:
    """Only the failed task is replaced; the first new one records its history, the last one repeats the original RED step."""
    text, old = look.read(FILE), look.run.data.plan
    new, faults = read_plan(text) if text is not None else (None, (f"{FILE} is missing",))
    if new is None or old is None:
        return "\n".join(faults)
    return replan_fault(old, new, look.run.data.replacing, look.run.data.replacing_red)


def replaced_at(plan: ActivePr, name: str) -> int:
    """The index of the task that a scope reduction replaces: the unfinished one with this name."""
    return next(i for i, t in enumerate(plan.tasks) if t.taskName == name and any(s.status == "TODO" for s in t.tdd_steps))


def replan_fault(old: ActivePr, new: ActivePr, name: str, red: str) -> str | None:
    """What is wrong with a new plan that replaces the task `name`; None if nothing is."""
    moved = [f for f in TEXT_FIELDS if getattr(new, f) != getattr(old, f)]
    if moved:
        return f"{moved[0]}: must not change; only the task '{name}' is planned again"
    at = replaced_at(old, name)
    before, after = old.tasks[:at], old.tasks[at + 1 :]
    fresh = new.tasks[at : len(new.tasks) - len(after)]
    if [_bare(t) for t in new.tasks[:at]] != [_bare(t) for t in before] or [_bare(t) for t in new.tasks[len(new.tasks) - len(after) :]] != [
        _bare(t) for t in after
    ]:
        return f"tasks: every task except '{name}' must stay unchanged"
    if len(fresh) < 2:
        return f"tasks: '{name}' must become at least two tasks, the last one a verification task"
    if any(s.status != "TODO" for t in fresh for s in t.tdd_steps):
        return f"tasks[{at}]: new tasks must start as TODO"
    if fresh[0].breakdownHistory is None or fresh[0].breakdownHistory.originalTaskName != name:
        return f"tasks[{at}].breakdownHistory: must name '{name}' as originalTaskName, with a justification"
    first = fresh[-1].tdd_steps[0]
    if first.type != "RED" or first.description != red:
        return f"tasks[{at + len(fresh) - 1}].tdd_steps[0]: the verification task must begin with a RED step described as '{red}'"
    return None


def _bare(task: PlanTask) -> tuple[str, tuple[tuple[str, str], ...]]:
    return task.taskName, tuple((s.type, s.description) for s in task.tdd_steps)
