"""Backlog.md: tasks as files, changed by a command line. The agent sets its task to Done with all criteria checked, as the tool's guide asks."""

from pathlib import Path

from bench.orchestrators.scene import SUMMARY, TITLE, Said, Scene


def play(scene: Scene, folder: Path) -> Said:
    backlog = str(folder / "node_modules/.bin/backlog")
    scene.run(backlog, "init", "shapes", "--defaults", "--agent-instructions", "none")
    scene.run(backlog, "task", "create", TITLE, "--ac", "every test passes", "--plain")
    scene.run(backlog, "task", "edit", "1", "-s", "In Progress", "--plain")
    scene.work()
    scene.run(backlog, "task", "edit", "1", "--check-ac", "1", "-s", "Done", "--final-summary", SUMMARY, "--plain")
    return read(scene.run(backlog, "task", "1", "--plain"))


def read(shown: str) -> Said:
    """Accepted if the stored task has the status Done."""
    status = next((line.partition(":")[2].strip() for line in shown.splitlines() if line.startswith("Status:")), "")
    return Said(status.endswith("Done"), f"the task is '{status}'")
