"""The session files that only the machine writes: status.json, and tasks.yaml with its statuses. Made from the journal, never read back."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from detent.gates.documents import TASKS
from detent.gates.human import decision_row, decisions_of
from detent.kernel.model import Run
from detent.workflows.pipeline.pipeline_children import children
from detent.workflows.pipeline.pipeline_data import published_state
from detent.workflows.pipeline.pipeline_table import PIPELINE
from detent.workflows.pipeline.pipeline_tasks import task_of
from detent.workflows.pipeline.task_data import META
from detent.workflows.pipeline.task_table import TASK

STATUS = "status.json"
COPILOT = "copilot-instructions.md"
LOOPS = ("FIX_REVIEW", "FIX_TESTS", "FIX_SECURITY", "FIX_BUILD")
PLANNING = ("INTAKE", "INTAKE_LEAN", "PLAN")  # the states in which an agent writes tasks.yaml

When = Callable[[str, int], str]  # the time of an event, by run id and sequence number
AnyRun = Run[Any]


def published(family: Sequence[AnyRun], when: When, at: str) -> dict[str, str]:
    """Every file that the machine writes, by its path in the repository. `family` is the session and its children, oldest first."""
    root = family[0]
    files = {f"{root.data.session}/{STATUS}": status_json(family, when, at)}
    if root.data.tasks and root.data.project and root.state not in PLANNING:
        files[f"{root.data.session}/{TASKS}"] = tasks_yaml(root)
    return files


def status_json(family: Sequence[AnyRun], when: When, at: str) -> str:
    root, data = family[0], family[0].data
    child = _at_work(family)
    newest = child if child is not None else root
    value = {
        "current_state": _shown(root, child),
        "session": data.session,
        "mode": data.mode,
        "assumptions": list(data.assumptions),
        "known_issues": [msgspec.to_builtins(i) for i in newest.data.known_issues],
        "user_decisions": [decision_row(d, run.id, when) for run in family for d in decisions_of(run, _ended(run))],
        "gate_tracking": {"APPROVE_DESIGN": {"correction_status": data.correction}},
        "runtime_flags": {
            "copilot_instructions_exists": any(name.endswith(COPILOT) for name in newest.data.instructions),
            "copilot_checked_at": when(root.id, 1),
        },
        "retry_counts": retry_counts(family),
        "session_changed_files": [msgspec.to_builtins(f) for f in newest.data.changed_files],
        "last_ci_result": data.last_ci_result or None,
        "last_update": at,
    }
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _ended(run: AnyRun) -> bool:
    return bool((PIPELINE if run.workflow == PIPELINE.name else TASK).states[run.state].end)


def _at_work(family: Sequence[AnyRun]) -> AnyRun | None:
    """The newest open child while the session waits for its children."""
    root = family[0]
    open_children = [r for r in family[1:] if r.id.removeprefix(f"{root.id}.") not in root.joined]
    return open_children[-1] if open_children and root.state in ("IMPLEMENT_LOOP", "MERGING") else None


def _shown(root: AnyRun, child: AnyRun | None) -> str:
    """The state that status.json shows: that of a child in a loop or waiting, else the session's by its name in the specification."""
    if child is not None and child.state in (*LOOPS, "ASK_USER", "BLOCKED"):
        return child.state
    return published_state(root)


def retry_counts(family: Sequence[AnyRun]) -> dict[str, dict[str, int]]:
    """The repairs so far, by task and loop; build repairs are counted for the session."""
    found: dict[str, dict[str, int]] = {}
    for run in family:
        name = run.data.task_id or META
        before = found.get(name, dict.fromkeys(LOOPS, 0))
        found[name] = {**before, **{loop: run.counts[loop] for loop in LOOPS if run.counts.get(loop)}}
    return found


def tasks_yaml(root: AnyRun) -> str:
    """tasks.yaml with the journal's statuses; a task that is being worked on is in progress."""
    import yaml

    looping = msgspec.structs.replace(root, state="IMPLEMENT_LOOP") if root.state == "MERGING" else root
    busy = {task_of(root.data, c.name) for c in children(looping)}
    tasks = [msgspec.to_builtins(t) for t in root.data.tasks]
    for task in tasks:
        task["status"] = "in-progress" if task["id"] in busy and task["status"] == "not-started" else task["status"]
    order = ("id", "status", "type", "title", "depends_on", "goal", "non_goals", "context_files", "files_expected")
    rest = ("acceptance_checks", "risk_flags", "done_when")
    ordered = [{key: _plain(task[key]) for key in (*order, *rest)} for task in tasks]
    head = root.data.project
    value = {"project": {"name": head.name, "definition_of_done": list(head.definition_of_done)}, "tasks": ordered}
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120))


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple | list) else value
