"""What a program sees: the bubblewrap arguments that build a room from nothing, and its devices. Owns the list of what is visible.

Nothing exists unless it is named here or in the room. Mounts go from the outside in, so a folder inside another keeps its own rule; what
is guarded comes last and wins. Root gets devices of the room's own: the machine's belong to root, so a program inside could change their
permissions. Knows paths; starts nothing.
"""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from detent.errors import DetentError
from detent.sandbox.guard import Held
from detent.sandbox.sandbox_protocol import Room
from detent.storage.state import state_dir

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
ETC = (
    "alternatives", "crypto-policies", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "maven/logging", "maven/m2.conf", "mime.types", "nsswitch.conf",
    "os-release", "php", "pki/ca-trust", "pki/tls/certs", "pki/tls/cert.pem", "protocols", "services", "ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf",
)  # fmt: skip
ETC_PATTERNS = ("java-*",)
ETC_NETWORK = ("hosts", "resolv.conf")
HIDDEN_IN_PROC = ("kcore", "kpagecgroup", "kpagecount", "kpageflags", "sysrq-trigger")  # root can open these even without capabilities
# Never mounted, nor anything above them.
CLOSED = ("/", "/etc", "/proc", "/sys", "/dev", "/run", "/var/run", "/tmp", "/root", "/home")
SECRET = (
    ".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".netrc", ".git-credentials", ".password-store", ".config/gcloud", ".config/gh",
    ".local/share/keyrings", ".claude/.credentials.json", ".codex/auth.json", ".cargo/credentials.toml", ".npmrc", ".pypirc",
)  # fmt: skip


class Inside(NamedTuple):
    """A room whose paths are absolute and resolved, as they are mounted."""

    workspace: Path
    guarded: tuple[Path, ...]
    writable: tuple[Path, ...]
    readable: tuple[tuple[Path, Path], ...]  # (path, where it is seen)
    network: bool
    sealed: bool = False

    @property
    def roots(self) -> tuple[Path, ...]:
        """The writable folders."""
        return self.writable if self.sealed else self.places

    @property
    def places(self) -> tuple[Path, ...]:
        return (self.workspace, *self.writable)


def enter(room: Room, home: Path) -> Inside:
    """Resolve a room's paths once; DetentError names one that would open the sandbox."""
    workspace = _opened(room.workspace, (), home)
    given = (_normal(room.workspace), *(_normal(path) for path in room.writable))
    writable = tuple(_opened(path, given, home) for path in room.writable)
    readable = {workspace: workspace} if room.sealed else dict[Path, Path]()
    for path in room.readable:
        real = _opened(path, given, home)
        readable[real] = real
        if not any(_normal(path).is_relative_to(root) for root in given):
            readable[_normal(path)] = real
    moved = dict(zip(given, (workspace, *writable), strict=True))
    guarded = tuple(_inside(_normal(path), moved) for path in room.guarded)
    readable = {where: what for where, what in readable.items() if what == where or not _is_shown(where, readable)}
    readable |= {_normal(where): _opened(what, given, home) for what, where in room.instead}
    seen = tuple((what, where) for where, what in readable.items())
    inside = Inside(workspace, guarded, writable, seen, room.network, room.sealed)
    return inside._replace(guarded=tuple(path for path in guarded if not room.sealed or any(path.is_relative_to(r) for r in inside.roots)))


def _is_shown(link: Path, readable: dict[Path, Path]) -> bool:
    """Whether a link is visible through a folder above it: then it works as it is, and nothing can be mounted on it."""
    return link.is_symlink() and any(link != where and link.is_relative_to(where) for where in readable)


def _normal(path: Path) -> Path:
    return Path(os.path.normpath(path.absolute()))


def _inside(path: Path, moved: dict[Path, Path]) -> Path:
    root = next((root for root in moved if path.is_relative_to(root)), None)
    return path if root is None else moved[root] / path.relative_to(root)


def _opened(path: Path, given: tuple[Path, ...], home: Path) -> Path:
    try:
        real = path.resolve(strict=True)
    except OSError as e:
        raise DetentError(f"the sandbox cannot show {path}: {e.strerror}", "check [sandbox] mounts") from e
    around = [root.resolve() for root in given if root in _normal(path).parents]
    if not all(real.is_relative_to(root) for root in around):
        raise DetentError(
            f"the sandbox does not follow {path} to {real}: a program inside could have made that link", f"name {real} itself"
        )
    if shut := closed(real, home):
        raise DetentError(f"the sandbox does not show {real}: {shut}", "name a folder further in")
    return real


def closed(path: Path, home: Path) -> str:
    """Why a path may never be mounted; empty if it may. Compares strings, not Paths: every run asks it for every folder."""
    asked, real = str(path), os.path.realpath(home)
    for shut in (*CLOSED, str(home), real, str(state_dir())):
        if _is_in(shut, asked):
            return f"no program may see {shut}"
    for secret in (f"{real}/{name}" for name in SECRET):
        if _is_in(asked, secret) or (_is_in(secret, asked) and os.path.lexists(secret)):
            return f"no program may see {secret}"
    return ""


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def system_words() -> list[str]:
    """The arguments shared by all rooms: programs and libraries, a few files of /etc, a fresh /proc and /dev."""
    words: list[str] = []
    for name in SYSTEM:
        if os.path.islink(name):
            words += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            words += ["--ro-bind", name, name]
    etc = Path("/etc")
    patterns = [str(found.relative_to(etc)) for pattern in ETC_PATTERNS for found in sorted(etc.glob(pattern))]
    words += _shown(*(etc / name for name in (*ETC, *patterns)))
    hidden = [f"/proc/{name}" for name in HIDDEN_IN_PROC if os.access(f"/proc/{name}", os.R_OK) or os.access(f"/proc/{name}", os.W_OK)]
    words += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"]
    words += [word for path in hidden for word in ("--ro-bind", os.devnull, path)]
    return [*words, "--dev", "/dev"]


def _shown(*paths: Path) -> list[str]:
    """System files. A link into /usr stays a link, which is cheaper than a mount."""
    words: list[str] = []
    for path in filter(Path.exists, paths):
        real = path.resolve()
        words += ["--symlink", str(real), str(path)] if real.is_relative_to("/usr") else ["--ro-bind", str(path), str(path)]
    return words


def fresh(path: str, size: int, mode: str = "0700") -> list[str]:
    """An empty folder in memory."""
    return ["--perms", mode, "--size", str(size), "--tmpfs", path]


def mount_words(room: Inside, held: Held, home: Path, size: int) -> list[str]:
    """The arguments for this room, in layers: empty memory folders, then what is read, then what is written, then guards."""
    layers: dict[Path, list[str]] = {Path("/dev/shm"): fresh("/dev/shm", size, "1777"), Path("/tmp"): fresh("/tmp", size, "1777")}
    if home not in layers and not any(
        home.is_relative_to(place) for place in (*room.places, *map(Path, (*SYSTEM, "/etc", "/proc", "/dev")))
    ):
        layers[home] = fresh(str(home), size)
    layers |= {where: ["--ro-bind", str(what), str(where)] for what, where in room.readable}
    layers |= {root: ["--bind", str(root), str(root)] for root in room.roots}
    layers = {path: pin for path, pin in held.pins.items() if path not in layers} | layers
    layers = {path: each for path, each in layers.items() if not any(path.is_relative_to(guard) for guard in held.guards)}
    ordered = sorted(layers, key=lambda path: len(path.parts))
    guards = sorted(held.guards, key=lambda path: len(path.parts))
    known = _shown(*(Path("/etc") / name for name in ETC_NETWORK)) if room.network else []
    return [*known, *(w for path in ordered for w in layers[path]), *(w for path in guards for w in held.guards[path])]


DEVICES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}


def make_devices(folder: Path) -> None:
    """Create the few devices that every program expects."""
    for name, number in DEVICES.items():
        os.mknod(folder / name, stat.S_IFCHR, os.makedev(*number))
        (folder / name).chmod(0o666)


@contextmanager
def own_devices() -> Iterator[Path | None]:
    """A temporary folder with devices if we are root, who could change the machine's. None for others, or where none can be made or opened."""
    for place in _places() if os.getuid() == 0 else ():
        with tempfile.TemporaryDirectory(prefix="detent-dev-", dir=place, ignore_cleanup_errors=True) as made:
            if _work(Path(made)):
                yield Path(made)
                return
    yield None


def _places() -> Iterator[Path]:
    """Where devices may work; a file system may forbid them."""
    with suppress(OSError):
        state_dir().mkdir(parents=True, exist_ok=True)
        yield state_dir()
    yield from (Path(tempfile.gettempdir()), Path("/var/tmp"))


def _work(folder: Path) -> bool:
    try:
        make_devices(folder)
        (folder / "null").write_bytes(b"")
    except OSError:
        return False
    return True
