"""Isolation by a container engine: the same room as bubblewrap's, perhaps on an image or another root. Owns its command line and results.

Limits are set by the engine and read back inside before the program starts; it does not start if one is missing. Environment, input and
status pass through files that only this container sees. A keeper removes the container when we die.
"""

import contextlib
import json
import os
import platform
import shlex
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from detent.errors import CannotTell, DetentError
from detent.journal.holder import boot_id
from detent.sandbox.calls import profile
from detent.sandbox.container_engine import (
    USER,
    WAYS,
    ContainerEngine,
    bounds,
    clean_up,
    environment,
    find,
    folders,
    own_folder,
    unpack_image,
    who,
)
from detent.sandbox.guard import hold
from detent.sandbox.mounts import HIDDEN_IN_PROC, enter
from detent.sandbox.process import Ran, run
from detent.sandbox.root import Mount, build_root, room_mounts, root_devices
from detent.sandbox.sandbox_protocol import DEVNULL, ProcessLimits, Room, always
from detent.sandbox.ways_on import ways_on
from detent.storage.state import state_dir

BOUNDARY = (
    "--rm", "--read-only", "--cap-drop=all", "--security-opt=no-new-privileges", "--cgroupns=private", "--ipc=private", "--hostname=detent",
    "--pull=never", "--log-driver=none", "--interactive",  # otherwise its input is the machine's /dev/null, which crun gives to root inside
)  # fmt: skip
PODMAN = (
    f"--security-opt=mask={':'.join(f'/proc/{name}' for name in HIDDEN_IN_PROC)}", "--read-only-tmpfs=false", "--no-hosts", "--http-proxy=false", "--image-volume=ignore",
)  # fmt: skip
GRACE = 20.0  # seconds for the engine to end a container
ERRORS = {subprocess.STDOUT: "output", subprocess.DEVNULL: "nowhere"}
LIMITS = {"memory": "memory", "processes": "the number of processes", "processors": "the use of processors"}


def clamped(limits: ProcessLimits) -> ProcessLimits:
    """Limits no higher than the machine's own, because engines refuse those."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return limits._replace(memory=min(limits.memory, memory), cpus=min(limits.cpus, os.cpu_count() or 1))


KEEPER = Path(__file__).with_name("keeper.py")  # a program of its own


class End:
    """Ends a container early, once, through the engine, which then leaves nothing behind."""

    def __init__(self, engine: ContainerEngine, name: str, timeout: float, wanted: Callable[[], bool]) -> None:
        self.engine, self.name, self.wanted, self.why = engine, name, wanted, ""
        self.timer = threading.Timer(timeout, self.now, ("timeout",))
        self.timer.daemon = True
        self.timer.start()

    def now(self, why: str) -> None:
        if not self.why:
            self.why = why
            with contextlib.suppress(DetentError):  # its processes are then killed one by one, and the next start cleans up
                self.engine.call(self.engine.remove(self.name), GRACE)

    def still_wanted(self) -> bool:
        if not self.wanted():
            self.now("unwanted")
            return False
        return True

    def close(self) -> None:
        self.timer.cancel()
        self.timer.join()


class Container:
    """Runs each program in a room of its own, in a new container."""

    def __init__(self, engine: ContainerEngine, home: Path, limits: ProcessLimits, image: str = "") -> None:
        self.engine, self.home, self.limits, self.image = engine, home, clamped(limits), image
        self.name, self.program = engine.name, engine.program
        self.boundary: tuple[str, ...] = BOUNDARY
        self.profile = profile(platform.machine(), os.getuid() == 0)
        self.tmp_size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4

    @property
    def unheld(self) -> tuple[str, ...]:
        """Limits that cannot be enforced: none, since a program without them is not started."""
        return ()

    @property
    def bare(self) -> "Container":
        """The same isolation around the machine's own system, so that the probe needs nothing of an image."""
        return Container(self.engine, self.home, self.limits) if self.name == "podman" else self

    def run(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        room: Room,
        wanted: Callable[[], bool] = always,
        stdin: Path = DEVNULL,
        stderr: int = subprocess.STDOUT,
        watch: Callable[[bytes], None] | None = None,
    ) -> Ran:
        """Run a program in its room. OSError: it is missing inside. CannotTell: the room cannot be made, did not last or lacks a limit."""
        inside = enter(room, self.home)
        if not any(cwd.resolve().is_relative_to(place) for place in (*inside.roots, *(what for what, _ in inside.readable))):
            raise CannotTell(f"the sandbox broke: chdir {cwd}: it is not in the sandbox")
        name = f"detent-{os.urandom(8).hex()}"
        with ExitStack() as stack:
            held = stack.enter_context(hold(inside.guarded, inside.roots))
            folder = stack.enter_context(own_folder(self.engine, name))
            home = Path(env.get("HOME", self.home))
            self._write(folder, {"HOME": str(home), **env}, stdin, ERRORS.get(stderr, "apart"))
            places = room_mounts(inside, held, home, self.tmp_size)
            below, system = self._root(stack, folder, home, places)
            words = [*self._words(folder, name, cwd.resolve(), inside.network), *_mounted([*below, *places]), *system]
            command = self._kept(folder, name, stderr, [*words, "/usr/bin/env", "-i", "/bin/sh", "/.detent/start", *argv])
            end = stack.enter_context(closing(End(self.engine, name, timeout, wanted)))
            try:
                apart = subprocess.DEVNULL if stderr in ERRORS else stderr
                ran = run(command, Path("/"), environment(), timeout + GRACE, end.still_wanted, stderr=apart, watch=watch)
            except (OSError, subprocess.SubprocessError) as e:
                raise CannotTell(f"the sandbox broke: {self.name} could not be started: {e}") from e
            return self._judged(ran, end, folder, argv[0])

    def _kept(self, folder: Path, name: str, stderr: int, words: list[str]) -> list[str]:
        errors = str(folder / "said") if stderr in ERRORS else "-"
        start = [sys.executable, "-I", "-S", str(KEEPER), str(os.getpid()), errors]
        return [*start, *self.engine.remove(name), "--", *words]

    def _write(self, folder: Path, env: Mapping[str, str], stdin: Path, errors: str) -> None:
        """Write what the container's first program needs, as files that nobody else can read."""
        if bad := [name for name in env if not name.isidentifier() or not name.isascii()]:
            raise CannotTell(f"the variable {bad[0]!r} cannot be handed into a container")
        if any("\0" in value for value in env.values()):
            raise ValueError("a path or a variable holds a zero byte")
        inside = folder / "inside"
        inside.mkdir()
        (inside / "start").write_bytes((Path(__file__).with_name("start.sh")).read_bytes())
        (inside / "env").write_bytes(b"".join(os.fsencode(f"export {name}={shlex.quote(value)}\n") for name, value in env.items()))
        limits = self.limits
        (inside / "limits").write_text(f"memory={limits.memory} processes={limits.processes} cpus={limits.cpus} errors={errors}\n")
        (inside / "input").write_bytes(b"" if stdin == DEVNULL else stdin.read_bytes())
        (inside / "status").touch()
        (folder / "status").touch()
        (folder / "calls.json").write_bytes(self.profile)

    def _root(self, stack: ExitStack, folder: Path, home: Path, places: list[Mount]) -> tuple[list[Mount], list[str]]:
        """The mounts below the room's own, and the arguments for the root: an image's name, another system's folder, or our own system."""
        kept = [Mount(Path("/.detent"), folder / "inside"), Mount(Path("/.detent/status"), folder / "status", True)]
        if self.name == "podman" and (own := root_devices(folder / "dev")):
            kept.append(own)
        named = self.image and not self.image.startswith("/")
        if named and not (self.name == "podman" and os.getuid() == 0):
            return kept, [self.image]
        uid, gid = os.getuid() or USER, os.getgid() or USER
        texts = {
            "passwd": f"detent:x:{uid}:{gid}::{home}:/bin/sh\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n",
            "group": f"detent:x:{gid}:\nnogroup:x:65534:\n",
            "hosts": "127.0.0.1 localhost detent\n::1 localhost\n",
        }
        source = stack.enter_context(unpack_image(self.engine, self.image, folder)) if named else Path(self.image) if self.image else None
        below = build_root(folder / "root", source, texts, (place.at for place in places))
        return [*below, *kept], ["--rootfs", str(folder / "root")]

    def _words(self, folder: Path, name: str, cwd: Path, network: bool) -> list[str]:
        """The arguments for the boundary and the limits."""
        memory, cpus, processes = self.limits
        words = [
            *self.engine.command,
            "run",
            "--name",
            name,
            f"--label=detent={folders()}",
            *self.boundary,
            *(PODMAN if self.name == "podman" else ()),
        ]
        words += [*who(self.engine), *bounds(), f"--security-opt=seccomp={folder / 'calls.json'}", "--workdir", str(cwd)]
        words += [f"--memory={memory}", f"--memory-swap={memory}", f"--cpus={cpus}", f"--pids-limit={processes}"]
        return words if network else [*words, "--network=none"]

    def _judged(self, ran: Ran, end: "End", folder: Path, program: str) -> Ran:
        """The result of a run. Only the status that the container's first program wrote is believed."""
        ran = ran._replace(leftovers=0)  # the container ends them before they can be counted
        if ran.timed_out or ran.stopped:  # it may have been created after we removed it
            self.engine.call(self.engine.remove(end.name))
        status = _last(folder / "status")
        if end.why and not status.startswith("ended "):
            return ran._replace(exit_code=None, timed_out=end.why == "timeout", stopped=end.why == "unwanted")
        match status.split():
            case ["ended", code, ooms, forks]:
                limit = "memory" if ooms != "0" else "processes" if forks != "0" else ""
                return ran._replace(exit_code=int(code), limit=limit)
            case ["missing", code]:
                raise OSError(int(code), os.strerror(int(code)), program)
            case ["limit", what, value, wanted]:
                raise CannotTell(
                    f"the sandbox does not hold {LIMITS[what]}: inside it is {value}, not {wanted}; '{program}' was not started"
                )
        end.now("broken")
        output = (folder / "said").read_text(errors="replace").strip()[-2000:] if (folder / "said").exists() else ""
        raise CannotTell(f"the sandbox broke, so '{program}' did not run to its end inside it: {output or f'{self.name} was ended'}")


def _mounted(places: Sequence[Mount]) -> list[str]:
    return [word for place in {each.at: each for each in places}.values() for word in place.words()]


def _last(status: Path) -> str:
    """The last line of the status file; the program may have written others."""
    with open(status, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - 200))
        lines = file.read().decode("utf-8", "replace").splitlines()
    return lines[-1] if lines else ""


def make(name: str, home: Path, limits: ProcessLimits, image: str) -> Container:
    """An engine by name, after a trial run; "container" is the first one that works. DetentError says what is missing."""
    if name != "container":
        return _made(name, home, limits, image)
    try:
        return _made("podman", home, limits, image)
    except DetentError as podman:
        try:
            return _made("docker", home, limits, image)
        except DetentError as docker:
            raise DetentError(f"no container engine works here: {podman.message}; {docker.message}", podman.hint) from docker


def _made(name: str, home: Path, limits: ProcessLimits, image: str) -> Container:
    engine = find(name)
    if name == "docker" and (not image or image.startswith("/")):
        raise DetentError("docker needs an image by name", 'set [sandbox] image = "NAME", or level = "podman", which can do without')
    if image.startswith("/") and not Path(image).is_dir():
        raise DetentError(f"[sandbox] image: there is no folder {image}", "name a folder that holds a root file system, or an image")
    if image and not image.startswith("/") and engine.call([*engine.command, "image", "inspect", image]).returncode != 0:
        raise DetentError(f"{name} has no image {image}, and none is fetched while programs run", f"`{name} pull {image}`, or build it")
    clean_up(engine)
    faults = []
    for way in _remembered(engine) or WAYS[name]:
        made = Container(engine._replace(way=way), home, limits, image)
        fault = _fault(made)
        if not fault:
            _remember(made.engine)
            return made
        faults.append(fault)
    hint = f"try `{name} run` by hand. Else:\n{ways_on()}"
    raise DetentError(f"{name} does not work here, and nothing is run without it: {' | '.join(faults)}", hint)


def _fault(made: Container) -> str:
    """What goes wrong when the container runs `true`; empty if nothing does."""
    with tempfile.TemporaryDirectory(prefix="detent-") as folder:
        try:
            ran = made.run(["true"], Path(folder), {"PATH": "/usr/bin:/bin"}, 60, Room(Path(folder)))
        except (CannotTell, OSError) as e:
            return str(e)
    return "" if ran.exit_code == 0 else f"it exited with code {ran.exit_code}: {ran.output}"


def _key(engine: ContainerEngine) -> str:
    stamp = engine.program.stat()
    boot = boot_id()
    return f"{boot} {os.getuid()} {engine.program} {stamp.st_ino} {stamp.st_mtime_ns}"


def _remembered(engine: ContainerEngine) -> tuple[tuple[str, ...], ...]:
    """The way that worked last, then the others; empty if none is known."""
    try:
        key, way = json.loads((state_dir() / f"{engine.name}.json").read_bytes())
    except (OSError, ValueError):
        return ()
    first = tuple(way)
    return (first, *(each for each in WAYS[engine.name] if each != first)) if key == _key(engine) and first in WAYS[engine.name] else ()


def _remember(engine: ContainerEngine) -> None:
    with contextlib.suppress(OSError):
        state_dir().mkdir(parents=True, exist_ok=True, mode=0o700)
        (state_dir() / f"{engine.name}.json").write_text(json.dumps([_key(engine), engine.way]))
