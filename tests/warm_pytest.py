"""The real pytest, started thousands of times by test projects: a process that has imported it is forked for each run, which takes a quarter of the time.

`folder()` looks like a Python environment whose `pytest`, `python` and `python3` ask that process. What a fork cannot do (programs other than
pytest, variables that Python reads at start, a run inside a sandbox) goes to the installed ones.
TESTS_COLD=1 disables all this, for tests that attack pytest itself (`COLD` in conftest.py).
"""

import atexit
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.warm_end import leave

HERE = Path(__file__).parent.parent
REAL = Path(sys.executable).parent
COLD = "TESTS_COLD"
NO = b"no"  # a fork would behave differently
AT_START = ("LANG", "LC_", "COVERAGE_", "LD_")  # prefixes of variables that Python reads at start, besides PYTHON…
TAKEN = ("PYTHONPATH", "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE")  # a fork can have its own values of these
ASKS = """#!{python} -ISE
import os, sys

NAME, ARGS = os.path.basename(sys.argv[0]), sys.argv[1:]


def plainly():
    program = {real!r} + "/" + NAME
    os.execv(program, [program, *ARGS])


module = NAME != "pytest"
other = {{n: v for n, v in os.environ.items() if n.startswith({at_start!r}) or (n.startswith("PYTHON") and n not in {taken!r})}}
walled = os.readlink("/proc/self/ns/mnt") != {world!r} if os.path.exists("/proc/self/ns/mnt") else True
if (module and ARGS[:2] != ["-m", "pytest"]) or other != {other!r} or walled:
    plainly()
import json, socket

asking = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
try:
    asking.connect({place!r})
except OSError:
    plainly()
call = {{"args": ARGS[2:] if module else ARGS, "module": module, "cwd": os.getcwd(), "env": dict(os.environ)}}
words = os.memfd_create("call")
os.write(words, json.dumps(call, ensure_ascii=True).encode())
socket.send_fds(asking, [b"run"], [words, 0, 1, 2])
said = asking.recv(16)
if said == {no!r}:
    plainly()
code = int(said) if said else 1
if code < 0:
    import signal

    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
"""


@cache
def folder() -> Path:
    """The environment with the quick programs, for this test process."""
    own = Path(tempfile.mkdtemp(prefix="detent-tests-warm-"))
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COVERAGE_"))}
    place = own / "socket"
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(str(place))
    listening.listen(64)
    ended, ends = os.pipe()  # closed with this process; then the other one ends too
    words = ["setsid", "--fork", sys.executable, "-m", "tests.warm_pytest", str(listening.fileno()), str(ended)]
    subprocess.run(words, env={**env, "PYTHONPATH": str(HERE)}, stdin=subprocess.DEVNULL, pass_fds=(listening.fileno(), ended), check=True)
    listening.close()
    os.close(ended)
    os.set_inheritable(ends, False)
    other = {name: value for name, value in env.items() if name.startswith(AT_START)}
    world = os.readlink("/proc/self/ns/mnt")
    text = ASKS.format(
        python=sys.executable, real=str(REAL), at_start=AT_START, taken=TAKEN, other=other, place=str(place), world=world, no=NO
    )
    (own / "bin").mkdir()
    for name in ("pytest", "python", "python3"):
        (own / "bin" / name).write_text(text)
        (own / "bin" / name).chmod(0o755)
    (own / "lib").symlink_to(REAL.parent / "lib")
    shutil.copy(REAL.parent / "pyvenv.cfg", own)
    return own


def path() -> str:
    """The first entry of PATH for test projects."""
    return str(REAL) if os.environ.get(COLD) else f"{folder() / 'bin'}{os.pathsep}{REAL}"


# -- in the forked process -----------------------------------------------------------------------------------------------------


def serve(listening: socket.socket, ended: int) -> dict[str, Any] | None:
    """Fork for each run and report its exit code; a client that hangs up ends its run. In a fork: the call to make. None when no client can come."""
    runs: dict[int, tuple[int, socket.socket]] = {}  # process descriptor -> pid and the client's socket
    with selectors.DefaultSelector() as ready:
        for each in (listening, ended):
            ready.register(each, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                if key.fd == ended:
                    return None
                if key.fileobj is listening:
                    asker, _ = listening.accept()
                    _, fds, _, _ = socket.recv_fds(asker, 16, 4)
                    call = _read(fds[0]) if fds else {}
                    pid = os.fork() if call and not _is_other(call) else None
                    if pid == 0:
                        _take(fds, listening, ended)
                        return call
                    for fd in fds:
                        os.close(fd)
                    if pid is None:
                        with suppress(OSError), asker:
                            asker.send(NO)
                    else:
                        handle = os.pidfd_open(pid)
                        runs[handle] = (pid, asker)
                        ready.register(handle, selectors.EVENT_READ, asker)
                        ready.register(asker, selectors.EVENT_READ, handle)
                elif isinstance(key.fileobj, socket.socket):  # the client is gone, so nobody wants the run
                    ready.unregister(key.fileobj)
                    if key.data in runs:
                        _kill(runs[key.data][0])
                else:
                    _tell(runs.pop(key.fd), key.fd, ready)


def _tell(run: tuple[int, socket.socket], handle: int, ready: selectors.BaseSelector) -> None:
    pid, asker = run
    ready.unregister(handle)
    os.close(handle)
    if asker in ready.get_map():
        ready.unregister(asker)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with asker:
        try:
            asker.send(str(code).encode())
        except OSError:
            _kill(pid)  # and everything it started


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _read(words: int) -> dict[str, Any]:
    with open(words, "rb", closefd=False) as f:
        f.seek(0)
        call: dict[str, Any] = json.loads(f.read())
    return call


def _first(call: dict[str, Any]) -> list[str]:
    """The folders on that Python's module path before its own."""
    more = [place for place in call["env"].get("PYTHONPATH", "").split(os.pathsep) if place]
    return [call["cwd"] if call["module"] else str(REAL), *more]


def _is_other(call: dict[str, Any]) -> bool:
    """Whether a Python started there would load other modules: the project has one named like a module loaded here."""
    taken = {"sitecustomize", "usercustomize", *(name.partition(".")[0] for name in sys.modules)}
    places = [place for place in map(Path, _first(call)) if place != REAL and place.is_dir()]
    return any(_module(each) in taken for place in places for each in place.iterdir())


def _module(file: Path) -> str:
    return file.stem if file.suffix in (".py", ".so") else file.name if not file.suffix and file.is_dir() else ""


def _take(fds: list[int], listening: socket.socket, ended: int) -> None:
    """In the fork: start a session and take over the client's files."""
    os.setsid()
    listening.close()
    os.close(ended)
    for place, fd in enumerate(fds[1:]):
        os.dup2(fd, place)
    os.closerange(3, 64)


def become(call: dict[str, Any]) -> None:
    """Become pytest with these arguments, in this folder and environment."""
    os.environ.clear()
    os.environ.update(call["env"])
    os.chdir(call["cwd"])
    sys.pycache_prefix = call["env"].get("PYTHONPYCACHEPREFIX") or None
    sys.dont_write_bytecode = bool(call["env"].get("PYTHONDONTWRITEBYTECODE"))
    sys.path[:] = [*_first(call), *(place for place in sys.path[1:] if place != str(HERE))]
    sys.argv = [str(REAL / "pytest"), *call["args"]]
    sys.modules["__main__"] = ModuleType("__main__")
    code: object = 1
    try:
        code = sys.modules["pytest"].console_main()
    except SystemExit as end:
        code = end.code
    leave(code)


def warm_up() -> None:
    """Import exactly what every run of pytest imports."""
    import gc
    from importlib import import_module
    from importlib.metadata import distributions

    for name in ("pytest", *(f"_pytest.{name}" for name in import_module("_pytest.config").default_plugins)):
        import_module(name)
    for dist in distributions():
        _ = dist.name  # every run looks up what is installed
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    gc.freeze()


if __name__ == "__main__":
    warm_up()
    found = serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
    if found is not None:
        become(found)
