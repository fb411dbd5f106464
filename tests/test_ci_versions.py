"""Files by which work is judged, where only versions differ."""

import pytest

from detent.evidence.changes.ci_versions import runs_no_less

CI = ".github/workflows/ci.yml"
MATRIX = """jobs:
  test:
    timeout-minutes: 10
    strategy:
      matrix:
        python-version: ['3.8', '3.9']
        include:
          - {name: Linux, python: '3.10', os: ubuntu-latest, tox: py310}
          - {name: '3.9', python: '3.9', os: ubuntu-latest, tox: py39}
    steps:
      - uses: actions/setup-python@v4
      - run: pytest --cov-fail-under=80
"""
TOX = "[tox]\nenvlist =\n  py38\n  lint\n[testenv]\ncommands = pytest\n"
ROW = "          - {name: Linux, python: '3.10', os: ubuntu-latest, tox: py310}\n"
OWN = ROW.replace("Linux", "'3.10'")
CAME = {
    "one more": (CI, MATRIX, MATRIX.replace("'3.9']", "'3.9', '3.10']")),
    "the newest, and the one before in a row of its own": (CI, MATRIX, MATRIX.replace(ROW, f"{ROW.replace('10', '11')}{OWN}")),
    "another version of an action as well": (CI, MATRIX, MATRIX.replace("'3.9']", "'3.9', '3.10']").replace("@v4", "@v5")),
    "an item of a list": (CI, "node-version:\n  - 18\nx: 1\n", "node-version:\n  - 18\n  - 20\nx: 1\n"),
    "started by hand as well": (CI, "on: [push, pull_request]\n", "on: [push, pull_request, workflow_dispatch]\n"),
    "started by hand as well, in a line of its own": (CI, "on:\n  push:\n", "on:\n  push:\n  workflow_dispatch:\n"),
    "an environment of tox": ("tox.ini", TOX, TOX.replace("  py38\n", "  py38\n  py39\n")),
    "an environment of tox on one line": ("tox.ini", "[tox]\nenvlist = py38,lint\n", "[tox]\nenvlist = py38,py39,lint\n"),
}
MAIN = "  push:\n    branches:\n    - main\n"
STARTED = {
    "pushes to some branches": ("on: [push, pull_request]\n", f"on:\n{MAIN}  pull_request:\n"),
    "pushes to another branch": (f"on:\n{MAIN}  pull_request:\n", f"on:\n{MAIN.replace('main', 'next')}  pull_request:\n"),
    "pushes to all branches": (f"on:\n  pull_request:\n{MAIN}", "on:\n  - push\n  - pull_request\n"),
}
SELDOM = {
    "no pull requests": ("on: [push, pull_request]\n", f"on:\n{MAIN}"),
    "some pull requests": ("on: [push, pull_request]\n", f"on:\n{MAIN}  pull_request:\n    paths: [docs]\n"),
    "some kinds of pull requests": ("on: [push, pull_request]\n", f"on:\n{MAIN}  pull_request: {{types: [closed]}}\n"),
    "with rights of the project": ("on: [push, pull_request]\n", f"on:\n{MAIN}  pull_request:\n  pull_request_target:\n"),
    "no longer each night": (f"on:\n{MAIN}  pull_request:\n  schedule:\n  - cron: 1\n", f"on:\n{MAIN}  pull_request:\n"),
    "pushes alone before": ("on: [push]\n", f"on:\n{MAIN}"),
    "and what is run": ("on: [push, pull_request]\njobs: a\n", f"on:\n{MAIN}  pull_request:\njobs: b\n"),
}
WENT = {
    "one less": (CI, MATRIX, MATRIX.replace("'3.8', ", "")),
    "another one": (CI, "python-version:\n  - '3.8'\nx: 1\n", "python-version:\n  - '3.9'\nx: 1\n"),
    "a limit": (CI, MATRIX, MATRIX.replace("=80", "=8")),
    "another limit": (CI, MATRIX, MATRIX.replace("minutes: 10", "minutes: 1000")),
    "what is run": (CI, MATRIX, MATRIX.replace("'3.9']", "'3.9', '3.10']").replace("pytest", "pytest -k odd")),
    "a row that is left out": (CI, MATRIX, MATRIX.replace("'3.9']", "'3.9', '3.10']\n        exclude: [{python: '3.9'}]")),
    "a condition": (CI, MATRIX + "        if: matrix.python == '3.8'\n", MATRIX + "        if: matrix.python == '3.9'\n"),
    "the linter of tox": ("tox.ini", TOX, TOX.replace("  lint\n", "  py39\n")),
    "a command of tox": ("tox.ini", TOX, TOX.replace("py38\n", "py38\n  py39\n").replace("pytest", "pytest || true")),
    "started by hand alone": (CI, "on: [push, pull_request]\n", "on: [workflow_dispatch]\n"),
    "a file that came": (CI, "", MATRIX),
}


@pytest.mark.parametrize(("path", "before", "after"), CAME.values(), ids=CAME)
def test_one_more_version_to_test_with_takes_nothing_away(path: str, before: str, after: str) -> None:
    assert runs_no_less(path, before, after)


@pytest.mark.parametrize(("path", "before", "after"), WENT.values(), ids=WENT)
def test_whatever_else_changes_in_such_a_file_judges(path: str, before: str, after: str) -> None:
    assert not runs_no_less(path, before, after)


@pytest.mark.parametrize(("before", "after"), STARTED.values(), ids=STARTED)
def test_which_pushes_are_judged_beside_each_pull_request_is_an_ordinary_change(before: str, after: str) -> None:
    jobs = "\njobs:\n  test:\n    - run: pytest\n"
    assert runs_no_less(CI, f"name: a\n{before}{jobs}", f"name: a\n{after}{jobs}")


@pytest.mark.parametrize(("before", "after"), SELDOM.values(), ids=SELDOM)
def test_a_workflow_that_pull_requests_start_less_often_judges(before: str, after: str) -> None:
    assert not runs_no_less(CI, before, after)
