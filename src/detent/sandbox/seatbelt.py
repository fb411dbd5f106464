"""Isolation on macOS by sandbox-exec: a profile that denies everything it does not name. Owns the profile and the command line.

NOT SEEN ON A REAL MAC: only the profile's text is tested; sandbox-exec itself was never available. So nothing relies on it until its own
probe has passed. Weaker than bubblewrap in any case: programs see the names of all processes, share the machine's /tmp without permission
to write there, and have no limits of memory or processes.
"""

import os
import platform
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from detent.errors import CannotTell, DetentError
from detent.sandbox.process import Ran, run
from detent.sandbox.sandbox_protocol import DEVNULL, Room, always

PROGRAM = Path("/usr/bin/sandbox-exec")
SYSTEM = (
    *("/usr", "/bin", "/sbin", "/System", "/Library", "/opt/homebrew", "/private/etc", "/private/var/db/timezone"),
    *("/private/var/select", "/Applications/Xcode.app", "/private/var/db/dyld"),
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/dtracehelper")
HEAD = """(version 1)
(deny default)
(allow process-fork)
(allow process-exec*)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow ipc-posix-shm (ipc-posix-name-regex #"^/detent-"))
(allow file-read-metadata)
"""


def profile(room: Room, scratch: Path) -> str:
    """The profile for a room. Later rules win: writing is allowed, then denied for what is guarded."""
    seen = (*map(Path, SYSTEM), room.workspace, scratch, *room.readable, *room.writable)
    written = (*(() if room.sealed else (room.workspace,)), scratch, *room.writable)
    lines = [
        HEAD,
        *_rule("allow file-read*", seen),
        *_rule("allow file-read* file-write*", map(Path, DEVICES), "literal"),
        *_rule("allow file-write*", written),
        *_rule("deny file-write*", room.guarded),
        "(allow network*)\n" if room.network else "(deny network*)\n",
    ]
    return "".join(lines)


def _rule(what: str, paths: Iterable[Path], kind: str = "subpath") -> list[str]:
    """One rule for these paths, both as given and resolved; no rule for no paths."""
    named = dict.fromkeys(text for path in paths for text in (str(path), os.path.realpath(path)))
    return [f"({what} {' '.join(f'({kind} {quoted(text)})' for text in named)})\n"] if named else []


def quoted(text: str) -> str:
    """A string literal of the profile's language."""
    if any(ord(char) < 32 for char in text):
        raise CannotTell(f"a path with a control character cannot be named to sandbox-exec: {text!r}")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Seatbelt:
    """Runs each program under a profile of its own."""

    name = "sandbox-exec"

    def __init__(self, program: Path = PROGRAM) -> None:
        self.program = program

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
        """Run a program under the profile of its room, with a scratch folder as HOME and TMPDIR."""
        with tempfile.TemporaryDirectory(prefix="detent-room-") as folder:
            scratch = Path(os.path.realpath(folder))
            command = [str(self.program), "-p", profile(room, scratch), *argv]
            return run(command, cwd, {"HOME": str(scratch), "TMPDIR": str(scratch), **env}, timeout, wanted, stdin, stderr, watch)


def make() -> Seatbelt:
    """The sandbox; DetentError where sandbox-exec is not available."""
    if platform.system() != "Darwin" or not os.access(PROGRAM, os.X_OK):
        raise DetentError("sandbox-exec comes with macOS and is not available here", 'set [sandbox] level = "auto"')
    return Seatbelt()


ATTACKS = """import os, socket, sys
secret, outside, guarded, port = sys.argv[1:5]
def tries(what, act):
    try:
        act()
        print(what)
    except OSError:
        pass
tries("it can read a file of your home", lambda: open(secret).read())
tries("it can write outside its sandbox", lambda: open(outside, "w").write("x"))
tries("it can write what is guarded", lambda: open(guarded, "w").write("x"))
tries("it can reach the network of the machine", lambda: socket.create_connection(("127.0.0.1", int(port)), 2).close())
print("done")
"""


def holes(sandbox: Seatbelt) -> tuple[str, ...]:
    """The attacks that got out, one sentence each; empty if none did."""
    with tempfile.TemporaryDirectory(prefix="detent-probe-") as folder, _server() as port:
        place = Path(os.path.realpath(folder))
        work, secret, outside = place / "room", place / "secret", place / "outside"
        work.mkdir()
        secret.write_text("secret")
        (work / "guarded").write_text("as it was")
        (work / "attacks.py").write_text(ATTACKS)
        room = Room(work, (work / "guarded",), (), (Path(sys.prefix), Path(sys.base_prefix)))
        words = [sys.executable, "-I", "attacks.py", str(secret), str(outside), str(work / "guarded"), port]
        try:
            lines = sandbox.run(words, work, {"PATH": "/usr/bin:/bin"}, 60, room).output.splitlines()
        except OSError as e:
            return (f"the probe could not look: {e.strerror}",)
    return tuple(lines[:-1]) if lines[-1:] == ["done"] else (f"the probe could not look: {' '.join(lines)[-200:]}",)


@contextmanager
def _server() -> Iterator[str]:
    """A port of the machine that nobody inside may reach."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield str(made.getsockname()[1])
