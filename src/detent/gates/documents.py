"""The documents of a session: their forms, strict readers, and the gates over their content.

Unknown and duplicate keys are refused, and every fault is reported with its place. Knows nothing of states, git or replies.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Literal

import msgspec

from detent.errors import CannotTell
from detent.evidence.look import FilesLook
from detent.gates.check_gates import cannot_fail
from detent.gates.plain_values import json_value, yaml_value
from detent.kernel.model import Data, Value

Status = Literal["not-started", "in-progress", "implemented", "completed", "blocked"]

SPEC, ACCEPTANCE, ARCHITECTURE, TASKS = "spec.md", "acceptance.json", "architecture.md", "tasks.yaml"
RESEARCH, RECORDS, SPECS = "research/", "adr/", "design-specs/"
MANY = 5  # with this many tasks, each is reviewed by itself


class Criterion(Value, frozen=True, omit_defaults=False):
    """One acceptance criterion and how it is verified: `cmd: …` or `manual: …`."""

    id: str
    description: str
    verify: tuple[str, ...]


class Acceptance(Value, frozen=True):
    """acceptance.json."""

    acceptance_criteria: tuple[Criterion, ...]


class TaskEntry(Value, frozen=True, omit_defaults=False):
    """One task of tasks.yaml. Only the machine sets its status."""

    id: str
    title: str
    goal: str
    acceptance_checks: tuple[str, ...]
    done_when: tuple[str, ...]
    status: Status = "not-started"
    type: str = "feature"
    depends_on: tuple[str, ...] = ()
    non_goals: tuple[str, ...] = ()
    context_files: tuple[str, ...] = ()
    files_expected: tuple[str, ...] = ()
    risk_flags: tuple[str, ...] = ()


class ProjectHead(Value, frozen=True):
    """The `project` section of tasks.yaml."""

    name: str
    definition_of_done: tuple[str, ...]


class TaskList(Value, frozen=True):
    """tasks.yaml."""

    project: ProjectHead
    tasks: tuple[TaskEntry, ...]


class ChangedFile(Value, frozen=True, omit_defaults=False):
    """A file that the session changed, in whichever role."""

    path: str
    change_type: Literal["added", "modified", "deleted", "renamed"]
    old_path: str = ""


class KnownIssue(Value, frozen=True):
    """A finding that a person accepted: it is mentioned in the report and no longer blocks."""

    finding: str
    text: str
    task_id: str = ""


class SessionData(Data, frozen=True):
    """The part of a run's data that the gates over documents and roles need."""

    session: str = ".agents-work/session"
    request: str = ""
    mode: Literal["full", "lean"] = "full"
    research: tuple[str, ...] = ()  # reports of the Researcher
    design_specs: tuple[str, ...] = ()
    records: tuple[str, ...] = ()  # decision records of the Architect
    changed_files: tuple[ChangedFile, ...] = ()
    instructions: tuple[str, ...] = ()  # the project's own instruction files at the base commit
    known_issues: tuple[KnownIssue, ...] = ()
    tasks: tuple[TaskEntry, ...] = ()
    good_tree: str = ""  # the last tree that passed its proof
    prepared: int = 0  # the event that prepared the current dispatch


# Readers


def read_acceptance(text: str) -> tuple[Acceptance | None, tuple[str, ...]]:
    """Parse acceptance.json; returns it, or all its faults."""
    try:
        found = msgspec.convert(json_value(text), Acceptance)
    except ValueError as e:
        return None, (f"{ACCEPTANCE}: {e}",)
    faults = tuple(_acceptance_faults(found))
    return (None, faults) if faults else (found, ())


def read_tasks(text: str) -> tuple[TaskList | None, tuple[str, ...]]:
    """Parse tasks.yaml; returns it, or all its faults."""
    try:
        found = msgspec.convert(yaml_value(text), TaskList)
    except ValueError as e:
        return None, (f"{TASKS}: {e}",)
    faults = tuple(_task_faults(found))
    return (None, faults) if faults else (found, ())


def _acceptance_faults(found: Acceptance) -> Iterator[str]:
    if not found.acceptance_criteria:
        yield f"{ACCEPTANCE}: acceptance_criteria: at least one criterion is needed"
    ids = Counter(c.id for c in found.acceptance_criteria)
    for i, criterion in enumerate(found.acceptance_criteria):
        at = f"{ACCEPTANCE}: acceptance_criteria[{i}]"
        yield from _id_faults(at, criterion.id, ids, "AC")
        if not criterion.description.strip():
            yield f"{at}.description: must not be empty"
        yield from _check_faults(f"{at}.verify", criterion.verify)


def _id_faults(at: str, given: str, ids: Counter[str], letters: str) -> Iterator[str]:
    if not re.fullmatch(rf"{letters}-[0-9]{{3,4}}", given):
        yield f"{at}.id: '{given}' must look like {letters}-001"
    if ids[given] > 1:
        yield f"{at}.id: {given} appears twice"


def _check_faults(at: str, checks: tuple[str, ...]) -> Iterator[str]:
    if not checks:
        yield f"{at}: at least one check is needed, such as 'cmd: …' or 'manual: …'"
    for i, check in enumerate(checks):
        kind, _, what = check.partition(":")
        if kind not in ("cmd", "manual") or not what.strip():
            yield f"{at}[{i}]: '{check}' must be 'cmd: …' or 'manual: …'"
        elif kind == "cmd" and (why := cannot_fail(what)):
            yield f"{at}[{i}]: '{what.strip()}' proves nothing: {why}"


def _task_faults(found: TaskList) -> Iterator[str]:
    if not found.project.name.strip() or not found.project.definition_of_done:
        yield f"{TASKS}: project: name and definition_of_done must not be empty"
    if not found.tasks:
        yield f"{TASKS}: tasks: at least one task is needed"
    ids = Counter(t.id for t in found.tasks)
    for i, task in enumerate(found.tasks):
        at = f"{TASKS}: tasks[{i}]"
        yield from _id_faults(at, task.id, ids, "T")
        yield from (f"{at}.{name}: must not be empty" for name in ("title", "goal") if not getattr(task, name).strip())
        yield from _check_faults(f"{at}.acceptance_checks", task.acceptance_checks)
        if not any(line.strip() for line in task.done_when):
            yield f"{at}.done_when: at least one condition is needed"
        yield from (f"{at}.depends_on: there is no task {other}" for other in task.depends_on if other not in ids)
        outside = (p for p in (*task.context_files, *task.files_expected) if p.startswith("/") or ".." in p.split("/"))
        yield from (f"{at}: '{path}' must be a path inside the repository" for path in outside)
    if cycle := find_cycle(found.tasks):
        yield f"{TASKS}: depends_on has a cycle: {' → '.join(cycle)}"


def find_cycle(tasks: tuple[TaskEntry, ...]) -> tuple[str, ...]:
    """A cycle in depends_on, with its first task repeated at the end; empty if there is none."""
    try:
        TopologicalSorter({t.id: t.depends_on for t in tasks}).prepare()
    except CycleError as found:
        return tuple(reversed(found.args[1]))
    return ()


def recommended(tasks: tuple[TaskEntry, ...]) -> tuple[str, str]:
    """The review strategy to recommend, and why."""
    needed = Counter(other for t in tasks for other in t.depends_on)
    files = Counter(path for t in tasks for path in dict.fromkeys(t.files_expected))
    if len(tasks) >= MANY:
        return "per-batch", f"there are {len(tasks)} tasks"
    if shared := next((i for i, n in needed.items() if n > 1), ""):
        return "per-batch", f"more than one task depends on {shared}"
    if shared := next((p for p, n in files.items() if n > 1), ""):
        return "per-batch", f"more than one task changes {shared}"
    if risky := next((t for t in tasks if t.risk_flags), None):
        return "per-batch", f"{risky.id} is flagged: {', '.join(risky.risk_flags)}"
    return "single-final", "the tasks are few, independent and without risk flags"


def section(text: str, *words: str, but: tuple[str, ...] = ()) -> str:
    """The text below the first heading with one of `words` and none of `but`, up to the next heading of its level or with one of `but`.

    Headings in code blocks do not count.
    """
    level, kept, fenced = 0, list[str](), False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        heading = None if fenced else re.match(r"(#{1,6})\s+(.*)", line)
        if heading and level and (len(heading[1]) <= level or _has(heading[2], but)):
            break
        if heading and not level and _has(heading[2], words) and not _has(heading[2], but):
            level = len(heading[1])
        elif level and not heading:
            kept.append(line)
    return "\n".join(kept).strip()


def _has(heading: str, words: tuple[str, ...]) -> bool:
    return any(word in heading.lower() for word in words)


def listed_below(text: str, *words: str) -> tuple[str, ...]:
    """The items of the list below a heading, one line each; further lines are joined to the item before them."""
    items: list[str] = []
    for line in section(text, *words).splitlines():
        if found := re.match(r"\s*(?:[-*+]|\d+[.)])\s+(.+)", line):
            items.append(found[1].strip())
        elif line.strip():
            items[-1:] = [f"{items[-1]} {line.strip()}" if items else line.strip()]
    return tuple(items)


def content_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# Gates


def design_files(data: SessionData) -> tuple[str, ...]:
    """The documents that a person is asked to approve."""
    return (*(f"{data.session}/{name}" for name in (SPEC, ACCEPTANCE, ARCHITECTURE)), *data.records, *data.design_specs)


def design_is_complete(look: FilesLook[SessionData]) -> str | None:
    """Everything a person is asked to approve is readable: spec, acceptance, architecture, design specs; records of earlier rounds may be gone."""
    missing = [path for path in design_files(look.run.data) if look.read(path) is None and path not in look.run.data.records]
    return f"{missing[0]} is missing" if missing else None


def _lacks(look: FilesLook[SessionData], name: str, sections: dict[str, tuple[str, ...]]) -> str | None:
    text = look.read(f"{look.run.data.session}/{name}")
    if text is None:
        return f"{look.run.data.session}/{name} is missing; write it as the briefing says"
    missing = [title for title, words in sections.items() if not section(text, *words)]
    return f"{name}: needs a heading with text below it for: {', '.join(missing)}" if missing else None


def spec_is_sound(look: FilesLook[SessionData]) -> str | None:
    """spec.md has goals, acceptance criteria and a definition of done."""
    return _lacks(
        look, SPEC, {"goals": ("goal",), "acceptance criteria": ("acceptance criteria",), "definition of done": ("definition of done",)}
    )


def short_spec_is_sound(look: FilesLook[SessionData]) -> str | None:
    """A lean spec.md has its goal and acceptance criteria."""
    return _lacks(look, SPEC, {"goal": ("goal",), "acceptance criteria": ("acceptance criteria",)})


def acceptance_is_sound(look: FilesLook[SessionData]) -> str | None:
    """acceptance.json is valid, has at least one criterion, and every command in it can fail."""
    text = look.read(f"{look.run.data.session}/{ACCEPTANCE}")
    if text is None:
        return f"{look.run.data.session}/{ACCEPTANCE} is missing; write it as the briefing says"
    return "; ".join(read_acceptance(text)[1]) or None


def architecture_is_sound(look: FilesLook[SessionData]) -> str | None:
    """architecture.md has an overview, modules and risks."""
    return _lacks(look, ARCHITECTURE, {"overview": ("overview",), "modules": ("module",), "risks": ("risk",)})


def tasks_are_sound(look: FilesLook[SessionData]) -> str | None:
    """tasks.yaml is valid: every task has a goal, checks and done_when, dependencies exist and have no cycle, and no status is set by the agent."""
    text = look.read(f"{look.run.data.session}/{TASKS}")
    if text is None:
        return f"{look.run.data.session}/{TASKS} is missing; write it as the briefing says"
    found, faults = read_tasks(text)
    known = {t.id: t.status for t in look.run.data.tasks}
    claimed = [t.id for t in (found.tasks if found else ()) if t.status not in ("not-started", known.get(t.id, "not-started"))]
    return "; ".join((*faults, *(f"{TASKS}: {i}: only Detent sets the status; leave it not-started" for i in claimed))) or None


def context_is_there(look: FilesLook[SessionData]) -> str | None:
    """Every context file of a task exists, or is created by a task that it depends on."""
    found, _ = read_tasks(look.read(f"{look.run.data.session}/{TASKS}") or "")
    tasks = {t.id: t for t in found.tasks} if found else {}
    for task in tasks.values():
        made = {path for other in _before(task.id, tasks) for path in tasks[other].files_expected}
        if missing := [path for path in task.context_files if path not in made and not _exists(look, path)]:
            return f"{TASKS}: {task.id}: context_files names {missing[0]}, which does not exist; name existing files, or ones that a task it depends on creates"
    return None


def _before(id: str, tasks: dict[str, TaskEntry]) -> set[str]:
    """The tasks that a task depends on, directly or indirectly."""
    found, ahead = set[str](), list(tasks[id].depends_on)
    while ahead:
        if (other := ahead.pop()) not in found:
            found.add(other)
            ahead += tasks[other].depends_on
    return found


def _exists(look: FilesLook[SessionData], path: str) -> bool:
    try:
        return look.read(path) is not None
    except CannotTell:  # it exists, and is larger than any document
        return True


def one_task_only(look: FilesLook[SessionData]) -> str | None:
    """A lean session has exactly one task."""
    found, _ = read_tasks(look.read(f"{look.run.data.session}/{TASKS}") or "")
    count = len(found.tasks) if found else 0
    return None if count == 1 else f"{TASKS}: a lean session has exactly one task, this has {count}"
