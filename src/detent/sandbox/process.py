"""Running one program with bounded time and output, and killing every process that it leaves behind.

On Linux this process becomes a subreaper: orphaned descendants become its children, so daemons and new sessions are found too. A process
of our own that must outlive its starter (a driver of a run) is started detached.
"""

import contextlib
import ctypes
import hashlib
import os
import resource
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from detent.storage.machine import has

HEAD = TAIL = 200_000  # bytes of output kept at each end
DRAIN = 0.5  # seconds to wait for output after the program ended
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36


class Ran(NamedTuple):
    """How a program ended and what it wrote."""

    exit_code: int | None  # None: it was killed by us
    output: str  # both streams as they arrived, cut in the middle
    size: int  # bytes written in total
    digest: str  # SHA-256 of all bytes written
    seconds: float
    timed_out: bool = False
    stopped: bool = False  # the caller no longer wanted it
    leftovers: int = 0  # processes it left behind, now killed
    limit: str = ""  # "memory" or "processes" if it hit that limit


class Bounded:
    """A stream of any size kept in little memory: its head, tail, length and hash."""

    def __init__(self, watch: Callable[[bytes], None] | None = None) -> None:
        self.head, self.tail, self.size, self.hash = bytearray(), bytearray(), 0, hashlib.sha256()
        self.watch = watch

    def feed(self, chunk: bytes) -> None:
        if self.watch is not None and chunk:
            with contextlib.suppress(Exception):  # a watcher does not decide how a program ends
                self.watch(chunk)
        self.size += len(chunk)
        self.hash.update(chunk)
        room = max(0, HEAD - len(self.head))
        self.head += chunk[:room]
        self.tail += chunk[room:]
        if len(self.tail) > 2 * TAIL:
            del self.tail[:-TAIL]

    def text(self) -> str:
        tail = bytes(self.tail[-TAIL:])
        cut = self.size - len(self.head) - len(tail)
        middle = f"\n[… {cut} bytes left out of {self.size}; sha256 {self.hash.hexdigest()}]\n".encode() if cut else b""
        return (bytes(self.head) + middle + tail).decode("utf-8", "replace")


def run(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    wanted: Callable[[], bool] = lambda: True,
    stdin: Path = Path(os.devnull),
    stderr: int = subprocess.STDOUT,
    watch: Callable[[bytes], None] | None = None,
    pass_fds: Sequence[int] = (),
    first: Callable[[], None] = lambda: None,
) -> Ran:
    """Run a program until it ends, times out or is no longer wanted. OSError if it cannot be started.

    `watch` gets each chunk of output; `first` is called in the child before it becomes the program.
    """
    adopt_orphans()
    stay_private()
    before = _children(os.getpid())
    begun = time.monotonic()
    out = Bounded(watch)
    with stdin.open("rb") as source:
        child = _start(argv, cwd, env, source, stderr, pass_fds, first)
    try:
        why = _pump(child, out, begun + timeout, wanted)
    finally:
        left = _end_all(child, before)
        _RUNNING.discard(child.pid)
        if child.stdout is not None:
            child.stdout.close()
    code = None if why else child.returncode
    return Ran(code, out.text(), out.size, out.hash.hexdigest(), time.monotonic() - begun, why == "timeout", why == "unwanted", left)


def _start(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    source: IO[bytes],
    stderr: int,
    pass_fds: Sequence[int],
    first: Callable[[], None],
) -> subprocess.Popen[bytes]:
    with _STARTING:
        child = subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(env),
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
            pass_fds=pass_fds,
            preexec_fn=lambda: _begin(first),
        )
        _RUNNING.add(child.pid)
    return child


def _pump(child: subprocess.Popen[bytes], out: Bounded, deadline: float, wanted: Callable[[], bool]) -> str:
    """Read until program and output have ended; "timeout" or "unwanted" if stopped before. A daemon that holds the pipe open is not waited for."""
    assert child.stdout is not None
    fd = child.stdout.fileno()
    os.set_blocking(fd, False)
    ended_at: float | None = None
    look = time.monotonic() + 1
    with selectors.DefaultSelector() as ready:
        ready.register(fd, selectors.EVENT_READ)
        while True:
            now = time.monotonic()
            if now > deadline:
                return "timeout"
            if now > look:
                look = now + 1
                if not wanted():
                    return "unwanted"
            if ended_at is None and child.poll() is not None:
                ended_at = now
            if ended_at is not None and now - ended_at > DRAIN:
                return ""
            if ready.select(0.02 if ended_at is None else 0.005) and not _take(fd, out):
                return _wait(child, deadline)


def _take(fd: int, out: Bounded) -> bool:
    """Read what is available; False at the end of the stream."""
    try:
        chunk = os.read(fd, 1 << 16)
    except BlockingIOError:
        return True
    out.feed(chunk)
    return bool(chunk)


def _wait(child: subprocess.Popen[bytes], deadline: float) -> str:
    try:
        child.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return "timeout"
    return ""


def _end_all(child: subprocess.Popen[bytes], before: set[int]) -> int:
    """Kill the program and every process it left behind; returns how many those were."""
    left: set[int] = set()
    for _ in range(100):
        alive = [pid for pid in _descendants(child.pid, before) if pid != child.pid]
        if child.poll() is None or not has("proc"):  # without /proc, only its process group is known
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
        left |= {pid for pid in alive if not _has_ended(pid)}
        for pid in alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for pid in alive:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0) if pid in _children(os.getpid()) else None
        if child.poll() is None:
            child.wait()
        elif not alive:
            break
    return len(left)


_LIBC = ctypes.CDLL(None, use_errno=True)
_RUNNING: set[int] = set()  # the pids that threads of this process run now; process-wide, like its children
_STARTING = threading.Lock()


def _prctl(option: int, value: int) -> None:
    """Call prctl about this process; does nothing without it (storage/machine.py says what is weaker then)."""
    if has("prctl"):
        _LIBC.prctl(option, value, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def stay_private() -> None:
    """Keep this user's other programs from reading our memory and environment, which hold keys. Does not affect programs we start."""
    _prctl(PR_SET_DUMPABLE, 0)


def die_with_parent(number: int) -> None:
    """Have the kernel signal this process when the thread that started it ends."""
    _prctl(PR_SET_PDEATHSIG, number)


def end_descendants() -> None:
    """Kill every process below this one, in whatever session, until none is left."""
    adopt_orphans()
    for _ in range(1000):
        below = _below(os.getpid())
        if not [pid for pid in below if not _has_ended(pid)]:
            return
        for pid in below:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)


def _begin(first: Callable[[], None]) -> None:
    """In the child before it becomes the program: have it die with us, and disable core dumps."""
    die_with_parent(signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    first()


def _has_ended(pid: int) -> bool:
    """Whether a process is gone or a zombie, and so was not left behind."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (OSError, IndexError):
        return True


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _children(pid: int) -> set[int]:
    found: set[int] = set()
    if not has("proc"):
        return found
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found |= {int(p) for p in (task / "children").read_text().split()}
    return found


def _descendants(root: int, before: set[int]) -> set[int]:
    """Everything below the program, and orphans of it that are now our children.

    Other threads have children as well: programs run here, and others, which stay in our own session. A program run here never does.
    """
    with _STARTING:
        new = _children(os.getpid()) - before - _RUNNING
    return _below(root) | {root}.union(*(_below(pid) | {pid} for pid in new if _session(pid) != os.getsid(0)))


def _below(root: int) -> set[int]:
    """Every process below `root`, without itself."""
    todo, seen = [root], set[int]()
    while todo:
        fresh = _children(todo.pop()) - seen
        seen |= fresh
        todo += fresh
    return seen


def start_detached(argv: Sequence[str], cwd: Path, env: Mapping[str, str], log: Path, given: int = subprocess.DEVNULL) -> int:
    """Start a program in a session of its own; returns its pid. `given`: the descriptor that becomes its standard input; none by default."""
    log.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        child = subprocess.Popen(argv, cwd=cwd, env=dict(env), stdin=given, stdout=fd, stderr=fd, start_new_session=True)
    finally:
        os.close(fd)
    threading.Thread(target=child.wait, daemon=True).start()
    return child.pid
