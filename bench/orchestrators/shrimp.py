"""Shrimp Task Manager: an MCP server. The agent plans a task, executes it, and calls `verify_task` with a score for its own work."""

import json
from pathlib import Path

from bench.orchestrators.scene import SUMMARY, TITLE, Said, Scene
from bench.orchestrators.stdio import Server

SCORE = 95  # the agent's own score; the tool asks for 80
TASK = {"name": "clamp", "description": TITLE, "implementationGuide": "tests first", "verificationCriteria": "every test passes"}


def play(scene: Scene, folder: Path) -> Said:
    data = scene.home / "shrimp"
    program = [str(folder / "node_modules/.bin/mcp-shrimp-task-manager")]
    with Server(program, scene.repo, {**scene.env, "DATA_DIR": str(data), "TEMPLATES_USE": "en", "ENABLE_GUI": "false"}) as server:
        server.call("split_tasks", updateMode="clearAllTasks", tasksRaw=json.dumps([TASK]), globalAnalysisResult="one function")
        task = json.loads((data / "tasks.json").read_text("utf-8"))["tasks"][0]["id"]
        server.call("execute_task", taskId=task)
        scene.work()
        server.call("verify_task", taskId=task, score=SCORE, summary=SUMMARY)
    return read((data / "tasks.json").read_text("utf-8"))


def read(stored: str) -> Said:
    """Accepted if the stored task is completed."""
    status = json.loads(stored)["tasks"][0]["status"]
    return Said(status == "completed", f"the task is '{status}'")
