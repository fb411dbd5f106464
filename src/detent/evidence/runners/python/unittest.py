"""unittest. A script of ours runs it in the project's own Python and writes the report at the end. Ids are spelled like pytest's:
`file::Class::test`. A file that cannot be loaded is one id, the file, with the outcome `error`. An expected failure counts as skipped."""

import json
import re
from functools import partial
from pathlib import PurePosixPath

from detent.evidence.runners.adapter import REPORTERS, Command, Files, InnerProject, Runner
from detent.evidence.runners.python import pytest as like_pytest
from detent.evidence.runners.python import unittest_canary, unittest_command
from detent.evidence.runners.python.pytest_ini import runner_part
from detent.evidence.runners.report_lines import ReportLanguage, ReportLine, read_report
from detent.evidence.source.file_patterns import folders, telling_patterns

SCRIPT = REPORTERS / "unittest_run.py"
SIGNS_OF_PYTEST = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "conftest.py", "tests/conftest.py", "test/conftest.py")
TEXTS_OF_PROJECT = (
    "pyproject.toml", "setup.cfg", "tox.ini", "setup.py", "noxfile.py", "uv.lock", "poetry.lock", "Pipfile", "requirements.txt",
    "requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt", "test-requirements.txt", "requirements-test.txt", "Makefile",
)  # fmt: skip
NAMED = re.compile(r"(?:.*/)?test[^/]*\.py")  # unittest's default pattern
USES = re.compile(r"^\s*(?:import unittest|from unittest\b)", re.MULTILINE)
MOST_READ = 200


def argv(base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
    """The project's own call with our script instead of `-m unittest`; the selection is applied to the tests it finds."""
    end = unittest_command.program_end(base.argv)
    chosen = {
        "paths": [each for each in selectors if not each.startswith("-")],
        "names": [each.removeprefix("-k=") for each in selectors if each.startswith("-k=")],
        "files": [each.removeprefix("-p=") for each in selectors if each.startswith("-p=")],
    }
    return [*base.argv[: end - 2], str(SCRIPT), report_path, json.dumps(chosen), *base.argv[end:]]


def _is_missing(line: ReportLine) -> bool:
    message = line.message.removeprefix(f"{line.kind}: ")
    return like_pytest.is_missing_name(line.kind, f"{line.kind}: {message}")


def test_patterns(base: Command | None, files: Files) -> tuple[str, ...]:
    """What the command itself discovers, and where: `discover -s checks -p "verify*.py"`, or the same as positional words."""
    words = base.argv[unittest_command.program_end(base.argv) :] if base else ()
    options = {"-s": "", "-p": ""}
    plain = []
    left = iter(words[1:] if words[:1] == ("discover",) else words)
    for word in left:
        option, equals, value = word.partition("=")
        known = unittest_command.VALUES.get(option)
        if known:
            options[known] = value if equals else next(left, "")
        elif not word.startswith("-") and words[:1] == ("discover",):
            plain.append(word)
    start, pattern = options["-s"] or "".join(plain[:1]), options["-p"] or "".join(plain[1:2])
    home = start.removeprefix("./").rstrip("/").removeprefix(".")
    own = f"{home}/**/{pattern}".lstrip("/") if home else pattern
    return (*folders([start] if start else []), *(telling_patterns([own]) if pattern else ()))


def detect(files: Files) -> Command | None:
    if any(map(files.exists, SIGNS_OF_PYTEST)) or any("pytest" in (files.read(name) or "") for name in TEXTS_OF_PROJECT):
        return None
    named = [path for path in files.paths() if NAMED.fullmatch(path)][:MOST_READ]
    texts = {path: files.read(path) or "" for path in named}
    ours = [path for path, text in texts.items() if USES.search(text)]
    if not ours or any(re.search(r"^\s*(?:import|from) pytest\b", text, re.MULTILINE) for text in texts.values()):
        return None
    start = _start(ours, files)
    python = next((f"{folder}/bin/python" for folder in (".venv", "venv") if files.exists(f"{folder}/bin/python")), "python3")
    words = (python, "-m", "unittest", "discover", *(("-s", start) if start else ()))
    return Command(words, "unittest", "path" if python == "python3" else "environment")


def _start(tests: list[str], files: Files) -> str:
    """Where discovery starts: at the root, or in the one test folder that is no package."""
    tops = set()
    for path in tests:
        folders = [folder.as_posix() for folder in PurePosixPath(path).parents][:-1]
        tops.add(next((folder for folder in reversed(folders) if not files.exists(f"{folder}/__init__.py")), ""))
    return tops.pop() if len(tops) == 1 else ""


def reaches(outer: Command, files: Files, below: InnerProject) -> bool:
    """unittest discovers tests in packages only."""
    parts = PurePosixPath(below.folder).parts
    return all(files.exists(f"{'/'.join(parts[:end])}/__init__.py") for end in range(1, len(parts) + 1))


LANGUAGE = ReportLanguage("unittest", "::", lambda line: line.kind, _is_missing)
RUNNER = Runner(
    name="unittest",
    adopt=unittest_command.adopt,
    detect=detect,
    parse=unittest_command.parse,
    argv=argv,
    read=partial(read_report, language=LANGUAGE),
    tests=re.compile(r"(?:^|/)(?:test[^/]*|[^/]*_test)\.py$|(?:^|/)tests?/").search,
    config=re.compile(  # includes modules at the root that would be imported instead of the runner's own
        r"(?:^|/)(?:pyproject\.toml|setup\.cfg|tox\.ini|noxfile\.py|\.coveragerc|sitecustomize\.py|usercustomize\.py)$"
        r"|^(?:unittest|fnmatch|json|re)(?:\.py)?(?:/|$)"
    ).search,
    runner_part=runner_part,
    test_patterns=test_patterns,
    reaches=reaches,
    tests_like=("test*.py", "*_test.py", "tests/", "test/"),
    canary=unittest_canary.canary,
)
