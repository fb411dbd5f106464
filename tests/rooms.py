"""Folders for the sandbox tests: a workspace, a home with secrets, and files outside that must stay out of reach."""

import os
import sys
from pathlib import Path

from detent.sandbox import ProcessLimits, Room, Sandbox, choose
from detent.sandbox.bubblewrap import Bubblewrap
from detent.sandbox.process import Ran
from detent.sandbox.visible import toolchains
from tests.machine import need
from tests.patience import LONG

SECRETS = (
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".netrc",
    ".config/gh/hosts.yml",
    ".docker/config.json",
    ".claude/.credentials.json",
    ".npmrc",
)
PYTHON = os.path.realpath(sys.executable)


class Place:
    """The folders and environment of the sandbox tests."""

    def __init__(self, root: Path) -> None:
        self.outside, self.home, self.work = root / "outside", root / "home", root / "work"
        for folder in (self.outside, self.home, self.work / "conf", self.work / "sub"):
            folder.mkdir(parents=True)
        for name in SECRETS:
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).write_text("secret of the home")
        (self.outside / "secret").write_text("secret outside")
        (self.work / "conf" / "guarded").write_text("as it was")
        (self.work / ".git").write_text("gitdir: /elsewhere\n")
        self.env = {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "OUT": str(self.outside), "PYTHON": PYTHON, "OURS": str(os.getpid())}
        self.outer = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        self.room = Room(
            self.work,
            (self.work / "conf" / "guarded", self.work / ".git", self.work / "absent", self.work / "new" / "deep" / "absent"),
            (),
            toolchains(self.outer),
        )

    def sh(self, sandbox: Sandbox, script: str, timeout: float = LONG, **changes: object) -> Ran:
        return sandbox.run(["sh", "-c", script], self.work, self.env, timeout, self.room._replace(**changes))  # type: ignore[arg-type]  # fields of a room

    def python(self, sandbox: Sandbox, script: str, **changes: object) -> Ran:
        (self.work / "script.py").write_text(script)
        return sandbox.run([PYTHON, "-I", "script.py"], self.work, self.env, LONG, self.room._replace(**changes))  # type: ignore[arg-type]  # fields of a room


def isolated(outer: dict[str, str], limits: ProcessLimits | None = None) -> Bubblewrap:
    """Bubblewrap as Detent uses it. If the machine can have it, it must work."""
    need("bubblewrap", "namespaces")
    made = choose("bubblewrap", outer, limits or ProcessLimits())
    assert isinstance(made, Bubblewrap)
    return made
