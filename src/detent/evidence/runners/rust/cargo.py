"""`cargo test`: how a project calls it, the machine's own call, and what its report says. Starts no process.

Ids are `file::module::name`. The machine's call is a program of ours around cargo: one target that cannot be built would hide all others.
Exit code and report must agree; where they do not, nothing can be told.
"""

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePosixPath

from detent.errors import CannotTell
from detent.evidence.report import TestReport
from detent.evidence.runners.adapter import Canary, Command, Files
from detent.evidence.runners.rust import cargo_canary, cargo_command
from detent.evidence.runners.rust.cargo_report import Order, read_report, summary
from detent.evidence.runners.shared_config import is_shared_config
from detent.evidence.runners.wrapper import calls

CONFIG = frozenset({"Cargo.toml", "build.rs", "rust-toolchain", "rust-toolchain.toml", "clippy.toml"})
FREE = ("dependencies", "dev-dependencies", "build-dependencies", "target", "badges")  # of Cargo.toml
PLAIN = ("name", "build", "autotests", "autobins", "autoexamples", "edition", "links", "default-run", "workspace")  # of its package
MOST_READ = 500
TEST_NAME = re.compile(r"tests?|.+_tests?")


class Cargo:
    """The adapter. It holds nothing."""

    name = "cargo"

    def adopt(self, words: tuple[str, ...]) -> Command | None:
        return cargo_command.adopt(words)

    def detect(self, files: Files) -> Command | None:
        return Command(("cargo", "test"), "cargo", "path") if files.exists("Cargo.toml") else None

    def refuse(self, command: str, base: Command) -> str | None:
        return cargo_command.parse(command, base).fault or None

    def selectors(self, command: str, base: Command) -> tuple[str, ...]:
        return cargo_command.parse(command, base).selectors

    def full(self, base: Command) -> list[str]:
        return list(base.argv)

    def argv(self, base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
        names = [each.partition("=")[2] for each in selectors if each.startswith("-name=")]
        paths = [each for each in selectors if not each.startswith("-")]
        targets = [each for each in selectors if each.startswith("--") and each != "--exact"]
        order = Order(cargo_command.base_flags(base), paths, targets, names, "--exact" in selectors)
        return calls("detent.evidence.runners.rust.cargo_run", report_path, order)

    def read(self, report: bytes | None, exit_code: int | None, output: str) -> TestReport:
        if report is None:
            raise CannotTell(f"cargo test wrote no report: it ended with code {exit_code}\n{output.strip()[-2000:]}")
        said = read_report(report)
        if said.code != exit_code:
            raise CannotTell(
                f"cargo test ended with code {said.code} by its report, but its call with {exit_code}\n{output.strip()[-2000:]}"
            )
        found = summary(said, exit_code, output)
        plain = [test for test in found.bad if found.kinds.get(test) != "Exit"]
        if exit_code and not found.bad:
            raise CannotTell(f"cargo test ended with code {exit_code}, but no test in its report failed\n{output.strip()[-2000:]}")
        if exit_code == 0 and plain:
            raise CannotTell(f"cargo test ended with code 0, but its report has a failure: {min(plain)}")
        return found

    def canary(self, base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
        return cargo_canary.canary(base, selectors, files, near)

    def test_patterns(self, base: Command | None, files: Files) -> tuple[str, ...]:
        return tuple(_patterns(files))

    def is_test(self, path: str) -> bool:
        """What lies in `tests/`, or is a file of tests by its name. Tests inside a file of code are code."""
        where = PurePosixPath(path)
        named = where.suffix == ".rs" and TEST_NAME.fullmatch(where.stem) is not None
        return not self.is_config(path) and (named or "tests" in where.parts[:-1])

    def is_config(self, path: str) -> bool:
        where = PurePosixPath(path)
        ours = where.name in CONFIG or where.as_posix().endswith((".cargo/config.toml", ".cargo/config", ".config/nextest.toml"))
        return (ours and "tests" not in where.parts[:-1]) or is_shared_config(path)

    def runner_part(self, path: str, text: str) -> str:
        """Of `Cargo.toml` all but the dependencies and what only describes the package."""
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
    """Targets of tests that lie elsewhere, and files that are modules of the tests only."""
    import tomllib

    from detent.evidence.insource import modules_for_tests

    try:
        rows = tomllib.loads(files.read("Cargo.toml") or "").get("test", [])
    except tomllib.TOMLDecodeError:
        rows = []
    yield from (str(row["path"]) for row in rows if isinstance(row, dict) and "path" in row)
    sources = (path for path in files.paths() if path.endswith(".rs"))
    for path in islice(sources, MOST_READ):
        yield from modules_for_tests(path, files.read(path) or "")
