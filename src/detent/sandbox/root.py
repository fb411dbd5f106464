"""A container's file system: a fresh root in a folder, and the mounts on it. Owns their order; starts nothing.

The root is built for each run from the machine's own system or from a folder with another one, so mount points that an engine creates go
away with it, and neither the machine nor that folder is touched. Images by name are left to the engine.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from detent.errors import DetentError
from detent.sandbox.guard import Held
from detent.sandbox.mounts import ETC, ETC_PATTERNS, SYSTEM, Inside, make_devices

OWN = ("proc", "sys", "dev", "run", "tmp", ".detent")  # every container's own; never taken from another root
WRITTEN = tuple(Path("/etc") / name for name in ("passwd", "group", "hosts", "hostname", "resolv.conf", "mtab"))
LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"}


class Mount(NamedTuple):
    """One mount: a folder or file of the machine, or an empty folder in memory."""

    at: Path
    what: Path | None = None  # None: in memory
    writable: bool = False
    size: int = 0
    mode: str = "0777"  # nobody else is in there

    def words(self) -> tuple[str, str]:
        """As arguments for podman or docker."""
        if any(sign in str(path) for path in (self.at, self.what) for sign in (",", '"', "\n")):
            raise DetentError(f"{self.what or self.at} cannot be mounted in a container: its name holds a comma or a quote", "rename it")
        if self.what is None:
            return "--mount", f"type=tmpfs,dst={self.at},tmpfs-size={self.size},tmpfs-mode={self.mode}"
        return "--mount", f"type=bind,src={self.what},dst={self.at}" + ("" if self.writable else ",ro")


def build_root(at: Path, source: Path | None, texts: dict[str, str], also: Iterable[Path]) -> list[Mount]:
    """Build a root in an empty folder, from the machine's system or another folder's; returns the mounts that complete it."""
    for name in (*OWN, "etc"):
        (at / name).mkdir(parents=True)
    (at / "tmp").chmod(0o777)  # what is mounted on it gets these permissions
    for name, text in texts.items():
        (at / "etc" / name).write_text(text)
    return list(machine(at) if source is None else _taken(at, source, Path("/"), {*also, *WRITTEN}))


def machine(root: Path) -> Iterator[Mount]:
    """The machine's own system: programs and libraries, and a few files of /etc."""
    for name in SYSTEM:
        if os.path.islink(name):
            _link(root, Path(name), os.readlink(name))
        elif os.path.isdir(name):
            yield Mount(Path(name), Path(name))
    etc = Path("/etc")
    patterns = [str(found.relative_to(etc)) for pattern in ETC_PATTERNS for found in sorted(etc.glob(pattern))]
    for path in filter(Path.exists, (etc / name for name in (*ETC, *patterns))):
        real = path.resolve()
        if real.is_relative_to("/usr"):
            _link(root, path, str(real))
        else:
            yield Mount(path, real)


def _taken(root: Path, source: Path, at: Path, further: set[Path]) -> Iterator[Mount]:
    """Another system's files. Folders are recreated where something is mounted further in; all else is mounted."""
    for entry in sorted(os.scandir(source / at.relative_to("/")), key=lambda e: e.name):
        inside = at / entry.name
        if at == Path("/") and entry.name in OWN:
            continue
        if entry.is_symlink():
            _link(root, inside, os.readlink(entry.path))
        elif entry.is_dir() and any(inside in path.parents for path in further):
            (root / inside.relative_to("/")).mkdir(parents=True, exist_ok=True)
            yield from _taken(root, source, inside, further)
        elif inside not in further and (entry.is_dir() or entry.is_file()):
            yield Mount(inside, Path(entry.path))


def _link(root: Path, at: Path, target: str) -> None:
    link = root / at.relative_to("/")
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)


def root_devices(at: Path) -> Mount | None:
    """Devices of the container's own, if we are root: the machine's belong to root, so a program inside could change their permissions."""
    if os.getuid() != 0:
        return None
    at.mkdir()
    make_devices(at)
    for name, target in LINKS.items():
        (at / name).symlink_to(target)
    for name in ("pts", "shm", "mqueue"):
        (at / name).mkdir()
    (at / "shm").chmod(0o777)
    return Mount(Path("/dev"), at)


def room_mounts(inside: Inside, held: Held, home: Path, size: int) -> list[Mount]:
    """The mounts of a room. Engines sort them from the outside in; of two at the same place the later one wins."""
    layers = {path: Mount(path, None, True, size) for path in (Path("/tmp"), Path("/dev/shm"))}
    fixed = map(Path, (*SYSTEM, "/etc", "/proc", "/dev"))
    if home not in layers and not any(home.is_relative_to(place) for place in (*inside.places, *fixed)):
        layers[home] = Mount(home, None, True, size)
    pins = {path: Mount(path, path, True) for path in held.pins}
    read = {where: Mount(where, what) for what, where in inside.readable}
    layers |= pins | read | {path: Mount(path, path, True) for path in inside.roots}
    guards = {path: Mount(path, path) for path, words in held.guards.items() if words}
    layers = {path: each for path, each in layers.items() if not any(path.is_relative_to(guard) for guard in guards)}
    return list((layers | guards).values())
