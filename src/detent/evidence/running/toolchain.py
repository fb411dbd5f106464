"""The installed test runner: its packages, their plugins, and what Python or Node load before them. Recorded when a run starts.

What judges must not change while it judges. Files are compared by size and times, and read only where those differ. The record is in the
git dir under its own digest, which the run's first event holds. Knows paths and bytes; runs nothing.
"""

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from detent.evidence.runners import RUNNERS, Command
from detent.evidence.running.installed import packages
from detent.storage import state
from detent.storage.state import state_dir

Listing = dict[str, str]  # path -> digest of the content, with a link's target
PYTHON = (
    "pytest", "pluggy", "iniconfig", "packaging", "exceptiongroup", "tomli", "coverage", "nose2", "unittest_xml_reporting",
    "pyhamcrest", "assertpy", "sure", "expects", "testfixtures",
)  # runners, and what decides for tests whether an answer is right; so below  # fmt: skip
JAVASCRIPT = ("jest", "vitest", "mocha", "node")
NODE = ("chai", "expect", "should", "sinon", "unexpected", "power-assert", "@jest/globals", "@testing-library/jest-dom", "jest-extended")
NAMED = re.compile(r"[\"'\s=,:\[]((?:@[\w.-]+/)?[a-z][\w.-]*)(?:/[\w./-]*)?(?=[\"'\s,\]]|$)", re.MULTILINE)  # may be a package name
SECTIONS = ("jest", "mocha", "vitest", "ava", "babel", "nyc", "c8")  # keys of package.json that a runner reads
SYSTEM_GEMS = (
    "/var/lib/gems/*",
    "/usr/share/rubygems-integration/*",
    "/usr/lib/ruby/gems/*",
    "/usr/local/lib/ruby/gems/*",
    "/usr/local/bundle",
)
OWN_GEMS = (".gem/ruby/*", ".local/share/gem/ruby/*", ".rbenv/versions/*/lib/ruby/gems/*", ".rvm/gems/*", ".asdf/installs/ruby/*/lib/ruby/gems/*",
            ".local/share/mise/installs/ruby/*/lib/ruby/gems/*")  # below the home  # fmt: skip
GO = ("bin/go", "VERSION", "go.env", "src/testing", "src/internal/testdeps", "src/internal/testlog", "pkg/tool")
STARTUP = ("sitecustomize.py", "usercustomize.py")
PLUGIN = b"[pytest11]"
LOADED = re.compile(r"(?:import[ \t]+|__import__\(['\"]|import_module\(['\"])(\w+)")  # by a start-up file
NEEDS = re.compile(r"^Requires-Dist: ([\w.-]+)(?!.*extra *==)", re.MULTILINE)
RUBY = re.compile(r"(?:rspec|minitest|test-unit|shoulda|diff-lcs|power_assert)(?:-[a-z]\w*)*")
PHP = ("phpunit", "sebastian", "pestphp", "myclabs", "bin", "composer", "autoload.php")
MOST = 30_000  # files
SHARED = ("package.json", "package-lock.json", "tsconfig.json")
CACHES = frozenset({"__pycache__", ".cache", ".vite", ".vite-temp", ".vitest"})
SELF_MADE = (".pyc", ".pyo")


def listing(command: Command | None, home: Path, env: Mapping[str, str], cache: Path) -> Listing:
    """Every file of the runner with its digest. Digests of files with unchanged stamps are remembered."""
    known = _remembered()
    fresh: dict[str, list[str]] = {}
    found: Listing = {}
    for path in _files(command, home, env, cache) if command else ():
        stamp = _stamp(path)
        old = known.get(path)
        found[path] = old[1] if old and old[0] == stamp and stamp else _digest(path)
        fresh[path] = [stamp, found[path]]
    if any(known.get(path) != value for path, value in fresh.items()):
        state.write_sealed(_stamps(), json.dumps({**known, **fresh} if len(known) < MOST else fresh), durable=False)
    return found


def stamps(found: Listing, *folders: Path) -> dict[str, str]:
    """The stamps of these files and of everything below some folders. A file that is written and restored gets a new stamp too."""
    paths = [*found, *(path for folder in folders for path in _below(folder))]
    return {path: _stamp(path) for path in paths}


def take(found: Listing, folder: Path) -> str:
    """Store a listing in a folder and return its digest; empty if the listing is."""
    if not found:
        return ""
    text = json.dumps(found, sort_keys=True)
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    file = folder / f"{digest}.json"
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        scratch = file.with_name(f".{file.name}.{os.urandom(4).hex()}")
        scratch.write_text(text, "utf-8", "surrogatepass")
        scratch.replace(file)
    return digest


def changed(digest: str, now: Listing, folder: Path) -> tuple[str, ...] | None:
    """The paths that differ from a stored listing, lists of names last; None if it is lost or damaged."""
    if not digest:
        return ()
    try:
        text = (folder / f"{digest}.json").read_bytes()
        then: Listing = json.loads(text)
    except (OSError, ValueError):
        return None
    if sha256(text).hexdigest() != digest:
        return None
    missing = [path for path in then if path not in now]
    other = [path for path in now if then.get(path) != now[path]]
    return tuple(sorted([*other, *missing], key=lambda path: (path.endswith(".txt"), path)))


def accept_toolchain(home: Path, now: Listing) -> None:
    """Record that a person accepts what is installed now as a checkout's runner."""
    state.write_sealed(_accepted(home), take(now, _folder()))


def is_accepted(home: Path, now: Listing) -> bool:
    """Whether what is installed is what a person last accepted for a checkout."""
    listing = state.read_sealed(_accepted(home)) if _accepted(home).is_file() else ""
    return bool(listing) and changed(listing or "", now, _folder()) == ()


def place_of(home: Path) -> str:
    """A key for this machine and checkout; listings of other places cannot be compared."""
    return sha256(f"{os.uname().nodename}\n{home.resolve()}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


def records(common: Path) -> Path:
    """The folder with a repository's stored listings."""
    return common / "detent" / "toolchains"


# -- which files ---------------------------------------------------------------------------------------------------------------


def _files(command: Command | None, home: Path, env: Mapping[str, str], cache: Path) -> Iterator[str]:
    assert command is not None, "only a known command has a runner"
    for site in packages(command, home, env, cache):
        yield from _python(site)
    for name in (".venv", "venv"):
        if (home / name / "bin").is_dir():
            yield str(home / name / "pyvenv.cfg")
            yield from (each.path for each in os.scandir(home / name / "bin") if not each.is_dir())
    yield from _node(home / "node_modules", (command.runner, *(_configured(home, command) if command.runner in JAVASCRIPT else ())))
    for gems in (*home.glob("vendor/bundle/ruby/*/gems"), *(_gems() if command.runner == "rspec" else ())):
        for folder in sorted(gems.iterdir()):
            if RUBY.fullmatch(folder.name.rpartition("-")[0]):
                yield from _below(folder)
    yield from _go(env) if command.runner == "go" else ()
    for name in PHP if (home / "vendor" / "composer").is_dir() else ():
        yield from _below(home / "vendor" / name)


def _python(site: Path) -> Iterator[str]:
    """What is loaded before any test: start-up files and their imports, the runner, its plugins, the lists that name plugins, and the requirements of all these."""
    if not site.is_dir():
        return
    entries = sorted(os.scandir(site), key=lambda entry: entry.name)
    for entry in entries:
        if entry.name.endswith(".pth") or entry.name in STARTUP:
            text = _text(Path(entry.path))
            yield entry.path
            yield from (path for name in LOADED.findall(text) for path in _module(site, name))
            yield from (path for line in text.splitlines() if entry.name.endswith(".pth") for path in _in_place(site / line.strip()))
    infos = {
        _named(entry.name): Path(entry.path) for entry in entries if entry.name.endswith((".dist-info", ".egg-info")) and entry.is_dir()
    }
    plugins = {name for name, info in infos.items() if PLUGIN in _bytes(info / "entry_points.txt")}
    yield from (f"{infos[name]}/entry_points.txt" for name in sorted(plugins))
    todo, seen = [*PYTHON, *sorted(plugins)], set[str]()
    while todo:
        name = todo.pop(0)
        if name not in seen and name in infos:
            seen.add(name)
            todo += [_named(need) for need in NEEDS.findall(_text(infos[name] / "METADATA"))]
            yield from _distribution(site, infos[name])


def _in_place(folder: Path) -> Iterator[str]:
    """What Python and the runner load by themselves from a folder that a .pth file names: start-up files and plugin lists, not its code."""
    if not folder.is_dir() or "import " in str(folder):
        return
    for name in STARTUP:
        yield from (str(path) for path in (folder / name, folder / name.removesuffix(".py") / "__init__.py") if path.exists())
    yield from (str(path) for path in sorted(folder.glob("*-info/entry_points.txt")) if PLUGIN in _bytes(path))


def _module(site: Path, name: str) -> Iterator[str]:
    """The files of a top-level module."""
    for path in (site / name, site / f"{name}.py"):
        if path.exists():
            yield from _below(path)


def _named(folder: str) -> str:
    return re.split(r"-\d|\.dist-info|\.egg-info", folder)[0].lower().replace("-", "_").replace(".", "_")


def _distribution(site: Path, info: Path) -> Iterator[str]:
    """All files in the folders of an installed distribution, also those missing in its RECORD."""
    lines = _text(info / "RECORD").splitlines()
    paths = [line.partition(",")[0].strip('"') for line in lines]
    for top in sorted({path.split("/")[0] for path in paths if path and not path.startswith(("..", "/"))}):
        if not top.endswith((".dist-info", "__pycache__")):
            yield from _below(site / top)


def _gems() -> Iterator[Path]:
    """The folders of gems that are installed outside projects."""
    own = (above for pattern in OWN_GEMS for above in Path.home().glob(pattern))
    system = (above for pattern in SYSTEM_GEMS for above in Path("/").glob(pattern.lstrip("/")))
    yield from (above / "gems" for above in (*own, *system) if (above / "gems").is_dir())


def _go(env: Mapping[str, str]) -> Iterator[str]:
    """The Go toolchain: its programs, and the library part that runs tests, which is compiled again for each run."""
    program = shutil.which("go", path=env.get("PATH"))
    root = Path(os.path.realpath(program)).parent.parent if program else Path("/nonexistent")
    yield from (path for name in GO for path in _below(root / name))


def _configured(home: Path, command: Command) -> list[str]:
    """Possible packages named in the runner's configuration or its command line: transforms, environments, set-ups, reporters."""
    own = RUNNERS[command.runner].config if command.runner in RUNNERS else bool
    texts = (
        [_text(file) for file in sorted(home.iterdir()) if file.name not in SHARED and own(file.name) and file.is_file()]
        if home.is_dir()
        else []
    )
    try:
        package = json.loads(_bytes(home / "package.json") or b"{}")
        texts += [json.dumps([package.get(name) for name in SECTIONS]), json.dumps((package.get("scripts") or {}).get("test"))]
    except (ValueError, AttributeError):
        pass
    return list(dict.fromkeys([*NODE, *NAMED.findall("\n".join([*texts, " ".join(["", *command.argv])]))]))


def _node(modules: Path, names: Iterable[str]) -> Iterator[str]:
    """The links to programs, and the runner's packages with all they depend on."""
    if not modules.is_dir():
        return
    yield from (each.path for each in sorted(os.scandir(modules / ".bin"), key=lambda e: e.name)) if (modules / ".bin").is_dir() else ()
    todo, seen = [_needed(modules.parent, name) for name in names], set[Path]()
    while todo:
        package = todo.pop()
        if package is not None and package not in seen:
            seen.add(package)
            todo += [_needed(package, name) for name in _needs(package / "package.json")]
            yield from _below(package)


def _needed(folder: Path, name: str) -> Path | None:
    """Where node finds a package from a folder: in the nearest `node_modules` at or above it."""
    found = (above / "node_modules" / name for above in (folder, *folder.parents) if above.name != "node_modules")
    return next((each.resolve() for each in found if each.is_dir()), None)


def _needs(package: Path) -> list[str]:
    try:
        content = json.loads(package.read_bytes())
        return [str(name) for kind in ("dependencies", "optionalDependencies", "peerDependencies") for name in content.get(kind) or {}]
    except (OSError, ValueError, AttributeError):
        return []


def _below(path: Path) -> Iterator[str]:
    if not path.is_dir():
        yield from [str(path)] if path.exists() else []
        return
    for here, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in CACHES)
        yield from (f"{here}/{name}" for name in sorted(files) if not name.endswith(SELF_MADE))


# -- their content -------------------------------------------------------------------------------------------------------------


def _stamp(path: str) -> str:
    """Size, times and inode of a file, and its target if it is a link; empty if it cannot be seen."""
    try:
        seen, link = os.stat(path), os.readlink(path) if os.path.islink(path) else ""
    except OSError:
        return ""
    return f"{seen.st_size} {seen.st_mtime_ns} {seen.st_ctime_ns} {seen.st_ino} {link}"


def _digest(path: str) -> str:
    link = f"-> {os.readlink(path)} " if os.path.islink(path) else ""
    try:
        with open(path, "rb") as file:
            h = sha256()
            while chunk := file.read(1 << 20):
                h.update(chunk)
            return link + h.hexdigest()
    except OSError:
        return f"{link}nothing that can be read"


def _text(file: Path) -> str:
    return _bytes(file).decode("utf-8", "replace")


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _folder() -> Path:
    return state_dir() / "toolchains"


def _stamps() -> Path:
    return _folder() / "stamps.json"


def _accepted(home: Path) -> Path:
    return _folder() / f"accepted-{sha256(str(home.resolve()).encode('utf-8', 'surrogateescape')).hexdigest()[:24]}.json"


def _remembered() -> dict[str, list[str]]:
    try:
        stamps: dict[str, list[str]] = json.loads(state.read_sealed(_stamps()) or "{}")
        return stamps
    except ValueError:
        return {}
