"""The real pytest, started thousands of times by the projects of tests: a process that has imported it is forked for each run, which takes a quarter of the work.

`folder()` looks like an environment of Python whose `pytest`, `python` and `python3` ask that process. Whatever a fork cannot do (another program than pytest,
variables that Python reads as it starts, a run inside a sandbox) is left to the installed ones.
TESTS_COLD=1 does without all this, as tests do that attack pytest itself (`COLD` in conftest.py).
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
NO = b"no"  # a fork would not be the same
AT_START = ("LANG", "LC_", "COVERAGE_", "LD_")  # how the names begin of what is read as Python starts, besides PYTHON…
TAKEN = ("PYTHONPATH", "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE")  # of these a fork can have what it is given
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
    """The environment whose programs are quick, for this process of the tests."""
    own = Path(tempfile.mkdtemp(prefix="detent-tests-warm-"))
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COVERAGE_"))}
    place = own / "socket"
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(str(place))
    listening.listen(64)
    ended, ends = os.pipe()  # closed with this process: then the other one ends too
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
    """What stands first in PATH for the projects of tests."""
    return str(REAL) if os.environ.get(COLD) else f"{folder() / 'bin'}{os.pathsep}{REAL}"


# -- the process that is forked ------------------------------------------------------------------------------------------------


def serve(listening: socket.socket, ended: int) -> dict[str, Any] | None:
    """Fork for each run, and tell how it ended; who hangs up ends the run. In a fork: what it is to do. None where nobody can ask any more."""
    runs: dict[int, tuple[int, socket.socket]] = {}  # the descriptor of a process: it, and who asked for it
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
                elif isinstance(key.fileobj, socket.socket):  # whoever asked is gone, so nobody wants the run any more
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
            _kill(pid)  # with what it has started


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _read(words: int) -> dict[str, Any]:
    with open(words, "rb", closefd=False) as f:
        f.seek(0)
        call: dict[str, Any] = json.loads(f.read())
    return call


def _first(call: dict[str, Any]) -> list[str]:
    """The folders that such a Python looks for modules in before its own."""
    more = [place for place in call["env"].get("PYTHONPATH", "").split(os.pathsep) if place]
    return [call["cwd"] if call["module"] else str(REAL), *more]


def _is_other(call: dict[str, Any]) -> bool:
    """Whether a Python that starts there would load something else: a module of the project that is named like one that is loaded here."""
    taken = {"sitecustomize", "usercustomize", *(name.partition(".")[0] for name in sys.modules)}
    places = [place for place in map(Path, _first(call)) if place != REAL and place.is_dir()]
    return any(_module(each) in taken for place in places for each in place.iterdir())


def _module(file: Path) -> str:
    return file.stem if file.suffix in (".py", ".so") else file.name if not file.suffix and file.is_dir() else ""


def _take(fds: list[int], listening: socket.socket, ended: int) -> None:
    """In the fork: a session of its own, and the files of whoever asked."""
    os.setsid()
    listening.close()
    os.close(ended)
    for place, fd in enumerate(fds[1:]):
        os.dup2(fd, place)
    os.closerange(3, 64)


def become(call: dict[str, Any]) -> None:
    """Be pytest with these arguments, in this folder and environment."""
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
    """Import what every run of pytest imports, and no more."""
    import gc
    from importlib import import_module
    from importlib.metadata import distributions

    for name in ("pytest", *(f"_pytest.{name}" for name in import_module("_pytest.config").default_plugins)):
        import_module(name)
    for dist in distributions():
        _ = dist.name  # what is installed is looked up by every run
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    gc.freeze()


if __name__ == "__main__":
    warm_up()
    found = serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
    if found is not None:
        become(found)
