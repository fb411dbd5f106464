"""pytest. The report is its own JUnit XML.

Ids are pytest's node ids. A file that cannot be collected is one id, the file, with the outcome `error`. An expected failure (xfail)
counts as skipped, because it proves nothing. If exit code and report disagree, it is CannotTell.
"""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from detent.errors import CannotTell
from detent.evidence.report import Outcome, TestReport
from detent.evidence.runners.adapter import Command, Files, Runner
from detent.evidence.runners.python import pytest_command
from detent.evidence.runners.python.pytest_canary import canary
from detent.evidence.runners.python.pytest_ini import patterns, reaches, runner_part
from detent.evidence.runners.report_reader import LONGEST_MESSAGE, JUnitCase, Problem, describe_exit, no_report, read_cases, tail
from detent.evidence.source.file_patterns import is_outside
from detent.evidence.source.test_ids import package_path, readable

FRAME = re.compile(r"^(\S[^\n:]*\.\w+):(\d+): in ", re.MULTILINE)
BROKEN = re.compile(r'^E +File "([^"\n]+)", line (\d+)$', re.MULTILINE)  # a file that cannot be parsed
NO_FIXTURE = re.compile(r"^file ([^\n]+), line (\d+)$", re.MULTILINE)
EXAMPLE = re.compile(r"^(\S[^\n]*):(\d+): (?:DocTestFailure|UnexpectedException)$", re.MULTILINE)
INSTALLED = re.compile(r"(?:^|/)(?:site-packages|dist-packages|\.?venv|\.tox|\.nox)/")


def place_of(problem: Problem, file: str) -> str:
    """The innermost `file:line` of the project. Reports name project files by relative paths, all others by absolute ones."""
    if broken := BROKEN.findall(problem.text):
        path, line = broken[-1]
        return f"{file if file and path.endswith(f'/{file}') else path}:{line}"
    if found := NO_FIXTURE.match(problem.text) or EXAMPLE.search(problem.text):
        return f"{file}:{found[2]}" if file else ""
    ours = [f"{path}:{line}" for path, line in FRAME.findall(problem.text) if not is_outside(path) and not INSTALLED.search(path)]
    return ours[-1] if ours else ""


SAME_NAME = re.compile(r"import file mismatch:\nimported module '([\w.]+)' ")
EXITS = re.compile(
    r'^INTERNALERROR>   File "([^"\n]+)", line (\d+), in [^\n]*\n(?:INTERNALERROR>     [^\n]*\n)*INTERNALERROR> (SystemExit[^\n]*)',
    re.MULTILINE,
)

INI = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml")
ENDED = {
    2: "was interrupted",
    3: "had an internal error",
    4: "did not accept its command line or its configuration",
}
RANK: dict[Outcome, int] = {"passed": 0, "skipped": 1, "failed": 2, "error": 3}
OUTCOME: dict[str, Outcome] = {"failure": "failed", "error": "error", "skipped": "skipped"}
NOWHERE = "(outside of the checkout)"  # for errors of pytest that name no file

BUILTIN = (
    r"(?!(?:NoneType|int|float|complex|bool|str|bytes|bytearray|list|tuple|dict|set|frozenset|range|function|method|generator|coroutine)')"
)
CIRCLE = r"(?![^\n]*\(consider renaming '[^\n]*' if )"  # how Python 3.13 reports a half-loaded module: a circular import
MISSING = {
    "ModuleNotFoundError": re.compile(r"No module named '"),
    "ImportError": re.compile(rf"cannot import name '[^']*' from '{CIRCLE}"),
    "NameError": re.compile(r"name '[^']*' is not defined"),
    "AttributeError": re.compile(rf"(?:module '|type object '{BUILTIN}|'{BUILTIN}[^']*' object )[^\n]*has no attribute '{CIRCLE}"),
}
ERROR_LINE = re.compile(r"(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*)(?:: ?(.*))?\Z", re.DOTALL)
AROUND = re.compile(r'failed on (?:setup|teardown) with "(.*)"\Z', re.DOTALL)


def argv(base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
    """Our options come after the project's, so they win; an agent's selection replaces the configured paths."""
    words, chosen = _narrowed(base, selectors)
    return [
        *words, f"--junitxml={report_path}", "--junitprefix=", "-o", "junit_family=xunit1", "-o", "junit_logging=no",
        "-o", f"cache_dir={report_path}.cache", "--rootdir=.", "--continue-on-collection-errors", "--maxfail=0", "--tb=short", "--color=no", *chosen,
    ]  # fmt: skip


def read(report: bytes | None, exit_code: int | None, output: str) -> TestReport:
    if report is None:
        raise no_report("pytest", _end(exit_code), exit_code, output)
    found = _report(read_cases(report), exit_code, output)
    _agree(found, exit_code, output)
    return found


# Detection.


def detect(files: Files) -> Command | None:
    return _call(files) if _signs(files) else None


def _signs(files: Files) -> bool:
    """Whether the project shows a sign of pytest."""
    if any(map(files.exists, (*INI, "pyproject.toml", "setup.py", "conftest.py", "tests/conftest.py"))):
        return True
    if "[tool:pytest]" in (files.read("setup.cfg") or "") or "pytest" in (files.read("tox.ini") or ""):
        return True
    return any(re.search(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$", path) for path in files.paths())


def _call(files: Files) -> Command:
    """How to call pytest: the project's own environment first, then uv, tox, and PATH."""
    for folder in (".venv", "venv"):
        if files.exists(f"{folder}/bin/python") and files.exists(f"{folder}/bin/pytest"):
            return Command((f"{folder}/bin/python", "-m", "pytest"), "pytest", "environment")
    if re.search(r'^name = "pytest"$', files.read("uv.lock") or "", re.MULTILINE) and files.which("uv"):
        return Command(("uv", "run", "--frozen", "python", "-m", "pytest"), "pytest", "uv")
    if _tox_passes_words_on(files.read("tox.ini") or "") and files.which("tox"):
        return Command(("tox", "-q", "-e", "py", "--"), "pytest", "tox")
    script, python = files.which("pytest"), files.which("python3")
    if script and (not python or PurePosixPath(script).parent != PurePosixPath(python).parent):
        return Command(("pytest",), "pytest", "path")
    return Command(("python3", "-m", "pytest"), "pytest", "path")


def _tox_passes_words_on(text: str) -> bool:
    """Whether `tox -e py -- WORDS` passes the words to pytest."""
    import configparser

    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
        commands = parser.get("testenv", "commands", fallback="")
    except configparser.Error:
        return False
    return any("pytest" in line and "{posargs" in line for line in commands.splitlines())


# The machine's call.


def _narrowed(base: Command, selectors: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The words of the project's call and the selectors; a configured -k or -m is narrowed, never replaced."""
    paths = [s for at, s in enumerate(selectors) if not s.startswith("-") and (at == 0 or selectors[at - 1] not in ("-k", "-m"))]
    words = pytest_command.without_paths(base) if paths else list(base.argv)
    end = pytest_command.program_end(words)
    chosen = list(selectors)
    for option in ("-k", "-m"):
        if option in chosen and option in words[end:-1]:
            ours = words[words.index(option, end) + 1]
            chosen[chosen.index(option) + 1] = f"({ours}) and ({chosen[chosen.index(option) + 1]})"
    return words, chosen


# Reading.


def _report(cases: list[JUnitCase], exit_code: int | None, output: str) -> TestReport:
    modules = {_dotted(case.file): case.file for case in cases if _is_below(case.classname, _dotted(case.file))}
    outcomes: dict[str, Outcome] = {}
    files: dict[str, str] = {}
    messages: dict[str, str] = {}
    kinds: dict[str, str] = {}
    places: dict[str, str] = {}
    causes: dict[str, list[bool]] = {}
    for case in cases:
        test, file = _identify(case, modules)
        worst = _outcome(case.problems)
        if test not in outcomes or RANK[worst] >= RANK[outcomes[test]]:
            outcomes[test] = worst
        files[test] = file
        for problem in case.problems:
            kind, message = _kind_and_message(problem)
            messages.setdefault(test, message[:LONGEST_MESSAGE])
            if problem.sort != "skipped":
                kinds.setdefault(test, kind)
                places.setdefault(test, place_of(problem, case.file))
                causes.setdefault(test, []).append(is_missing_name(kind, message))
    missing = tuple(test for test, found in causes.items() if all(found))
    seconds = round(sum(case.seconds for case in cases), 3)
    return TestReport(
        outcomes, files, missing, output, exit_code, runner="pytest", messages=messages, kinds=kinds, seconds=seconds,
        places={test: place for test, place in places.items() if place},
    )  # fmt: skip


def _dotted(file: str) -> str:
    return file.removesuffix(".py").replace("/", ".")


def _is_below(classname: str, module: str) -> bool:
    return bool(module) and f"{classname}.".startswith(f"{module}.")


def _identify(case: JUnitCase, modules: dict[str, str]) -> tuple[str, str]:
    """The node id of a case and its file. The class name joins both by dots; the file attribute may name another file (inherited tests)."""
    if not case.classname:  # a file or folder that could not be collected
        where = case.file or case.name
        where = package_path(where, "") if is_outside(where) else where or NOWHERE
        return readable(where), where
    if is_outside(case.file):
        return _elsewhere(case)
    own = _dotted(case.file)
    if _is_below(case.classname, own):
        inside = case.classname[len(own) + 1 :]
        return readable("::".join([case.file, *(inside.split(".") if inside else ()), case.name])), case.file
    parts = case.classname.split(".")
    end = next((at for at in range(len(parts), 0, -1) if ".".join(parts[:at]) in modules), 0)
    end = end or next((at for at, part in enumerate(parts) if at and part[:1].isupper()), len(parts))
    file = modules.get(".".join(parts[:end])) or "/".join(parts[:end]) + ".py"
    return readable("::".join([file, *parts[end:], case.name])), file


def _elsewhere(case: JUnitCase) -> tuple[str, str]:
    """The id of a test outside the checkout (doctests of an installed package), independent of where the checkout is."""
    file, stem = package_path(case.file, case.name), PurePosixPath(case.file).stem
    parts = case.classname.split(".")
    inside = parts[len(parts) - parts[::-1].index(stem) :] if stem in parts else ()
    return readable("::".join([file, *inside, case.name])), file


def _outcome(problems: Iterable[Problem]) -> Outcome:
    return max((OUTCOME[p.sort] for p in problems), key=RANK.__getitem__, default="passed")


def _kind_and_message(problem: Problem) -> tuple[str, str]:
    """The type of the exception, and its message."""
    if problem.sort == "skipped":
        return "", problem.message or problem.text
    message = AROUND.sub(r"\1", problem.message)
    if message == "collection failure":
        lines = [line[4:] for line in problem.text.splitlines() if line.startswith("E   ") and not line.startswith("E    ")]
        message = lines[-1] if lines else problem.text.strip()
        if same := SAME_NAME.match(message):
            return "", f"another test file is called {same[1]} too: give one of them another name, or each folder an __init__.py"
    if message.startswith("assert "):
        return "AssertionError", message
    if message.endswith(": DocTestFailure"):
        return "DocTestFailure", message
    match = ERROR_LINE.match(message)
    return (match[1], message) if match else ("", message)


def is_missing_name(kind: str, message: str) -> bool:
    pattern = MISSING.get(kind)
    return bool(pattern and pattern.match(message.partition(": ")[2]))


def _agree(report: TestReport, exit_code: int | None, output: str) -> None:
    """Raise CannotTell if exit code and report disagree."""
    if exit_code == 4 and not any("::" in test for test in report.ids):
        return  # a selected test does not exist, or its file cannot be collected; the outcomes say which
    if exit_code == 3 and (exits := EXITS.search(output)):
        raise CannotTell(
            f"pytest stopped while it loaded {PurePosixPath(exits[1]).name}, which ends the process in line {exits[2]} ({exits[3]})"
        )
    if exit_code not in (0, 1, 5):
        raise CannotTell(f"pytest {_end(exit_code)}{tail(output)}")
    if exit_code == 1 and not report.bad:
        raise CannotTell(f"pytest exited with code 1, but no test in its report failed (a coverage limit, or a plugin?){tail(output)}")
    if exit_code != 1 and report.bad:
        raise CannotTell(f"pytest exited with code {exit_code}, but its report has a failure: {min(report.bad)}")


def _end(exit_code: int | None) -> str:
    return ENDED.get(exit_code or 0) or describe_exit(exit_code)


RUNNER = Runner(
    name="pytest",
    adopt=pytest_command.adopt,
    detect=detect,
    parse=pytest_command.parse,
    argv=argv,
    read=read,
    tests=re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests)\.py$|(?:^|/)tests?/").search,
    config=re.compile(  # includes modules at the root that would be imported instead of the runner
        r"(?:^|/)(?:\.?pytest\.(?:ini|toml)|conftest\.py|pyproject\.toml|setup\.cfg|tox\.ini|noxfile\.py|\.coveragerc|sitecustomize\.py|usercustomize\.py)$"
        r"|^(?:pytest|_pytest|pluggy|iniconfig)(?:\.py)?(?:/|$)"
    ).search,
    runner_part=runner_part,
    test_patterns=patterns,
    reaches=reaches,
    tests_like=("test_*.py", "*_test.py", "tests.py", "tests/", "test/"),
    canary=canary,
)
