"""The names that a session's briefings may use, computed from a run alone: those shared with tasks, and its own. Knows no git and no rows."""

from collections.abc import Mapping

from detent.gates.documents import design_files
from detent.gates.human import pending
from detent.workflows.pipeline.gate_text import gate_text
from detent.workflows.pipeline.pipeline_data import Session, unproven
from detent.workflows.pipeline.task_data import ROLES, list_points
from detent.workflows.pipeline.task_facts import session_facts, titled_list

BY_HAND = "A person checked the result by hand, and something does not hold; what they saw is below."
RED = "The checks of the whole project fail; their output is below."
WANTED = "A person wants something fixed; their words are above."


def facts(run: Session) -> Mapping[str, str]:
    """Each name with its current value."""
    data, asked = run.data, pending(run.data)
    return {
        **session_facts(run),
        "request": data.request,
        "question": gate_text(run, asked) if asked else "",
        "correction": f"A person requests this correction; it comes before everything else:\n\n{data.correction_note}" if data.correction_note else "",
        "design": list_points(design_files(data)),
        "project_look": f"{data.session}/instructions/project.md",
        "template": f"{data.session}/instructions/template-{'spec' if ROLES.get(run.state) == 'SpecAgent' else 'architecture'}.md",
        "criteria": list_points(tuple(f"{c.id} {c.description} ({'; '.join(c.verify)})" for c in data.criteria)),
        "tasks": list_points(tuple(f"{t.id} {t.title} [{t.status}] {t.goal}" for t in data.tasks)),
        "planned": titled_list("The current tasks:", tuple(f"{t.id} {t.title} [{t.status}] {t.goal}" for t in data.tasks)),
        "known_issues": titled_list("Known issues, which the documents must not hide:", tuple(f"[{i.finding}] {i.text}" for i in data.known_issues)),
        "what_is_wrong": BY_HAND if data.fixing else RED if run.last_error else WANTED,
        "open": titled_list("What was open:", unproven(run)),
    }  # fmt: skip
