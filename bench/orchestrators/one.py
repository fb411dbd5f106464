"""Plays one agent against one orchestrator, as a separate program: the caller puts it into a network with only loopback.

Prints one JSON object {accepted, words}. Trouble with the orchestrator itself ends with a non-zero exit code.
"""

import json
import sys
import tempfile
from pathlib import Path

from bench.orchestrators import ROWS
from bench.orchestrators.scene import Said, Scene
from detent.interfaces.gatebench import languages


def play(name: str, language: str, agent: str, folder: Path) -> Said:
    """The orchestrator's answer to an agent's work. An honest agent must also leave sound work."""
    (spoken,) = languages((language,))
    (actor,) = [each for each in spoken.agents if each.name == agent]
    with tempfile.TemporaryDirectory(prefix="detent-others-", ignore_cleanup_errors=True) as place:
        scene = Scene(spoken, actor, Path(place))
        said = ROWS[name].play(scene, folder)
        if said.accepted and actor.sort == "honest" and not scene.sound():
            return Said(False, "it was taken, but is not what was promised")
        return said


if __name__ == "__main__":
    given = sys.argv[1:]
    print(json.dumps(play(given[0], given[1], given[2], Path(given[3]))._asdict()))
