"""Builds and runs the tests of a cargo project: every target that can be built is run, whatever happens to the others.

A separate program, started in the sandbox; it decides nothing. The project's own crates are rebuilt each time, because cargo goes by
file times, which anybody can set.
"""

import os
import re
import sys
import tempfile
import tomllib
from pathlib import Path

import msgspec

from detent.evidence.runners.adapter import is_below
from detent.evidence.runners.rust.cargo_report import CargoFault, CargoProgram, CargoReport
from detent.evidence.runners.wrapper import ProgramEnded, RunOrder, ordered, start, write

LISTED = re.compile(r"^(.+): test$", re.MULTILINE)
JSON = ("-Z", "unstable-options", "--format", "json")


class CargoTarget(msgspec.Struct):
    kind: list[str] = []
    name: str = ""
    src_path: str = ""
    test: bool = True
    doctest: bool = False


class CargoPackage(msgspec.Struct):
    name: str = ""
    version: str = ""
    id: str = ""
    manifest_path: str = ""
    targets: list[CargoTarget] = []


class Metadata(msgspec.Struct):
    packages: list[CargoPackage] = []


class Code(msgspec.Struct):
    code: str = ""


class CargoSpan(msgspec.Struct):
    file_name: str = ""
    line_start: int = 0
    is_primary: bool = False


class CargoMessage(msgspec.Struct):
    message: str = ""
    level: str = ""
    code: Code | None = None
    rendered: str | None = None
    spans: list[CargoSpan] = []


class CargoLine(msgspec.Struct):
    reason: str = ""
    package_id: str = ""
    target: CargoTarget = msgspec.field(default_factory=CargoTarget)
    executable: str | None = None
    message: CargoMessage | None = None


def main() -> int:
    report, order = ordered()
    root = Path.cwd()
    packages = metadata()
    clean(packages)
    lines, built = build(order, packages)
    errors = [line for line in lines if line.message and line.message.level == "error"]
    wanted = [line for line in errors if is_wanted(line, order, root)]
    played = [ran for line in lines if line.executable and (ran := play(line, order, packages, root)) is not None]
    narrow = order.paths or order.targets or order.names
    docs = (
        start(["cargo", "test", "--doc", "--no-fail-fast", *order.options])
        if not narrow and documented(packages)
        else ProgramEnded(0, "", "")
    )
    wrong = wanted or (built.code and not errors) or docs.code or any(each.code for each in played)
    code = 101 if wrong else 0
    write(report, CargoReport(code, [fault(line, root) for line in wanted], played, docs.stdout))
    rendered = [line.message.rendered or "" for line in wanted if line.message]
    sys.stdout.write("\n".join([*rendered, built.stderr if built.code and not errors else "", *map(shown, played), docs.stdout]))
    clean(packages)  # clean up now: a target whose file is gone would be kept forever
    return code


def clean(packages: list[CargoPackage]) -> None:
    start(["cargo", "clean", *(word for each in packages for word in ("-p", each.name))])


def metadata() -> list[CargoPackage]:
    ended = start(["cargo", "metadata", "--no-deps", "--format-version", "1"])
    if ended.code:
        sys.exit(ended.stderr)
    return msgspec.json.decode(ended.stdout, type=Metadata).packages


def build(order: RunOrder, packages: list[CargoPackage]) -> tuple[list[CargoLine], ProgramEnded]:
    """Build every test target. A cargo that stops at the first failure is asked for each target separately."""
    call = ["cargo", "build", "--message-format=json", *order.options]
    built = start([*call, "--tests", "--keep-going"])
    if built.code and not built.stdout and "keep-going" in built.stderr:
        several = [start(["cargo", "test", "--no-run", *call[2:], *which]) for each in packages for which in _each(each)]
        built = ProgramEnded(max(each.code for each in several), "".join(e.stdout for e in several), "".join(e.stderr for e in several))
    lines = [msgspec.json.decode(line, type=CargoLine) for line in built.stdout.splitlines() if line.startswith("{")]
    kept = {(line.package_id, line.target.src_path, line.executable, msgspec.json.encode(line.message)): line for line in lines}
    return list(kept.values()), built


def _each(package: CargoPackage) -> list[list[str]]:
    flags = {"lib": "--lib", "bin": "--bin", "test": "--test", "example": "--example"}
    kinds = [(flags.get(each.kind[0], "--lib"), each.name) for each in package.targets if each.test and each.kind[0] != "custom-build"]
    return [["-p", package.name, kind, *([name] if kind != "--lib" else [])] for kind, name in kinds]


def is_wanted(line: CargoLine, order: RunOrder, root: Path) -> bool:
    """Whether a compiler error concerns the selection; errors in other test targets do not."""
    source = _relative(line.target.src_path, root)
    chosen = _is_asked(line.target, order.targets) and (not order.paths or any(is_below(source, path) for path in order.paths))
    return "test" not in line.target.kind or chosen


def fault(line: CargoLine, root: Path) -> CargoFault:
    """A compiler error with its file: for an integration test its target, else the file at fault."""
    assert line.message is not None
    shown = [span for span in line.message.spans if span.is_primary]
    spans = [span.file_name for span in shown]
    source = _relative(line.target.src_path, root)
    file = source if "test" in line.target.kind or not spans or spans[0].startswith(("/", "<")) else spans[0]
    return CargoFault(file, line.message.code.code if line.message.code else "", line.message.message, shown[0].line_start if shown else 0)


def play(line: CargoLine, order: RunOrder, packages: list[CargoPackage], root: Path) -> CargoProgram | None:
    """Run one test program, if any of it is selected."""
    package = next((each for each in packages if each.id == line.package_id), CargoPackage())
    home, source = Path(package.manifest_path).parent, _relative(line.target.src_path, root)
    if not line.target.test or not _is_asked(line.target, order.targets) or not line.executable:
        return None
    env = {"CARGO_MANIFEST_DIR": str(home), "CARGO_PKG_NAME": package.name, "CARGO_PKG_VERSION": package.version}
    if _has_no_harness(package, line.target):
        asked = not order.names and (not order.paths or any(is_below(source, path) for path in order.paths))
        return CargoProgram(source, {}, [], "", *_swapped(start([line.executable], env, str(home))), own=True) if asked else None
    names = {
        name: _home(name, line.target.src_path, root) for name in LISTED.findall(start([line.executable, "--list"], env, str(home)).stdout)
    }
    chosen = [name for name, file in names.items() if _is_chosen(name, file, source, order)]
    if not chosen:
        return None
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        done = start([line.executable, *JSON, "--logfile", str(log), "--exact", *chosen], {**env, "RUSTC_BOOTSTRAP": "1"}, str(home))
        text = log.read_text("utf-8", "replace") if log.exists() else ""
    return CargoProgram(source, names, chosen, text, done.stdout + done.stderr, done.code)


def _swapped(done: ProgramEnded) -> tuple[str, int]:
    return done.stdout + done.stderr, done.code


def _is_asked(target: CargoTarget, targets: list[str]) -> bool:
    kinds = {f"--{kind}" for kind in target.kind} | {f"--{kind}={target.name}" for kind in target.kind}
    kinds |= {"--tests", "--test=*"} if "test" in target.kind else {"--lib"} if "lib" in " ".join(target.kind) else {"--bins"}
    return not set(targets) - {"--exact"} or bool(kinds & set(targets))


def _is_chosen(name: str, file: str, source: str, order: RunOrder) -> bool:
    named = not order.names or any(name == each if "--exact" in order.targets else each in name for each in order.names)
    return named and (not order.paths or any(is_below(file, path) or is_below(source, path) for path in order.paths))


def _home(name: str, source: str, root: Path) -> str:
    """The file of a module: the deepest existing one on its path."""
    found = top = Path(source)
    folder = top.parent if top.stem in ("lib", "main", "mod") else top.with_suffix("")
    for part in name.split("::")[:-1]:
        file = next((each for each in (folder / f"{part}.rs", folder / part / "mod.rs") if each.is_file()), None)
        if file is None:
            break
        found, folder = file, folder / part
    return _relative(str(found), root)


def _has_no_harness(package: CargoPackage, target: CargoTarget) -> bool:
    try:
        manifest = tomllib.loads(Path(package.manifest_path).read_text("utf-8", "replace"))
    except (OSError, tomllib.TOMLDecodeError):
        return False
    rows = [*manifest.get("test", []), *manifest.get("bin", []), *([{"name": target.name, **manifest["lib"]}] if "lib" in manifest else [])]
    return any(row.get("name") == target.name and row.get("harness") is False for row in rows)


def _relative(path: str, root: Path) -> str:
    return os.path.relpath(path, root)


def documented(packages: list[CargoPackage]) -> bool:
    return any(target.doctest for each in packages for target in each.targets)


def shown(ran: CargoProgram) -> str:
    failed = [line for line in ran.log.splitlines() if not line.startswith(("ok ", "ignored"))]
    return "\n".join([f"{ran.file}: {len(ran.chosen)} tests, code {ran.code}", *failed, ran.stdout if ran.code else ""])


if __name__ == "__main__":
    sys.exit(main())
