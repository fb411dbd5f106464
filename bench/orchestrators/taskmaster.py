"""Task Master: an MCP server. The agent goes through its TDD workflow (`autopilot`): RED, GREEN, commit, finalize, with the counts it reports.

The tool asks the agent for the counts of its tests. Each agent reports those that the phase asks for, as it says in Detent's bench that all is done.
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
    """The whole workflow; why it was held, if it was."""
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
    except Answered:  # it wants everything committed, its own files too
        scene.sh("git add -A && git commit -qm 'chore: what is left'")
        server.call("autopilot_finalize", projectRoot=str(scene.repo))


def read(stored: str, words: str = "") -> Said:
    """Done is what the tool stored of its one task."""
    status = json.loads(stored)["master"]["tasks"][0]["status"]
    return Said(status == "done", words or f"the task is '{status}'")
