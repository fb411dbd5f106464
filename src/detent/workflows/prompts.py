"""The system prompts of agents that the machine drives: files, one per role, rendered strictly. Knows no agent."""

from functools import cache
from importlib.resources import files
from string import Template


@cache
def _file(name: str) -> str:
    return (files("detent.workflows") / "prompts" / f"{name}.md").read_text("utf-8").strip()


def role_file(workflow: str, role: str) -> str:
    """The file of a role. Those of a session have names of their own, whatever case a file system knows."""
    return f"session-{role.lower()}" if workflow in ("pipeline", "task") else f"role-{role}"


def system_prompt(workflow: str, role: str, workspace: str) -> str:
    """Everything that an agent of a role is told before its briefing."""
    text = Template(_file("agent")).substitute(
        workspace=workspace, role=_file(role_file(workflow, role)), hand_in=_file(f"hand-in-{workflow}")
    )
    return text + "\n"


def findings_prompt() -> str:
    """What the reviewer of a pull request is told."""
    return f"{_file('role-reviewer')}\n\n{_file('hand-in-findings')}\n"


def flags_prompt() -> str:
    """What a reviewer is told who answers about flags in a person's place."""
    return _file("review-flags") + "\n"


def review_prompt() -> str:
    """What the reviewer of a branch is told."""
    return _file("review-branch") + "\n"
