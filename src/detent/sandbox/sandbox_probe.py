"""The probe: tries to break out of a sandbox before it is relied on. Owns what is prepared outside and the sentences; attacks.py tries.

A sandbox that held is remembered for this boot, program and version of our own files, so the probe runs once.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from detent.errors import CannotTell
from detent.journal.holder import boot_id
from detent.sandbox.mounts import SECRET
from detent.sandbox.sandbox_protocol import Room, Sandbox
from detent.sandbox.visible import toolchains
from detent.storage.state import state_dir

if TYPE_CHECKING:
    from detent.sandbox.attacks import OutsidePlaces

ATTACKS = Path(__file__).with_name("attacks.py")  # a program of its own, which runs inside
SENTENCES = {
    "reads_outside": "a program can read files outside its sandbox",
    "writes_outside": "a program can write files outside its sandbox",
    "changes_a_device": "a program can change the permissions of the machine's devices",
    "sees_the_home": "a program can see secret files of your home",
    "sees_sockets": "a program can see sockets of other programs (docker, ssh-agent, dbus or the display)",
    "connects_to_a_socket": "a program can connect to sockets outside its sandbox",
    "connects_to_the_host": "a program can reach the host's network although it should have none",
    "opens_vsock": "a program can open sockets that no network namespace holds",
    "shares_a_namespace": "a program shares a namespace with the host",
    "has_rights": "a program keeps rights of root, or can gain them",
    "makes_a_namespace": "a program can make namespaces, and be root in them",
    "mounts": "a program can mount",
    "remounts_for_writing": "a program can make read-only mounts writable",
    "writes_core_pattern": "a program can write settings of the kernel (/proc/sys/kernel/core_pattern)",
    "opens_sysrq": "a program can open /proc/sysrq-trigger or the kernel's memory",
    "calls_the_kernel": "a program can make system calls that are to be refused (io_uring, bpf, userfaultfd, keyctl, perf)",
    "traces": "a program can trace other programs",
    "makes_set_user_id": "a program can leave set-user-id files behind",
    "opens_a_terminal": "a program can open your terminal",
    "writes_guarded": "a program can change a guarded file",
    "makes_absent": "a program can create a guarded file that does not exist",
    "moves_guarded": "a program can move the folder of a guarded file away",
    "sees_the_environment": "a program sees environment variables that it was not given",
    "inherits_files": "a program inherits open files",
    "dumps_core": "a program that crashes leaves its memory on the disk",
    "lives_on": "a program can leave a process running",
}
SOCKETS = ("/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock", "/run/dbus/system_bus_socket", "/tmp/.X11-unix")
HISTORY = (".bash_history", ".zsh_history", ".gitconfig")
NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")
GIVEN = {"PATH": "/usr/bin:/bin"}


def probe(sandbox: Sandbox, outer: Mapping[str, str], network: bool = False) -> tuple[str, ...]:
    """One sentence for each attack that succeeded; empty if the sandbox holds. A probe that cannot look counts as a hole."""
    if sandbox.name in ("none", "outer"):
        return ("programs are not isolated at all",)
    if sandbox.name == "sandbox-exec":
        from detent.sandbox.seatbelt import Seatbelt, holes  # only on macOS

        assert isinstance(sandbox, Seatbelt)
        return holes(sandbox)
    sandbox = getattr(sandbox, "bare", sandbox)  # an image changes what is inside, not the isolation
    file, key = state_dir() / "probe.json", _key(sandbox, network)
    if key and key in _remembered(file):
        return ()
    found = _try(sandbox, outer, network)
    if key and not found:
        _remember(file, key)
    return found


def _try(sandbox: Sandbox, outer: Mapping[str, str], network: bool) -> tuple[str, ...]:
    with tempfile.TemporaryDirectory(prefix="detent-probe-") as folder, _listening(Path(folder)) as listening:
        work = Path(folder) / "room"
        (work / "conf").mkdir(parents=True)
        (work / "conf" / "guarded").write_text("as it was")
        (work / "attacks.py").write_bytes(ATTACKS.read_bytes())
        (Path(folder) / "secret").write_text("secret")
        room = Room(work, (work / "conf" / "guarded", work / "absent"), (), toolchains(outer), network)
        if network and getattr(sandbox, "names", False):
            listening["abstract"] = ""  # with network and named sockets allowed, these are the machine's too, as docs/sandbox.md says
        outside: OutsidePlaces = {**listening, **_facts(outer), "folder": folder, "network": network}  # type: ignore[typeddict-item]  # three parts, one whole
        (Path(folder) / "outside.json").write_text(json.dumps(outside | {"guarded": str(room.guarded[0]), "absent": str(room.guarded[1])}))
        command = [os.path.realpath(sys.executable), "-I", "-S", "attacks.py"]
        try:
            ran = sandbox.run(command, work, GIVEN, 60, room, stdin=Path(folder) / "outside.json")
            names = msgspec.json.decode(ran.output.strip().splitlines()[-1], type=list[str])
        except (CannotTell, OSError, IndexError, msgspec.MsgspecError) as e:
            return (f"the probe could not look: {e}",)
        return tuple(SENTENCES[name] for name in dict.fromkeys([*names, *_after(work)]))


def _after(work: Path) -> Iterator[str]:
    """What only shows from outside after the program has ended."""
    guarded = work / "conf" / "guarded"
    if not guarded.is_file() or guarded.read_text() != "as it was":
        yield "writes_guarded"
    if (work.parent / "written").exists():
        yield "writes_outside"
    if (work / "absent").exists():
        yield "makes_absent"
    with contextlib.suppress(FileNotFoundError), open(work / "lock", "rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield "lives_on"


@contextlib.contextmanager
def _listening(folder: Path) -> Iterator[dict[str, object]]:
    """Listening sockets on the host that nobody inside may reach."""
    abstract = f"detent-probe-{os.urandom(8).hex()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as named,
        socket.socket(socket.AF_UNIX) as unnamed,
    ):
        for each, address in ((named, str(folder / "socket")), (unnamed, "\0" + abstract)):
            each.bind(address)
            each.listen()
        yield {"port": tcp.getsockname()[1], "abstract": abstract}


def _facts(outer: Mapping[str, str]) -> dict[str, object]:
    home = Path(outer.get("HOME") or Path.home())
    named = [home / name for name in (*SECRET, *HISTORY)]
    files = [str(file) for path in named for file in (sorted(path.iterdir())[:20] if path.is_dir() else [path]) if file.is_file()]
    bus = outer.get("DBUS_SESSION_BUS_ADDRESS", "").removeprefix("unix:path=").partition(",")[0]
    sockets = [path for path in (*SOCKETS, outer.get("SSH_AUTH_SOCK", ""), bus) if path and os.path.exists(path)]
    null = os.stat(os.devnull)
    namespaces = {name: os.readlink(f"/proc/self/ns/{name}") for name in NAMESPACES if os.path.exists(f"/proc/self/ns/{name}")}
    return {
        "namespaces": namespaces,
        "environment": [*GIVEN, "HOME"],
        "homes": files,
        "sockets": sockets,
        "device": [null.st_dev, null.st_ino],
    }


def _key(sandbox: Sandbox, network: bool) -> str:
    """A key of this boot, user, program and our own files; empty if the result cannot be remembered."""
    program: Path | None = getattr(sandbox, "program", None)
    if program is None:
        return ""
    stamp = program.stat()
    boot = boot_id()
    if not boot:
        return ""
    ours = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))).hexdigest()
    parts = (
        boot,
        os.getuid(),
        program,
        stamp.st_ino,
        stamp.st_size,
        stamp.st_mtime_ns,
        ours,
        sys.executable,
        network,
        getattr(sandbox, "names", False),
    )
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()


def _remembered(file: Path) -> list[str]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=list[str])
    except (OSError, msgspec.MsgspecError):
        return []


def _remember(file: Path, key: str) -> None:
    """Remember the last few sandboxes that held. If this fails, the probe simply runs again."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = file.with_name(f"{file.name}.{os.getpid()}")
        new.write_bytes(msgspec.json.encode([*_remembered(file), key][-8:]))
        new.replace(file)
