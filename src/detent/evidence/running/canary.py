"""The canary: two tests of our own in a run of the project's, of which one must fail and one must pass. If they do not, the test runner was
tampered with. Also the files that test runs leave in a checkout: those that tests made, and a canary's.

Owns these files and the comparison; the adapters write the tests (see `Runner`). Their names are new in each run, are in no tree, and are removed
from the report. Leftover files never belong to a change; they are listed under a seal.
"""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import TypeVar

import msgspec

from detent.errors import CannotTell
from detent.evidence.report import TestReport
from detent.evidence.runners.adapter import Canary, CanaryFile
from detent.evidence.runners.canary_files import words_in, words_of
from detent.git.place import Place
from detent.git.snapshot import stamp
from detent.storage import state

V = TypeVar("V")
TAMPERED = "the test runner was tampered with"
PASSED_ANYWAY = "it exited with code 0, although the run contained a test that must fail"


# -- the files ---------------------------------------------------------------------------------------------------------------


@contextmanager
def planted(root: Path, canary: Canary | str) -> Iterator[None]:
    """Put the canary's files below a folder while this is open, never through a linked folder."""
    with ExitStack() as stack:
        for canary_file in () if isinstance(canary, str) else canary.canary_files:
            stack.enter_context(_file(root, canary_file))
        yield


@contextmanager
def _file(root: Path, canary_file: CanaryFile) -> Iterator[None]:
    where = PurePosixPath(canary_file.path)
    try:
        folder = _opened(root, where.parent)
    except OSError as e:
        raise CannotTell(f"no test could be added to the run in {where.parent}: {e.strerror}") from e
    try:
        _write(folder, where.name, canary_file.text)
        yield
    finally:
        with suppress(FileNotFoundError):  # the tests removed it, or it was never created
            os.unlink(where.name, dir_fd=folder)
        os.close(folder)


def _write(folder: int, name: str, text: str) -> None:
    try:
        file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=folder)
        with os.fdopen(file, "w", encoding="utf-8") as written:
            written.write(text)
    except OSError as e:
        raise CannotTell(f"no test could be added to the run: {e.strerror}") from e


def _opened(root: Path, folder: PurePosixPath) -> int:
    """Open a folder step by step from the root, without following links."""
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    for part in folder.parts:
        try:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
        finally:
            os.close(here)
        here = inner
    return here


# -- the comparison ----------------------------------------------------------------------------------------------------------


def check_canary(report: TestReport, canary: Canary) -> TestReport:
    """The report without the canary, with whether it held."""
    words = words_of(canary)
    mine = {test for test in report.ids if any(w in test for w in words)}
    counted = [canary_file for canary_file in canary.canary_files if _counts(canary_file, report, mine)]
    differed = [difference for canary_file in counted for difference in _differences(canary_file, report)]
    found = msgspec.structs.replace(
        report,
        outcomes=_without(report.outcomes, mine),
        files=_without(report.files, mine),
        messages=_without(report.messages, mine),
        kinds=_without(report.kinds, mine),
        missing_names=tuple(test for test in report.missing_names if test not in mine),
        canary="broken" if differed else "held" if counted else "unsupported",
        canary_said="; ".join(differed) if counted else "Detent's own test did not run",
    )
    return msgspec.structs.replace(found, exit_code=_code(report, found, canary)) if counted else found


def _counts(canary_file: CanaryFile, report: TestReport, mine: set[str]) -> bool:
    """Whether a canary's result counts: not if no test of its folder ran, or if the process exited during the project's own tests."""
    ours = [test for test in mine if any(w in test for w in words_in(canary_file))]
    rest = report.ids - mine
    if ours:
        return not (rest & report.bad and all(report.kinds.get(test) == "Exit" for test in ours))
    ran = {test for test in rest if report.files.get(test, "") != test}  # not a file that failed to load or build
    return os.path.dirname(canary_file.path) in {os.path.dirname(report.files.get(test, test)) for test in ran}


def _code(report: TestReport, found: TestReport, canary: Canary) -> int | None:
    """The exit code that the run would have had without the canary."""
    code = report.exit_code
    if code is None or not (canary.counts or code in canary.failing):
        return code
    if not found.bad:
        return 0
    return max(1, code - len(report.bad - found.bad)) if canary.counts else code


def _without(of: dict[str, V], tests: set[str]) -> dict[str, V]:
    return {test: value for test, value in of.items() if test not in tests}


def _differences(canary_file: CanaryFile, report: TestReport) -> Iterator[str]:
    """What did not come back as it must, without the canary's test names."""
    for token, must, sentence in (
        (canary_file.passes, "passed", "a test that must pass"),
        (canary_file.fails, "failed", "a test that must fail"),
    ):
        found = [test for test in report.ids if token in test]
        if not found:
            yield f"{sentence} is missing from the report"
        for test in found:
            message = report.messages.get(test, "")
            if report.outcomes[test] != must:
                more = f" ({_plain(message, canary_file)})" if message and must == "passed" else ""
                yield f"{sentence} was reported as {report.outcomes[test]}{more}"
            elif must == "failed" and canary_file.says not in message:
                yield f"{sentence} was reported with a message that is not its own"


def _plain(message: str, canary_file: CanaryFile) -> str:
    for each in words_in(canary_file):
        message = message.replace(each, "…")
    return message.partition("\n")[0][:200]


MOST_KEPT = 500  # reports kept per repository


def planted_file(place: Place) -> Path:
    """The list of canary files in a checkout, kept for the case that we are killed."""
    return place.git_dir / "detent" / "planted.json"


def made_by_tests(place: Place) -> set[str]:
    """Files that test runs created in a checkout and nobody changed since, including a canary's."""
    return {path for path, was in _made(place).items() if was == stamp(place.root / path)} | set(left_planted(place))


def left_planted(place: Place) -> list[str]:
    """The canary files that are left in a checkout."""
    return [str(path) for path in json.loads(state.read_sealed(planted_file(place)) or "[]")]


def note_made(place: Place, stamps: dict[str, str]) -> None:
    """Remember files that a test run created, with their stamps."""
    made = {**_made(place), **stamps}
    state.write_sealed(_made_file(place), json.dumps({path: was for path, was in made.items() if was}), durable=False)


def _made_file(place: Place) -> Path:
    return place.git_dir / "detent" / "made.json"


def _made(place: Place) -> dict[str, str]:
    return {str(path): str(was) for path, was in json.loads(state.read_sealed(_made_file(place)) or "{}").items()}


def thin_out(store: Path) -> None:
    """Keep only the newest reports; a missing one is made again."""
    kept = [file for file in store.glob("*.json") if not file.name.startswith("python-")]
    for file in sorted(kept, key=_age)[: len(kept) - MOST_KEPT * 9 // 10] if len(kept) > MOST_KEPT else ():
        file.unlink(missing_ok=True)


def _age(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0  # another process removed it first
