"""What tests may need of their machine. Each need is found out by trying it, once for a whole run.

A test declares it with `@pytest.mark.needs("terminals")`, or asks with `need("terminals")` where it gets the thing. If it is missing, the test
is skipped with the reason in this table, and the end of the run says how to get it. Knows nothing of what is tested.
"""

import contextlib
import os
import pty
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from detent.storage.machine import has

LACKS = "TESTS_MACHINE_LACKS"  # missing needs that the first process of a run found; can be set by hand: "terminals,cargo"
PATIENCE = 120.0  # seconds for a program to print its version on a busy machine
HERE = Path(__file__).parent


class Need(NamedTuple):
    """One thing that a machine may lack."""

    works: Callable[[], bool]
    why: str  # the skip reason
    how: str  # how to get it


def runs(*words: str, **more: str) -> bool:
    """Whether a program starts and succeeds; programs beside Python count, such as go."""
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}", **more}
    try:
        return subprocess.run(words, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def namespaces() -> bool:
    """Whether bubblewrap may create namespaces, as root or not. True without bubblewrap, since it cannot be tried."""
    own = ("--unshare-all", "--unshare-user", "--disable-userns", "--hostname", "own", "--proc", "/proc", "--dev", "/dev")
    return not shutil.which("bwrap") or runs("bwrap", "--ro-bind", "/", "/", *own, "true")


def groups() -> bool:
    """Whether a control group that limits processes can be created."""
    from detent.sandbox.limits import ControlGroup, find_places
    from detent.sandbox.sandbox_protocol import ProcessLimits

    places = find_places()
    with contextlib.suppress(OSError):
        ControlGroup(ProcessLimits(), places).close()
        return bool(places)
    return False


def terminals() -> bool:
    try:
        for fd in pty.openpty():
            os.close(fd)
    except OSError:
        return False
    return True


def loopback() -> bool:
    """Whether processes can connect over 127.0.0.1."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname(), PATIENCE):
            return True
    except OSError:
        return False


def small_disks() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        return runs("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder) and runs("umount", "-l", folder)


def owners() -> bool:
    """Whether files can be given to other users: root can, unless a container has too few users."""
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(OSError):
        os.chown(folder, 12345, 12346)
        return True
    return False


def alone() -> bool:
    """Whether this process is outside a container: all users exist, and root has its rights."""
    with contextlib.suppress(OSError, StopIteration):
        users = Path("/proc/self/uid_map").read_text().split()
        rights = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("CapEff"))
        return users[-1] == "4294967295" and (os.getuid() != 0 or bool(int(rights.split()[1], 16) >> 21 & 1))  # 21: CAP_SYS_ADMIN
    return True


def links() -> bool:
    """Whether the file system of the tests has hard links; some shared folders of containers lack them."""
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(OSError):
        (Path(folder) / "a").touch()
        os.link(Path(folder) / "a", Path(folder) / "b")
        return True
    return False


def engine() -> bool:
    """Whether podman can run something here, in one of Detent's ways."""
    code = "import os; from detent.sandbox import choose; choose('podman', {'HOME': os.environ['XDG_STATE_HOME']})"
    state = tempfile.mkdtemp()
    try:
        return runs(sys.executable, "-c", code, XDG_STATE_HOME=state)
    finally:
        shutil.rmtree(state, ignore_errors=True)


def program(name: str, package: str, *words: str) -> Need:
    """A program that exists and starts; a shim of rustup or pyenv with nothing behind it does not count."""
    installed = f"install it (Debian, Ubuntu: apt-get install {package})"
    return Need(lambda: runs(name, *(words or ("--version",))), f"{name} is not installed, or does not start", installed)


def hidden_too(name: str, need: Need) -> Need:
    """A Linux-only need, also missing where the tests simulate another system."""
    return need._replace(works=lambda: has(name) and need.works())


def java(program: str, folder: str, packages: str) -> Need:
    repository = Path("/usr/share/maven-repo") / folder
    there = lambda: shutil.which(program) is not None and repository.is_dir()  # noqa: E731 - one line of a table
    return Need(there, f"{program} of Debian is not installed", f"Debian, Ubuntu: apt-get install {packages}")


def packages(folder: str) -> Need:
    modules = HERE.parent / folder / "node_modules"
    return Need(modules.is_dir, f"the packages of {folder}/package.json are not installed", "install npm; ./x test does the rest")


def builds() -> bool:
    """Whether this repository's uv can build a package without network."""
    uv = HERE.parent / ".tools" / "bin" / "uv"
    words = ("pip", "install", "--quiet", "--offline", "--dry-run", "--python", sys.executable, "hatchling>=1.27")
    return uv.is_file() and runs(str(uv), *words)


def find_postgres(name: str) -> str:
    """A PostgreSQL program on PATH or in Debian's folder; empty if missing."""
    kept = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return shutil.which(name) or next(map(str, kept), "")


NEEDS: dict[str, Need] = {
    "bubblewrap": hidden_too("bubblewrap", program("bwrap", "bubblewrap")),
    "namespaces": Need(namespaces, "no user namespaces can be made here", "docs/sandbox.md, In a container, has the line for each engine"),
    "proc": hidden_too("proc", Need(lambda: True, "there is no /proc here", "run the tests on Linux")),
    "openat2": hidden_too("openat2", Need(lambda: True, "there is no openat2 here", "run the tests on Linux")),
    "prctl": hidden_too("prctl", Need(lambda: True, "there is no prctl here", "run the tests on Linux")),
    "groups": hidden_too("cgroups", Need(groups, "no control group can be made here", "run as root with a writable /sys/fs/cgroup, or in a user's own slice of systemd")),
    "engine": Need(engine, "no container can be run here", "install podman and runc, and allow user namespaces and control groups"),
    "systemd": program("systemd-analyze", "systemd"),
    "terminals": Need(terminals, "no pseudo terminals can be had here", "mount -t devpts devpts /dev/pts"),
    "loopback": Need(loopback, "no connection over 127.0.0.1 can be made here", "ip link set lo up"),
    "owners": Need(owners, "only root can give files away", "run the tests as root"),
    "no container": Need(alone, "the container around this forbids it already", "run the tests outside of a container"),
    "small disks": Need(small_disks, "a small disk cannot be mounted here", "run as root, with the right to mount"),
    "hard links": Need(links, "the temporary folder has no hard links", "set TMPDIR to a folder of an ordinary file system"),
    "bd": Need(lambda: runs("bd", "version"), "the program bd is not here", "install beads, https://github.com/steveyegge/beads"),
    "cargo": program("cargo", "cargo"),
    "cc": program("cc", "gcc"),
    "chromium": program("/usr/bin/chromium", "chromium"),
    "cmake": program("cmake", "cmake"),
    "git": program("git", "git"),
    "go": program("go", "golang", "version"),
    "gradle": java("gradle", "junit", "gradle default-jdk-headless junit4"),
    "make": program("make", "make"),
    "mvn": java("mvn", "org/apache/maven/plugins/maven-surefire-plugin", "maven default-jdk-headless libsurefire-java libmaven-compiler-plugin-java junit4"),
    "node": program("node", "nodejs"),
    "phpunit": program("phpunit", "phpunit"),
    "postgres": Need(lambda: bool(find_postgres("initdb")), "PostgreSQL is not installed", "Debian, Ubuntu: apt-get install postgresql"),
    "uv": Need(builds, "uv cannot build this project without a network here", "./x setup fetches uv and what the build needs"),
    "rspec": program("rspec", "ruby-rspec"),
    "tmux": program("tmux", "tmux", "-V"),
    "clients": packages("tests/clients"),
    "runners_js": packages("tests/runners_js"),
    "web": packages("web"),
}  # fmt: skip
JAVASCRIPT = ("node", "runners_js")
RUNNERS: dict[str, tuple[str, ...]] = {  # the programs that a test runner needs; the others come with Python
    "cargo": ("cargo", "cc"), "ctest": ("cmake", "cc", "make"), "go": ("go",), "gradle": ("gradle",), "jest": JAVASCRIPT, "maven": ("mvn",),
    "mocha": JAVASCRIPT, "node": ("node",), "phpunit": ("phpunit",), "rspec": ("rspec",), "vitest": JAVASCRIPT,
}  # fmt: skip
_known: dict[str, bool] = {}


def take_stock() -> None:
    """Try everything once, for the processes that this one starts."""
    if LACKS not in os.environ:
        with ThreadPoolExecutor() as pool:
            works = dict(zip(NEEDS, pool.map(lambda row: row.works(), NEEDS.values()), strict=True))
        os.environ[LACKS] = ",".join(name for name, found in works.items() if not found)


def lacks(name: str) -> bool:
    """Whether the machine lacks something. The first answer holds for the whole run."""
    row = NEEDS[name]
    if (found := os.environ.get(LACKS)) is not None:
        return name in found.split(",")
    if name not in _known:
        _known[name] = row.works()
    return not _known[name]


def missing(names: Iterable[str]) -> Need | None:
    """The first of these needs that is missing."""
    return next((NEEDS[name] for name in names if lacks(name)), None)


def need(*names: str) -> None:
    """Skip the running test if the machine lacks one of these."""
    if found := missing(names):
        pytest.skip(found.why)


def need_runner(name: str) -> None:
    """Skip the running test if the programs of a test runner are missing."""
    need(*RUNNERS.get(name, ()))


walls = pytest.mark.needs("bubblewrap", "namespaces")  # for tests of the sandbox itself


def no_walls() -> bool:
    """Whether the machine cannot sandbox agents, so that tests not about the sandbox run without one."""
    return lacks("bubblewrap") or lacks("namespaces")


def how_to_get(reason: str) -> str:
    """What to do about a skip reason; empty if it is not in the table."""
    return next((row.how for row in NEEDS.values() if row.why == reason), "")
