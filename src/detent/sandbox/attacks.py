"""The probe's attacks. Runs inside the sandbox as a program of its own: standard library only, nothing of Detent.

Each attack harmlessly tries something that must be impossible, and returns whether it succeeded. Facts about the outside arrive as JSON on
standard input; the names of successful attacks go to standard output.
"""

import ctypes
import errno
import fcntl
import json
import os
import platform
import resource
import signal
import socket
import sys
from collections.abc import Callable
from typing import TypedDict

LIBC = ctypes.CDLL(None, use_errno=True)
ARM = platform.machine() == "aarch64"
NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000
REMOUNT, BIND, DETACH = 32, 4096, 2


class OutsidePlaces(TypedDict):
    """What the probe prepared outside for the attacks to look for."""

    folder: str  # in no room; holds a `secret` and a socket
    port: int
    abstract: str
    namespaces: dict[str, str]
    environment: list[str]
    homes: list[str]  # files of the home that no program may see
    sockets: list[str]
    device: list[int]  # the machine's /dev/null, as [st_dev, st_ino]
    guarded: str
    absent: str
    network: bool


def reads_outside(at: OutsidePlaces) -> bool:
    return _opens(at["folder"] + "/secret", os.O_RDONLY)


def writes_outside(at: OutsidePlaces) -> bool:
    """Always False: the path may exist inside, in memory, so the probe itself checks outside whether anything was written."""
    _opens(at["folder"] + "/written", os.O_WRONLY | os.O_CREAT)
    return False


def sees_the_home(at: OutsidePlaces) -> bool:
    return any(os.path.lexists(path) for path in at["homes"])


def changes_a_device(at: OutsidePlaces) -> bool:
    """The machine's device, not one of the room's own. Sets the permissions that it already has."""
    there = os.stat(os.devnull)
    if [there.st_dev, there.st_ino] != at["device"]:
        return False
    try:
        os.chmod(os.devnull, there.st_mode & 0o7777)
    except OSError:
        return False
    return True


def sees_sockets(at: OutsidePlaces) -> bool:
    return any(os.path.lexists(path) for path in at["sockets"])


def connects_to_a_socket(at: OutsidePlaces) -> bool:
    named = _connects(socket.AF_UNIX, at["folder"] + "/socket")
    return named or (bool(at["abstract"]) and _connects(socket.AF_UNIX, "\0" + at["abstract"]))


def connects_to_the_host(at: OutsidePlaces) -> bool:
    return not at["network"] and _connects(socket.AF_INET, ("127.0.0.1", at["port"]))


def opens_vsock(at: OutsidePlaces) -> bool:
    return _makes_socket(getattr(socket, "AF_VSOCK", 40)) or _makes_socket(getattr(socket, "AF_ALG", 38))


def shares_a_namespace(at: OutsidePlaces) -> bool:
    own = {name: link for name, link in at["namespaces"].items() if name != "net" or not at["network"]}
    return any(os.readlink(f"/proc/self/ns/{name}") == link for name, link in own.items())


def has_rights(at: OutsidePlaces) -> bool:
    status = _status()
    return any(int(status[name], 16) for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb")) or status["NoNewPrivs"] != "1"


def makes_a_namespace(at: OutsidePlaces) -> bool:
    return _in_child(lambda: LIBC.unshare(NEW_USER) == 0 or LIBC.unshare(NEW_NETWORK) == 0)


def mounts(at: OutsidePlaces) -> bool:
    os.makedirs("mount", exist_ok=True)
    if LIBC.mount(b"none", b"mount", b"tmpfs", 0, None) != 0:
        return False
    LIBC.umount2(b"mount", DETACH)
    return True


def remounts_for_writing(at: OutsidePlaces) -> bool:
    return _remounts(b"/", at)


def writes_core_pattern(at: OutsidePlaces) -> bool:
    _remounts(b"/proc", at), _remounts(b"/proc/sys", at)
    return _opens("/proc/sys/kernel/core_pattern", os.O_WRONLY)


def opens_sysrq(at: OutsidePlaces) -> bool:
    paths = ("/proc/sysrq-trigger", "/proc/kcore", "/proc/kpagecount", "/proc/kpageflags")
    return _opens(paths[0], os.O_WRONLY) or any(_reads_something(path) for path in paths[1:])


def calls_the_kernel(at: OutsidePlaces) -> bool:
    """io_uring_setup, bpf, userfaultfd, keyctl, perf_event_open, open_by_handle_at. Any other error means that the call got through."""
    numbers = (425, 280, 282, 219, 241, 265) if ARM else (425, 321, 323, 250, 298, 304)
    return any(_answer(number, 0, 0, 0, 0, 0) not in (errno.EPERM, errno.ENOSYS) for number in numbers)


def traces(at: OutsidePlaces) -> bool:
    return _in_child(lambda: LIBC.ptrace(0, 0, None, None) == 0)


def makes_set_user_id(at: OutsidePlaces) -> bool:
    with open("tool", "w"):
        pass
    try:
        os.chmod("tool", 0o4755)
    except OSError:
        return False
    return True


def opens_a_terminal(at: OutsidePlaces) -> bool:
    return _opens("/dev/tty", os.O_RDWR)


def writes_guarded(at: OutsidePlaces) -> bool:
    return _opens(at["guarded"], os.O_WRONLY | os.O_APPEND) or _succeeds(lambda: os.unlink(at["guarded"]))


def moves_guarded(at: OutsidePlaces) -> bool:
    return _succeeds(lambda: os.rename(os.path.dirname(at["guarded"]), "moved"))


def makes_absent(at: OutsidePlaces) -> bool:
    return _opens(at["absent"], os.O_WRONLY | os.O_CREAT | os.O_EXCL) or _succeeds(lambda: os.rmdir(at["absent"]))


def sees_the_environment(at: OutsidePlaces) -> bool:
    return bool(set(os.environ) - set(at["environment"]) - {"PWD", "LC_CTYPE", "OLDPWD", "SHLVL", "_"})


def inherits_files(at: OutsidePlaces) -> bool:
    return any(_is_open(fd) for fd in range(3, 256))


def dumps_core(at: OutsidePlaces) -> bool:
    return resource.getrlimit(resource.RLIMIT_CORE)[1] != 0


def lives_on(at: OutsidePlaces) -> bool:
    """Leave a daemon that holds a lock. Always False: the probe itself checks outside whether the lock is still held."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
        lock = os.open("lock", os.O_RDWR | os.O_CREAT)
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.close(os.open("locked", os.O_WRONLY | os.O_CREAT))
        signal.pause()
    while not os.path.exists("locked"):
        os.sched_yield()
    return False


ATTACKS: tuple[Callable[[OutsidePlaces], bool], ...] = (
    reads_outside, remounts_for_writing, writes_outside, changes_a_device, sees_the_home, sees_sockets, connects_to_a_socket, connects_to_the_host, opens_vsock, shares_a_namespace,
    has_rights, makes_a_namespace, mounts, writes_core_pattern, opens_sysrq, calls_the_kernel, traces,
    makes_set_user_id, opens_a_terminal, writes_guarded, makes_absent, moves_guarded, sees_the_environment, inherits_files, dumps_core, lives_on,
)  # fmt: skip


def _opens(path: str, flags: int) -> bool:
    try:
        os.close(os.open(path, flags | os.O_NOCTTY | os.O_NONBLOCK, 0o600))
    except OSError:
        return False
    return True


def _reads_something(path: str) -> bool:
    try:
        with open(path, "rb", buffering=0) as file:
            return bool(file.read(8))
    except OSError:
        return False


def _is_open(fd: int) -> bool:
    return _succeeds(lambda: os.fstat(fd))


def _remounts(path: bytes, at: OutsidePlaces) -> bool:
    """Make a mount writable, but only in a mount namespace of our own: elsewhere it would be the host's."""
    return os.readlink("/proc/self/ns/mnt") != at["namespaces"]["mnt"] and LIBC.mount(b"none", path, None, REMOUNT | BIND, None) == 0


def _succeeds(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True


def _connects(family: int, address: str | tuple[str, int]) -> bool:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as s:
            s.settimeout(2)
            s.connect(address)
    except OSError:
        return False
    return True


def _makes_socket(family: int) -> bool:
    return _succeeds(lambda: socket.socket(family, socket.SOCK_SEQPACKET if family == 38 else socket.SOCK_STREAM).close())


def _status() -> dict[str, str]:
    with open("/proc/self/status") as file:
        return {name: value.strip() for name, _, value in (line.partition(":") for line in file)}


def _answer(number: int, *args: int) -> int:
    """The errno of a system call; 0 if it succeeded."""
    ctypes.set_errno(0)
    return 0 if LIBC.syscall(number, *args) >= 0 else ctypes.get_errno()


def _in_child(attempt: Callable[[], bool]) -> bool:
    """Try it in a child process, which takes any lasting effect with it."""
    child = os.fork()
    if child == 0:
        os._exit(0 if attempt() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def main() -> None:
    outside: OutsidePlaces = json.load(sys.stdin)
    print(json.dumps([attack.__name__ for attack in ATTACKS if attack(outside)]), flush=True)


if __name__ == "__main__":
    main()
