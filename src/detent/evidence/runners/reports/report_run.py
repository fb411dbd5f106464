"""Runs the project's test command and converts the report that it wrote to the lines of Detent's own reporters.

A separate program, started in the sandbox; it decides nothing. Only what this run wrote is read, and then the report is restored.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from detent.errors import CannotTell
from detent.evidence.report import Outcome
from detent.evidence.runners.adapter import is_below
from detent.evidence.runners.report_lines import ReportLine
from detent.evidence.runners.report_reader import JUnitCase, limit_report, read_cases
from detent.evidence.runners.reports.test_file_of import TestFilesOf
from detent.evidence.runners.tap import points_before_end, read_points
from detent.evidence.runners.trx import read_results
from detent.evidence.runners.wrapper import ordered, source_files, start, write

ASSERTS = re.compile(r"assert|expect|fail|compar|mismatch", re.IGNORECASE)

UNCAUGHT = re.compile(r"^(?:Uncaught )?([A-Z]\w*(?:Error|Exception)|Error)\b(?: \[\w+\])?: .*$", re.MULTILINE)


def main() -> int:
    report, order = ordered()
    pattern = order.options[0]
    before = {path: (_mark(path), path.read_bytes()) for path in _written(pattern)}
    done = start(order.program)
    sys.stdout.write(done.stdout + done.stderr)
    fresh = [path for path in _written(pattern) if path not in before or _mark(path) != before[path][0]]
    if not fresh:
        sys.exit(f"it wrote nothing that [test] report names ({pattern}); it exited with code {done.code}")
    try:
        lines = list(_lines(fresh))
    except CannotTell as e:
        lines = list(_before_crash(fresh, done.stderr, order.paths)) if done.code else []
        if not lines:
            sys.exit(f"{fresh[0]}: {e}")
    finally:
        _put_back(fresh, before)
    kept = [line for line in lines if not order.paths or any(is_below(line.file, path.partition("::")[0]) for path in order.paths)]
    end = ReportLine("end", name="report", count=len(kept))
    write(report, b"".join(msgspec.json.encode(line) + b"\n" for line in [*kept, end]))
    agrees = bool(done.code) == _any_bad(lines)
    return done.code if len(kept) == len(lines) or not agrees else int(_any_bad(kept))


def _any_bad(lines: list[ReportLine]) -> bool:
    return any(line.outcome in ("failed", "error") for line in lines)


def _written(pattern: str) -> list[Path]:
    return sorted(path for path in Path().glob(pattern) if path.is_file() and not path.is_symlink())


def _mark(path: Path) -> tuple[int, int, int]:
    known = path.stat()
    return known.st_mtime_ns, known.st_size, known.st_ino


def _put_back(fresh: list[Path], before: dict[Path, tuple[tuple[int, int, int], bytes]]) -> None:
    for path in fresh:
        if path in before:
            path.write_bytes(before[path][1])
        else:
            path.unlink()


def _lines(reports: list[Path]) -> Iterator[ReportLine]:
    files = TestFilesOf(source_files(Path()), os.getcwd())
    for path in reports:
        data = limit_report(path.read_bytes()).removeprefix(b"\xef\xbb\xbf").lstrip()
        if not data.startswith(b"<"):
            for point in read_points(data):
                kind = "AssertionError" if point.outcome == "failed" else ""
                yield _line(files, path, point.names[0], point.names[1:], point.outcome, kind, point.details, point.seconds)
        elif re.search(rb"<TestRun\b", data[:4000]):
            for result in read_results(data):
                kind = "AssertionError" if ASSERTS.search(result.message) else result.reported
                yield _line(files, path, result.classname, (result.name,), result.outcome, kind, result.message, result.seconds)
        else:
            yield from (_case(files, path, case) for case in read_cases(data))


def _before_crash(reports: list[Path], text: str, chosen: Iterable[str]) -> Iterator[ReportLine]:
    """What a TAP report said before an error in a test ended the process, and the test's file as broken.

    Only if that file is one of those that were chosen: of all others, nothing is known then.
    """
    paths = [path.partition("::")[0] for path in chosen]
    file = next((path for path in paths if re.search(rf"(?<![\w.-]){re.escape(path)}:\d", text)), "")
    error = next(reversed(list(UNCAUGHT.finditer(text))), None)
    data = reports[0].read_bytes().lstrip()
    if not file or error is None or len(reports) > 1 or data.startswith(b"<"):
        return
    files = TestFilesOf(source_files(Path()), os.getcwd())
    for point in points_before_end(limit_report(data)):
        yield _line(files, reports[0], point.names[0], point.names[1:], point.outcome, "AssertionError", point.details, point.seconds)
    yield ReportLine("file", file, outcome="error", kind=error[1], message=error[0], place=files.place(text))


def _case(files: TestFilesOf, report: Path, case: JUnitCase) -> ReportLine:
    problem = next(iter(sorted(case.problems, key=lambda each: each.sort == "skipped")), None)
    outcome: Outcome = "passed" if problem is None else "skipped" if problem.sort == "skipped" else "failed"
    kind = message = ""
    if problem:
        message = (problem.message or problem.text).strip()
        plain = problem.sort == "failure" and (not problem.type or ASSERTS.search(problem.type))
        kind = "AssertionError" if plain else re.split(r"[.:\\]", problem.type)[-1] or "Error"
    names = (case.classname, case.name) if case.file and case.classname else (case.name,)
    line = _line(files, report, case.file or case.classname, names, outcome, kind, message, case.seconds)
    return msgspec.structs.replace(line, place=files.place(problem.text or message)) if problem and outcome == "failed" else line


def _line(
    files: TestFilesOf, report: Path, where: str, names: tuple[str, ...], outcome: Outcome, kind: str, message: str, seconds: float
) -> ReportLine:
    """A test in its file; if its file is unknown, in the report's."""
    found = files.find(where) or files.saying(where)
    file, rest = found or (report.as_posix(), (where,) if where else ())
    bad = outcome in ("failed", "error")
    own_names = (*rest, *(name for name in names if name not in (where, file))) or (where or "(no name)",)
    place = files.place(message) if bad else ""
    return ReportLine(
        "test",
        file,
        own_names,
        outcome,
        kind if bad else "",
        message=message if outcome != "passed" else "",
        place=place,
        ms=seconds * 1000,
    )


if __name__ == "__main__":
    sys.exit(main())
