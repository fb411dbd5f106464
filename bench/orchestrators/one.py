"""One agent against one orchestrator, as a program of its own: the caller puts it into a network with nothing but loopback.

Standard output: one JSON object {accepted, words}. Anything that goes wrong with the orchestrator itself ends with another exit code than 0.
"""

import json
import sys
import tempfile
from pathlib import Path

from bench.orchestrators import ROWS
from bench.orchestrators.scene import Said, Scene
from detent.interfaces.gatebench import languages


def play(name: str, language: str, agent: str, folder: Path) -> Said:
    """What the orchestrator makes of the agent; an honest one must also leave what it promised."""
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
