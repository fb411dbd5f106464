"""Task Master: an MCP server. The agent goes through its TDD workflow (`autopilot`): RED, GREEN, commit, finalize.

The tool asks the agent for its test counts. Each agent reports the counts that the phase requires, as it claims success in Detent's bench.
"""

import json
from pathlib import Path

from bench.orchestrators.scene import TITLE, Said, Scene
from bench.orchestrators.stdio import Answered, Server

TASK = {"title": "clamp", "description": TITLE, "status": "pending", "dependencies": [], "details": ""}
TASKS = {
    "master": {"tasks": [{"id": 1, **TASK, "priority": "medium", "testStrategy": "", "subtasks": [{"id": 1, **TASK}]}], "metadata": {}}
}
FAILING = {"total": 4, "passed": 1, "failed": 3, "skipped": 0}
PASSING = {"total": 4, "passed": 4, "failed": 0, "skipped": 0}


def play(scene: Scene, folder: Path) -> Said:
    tasks = scene.repo / ".taskmaster/tasks/tasks.json"
    tasks.parent.mkdir(parents=True)
    tasks.write_text(json.dumps(TASKS), "utf-8")
    scene.run("git", "add", "-A")
    scene.run("git", "commit", "-qm", "tasks")
    program = [str(folder / "node_modules/.bin/task-master-mcp")]
    with Server(program, scene.repo, {**scene.env, "TASK_MASTER_TOOLS": "all"}) as server:
        words = through(server, scene)
    return read(tasks.read_text("utf-8"), words)


def through(server: Server, scene: Scene) -> str:
    """Go through the whole workflow; why it was stopped, if it was."""
    root = str(scene.repo)
    try:
        server.call("autopilot_start", taskId="1", projectRoot=root)
        scene.work("RED")
        server.call("autopilot_complete_phase", projectRoot=root, testResults=FAILING)
        scene.work("GREEN", "REFACTOR")
        server.call("autopilot_complete_phase", projectRoot=root, testResults=PASSING)
        server.call("autopilot_commit", projectRoot=root)
        finalize(server, scene)
    except Answered as e:
        return e.message
    return ""


def finalize(server: Server, scene: Scene) -> None:
    try:
        server.call("autopilot_finalize", projectRoot=str(scene.repo))
    except Answered:  # the tool wants everything committed, including its own files
        scene.sh("git add -A && git commit -qm 'chore: what is left'")
        server.call("autopilot_finalize", projectRoot=str(scene.repo))


def read(stored: str, words: str = "") -> Said:
    """Accepted if the stored task is done."""
    status = json.loads(stored)["master"]["tasks"][0]["status"]
    return Said(status == "done", words or f"the task is '{status}'")
