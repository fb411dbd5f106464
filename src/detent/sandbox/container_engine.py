"""Container engines, podman and docker: where they are, the options they need on this machine, and cleaning up after them. Knows no rooms.

The options are found by trying, and what worked is remembered for this boot and program.
"""

import contextlib
import fcntl
import os
import resource
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from detent.errors import CannotTell, DetentError
from detent.storage.state import state_dir

PROGRAM_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin")
SEARCHED = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ELSE = "other options: docs/sandbox.md, In a container"
INSTALL = {
    "podman": f"install it (Debian, Ubuntu: apt-get install podman); {ELSE}",
    "docker": f"install docker and start its engine; {ELSE}",
}
# Options for podman, plainest first: none, then what hosts with older control groups need.
WAYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "podman": (
        (),
        ("--cgroup-manager=cgroupfs",),
        ("--runtime=crun", "--cgroup-manager=cgroupfs"),
        ("--runtime=runc", "--cgroup-manager=cgroupfs"),
    ),
    "docker": ((),),
}
USER = 1000  # the user that root becomes inside
FILES = 1 << 16  # limit of open files per process
NOBODY = 100_000  # the user outside that root inside maps to: nobody


class ContainerEngine(NamedTuple):
    """An engine and the options it is called with."""

    name: str
    program: Path
    way: tuple[str, ...] = ()

    @property
    def command(self) -> list[str]:
        return [str(self.program), *self.way]

    def remove(self, container: str) -> list[str]:
        """The command that kills a container and removes it."""
        return [*self.command, "rm", "-f", *(("-t", "0", "-i") if self.name == "podman" else ()), container]

    def call(self, words: Sequence[str], timeout: float = 60) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                words, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as e:
            raise DetentError(f"{self.name} does not answer: {e}", INSTALL[self.name]) from e


def find(name: str, folders: Sequence[str] = PROGRAM_FOLDERS) -> ContainerEngine:
    """An engine, searched only in system folders. DetentError if it is not installed or its daemon does not answer."""
    found = (Path(folder) / name for folder in folders)
    program = next((path for path in found if path.is_file() and os.access(path, os.X_OK)), None)
    if program is None:
        raise DetentError(f"{name} is not installed, and nothing is run without it", INSTALL[name])
    engine = ContainerEngine(name, program)
    asked = engine.call([*engine.command, "version"])
    if asked.returncode != 0:
        lines = asked.stderr.strip().splitlines()
        raise DetentError(
            f"{name} does not work here, and nothing is run without it: {lines[-1] if lines else 'it says nothing'}", INSTALL[name]
        )
    return engine


def environment() -> dict[str, str]:
    """The engine's own environment: PATH, and where a user's engine keeps its state."""
    kept = ("HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "CONTAINER_HOST")
    return {"PATH": SEARCHED, **{name: value for name in kept if (value := os.environ.get(name))}}


def who(engine: ContainerEngine) -> list[str]:
    """The options for an unprivileged user inside, whose files belong to us outside."""
    uid, gid = os.getuid(), os.getgid()
    if engine.name == "docker":
        return ["--user", f"{uid or USER}:{gid or USER}"]
    if uid != 0:
        return ["--userns=keep-id", "--user", f"{uid}:{gid}"]
    maps = [word for kind in ("--uidmap", "--gidmap") for pair in (f"0:{NOBODY}:1", f"{USER}:0:1") for word in (kind, pair)]
    return [*maps, "--user", f"{USER}:{USER}"]


def bounds() -> list[str]:
    """Options for limits no higher than our own hard limits, which an engine's defaults may exceed."""
    most = int(Path("/proc/sys/kernel/pid_max").read_text())  # engines lower their own limit to this
    words = ["--ulimit", "core=0:0"]
    for name, kind, top in (("nofile", resource.RLIMIT_NOFILE, FILES), ("nproc", resource.RLIMIT_NPROC, most)):
        hard = resource.getrlimit(kind)[1]
        least = top if hard == resource.RLIM_INFINITY else min(hard, top)
        words += ["--ulimit", f"{name}={least}:{least}"]
    return words


def folders() -> Path:
    """The parent of all container folders."""
    return state_dir() / "containers"


@contextlib.contextmanager
def own_folder(engine: ContainerEngine, name: str) -> Iterator[Path]:
    """The folder of one container. Locked while we live; whoever finds it unlocked may clean it up."""
    folder = folders() / name
    folder.mkdir(parents=True, mode=0o700)
    with open(folder / "engine", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write("\n".join(engine.remove(name)))
        file.flush()
        try:
            yield folder
        finally:
            _remove(engine, folder)


def _remove(engine: ContainerEngine, folder: Path) -> None:
    """Remove a container's folder. Rootless podman leaves files of its subordinate users, which only its own namespace can remove."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists() and engine.name == "podman" and os.getuid() != 0:
        engine.call([*engine.command, "unshare", "rm", "-rf", str(folder)])


@contextlib.contextmanager
def unpack_image(engine: ContainerEngine, image: str, folder: Path) -> Iterator[Path]:
    """An image mounted as a readable folder: root's engine cannot run an image itself so that files belong to us."""
    (folder / "image").write_text(image)
    done = engine.call([*engine.command, "image", "mount", image])
    if done.returncode != 0:
        raise CannotTell(f"the sandbox broke: {engine.name} cannot open the image {image}: {done.stderr.strip()}")
    try:
        yield Path(done.stdout.strip())
    finally:
        engine.call([*engine.command, "image", "unmount", image])


def clean_up(engine: ContainerEngine) -> None:
    """Remove containers left by runs that died together with their keepers."""
    for file in sorted(folders().glob("*/engine")):
        with contextlib.suppress(OSError), open(file) as kept:
            fcntl.flock(kept, fcntl.LOCK_EX | fcntl.LOCK_NB)
            engine.call(engine.remove(file.parent.name))
            if (image := file.with_name("image")).exists():
                engine.call([*engine.command, "image", "unmount", image.read_text()])
            _remove(engine, file.parent)
