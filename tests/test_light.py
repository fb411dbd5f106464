"""The calls that agents make at every step stay light: few modules, few processes, and flags that are read as click reads them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.interfaces.cli import get_task, submit_work
from detent.interfaces.cli.plain_commands import FORMS, call, read
from tests.project import GREEN, RED, Project

COMMANDS: dict[str, click.Command] = {"get-task": get_task.command, "submit-work": submit_work.command}
PASS = ("submit-work", "--summary", "s", "--test-command", "pytest tests/test_add.py", "--expectation", "PASS")
WORDS = [
    "-",
    "--",
    "-x",
    "",
    "PASS",
    "FAIL",
    "SUCCESS",
    "words of a person",
    "--json=1",
    "--summary=s",
    "--help",
    "--sum",
    *FORMS["submit-work"],
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """At a GREEN step, with code that does not pass."""
    project = Project(tmp_path / "p").reddened()
    project.write({"calc.py": "def add(a, b):\n    return 0\n"})
    return project


# -- flags -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMS)
def test_the_plain_flags_are_those_of_the_command(name: str) -> None:
    options = [p for p in COMMANDS[name].params if isinstance(p, click.Option)]
    choices = {o.opts[0]: tuple(o.type.choices) if isinstance(o.type, click.Choice) else () for o in options}
    assert {o.opts[0]: None if o.is_flag else choices[o.opts[0]] for o in options} == dict(FORMS[name])


@pytest.mark.parametrize("name", FORMS)
@given(data=st.data())
def test_what_is_plain_is_read_as_click_reads_it(name: str, data: st.DataObject) -> None:
    argv = data.draw(st.lists(st.sampled_from(WORDS), max_size=6))
    plain = read(argv, FORMS[name])
    if plain is None:
        return
    params = COMMANDS[name].make_context(name, list(argv)).params
    by_flag = {p.opts[0]: params[p.name or ""] for p in COMMANDS[name].params if isinstance(p, click.Option)}
    assert plain == {flag: flag if value is True else value for flag, value in by_flag.items() if value not in (None, False)}
    assert params.get("source") is None


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["runs"],
        ["-C", ".", "get-task"],
        ["get-task", "--help"],
        ["get-task", "extra"],
        ["submit-work"],
        ["submit-work", "-"],
        ["submit-work", "--summary"],
        ["submit-work", "--summary", ""],
        ["submit-work", "--summary", "--json"],
        ["submit-work", "--summary=s"],
        ["submit-work", "--summary", "s", "--summary", "t"],
        ["submit-work", "--summary", "s", "--expectation", "MAYBE"],
        ["submit-work", "--summary", "s", "--test_command", "pytest"],
        ["submit-work", "--json"],
    ],
    ids=" ".join,
)
def test_what_is_not_plain_is_left_to_click(argv: list[str]) -> None:
    assert call(argv) is None


# -- modules -----------------------------------------------------------------------------------------------------------------

HEAVY = {
    "ast",
    "click",
    "rich",
    "dataclasses",
    "tomllib",
    "importlib.resources",
    "traceback",
    "difflib",
    "asyncio",
    "detent.evidence.mutate",
}

if sys.version_info >= (3, 14):
    HEAVY -= {"ast"}  # typing.NamedTuple itself brings it there


def imported(project: Project, *args: str) -> tuple[str, set[str]]:
    """What a call prints, and the modules that it imports."""
    env = {name: value for name, value in project.env.items() if not name.startswith("COV")}  # coverage would import things of its own
    line = [sys.executable, "-X", "importtime", "-m", "detent", *args]
    done = subprocess.run(line, cwd=project.root, env=env, capture_output=True, text=True)
    return done.stdout, {row.rpartition("|")[2].strip() for row in done.stderr.splitlines() if row.startswith("import time:")}


def test_a_submit_imports_what_it_uses(project: Project) -> None:
    said, modules = imported(project, *PASS)
    assert said.startswith("FAILURE  DEBUGGING\n")
    assert {"msgspec", "detent.world", "detent.workflows.pr.pr_table"} <= modules
    assert HEAVY & modules == set()


TRACED = """
import json, sys, threading
called, chains = set(), []
CO_NEWLOCALS = 2

def look(frame, event, arg):
    code, file = frame.f_code, frame.f_code.co_filename.rpartition("/detent/")[2]
    if event != "call" or file == frame.f_code.co_filename:
        return
    if code.co_flags & CO_NEWLOCALS and code.co_name != "__annotate__":  # a function: neither a module nor the body of a class
        called.add(file)
    if (file, code.co_name) == ("door.py", "submit"):
        chain = []
        while frame is not None:
            chain.append(frame.f_code.co_name)
            frame = frame.f_back
        chains.append(chain)

sys.setprofile(look)
threading.setprofile(look)
try:
    from detent.interfaces.cli.main import main
    main()
finally:
    sys.setprofile(None)
    ours = [name for name in sys.modules if name.partition(".")[0] == "detent"]
    print(json.dumps([chains[0], len(called), len(ours)]), file=sys.stderr)
"""
FRAMES = 4
MOST = {
    "RED": (104, 146),
    "GREEN": (112, 153),
    "REFACTOR": (105, 151),
    "a failed GREEN": (85, 118),
}  # files, modules; these only ever get smaller


def traced(project: Project, *args: str) -> tuple[str, list[str], int, int]:
    """What a call prints, the calls that led to the door, and how many files of ours were called and modules of ours imported."""
    env = {name: value for name, value in project.env.items() if not name.startswith("COV")}
    done = subprocess.run([sys.executable, "-c", TRACED, *args], cwd=project.root, env=env, capture_output=True, text=True)
    chain, files, modules = json.loads(done.stderr.splitlines()[-1])
    return done.stdout, chain, files, modules


def is_light(step: str, files: int, modules: int) -> bool:
    return files <= MOST[step][0] and modules <= MOST[step][1]


def test_a_submit_is_at_the_door_in_a_few_frames_and_calls_few_files(project: Project) -> None:
    said, chain, files, modules = traced(project, *PASS)
    assert said.startswith("FAILURE  DEBUGGING\n")
    assert chain.index("_submit_work") <= FRAMES, chain
    assert is_light("a failed GREEN", files, modules), (files, modules)


@pytest.mark.slow
def test_each_step_of_a_cycle_imports_what_it_uses(tmp_path: Path) -> None:
    project = Project(tmp_path / "p").planned("RED", "GREEN", "REFACTOR")
    steps = {"RED": ("tests/test_add.py", RED), "GREEN": ("calc.py", GREEN), "REFACTOR": ("calc.py", GREEN.replace("b", "more"))}
    for step, (path, text) in steps.items():
        project.write({path: text})
        said, _, called, modules = traced(project, *PASS[:-1], "FAIL" if step == "RED" else "PASS")
        assert said.startswith(("SUCCESS", "NEEDS_ANALYSIS")), said
        assert is_light(step, called, modules), (step, called, modules)
        if step == "RED":
            assert project.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
        project.task()


def test_a_thorough_get_task_imports_what_it_uses(project: Project) -> None:
    project.git("commit", "-q", "--allow-empty", "-m", "so that the quick answer does not hold")
    said, modules = imported(project, "get-task")
    assert "GREEN" in said and "msgspec" in modules
    assert HEAVY & modules == set()


# -- processes ---------------------------------------------------------------------------------------------------------------

COUNTING = '#!/bin/sh\necho "$@" >> "$HOME/calls"\nexec {git} "$@"\n'


@pytest.fixture
def calls(project: Project, tmp_path: Path) -> Path:
    """Where the calls of git are written down, one a line, by a git that stands before the real one."""
    git = shutil.which("git")
    assert git is not None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(COUNTING.format(git=git))
    (tmp_path / "bin" / "git").chmod(0o755)
    project.env.update(PATH=f"{tmp_path / 'bin'}{os.pathsep}{project.env['PATH']}", HOME=str(tmp_path))
    return tmp_path / "calls"


def test_a_submit_that_runs_the_tests_calls_git_at_most_twelve_times(project: Project, calls: Path) -> None:
    assert project.run(*PASS).out.startswith("FAILURE  DEBUGGING\n")
    first = len(calls.read_text().splitlines())
    assert 5 <= first <= 12
    assert project.run(*PASS).out.startswith("REFUSED  DEBUGGING\n"), "the same tree is answered from memory"
    assert len(calls.read_text().splitlines()) < 2 * first, "a tree that is kept is not kept again"
