"""Isolation by bubblewrap: namespaces, an explicit list of mounts, no capabilities, a seccomp filter. Owns its command line and results.

Bubblewrap's arguments go through a file in memory, since every user of the machine can read a command line; its own environment is empty.
A status pipe tells whether the program really started inside. If it did not, nothing is run instead.
"""

import errno
import fcntl
import os
import platform
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from detent.errors import CannotTell, DetentError
from detent.sandbox.guard import hold
from detent.sandbox.limits import ControlGroup, find_places, unheld
from detent.sandbox.mounts import DEVICES, enter, mount_words, own_devices, system_words
from detent.sandbox.process import Ran, run
from detent.sandbox.sandbox_protocol import DEVNULL, ProcessLimits, Room, always
from detent.sandbox.seccomp import build_filter
from detent.storage.machine import has

PROGRAM_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin", "/run/wrappers/bin", "/run/current-system/sw/bin")
INSTALL = "install it (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap; Arch: pacman -S bubblewrap)"
USER = 1000  # the user that root becomes inside
BOUNDARY = (
    "--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--die-with-parent", "--new-session", "--hostname", "detent",
)  # fmt: skip


def find_program(folders: Sequence[str] = PROGRAM_FOLDERS) -> Path | None:
    """Bubblewrap, searched only in system folders: never on PATH or in a workspace."""
    if not has("bubblewrap") and folders is PROGRAM_FOLDERS:
        return None
    found = (Path(folder) / "bwrap" for folder in folders)
    return next((path for path in found if path.is_file() and os.access(path, os.X_OK)), None)


class Bubblewrap:
    """Runs each program in a room of its own."""

    name = "bubblewrap"

    def __init__(self, program: Path, home: Path, limits: ProcessLimits, names: bool = False) -> None:
        self.program, self.home, self.limits, self.names = program, home, limits, names
        self.boundary: tuple[str, ...] = BOUNDARY
        self.uid, self.gid = os.getuid() or USER, os.getgid() or USER
        self.places = find_places()
        self.system = system_words()
        self.filters = {network: build_filter(platform.machine(), network, os.getuid() == 0, names) for network in (False, True)}
        self.tmp_size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4

    @property
    def unheld(self) -> tuple[str, ...]:
        """The limits that cannot be enforced on this machine, one sentence each."""
        return unheld(self.limits, self.places)

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
        """Run a program in its room. OSError: it does not exist inside. CannotTell: the room could not be made or did not last."""
        inside = enter(room, self.home)
        with ExitStack() as stack:
            held = stack.enter_context(hold(inside.guarded, inside.roots))
            fds = MemoryFiles(stack)
            home = Path(env.get("HOME", self.home))
            words = [
                *self._words(fds, home, inside.network),
                *_devices(stack.enter_context(own_devices())),
                *mount_words(inside, held, home, self.tmp_size),
            ]
            words += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(cwd.resolve()), "--clearenv"]
            words += [word for name, value in {"HOME": str(home), **env}.items() for word in ("--setenv", name, value)]
            status, status_writer = fds.pipe()
            words += ["--json-status-fd", str(status_writer), "--seccomp", str(fds.of(self.filters[inside.network]))]
            command = [str(self.program), "--args", str(fds.of(packed(words))), "--", *argv]
            group = self._group(stack)
            source = fds.copy(stdin)
            try:
                ran = run(command, Path("/"), {}, timeout, wanted, source, stderr, watch, fds.passed, group.join)
            except (OSError, subprocess.SubprocessError) as e:
                raise CannotTell(f"the sandbox broke: {self.program} could not be started: {e}") from e
            fds.close(status_writer)
            return judged(ran, os.read(status, 1 << 16), argv[0], group.hit())

    def _group(self, stack: ExitStack) -> ControlGroup:
        try:
            group = ControlGroup(self.limits, self.places)
        except OSError as e:
            raise CannotTell(f"the sandbox broke: no control group could be made: {e}") from e
        stack.callback(group.close)
        return group

    def _words(self, fds: "MemoryFiles", home: Path, network: bool) -> Iterator[str]:
        """The arguments for the boundary, the system, and the few files of /etc that are generated."""
        yield from (*self.boundary, "--uid", str(self.uid), "--gid", str(self.gid))
        if network:
            yield "--share-net"
        yield from self.system
        texts = {
            "passwd": f"detent:x:{self.uid}:{self.gid}::{home}:/bin/sh\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n",
            "group": f"detent:x:{self.gid}:\nnogroup:x:65534:\n",
        }
        if not network:
            texts["hosts"] = "127.0.0.1 localhost detent\n::1 localhost\n"
        for name, text in texts.items():
            yield from ("--perms", "0444", "--file", str(fds.of(text.encode())), f"/etc/{name}")


def _devices(own: Path | None) -> list[str]:
    """Our own devices, mounted over the machine's."""
    return [word for name in DEVICES for word in ("--dev-bind", str(own / name), f"/dev/{name}")] if own else []


class MemoryFiles:
    """What bubblewrap is given, as files in memory without names; all are closed at the end."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack
        self.passed: list[int] = []
        stack.callback(lambda: self.close(*self.passed))

    def close(self, *fds: int) -> None:
        for fd in fds:
            self.passed.remove(fd)
            os.close(fd)

    def of(self, data: bytes) -> int:
        fd = os.memfd_create("detent")
        self.passed.append(fd)
        with open(fd, "wb", closefd=False) as file:
            file.write(data)
        os.lseek(fd, 0, os.SEEK_SET)
        return fd

    def pipe(self) -> tuple[int, int]:
        ours, theirs = os.pipe()
        self.stack.callback(os.close, ours)
        self.passed.append(theirs)
        return ours, theirs

    def copy(self, path: Path) -> Path:
        """A file for standard input, as a sealed copy: the original could be reopened for writing from inside, past every mount."""
        if path == DEVNULL:
            return path
        fd = os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        self.stack.callback(os.close, fd)
        with open(fd, "wb", closefd=False) as file:
            file.write(path.read_bytes())
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
        return Path(f"/proc/self/fd/{fd}")


def packed(words: Sequence[str]) -> bytes:
    """NUL-terminated arguments for bubblewrap; rejects a NUL inside one, which would split it."""
    if any("\0" in word for word in words):
        raise ValueError("a path or a variable holds a zero byte")
    return b"".join(os.fsencode(word) + b"\0" for word in words)


def judged(ran: Ran, status: bytes, name: str, limit: str) -> Ran:
    """The result of a run. Bubblewrap reports an exit code only if the program really started inside."""
    ran = ran._replace(limit=limit, leftovers=0)  # the namespace ends them before they can be counted
    if ran.timed_out or ran.stopped or b'"exit-code"' in status:
        return ran
    output = ran.output.strip()[-2000:]
    if output.startswith("bwrap: execvp "):
        code = next((c for c in (errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR) if output.endswith(os.strerror(c))), errno.EIO)
        raise OSError(code, os.strerror(code), name)
    raise CannotTell(f"the sandbox broke, so '{name}' did not run to its end inside it: {output or 'bubblewrap was ended'}")


def make(home: Path, limits: ProcessLimits, names: bool = False) -> Bubblewrap:
    """Bubblewrap, after one trial run. `names` allows named sockets too if there is network. DetentError says what is missing."""
    program = find_program()
    if program is None:
        from detent.sandbox.ways_on import ways_on  # only needed where something is missing

        raise DetentError(
            "bubblewrap is not installed, and nothing is run without it", f"{INSTALL}. Where that is not enough:\n{ways_on()}"
        )
    made = Bubblewrap(program, home, limits, names)
    if fault := _fault(made):
        from detent.sandbox.ways_on import lack, ways_on

        raise DetentError(f"bubblewrap does not work here, and nothing is run without it: {lack(fault)}", ways_on())
    return made


def _fault(made: Bubblewrap) -> str:
    """What goes wrong when bubblewrap runs `true`; empty if nothing does."""
    with tempfile.TemporaryDirectory(prefix="detent-") as folder:
        try:
            ran = made.run(["true"], Path(folder), {"PATH": "/usr/bin:/bin"}, 20, Room(Path(folder)))
        except (CannotTell, OSError) as e:
            return str(e)
    return "" if ran.exit_code == 0 else f"it exited with code {ran.exit_code}: {ran.output}"
