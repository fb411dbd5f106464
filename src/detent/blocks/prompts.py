"""The system prompts of agents that the machine drives: files, one per role, rendered strictly. Knows no agent and no workflow."""

from functools import cache
from pathlib import Path
from string import Template

SHARED = Path(__file__).parent / "prompts"


@cache
def prompt(folder: Path, name: str) -> str:
    """One file of a folder of prompts."""
    return (folder / f"{name}.md").read_text("utf-8").strip()


def system_prompt(folder: Path, role: str, hand_in: str, workspace: str) -> str:
    """Everything that an agent of a role is told before its briefing. Files of roles have small names, whatever case a file system knows."""
    told = Template(prompt(SHARED, "agent"))
    return told.substitute(workspace=workspace, role=prompt(folder, role.lower()), hand_in=prompt(folder, hand_in)) + "\n"


def flags_prompt() -> str:
    """What a reviewer is told who answers about flags in a person's place."""
    return prompt(SHARED, "review-flags") + "\n"
