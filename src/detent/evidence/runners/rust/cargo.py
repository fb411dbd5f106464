"""`cargo test`. A wrapper of ours reads the log that each test program writes, since one target that cannot be built would hide all others.
Ids are `file::module::name`."""

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from detent.evidence.runners.adapter import Command, Files, InnerProject, Runner
from detent.evidence.runners.report_reader import reader
from detent.evidence.runners.rust.cargo_canary import canary
from detent.evidence.runners.rust.cargo_command import adopt, base_flags, parse
from detent.evidence.runners.rust.cargo_report import CargoReport, outcomes
from detent.evidence.runners.wrapper import RunOrder, wrapped

FREE = ("dependencies", "dev-dependencies", "build-dependencies", "target", "badges")  # keys of Cargo.toml that do not concern tests
PLAIN = ("name", "build", "autotests", "autobins", "autoexamples", "edition", "links", "default-run", "workspace")  # of its package
MOST_READ = 500


def detect(files: Files) -> Command | None:
    return Command(("cargo", "test"), "cargo", "path") if files.exists("Cargo.toml") else None


def order(base: Command, selectors: tuple[str, ...], files: Files | None) -> RunOrder:
    names = [each.partition("=")[2] for each in selectors if each.startswith("-name=")]
    paths = [each for each in selectors if not each.startswith("-")]
    return RunOrder(["cargo"], base_flags(base), paths, names, [each for each in selectors if each.startswith("--")])


def test_patterns(base: Command | None, files: Files) -> tuple[str, ...]:
    return tuple(_patterns(files))


def runner_part(path: str, text: str) -> str:
    """`Cargo.toml` without dependencies and descriptive keys; other files in full."""
    import tomllib

    if PurePosixPath(path).name != "Cargo.toml":
        return text
    try:
        manifest = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return text
    package = {name: value for name, value in manifest.get("package", {}).items() if name in PLAIN}
    rest = {name: value for name, value in manifest.items() if name not in (*FREE, "package")}
    return json.dumps({**rest, "package": package}, sort_keys=True, default=str)


def _patterns(files: Files) -> Iterator[str]:
    """Test targets in other places, and files that are modules of tests only."""
    from detent.evidence.source.insource import modules_for_tests

    rows = _manifest(files).get("test", [])
    yield from (str(row["path"]) for row in rows if isinstance(row, dict) and "path" in row)
    sources = (path for path in files.paths() if path.endswith(".rs"))
    for path in islice(sources, MOST_READ):
        yield from modules_for_tests(path, files.read(path) or "")


def reaches(outer: Command, files: Files, below: InnerProject) -> bool:
    """Whether a workspace without a package of its own has this folder as a member, since it runs all members."""
    manifest = _manifest(files)
    members = manifest.get("workspace", {}).get("members", ())
    member = any(fnmatch(below.folder, str(each)) for each in members) if isinstance(members, list) else False
    return member and ("package" not in manifest or bool({"--workspace", "--all"} & set(outer.argv)))


def _manifest(files: Files) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(files.read("Cargo.toml") or "")
    except tomllib.TOMLDecodeError:
        return {}


RUNNER = Runner(
    name="cargo",
    adopt=adopt,
    detect=detect,
    parse=parse,
    argv=wrapped("detent.evidence.runners.rust.cargo_run", order),
    read=reader("cargo", "cargo test", CargoReport, outcomes, (0, 101)),
    tests=re.compile(r"(?:^|/)(?:tests?|[^/]+_tests?)\.rs$|(?:^|/)tests/").search,  # tests inside a code file count as code
    config=re.compile(
        r"(?!(?:.*/)?tests/)(?:.*/)?(?:Cargo\.toml|build\.rs|rust-toolchain(?:\.toml)?|clippy\.toml|\.cargo/config(?:\.toml)?|\.config/nextest\.toml)"
    ).fullmatch,
    runner_part=runner_part,
    test_patterns=test_patterns,
    canary=canary,
    reaches=reaches,
)
