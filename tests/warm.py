"""Runs the command line by forking a process that has imported it, so that hundreds of calls in tests do not pay for the imports.

Each call has its own arguments, folder, environment and files, and ends like any process. What a fork cannot have (variables that Python reads
at start) needs a new process.
"""

import atexit
import gc
import io
import json
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import detent
from detent.app.speaker import agent_variable
from detent.interfaces.cli.main import main
from tests.covered import FOLDER
from tests.warm_end import leave

SOURCE = Path(__file__).parent.parent / "src"
AT_START = ("PYTHON", "LANG", "LC_", "COVERAGE_", "LD_")  # prefixes of variables that Python reads at start
MEANS_NOTHING = {"PYTHONPATH", "PYTHONPYCACHEPREFIX"}  # the first is the same for all; the second is set by the fork
HEAVY = (
    "detent.interfaces.mcp",
    "detent.interfaces.http",
    "detent.queue",
    "detent.journal.journal_postgres",
    "detent.__main__",
)  # few calls need them


def run(args: list[str], cwd: Path, env: Mapping[str, str], stdin: str = "", terminal: bool = False) -> subprocess.CompletedProcess[str]:
    """Run `detent` with these arguments to its end; `terminal`: on files that claim to be one, for machines without terminals."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        code = ended(begin(args, cwd, env, (given.fileno(), out.fileno(), err.fileno()), terminal))
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace").replace("\r\n", "\n"))
    return subprocess.CompletedProcess(["detent", *args], code, *texts)


def begin(args: list[str], cwd: Path, env: Mapping[str, str], files: tuple[int, int, int], terminal: bool = False) -> int:
    """Start `detent` on these three files. The returned descriptor delivers its exit code once it has ended."""
    told, tells = os.pipe()
    with tempfile.TemporaryFile() as asked:
        asked.write(json.dumps({"args": args, "cwd": str(cwd), "env": dict(env), "terminal": terminal}).encode())
        asked.flush()
        socket.send_fds(_server(env).mine, [b"call"], [asked.fileno(), *files, tells])
    os.close(tells)
    return told


def ended(told: int) -> int:
    """Wait for the end; the exit code."""
    with open(told, "rb") as answer:
        code = answer.read()
    assert code, "the process that is forked for each call of the command line is gone"
    return int(code)


def can(env: Mapping[str, str]) -> bool:
    """Whether a fork can have this environment."""
    return not env.get("COVERAGE_PROCESS_CONFIG") and _server(env).at_start == _at_start(env)


def _at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(AT_START) and name not in MEANS_NOTHING}


def without_marks(env: Mapping[str, str]) -> dict[str, str]:
    """An environment without the marks by which clients say that a shell belongs to an agent."""
    left = dict(env)
    while mark := agent_variable(left):
        del left[mark]
    return left


class Server:
    """The process that is forked, as tests see it. It has no parent, so that a call at a terminal is a person's; it ends with the tests."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.at_start = _at_start(env)
        self.mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        whole = {**without_marks(env), "PYTHONPATH": f"{SOURCE}{os.pathsep}{SOURCE.parent}"}  # the parent of all calls, including people's
        program = "tests.warm_counted" if FOLDER in env else "tests.warm"
        words = ["setsid", "--fork", sys.executable, "-m", program, str(theirs.fileno())]
        with theirs:
            subprocess.run(words, env=whole, stdin=subprocess.DEVNULL, pass_fds=(theirs.fileno(),), check=True)
        atexit.register(self.mine.close)


SERVERS: list[Server] = []


def _server(env: Mapping[str, str]) -> Server:
    """This process's server, started with the first caller's environment."""
    if not SERVERS:
        SERVERS.append(Server(env))
    return SERVERS[0]


# -- in the forked process -----------------------------------------------------------------------------------------------------


def serve(asked: socket.socket) -> Any:
    """Fork for each call and report its exit code. Returns None when no more calls come; in a fork, the call to make."""
    waiting: dict[int, tuple[int, int]] = {}
    with selectors.DefaultSelector() as ready:
        ready.register(asked, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                if key.fileobj is asked:
                    call = _begin(asked, waiting, ready)
                    if call is not True:
                        return call
                else:
                    _end(key.fd, waiting, ready)


def _begin(asked: socket.socket, waiting: dict[int, tuple[int, int]], ready: selectors.BaseSelector) -> Any:
    """True, and in the fork the call to make; None when no more calls come."""
    said, fds, _, _ = socket.recv_fds(asked, 16, 5)
    if not said:
        return None
    words, *files, tells = fds
    pid = os.fork()
    if not pid:
        asked.close()
        os.close(tells)
        for handle, (_, tell) in waiting.items():
            os.close(handle)
            os.close(tell)
        for place, fd in enumerate(files):
            os.dup2(fd, place)
            os.close(fd)
        with open(words, "rb") as f:
            f.seek(0)
            return json.loads(f.read())
    for fd in (words, *files):
        os.close(fd)
    handle = os.pidfd_open(pid)
    waiting[handle] = (pid, tells)
    ready.register(handle, selectors.EVENT_READ)
    return True


def _end(handle: int, waiting: dict[int, tuple[int, int]], ready: selectors.BaseSelector) -> None:
    pid, tells = waiting.pop(handle)
    ready.unregister(handle)
    os.close(handle)
    _, status = os.waitpid(pid, 0)
    os.write(tells, str(os.waitstatus_to_exitcode(status)).encode())
    os.close(tells)


class LikeATerminal(io.TextIOWrapper):
    """A file that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def become(call: dict[str, Any]) -> None:
    """Become the command line with these arguments, in this folder and environment."""
    os.environ.clear()
    os.environ.update(call["env"])
    sys.pycache_prefix = call["env"].get("PYTHONPYCACHEPREFIX")
    sys.argv = ["detent", *call["args"]]
    sys.path[:] = [place for place in sys.path if place != str(SOURCE.parent)]
    sys.modules["__main__"] = ModuleType("__main__")  # multiprocessing children of the call look there
    os.chdir(call["cwd"])
    if call["terminal"]:
        sys.stdin, sys.stdout = LikeATerminal(sys.stdin.buffer), LikeATerminal(sys.stdout.buffer)
    code: object = 1
    try:
        main()
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 as Python does it, whatever it is
        traceback.print_exc()
    leave(code)


def warm_up() -> None:
    """Import what most calls need, and freeze it for the garbage collector, so that forks share it."""
    for module in walk_packages(detent.__path__, "detent."):
        if not module.name.startswith(HEAVY):
            import_module(module.name)
    gc.freeze()


def serve_forks(descriptor: int) -> None:
    """Serve forks until no more calls come; in a fork, make the call."""
    warm_up()
    with socket.socket(fileno=descriptor) as asking:
        found = serve(asking)
    if found is not None:
        become(found)


if __name__ == "__main__":
    serve_forks(int(sys.argv[1]))
