"""Runs unittest for Detent in the project's own Python: with the project's arguments and a selection, and a report in JSON Lines.

A standalone script: it knows nothing of Detent and needs only the standard library. Called as
`python unittest_run.py REPORT SELECTORS_AS_JSON WORDS…`, where WORDS follow `python -m unittest`. It writes only at the end.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import sys
import tempfile
import unittest
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:  # annotations only: older Python versions could not evaluate this
    Error = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]

LONGEST = 4000
ERROR_LINE = re.compile(r"^([A-Za-z_][\w.]*)(?:: ?(.*))?$")
HOLDER = re.compile(r"^(setUp|tearDown)(Class|Module) \((.*)\)$")
HERE = os.path.realpath(os.getcwd())
RANK = ("passed", "skipped", "failed", "error")


def main() -> int:
    """Run the tests in a child process and write its report after it has ended, so a report that a test writes is overwritten."""
    report, chosen, words = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
    with tempfile.TemporaryFile() as output:  # it has no name
        child = os.fork()
        if not child:
            return run(output, chosen, words)
        status = os.waitpid(child, 0)[1]
        output.seek(0)
        with open(report, "wb") as file:
            file.write(output.read())
    if os.WIFSIGNALED(status):
        os.kill(os.getpid(), os.WTERMSIG(status))
    return os.WEXITSTATUS(status)


def run(output: IO[bytes], chosen: dict[str, list[str]], words: list[str]) -> int:
    """Run the tests as unittest does; the exit code says whether all passed."""
    if os.path.realpath(sys.path[0]) == os.path.dirname(os.path.realpath(__file__)):
        sys.path[0] = os.getcwd()  # as with `python -m`
    sys.argv = ["python -m unittest", *words]
    program = Program(chosen, words)
    end = {"type": "end", "name": f"unittest {sys.version.split()[0]}", "count": len(program.lines)}
    output.write("".join(_whole(json.dumps(line)) + "\n" for line in [*program.lines, end]).encode("ascii"))
    output.flush()
    return 1 if any(line["outcome"] in ("failed", "error") for line in program.lines) else 0


class Result(unittest.TextTestResult):
    """A unittest result that also keeps the worst outcome of each test."""

    def __init__(self, *words: Any, **named: Any) -> None:
        super().__init__(*words, **named)
        self.seen: dict[int, dict[str, str]] = {}
        self.around: list[tuple[str, str, dict[str, str]]] = []  # errors of a class or module set-up

    def note(self, test: unittest.TestCase, outcome: str, error: Error | None = None, message: str = "") -> None:
        line = {"outcome": outcome, "message": message[:LONGEST], **(_cause(error) if error else {})}
        test = getattr(test, "test_case", test)  # a subtest counts for its test
        before = self.seen.get(id(test), {}).get("outcome", "passed")
        if held := HOLDER.match(str(test.id())):
            self.around.append((held[2], held[3], line))
        elif RANK.index(outcome) >= RANK.index(before):
            self.seen[id(test)] = line

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802  unittest calls it
        super().addSuccess(test)
        self.note(test, "passed")

    def addFailure(self, test: unittest.TestCase, err: Error) -> None:  # noqa: N802  unittest calls it
        super().addFailure(test, err)
        self.note(test, "failed", err)

    def addError(self, test: unittest.TestCase, err: Error) -> None:  # noqa: N802  unittest calls it
        super().addError(test, err)
        self.note(test, "error" if _is_broken_file(test) or HOLDER.match(str(test.id())) else "failed", err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Error | None) -> None:  # noqa: N802  unittest calls it
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(test, "failed", err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802  unittest calls it
        super().addSkip(test, reason)
        self.note(test, "skipped", message=str(reason))

    def addExpectedFailure(self, test: unittest.TestCase, err: Error) -> None:  # noqa: N802  unittest calls it
        super().addExpectedFailure(test, err)
        self.note(test, "skipped", message="it is expected to fail")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802  unittest calls it
        super().addUnexpectedSuccess(test)
        self.note(test, "failed", message="it passes, and is expected to fail")

    def line(self, test: unittest.TestCase) -> dict[str, str]:
        """The outcome of a test, or the error that broke its class or module."""
        seen = self.seen.get(id(test))
        module, name = type(test).__module__, f"{type(test).__module__}.{type(test).__qualname__}"
        for sort, where, line in self.around:
            if where == (module if sort == "Module" else name) and (seen is None or seen["outcome"] == "passed"):
                return line
        return seen or {"outcome": "error", "kind": "Exit", "message": "the run ended before this test did"}


class Program(unittest.TestProgram):
    """unittest's own command line, with our selection and result."""

    test: Iterable[Any]
    lines: list[dict[str, Any]]

    def __init__(self, chosen: dict[str, list[str]], words: list[str]) -> None:
        self.chosen = chosen
        super().__init__(module=None, argv=["python -m unittest", *words], exit=False)

    def runTests(self) -> None:  # noqa: N802  unittest calls it
        roots = [getattr(self, name, None) for name in ("top", "start")]
        places = [os.path.abspath(root) for root in (*roots, ".") if root]
        tests = [test for test in _flat(self.test) if _is_chosen(test, _file(test, places), self.chosen)]
        runner = unittest.TextTestRunner(resultclass=Result, verbosity=self.verbosity, buffer=bool(self.buffer), warnings=self.warnings)
        result = runner.run(unittest.TestSuite(tests))
        assert isinstance(result, Result)
        self.lines = [_line(test, _file(test, places), result.line(test)) for test in tests]


def _flat(suite: Iterable[Any]) -> Iterator[unittest.TestCase]:
    """The tests of nested suites."""
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from _flat(each)
        else:
            yield each


def _is_broken_file(test: unittest.TestCase) -> bool:
    return type(test).__module__ == "unittest.loader"


def _file(test: unittest.TestCase, places: list[str]) -> str:
    """The file of a test, relative to the project; for a module that could not be loaded, derived from its name."""
    if not _is_broken_file(test):
        module = sys.modules.get(type(test).__module__)
        return _relative(getattr(module, "__file__", None) or "")
    parts = str(test.id()).removeprefix(f"unittest.loader.{type(test).__name__}.").split(".")
    for place in places:
        for end in (".py", "/__init__.py"):
            found = os.path.join(place, *parts) + end
            if os.path.isfile(found):
                return _relative(found)
    return "/".join(parts) + ".py"


def _relative(path: str) -> str:
    return os.path.relpath(os.path.realpath(path), os.path.realpath(os.getcwd())).replace(os.sep, "/") if path else ""


def _names(test: unittest.TestCase) -> list[str]:
    return [*type(test).__qualname__.split("."), str(test.id()).rpartition(".")[2]]


def _is_chosen(test: unittest.TestCase, file: str, chosen: dict[str, list[str]]) -> bool:
    """Whether a test matches one of the paths or ids and one of the patterns, if there are any."""
    broken = _is_broken_file(test)
    own = file if broken else "::".join([file, *_names(test)])
    paths, names, files = chosen["paths"], chosen["names"], chosen["files"]
    fits = not paths or any(p in (".", own) or own.startswith((f"{p}::", f"{p}/")) or (broken and p.startswith(f"{own}::")) for p in paths)
    named = not names or broken or any(fnmatch.fnmatchcase(test.id(), n if "*" in n else f"*{n}*") for n in names)
    return fits and named and (not files or any(fnmatch.fnmatch(file.rpartition("/")[2], f) for f in files))


def _line(test: unittest.TestCase, file: str, known: dict[str, str]) -> dict[str, Any]:
    if _is_broken_file(test):
        known = (
            {**known, "outcome": "skipped"} if known["outcome"] == "skipped" else {**known, **_import_trouble(known), "outcome": "error"}
        )
        return {"type": "file", "file": file, **known}
    return {"type": "test", "file": file, "names": _names(test), **known}


def _whole(text: str) -> str:
    """Spell out lone surrogates, which are no characters."""
    pairs = r"\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}"
    return re.sub(rf"{pairs}|\\u(d[89a-f][0-9a-f]{{2}})", lambda m: f"\\\\u{m[1]}" if m[1] else m[0], text)


def _cause(err: Error) -> dict[str, str]:
    kind = err[0] or BaseException
    name = "AssertionError" if issubclass(kind, AssertionError) else kind.__name__
    return {"kind": name, "message": str(err[1])[:LONGEST], "place": _place(err[2])}


def _place(trace: TracebackType | None) -> str:
    """The innermost line of the project."""
    found = ""
    while trace is not None:
        found = _ours(trace.tb_frame.f_code.co_filename, trace.tb_lineno) or found
        trace = trace.tb_next
    return found


def _ours(path: str, line: int) -> str:
    file = os.path.relpath(os.path.realpath(path), HERE).replace(os.sep, "/")
    return "" if file.startswith("../") or "site-packages/" in file or not os.path.exists(os.path.join(HERE, file)) else f"{file}:{line}"


def _import_trouble(known: dict[str, str]) -> dict[str, str]:
    """The error of a failed import, from its text, because unittest keeps nothing else: the last line that looks like one."""
    for line in reversed(str(known.get("message", "")).splitlines()):
        if found := ERROR_LINE.match(line):
            lines = re.findall(r'^ +File "([^"]+)", line (\d+)', str(known["message"]), re.MULTILINE)
            places = [place for path, at in lines if (place := _ours(path, int(at)))]
            return {"kind": found[1].rpartition(".")[2], "message": line[:LONGEST], "place": places[-1] if places else ""}
    return {}


if __name__ == "__main__":
    sys.exit(main())
