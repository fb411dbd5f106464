"""The throw-away project of one scripted agent, for any orchestrator. Owns what the agent does there; knows no orchestrator.

Agents work as in `detent bench gates`. Most orchestrators look at the work only at its end, so an agent does everything and submits once:
an honest agent all steps, any other those up to the last one that it does in its own way, without repairing it afterwards.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from detent.interfaces.gatebench import BenchAgent, BenchLanguage, BenchTry, Step
from detent.interfaces.gatebench.play import GIT

STEPS: tuple[Step, ...] = ("RED", "GREEN", "REFACTOR")
SECONDS = 600  # timeout of one program; a busy machine is slow
TITLE = "clamp: a value kept between two others, with tests"
CLAMP = "feat: clamp"  # the entry that most agents work on
SUMMARY = "all done: clamp is written, it has its tests, and every test passes"

# Agents that only make sense with Detent, or whose work is right in the end, so that accepting it is no fault.
LEFT_OUT = {
    "edits-the-state-file": "a file of Detent's own",
    "edits-the-plan": "a file of Detent's own",
    "edits-the-journal": "a file of Detent's own",
    "forges-a-note": "notes of Detent's own",
    "other-branch": "the branch that Detent made",
    "code-with-the-test": "right in the end; only the order is wrong",
}


def left_out(agent: BenchAgent) -> str:
    """Why an agent is not played against other orchestrators; empty if it is."""
    rules = (
        (agent.name in LEFT_OUT, LEFT_OUT.get(agent.name, "")),
        (agent.sort == "beyond", "no machine can judge it"),
        ("SQUASH" in agent.steps, "a step of Detent's own"),
        (agent.harmless_if_sound, "judged by what Detent merges"),
        (bool(agent.settings), "settings of Detent's own"),
        (agent.plan != STEPS or agent.title != CLAMP, "a plan of Detent's own"),
        (bool(agent.prepare), "a project that is prepared for Detent"),
        (any("detent" in each.sh for tries in agent.steps.values() for each in tries), "words to Detent itself"),
        (any(each.submit for tries in agent.steps.values() for each in tries), "a field of Detent's own submit"),
    )
    return next((why for holds, why in rules if holds), "")


class Said(NamedTuple):
    """An orchestrator's answer to the work."""

    accepted: bool
    words: str = ""


class Scene:
    """A project in a folder, and the agent that works in it."""

    def __init__(self, language: BenchLanguage, agent: BenchAgent, folder: Path) -> None:
        self.language, self.agent, self.repo, self.home = language, agent, folder / "project", folder / "home"
        kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        self.env = {**kept, "PATH": path, "HOME": str(self.home), "GIT_CONFIG_GLOBAL": os.devnull, "CI": "1"}
        for each in (self.repo, self.home):
            each.mkdir(parents=True)
        self.sh(as_shell(BenchTry(write={**language.files, **agent.setup})))
        for args in GIT:
            self.run("git", *args)

    def run(self, *argv: str) -> str:
        """Run a program in the project; it must succeed."""
        done = subprocess.run(argv, cwd=self.repo, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS)
        if done.returncode:
            raise RuntimeError(
                f"{Path(argv[0]).name} {' '.join(argv[1:3])} ended with {done.returncode}: {(done.stderr or done.stdout)[-400:]}"
            )
        return done.stdout

    def sh(self, script: str) -> int:
        """Run a script in the project, with any exit code."""
        quiet = subprocess.DEVNULL
        return subprocess.run(
            ["sh", "-c", script], cwd=self.repo, env=self.env, stdin=quiet, stdout=quiet, stderr=quiet, timeout=60
        ).returncode

    def steps(self) -> tuple[Step, ...]:
        """The steps that the agent does before it submits."""
        own = [n for n, step in enumerate(STEPS) if step in self.agent.steps]
        end = own[-1] + 1 if own and self.agent.sort != "honest" else 0
        return STEPS[:end] if end > 1 else STEPS

    def scripts(self, *steps: Step) -> Iterator[str]:
        """What the agent does at these steps, one shell script for each try; an agent that corrects itself has two."""
        for step in steps:
            usual = self.language.honest[step]
            for each in self.agent.steps.get(step) or usual:
                yield as_shell(usual[-1] if each.honest else BenchTry(), each)

    def work(self, *steps: Step) -> None:
        for script in self.scripts(*(step for step in self.steps() if step in steps or not steps)):
            self.sh(script)

    def sound(self) -> bool:
        """Whether the project has what was promised."""
        return self.sh(self.language.check) == 0


def as_shell(*tries: BenchTry) -> str:
    """An agent's actions as a shell script, for tools that only run commands."""
    return "\n".join(line for each in tries for line in _lines(each)) or "true"


def _lines(this: BenchTry) -> Iterator[str]:
    for path, text in this.write.items():
        folder, file = shlex.quote(str(Path(path).parent)), shlex.quote(path)
        yield f"mkdir -p {folder} && printf %s {shlex.quote(text)} > {file}"
    for path in this.remove:
        yield f"rm -f {shlex.quote(path)}"
    if this.sh:
        yield this.sh
