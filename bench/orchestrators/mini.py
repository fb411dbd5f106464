"""mini-swe-agent: a loop that runs a model's commands until one submits. Its own scripted model plays the agent's commands."""

import json
from pathlib import Path

from bench.orchestrators.scene import TITLE, Said, Scene

SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


def play(scene: Scene, folder: Path) -> Said:
    config, written = scene.home / "agent.yaml", scene.home / "trajectory.json"
    commands = [*scene.scripts(*scene.steps()), SUBMIT]
    config.write_text(json.dumps({"model": {"model_class": "deterministic", "outputs": [output(c) for c in commands]}}), "utf-8")
    scene.env.update(
        MSWEA_SILENT_STARTUP="1", MSWEA_CONFIGURED="true", MSWEA_GLOBAL_CONFIG_DIR=str(scene.home), MSWEA_COST_TRACKING="ignore_errors"
    )
    options = ("-c", "mini.yaml", "-c", str(config), "-m", "scripted", "-y", "-l", "0", "-o", str(written), "--exit-immediately")
    scene.run(str(folder / "bin/mini"), "-t", TITLE, *options)
    return read(written.read_text("utf-8"))


def output(command: str) -> dict[str, object]:
    return {"role": "assistant", "content": "next", "extra": {"actions": [{"command": command}], "cost": 0.0}}


def read(trajectory: str) -> Said:
    """Accepted if the run ended as submitted."""
    status = json.loads(trajectory)["info"]["exit_status"]
    return Said(status == "Submitted", f"the run ended as '{status}'")
