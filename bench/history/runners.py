"""The plain test runners: how to get a report from each, select a few files, and read the report. Knows nothing of Detent's own adapters."""

import json
import re
import shlex
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from bench.history.names import is_module
from detent.errors import DetentError

Found = Iterator[tuple[str, str, str]]  # id, file or package, passed|failed|skipped
STATES = {"passed": "passed", "failed": "failed", "pass": "passed", "fail": "failed", "ok": "passed", "FAILED": "failed"}
NODE_REPORTER = Path(__file__).with_name("node_reporter.mjs").resolve()
UNSTABLE = re.compile(r"0x[0-9a-f]+|\d{4}-\d\d-\d\d[T ]?[\d:.+]*|\b\d{9,}\b|/tmp/\S+")


class Runner(NamedTuple):
    """One test runner."""

    word: str  # identifies the runner in a command line
    asked: Callable[[str, str], str]  # (command, report path) → the command that writes the report
    read: Callable[[str, str], Found]  # (report, output) → its cases
    chosen: Callable[[str, Sequence[str]], str]  # (command, files) → the command for these files
    by_file: bool = True  # its groups are files, not packages


def _pytest(report: str, output: str) -> Found:
    for case in ElementTree.fromstring(report).iter("testcase"):
        tags = {child.tag for child in case}
        how = "failed" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"
        file = case.get("file") or (case.get("name", "").replace(".", "/") + ".py" if not case.get("classname") else "")
        yield f"{case.get('classname')}::{case.get('name')}", file, how


def _vitest(report: str, output: str) -> Found:
    for file in json.loads(report)["testResults"]:
        if not file["assertionResults"] and file["status"] == "failed":
            yield file["name"], file["name"], "failed"
        for case in file["assertionResults"]:
            yield f"{file['name']} {case['fullName']}", file["name"], STATES.get(case["status"], "skipped")


def _mocha(report: str, output: str) -> Found:
    found = json.loads(report or output[output.find("{\n") :])  # versions before 9.2 cannot write to a file
    skipped = {case["fullTitle"] for case in found["pending"]}
    for case in found["tests"]:
        how = "skipped" if case["fullTitle"] in skipped else "failed" if case["err"] else "passed"
        yield f"{case.get('file')} {case['fullTitle']}", case.get("file", ""), how


def _node(report: str, output: str) -> Found:
    for line in report.splitlines():
        case = json.loads(line)
        yield f"{case['file']} {case['name']}", case["file"], case["how"]


def _go(report: str, output: str) -> Found:
    for line in output.splitlines():
        event = json.loads(line) if line.startswith("{") else {}
        package, how = event.get("Package", ""), STATES.get(event.get("Action", ""), event.get("Action"))
        if how in ("passed", "failed", "skip") and event.get("Test"):
            yield f"{package}.{event['Test']}", package, "skipped" if how == "skip" else how


def _cargo(report: str, output: str) -> Found:
    for name, how in re.findall(r"^test (\S.*?) \.\.\. (ok|FAILED|ignored)", output, re.MULTILINE):
        yield name, "", STATES.get(how, "skipped")


def _with_reporter(command: str, report: str) -> str:
    given = f"--test --test-reporter={NODE_REPORTER.as_uri()} --test-reporter-destination={report}"
    return re.sub(r"(?<!\S)--test(?!\S)", given, command, count=1)


def _with_files(command: str, files: Sequence[str]) -> str:
    return " ".join([command, *map(shlex.quote, files)])


def _only_files(command: str, files: Sequence[str]) -> str:
    """A pytest call for these files without the project's own options, as an agent would make it."""
    words = shlex.split(command)
    end = next(n for n, word in enumerate(words) if PurePosixPath(word).name == "pytest")
    return shlex.join([*words[: end + 1], *files])


def _packages(command: str, files: Sequence[str]) -> str:
    folders = sorted({f"./{PurePosixPath(file).parent}".replace("/.", "") for file in files})
    return " ".join([*(word for word in shlex.split(command) if not word.endswith("...")), *folders])


RUNNERS = (
    Runner("pytest", lambda c, r: f"{c} -o junit_family=xunit1 --junitxml={r} --continue-on-collection-errors", _pytest, _only_files),
    Runner("vitest", lambda c, r: f"{c} --reporter=json --outputFile={r}", _vitest, _with_files),
    Runner("jest", lambda c, r: f"{c} --json --outputFile={r}", _vitest, _with_files),
    Runner("mocha", lambda c, r: f"{c} --reporter json --reporter-option output={r}", _mocha, _with_files),
    Runner("--test", _with_reporter, _node, _with_files),
    Runner("go", lambda c, r: c.replace("go test", "go test -json -count=1", 1), _go, _packages, by_file=False),
    Runner("cargo", lambda c, r: f"{c} --no-fail-fast", _cargo, lambda c, files: c, by_file=False),
)


def runner_of(command: str) -> Runner:
    words = {PurePosixPath(word).name for word in shlex.split(command)}
    for runner in RUNNERS:
        if runner.word in words:
            return runner
    known = ", ".join(each.word for each in RUNNERS)
    raise DetentError(f"no runner is known in the command '{command}'", f"name one of these in --command: {known}")


def read(runner: Runner, report: Path, output: str, root: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The cases of a report and their groups. A repeated id fails if one of its cases does; unstable parts of ids are blanked."""
    cases: dict[str, str] = {}
    groups: dict[str, str] = {}
    text = report.read_text("utf-8", "replace") if report.exists() else ""
    for name, group, how in runner.read(text, output):
        key = UNSTABLE.sub("…", name.replace(f"{root}/", ""))
        cases[key] = how if cases.get(key, how) == how else "failed" if "failed" in (how, cases[key]) else "passed"
        groups[key] = group.replace(f"{root}/", "")
    return cases, groups


def selection(command: str, files: Sequence[str], root: Path) -> str:
    """The test command that an agent would submit: the project's own with the changed test files in place of its paths."""
    modules = [file for file in files if is_module(file)]
    runner = runner_of(command)
    words = shlex.split(command)
    start = next(n for n, word in enumerate(words) if PurePosixPath(word).name == runner.word)
    bare = [word for n, word in enumerate(words) if n <= start or not (root / word).exists()]
    return runner.chosen(shlex.join(bare), modules) if modules else command
