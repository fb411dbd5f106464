"""The sandbox: how the project's programs are run. Knows processes and their limits; knows nothing of tests or agents."""

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from subprocess import STDOUT

from detent.errors import DetentError
from detent.sandbox.process import Ran
from detent.sandbox.sandbox_protocol import DEVNULL, ProcessLimits, Room, Sandbox, Unisolated, always

__all__ = ["SANDBOXES", "ProcessLimits", "Room", "Sandbox", "choose"]


def _bubblewrap(home: Path, limits: ProcessLimits, image: str = "") -> Sandbox:
    from detent.sandbox.bubblewrap import make

    return make(home, limits)


def _seatbelt(home: Path, limits: ProcessLimits, image: str = "") -> Sandbox:
    from detent.sandbox.seatbelt import make

    return make()


def _engine(name: str) -> "Made":
    def made(home: Path, limits: ProcessLimits, image: str) -> Sandbox:
        from detent.sandbox.container import make

        return make(name, home, limits, image)

    return made


def _none(home: Path, limits: ProcessLimits, image: str = "", because: str = "") -> Sandbox:
    return Unisolated(because)


def _outer(home: Path, limits: ProcessLimits, image: str = "") -> Sandbox:
    return Unisolated(name="outer")


PROCESSES = 16_384  # stops a fork bomb, but no test suite
Made = Callable[[Path, ProcessLimits, str], Sandbox]
SANDBOXES: dict[str, Made] = {
    "bubblewrap": _bubblewrap,
    "sandbox-exec": _seatbelt,
    "podman": _engine("podman"),
    "docker": _engine("docker"),
    "container": _engine("container"),
    "outer": _outer,
    "none": _none,
}


def choose(level: str, outer: Mapping[str, str], limits: ProcessLimits = ProcessLimits(), image: str = "") -> Sandbox:  # noqa: B008 - a frozen value
    """The sandbox for a level. "auto" tries bubblewrap, else runs unisolated and says why in `because`; a level chosen by name must work.

    `image` is for containers: an image's name, or a folder with a root file system; empty means the machine's own system.
    """
    home = Path(outer.get("HOME") or Path.home())
    if level in SANDBOXES:
        return SANDBOXES[level](home, limits, image)
    if level != "auto":
        raise DetentError(f"there is no sandbox '{level}'", f"there are: auto, {', '.join(SANDBOXES)}")
    return Auto(outer)


class Auto:
    """The `auto` level, for testing work of a person's own agent: bubblewrap if it isolates, else nothing. Chosen on first use.

    The network and named sockets are the machine's, so local databases keep working. If nothing is isolated, `because` says why.
    """

    def __init__(self, outer: Mapping[str, str]) -> None:
        self.outer = outer

    @cached_property
    def chosen(self) -> Sandbox:
        """Bubblewrap, if no attack of the probe gets out. A passed probe is remembered for this boot."""
        from detent.sandbox.bubblewrap import make
        from detent.sandbox.sandbox_probe import probe

        if platform.system() == "Darwin":
            return self._on_a_mac()
        home = Path(self.outer.get("HOME") or Path.home())
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        try:
            made = make(home, ProcessLimits(whole, os.cpu_count() or 1, PROCESSES), names=True)
        except DetentError as e:
            return Unisolated(e.message.replace(", and nothing is run without it", ""))
        holes = probe(made, self.outer, network=True)
        return Unisolated(f"bubblewrap does not isolate here: {holes[0]}") if holes else made

    def _on_a_mac(self) -> Sandbox:
        """sandbox-exec, if its own probe finds no hole."""
        from detent.sandbox.seatbelt import holes, make

        try:
            made = make()
        except DetentError as e:
            return Unisolated(e.message)
        found = holes(made)
        return Unisolated(f"sandbox-exec does not isolate here: {found[0]}") if found else made

    @property
    def name(self) -> str:
        return self.chosen.name

    @property
    def because(self) -> str:
        """Why nothing is isolated; empty if it is."""
        return getattr(self.chosen, "because", "")

    def run(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        room: Room,
        wanted: Callable[[], bool] = always,
        stdin: Path = DEVNULL,
        stderr: int = STDOUT,
        watch: Callable[[bytes], None] | None = None,
    ) -> Ran:
        return self.chosen.run(argv, cwd, env, timeout, room, wanted, stdin, stderr, watch)
