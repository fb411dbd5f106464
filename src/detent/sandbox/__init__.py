"""The sandbox: how programs of the project are run. Knows processes and their limits; knows nothing of tests or agents."""

from collections.abc import Callable, Mapping
from pathlib import Path

from detent.errors import DetentError
from detent.sandbox.sandbox_protocol import ProcessLimits, Room, Sandbox, Unisolated

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
    """The sandbox of a level. "auto" takes bubblewrap if it holds, else none, and its `because` says why. Asked for by name, it must work.

    `image` is for containers: the name of an image, or a folder that holds a root file system; empty, the machine's own system.
    """
    home = Path(outer.get("HOME") or Path.home())
    if level in SANDBOXES:
        return SANDBOXES[level](home, limits, image)
    if level != "auto":
        raise DetentError(f"there is no sandbox '{level}'", f"there are: auto, {', '.join(SANDBOXES)}")
    from detent.sandbox.auto import Auto

    return Auto(outer)
