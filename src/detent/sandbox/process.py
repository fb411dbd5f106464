"""Running one program: bounded time, bounded output, and nothing of it left behind. The whole tree of its processes ends with it.

This process becomes the parent of whatever its descendants leave behind (a subreaper), so daemons and new sessions are found too.
One of our own that is to outlive whoever starts it, a driver of a run, is started detached.
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

HEAD = TAIL = 200_000  # bytes of output kept at either end
DRAIN = 0.5  # seconds to wait for output once the program has ended
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36


class Ran(NamedTuple):
    """How a program ended and what it wrote."""

    exit_code: int | None  # None: it was ended from outside
    output: str  # both streams, in the order they came, bounded
    size: int  # bytes written in all
    digest: str  # of all bytes written
    seconds: float
    timed_out: bool = False
    stopped: bool = False  # the caller no longer wanted it
    leftovers: int = 0  # processes it left behind, ended
    limit: str = ""  # "memory" or "processes", if it ran into that limit


class Bounded:
    """A stream of any size in little memory: its head, its tail, its length and its hash."""

    def __init__(self, watch: Callable[[bytes], None] | None = None) -> None:
        self.head, self.tail, self.size, self.hash = bytearray(), bytearray(), 0, hashlib.sha256()
        self.watch = watch

    def feed(self, chunk: bytes) -> None:
        if self.watch is not None and chunk:
            with contextlib.suppress(Exception):  # who watches does not decide how a program ends
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
    """Run a program to its end, to the timeout, or until it is no longer wanted. OSError if it cannot be started.

    `watch` gets each piece of output as it comes; `first` is called in the child before it becomes the program.
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
    """Read until the program has ended and its output with it. A daemon that keeps the pipe open is not waited for."""
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
    """Take what is there; False once the stream has ended."""
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
    """End the program and every process it left behind; say how many those were."""
    left: set[int] = set()
    for _ in range(100):
        alive = [pid for pid in _descendants(child.pid, before) if pid != child.pid]
        if child.poll() is None or not has("proc"):  # where nobody says who is below it, its group is all that is known
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
_RUNNING: set[int] = set()  # what threads of this process run at the moment: a fact about the process, as its children are
_STARTING = threading.Lock()


def _prctl(option: int, value: int) -> None:
    """Ask Linux for something about this process; elsewhere it is done without (storage/machine.py says what is weaker)."""
    if has("prctl"):
        _LIBC.prctl(option, value, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of whatever our descendants leave behind."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def stay_private() -> None:
    """Let no other program of this user read our memory or environment: keys stand there. What we start is not affected."""
    _prctl(PR_SET_DUMPABLE, 0)


def die_with_parent(number: int) -> None:
    """Have the kernel send this process a signal when the thread that started it ends."""
    _prctl(PR_SET_PDEATHSIG, number)


def end_descendants() -> None:
    """End every process below this one, whatever sessions they made for themselves, until none is left."""
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
    """In the child, before it becomes the program: our own sudden death ends it too, and it leaves no dump of its memory."""
    die_with_parent(signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    first()


def _has_ended(pid: int) -> bool:
    """A process that has ended and only waits to be counted is not left behind."""
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
    """Everything below the program, and what was left behind by it and is now ours.

    Other threads have children too: programs they run here, and others, which are in our own session. A program is never in that one.
    """
    with _STARTING:
        new = _children(os.getpid()) - before - _RUNNING
    return _below(root) | {root}.union(*(_below(pid) | {pid} for pid in new if _session(pid) != os.getsid(0)))


def _below(root: int) -> set[int]:
    """Every process below one, without itself."""
    todo, seen = [root], set[int]()
    while todo:
        fresh = _children(todo.pop()) - seen
        seen |= fresh
        todo += fresh
    return seen


def start_detached(argv: Sequence[str], cwd: Path, env: Mapping[str, str], log: Path) -> int:
    """Start it in a session of its own, without input; its process id."""
    log.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        child = subprocess.Popen(argv, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=fd, stderr=fd, start_new_session=True)
    finally:
        os.close(fd)
    threading.Thread(target=child.wait, daemon=True).start()
    return child.pid
