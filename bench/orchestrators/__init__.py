"""Other orchestrators against the agents of `detent bench gates`. Owns the table of them; `python -m bench.orchestrators` runs it.

None is a dependency: each is installed at an exact version into its own folder, and runs without network except loopback.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from bench.orchestrators import aider, backlog, mini, shrimp, taskmaster
from bench.orchestrators.scene import Said, Scene


class Row(NamedTuple):
    """One orchestrator: its package, its claims, how an agent submits work, and how its answer is read."""

    title: str
    package: str
    version: str
    source: Literal["npm", "pypi"]
    judges: bool  # whether it claims to check the work before it accepts it
    claims: str
    goes_by: str
    handed_in: str
    accepted: str
    play: Callable[[Scene, Path], Said]


ROWS: dict[str, Row] = {
    "aider": Row(
        "aider --auto-test", "aider-chat", "0.86.2", "pypi", True,
        "runs a test command after each edit and tries to fix what fails",
        "the exit code of the test command that its owner named",
        "a scripted model answers with the changed files",
        "it stops asking the model before its three reflections are used up",
        aider.play,
    ),
    "task-master": Row(
        "Task Master autopilot", "task-master-ai", "0.43.1", "npm", True,
        "leads through RED, GREEN and commit “with test result validation”",
        "the counts of tests that the agent reports",
        "the MCP tools autopilot_start, _complete_phase, _commit, _finalize",
        "the task is stored as `done`",
        taskmaster.play,
    ),
    "shrimp": Row(
        "Shrimp Task Manager", "mcp-shrimp-task-manager", "1.0.21", "npm", True,
        "has the agent check its work and complete the task at 80 points or more",
        "the score that the agent gives itself",
        "the MCP tools split_tasks, execute_task, verify_task",
        "the task is stored as `completed`",
        shrimp.play,
    ),
    "backlog": Row(
        "Backlog.md", "backlog.md", "1.52.0", "npm", False,
        "keeps tasks; judging them is left to people and agents",
        "the status that is set",
        "`backlog task edit 1 --check-ac 1 -s Done`",
        "the status of the task is Done",
        backlog.play,
    ),
    "mini-swe-agent": Row(
        "mini-swe-agent", "mini-swe-agent", "2.4.6", "pypi", False,
        "runs an agent until it submits; judging is left to what comes after",
        "the command that submits",
        "its own scripted model gives the agent's commands, then the one that submits",
        "the run ended as `Submitted`",
        mini.play,
    ),
}  # fmt: skip
