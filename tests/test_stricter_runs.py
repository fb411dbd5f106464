"""What is run to judge work, where it only became more, and where it may have become less: hooks, jobs, environments, scripts, coverage limits."""

from pathlib import Path

import pytest

from detent.evidence.changes.ci_versions import runs_no_less
from detent.evidence.changes.judging_parts import asks_only_more, judges
from detent.evidence.runners.javascript.js_project import runner_part
from tests.test_check import BASE, Branch
from tests.test_check_habits import kinds

HOOKS = """repos:
- repo: https://github.com/a/ruff
  rev: v0.1.0
  hooks:
  - id: ruff
    args: [--fix]
- repo: local
  hooks:
  - id: types
    entry: mypy src
    language: system
"""
HOOK = "- repo: https://github.com/a/mypy\n  rev: v1.0\n  hooks:\n  - id: mypy\n"
CI = """on: [push, pull_request]
jobs:
  test:
    name: tests
    runs-on: ${{ matrix.os }}
    strategy:
      matrix:
        os: [ubuntu-latest]
        python: ['3.11', '3.12']
        include:
        - {os: windows-latest, python: '3.12'}
    steps:
    - uses: actions/checkout@v4
    - uses: a/setup@v1
    - run: |
        pip install -e .
        pytest
"""
JOB = """  lint:
    runs-on: ubuntu-latest
    steps:
    - uses: actions/checkout@v4
    - uses: a/setup@v1
    - run: ruff check .
"""
ENVS = """[tox]
envlist = py311, lint

[testenv]
commands =
    pytest {posargs}

[testenv:lint]
skip_install = true
commands =
    ruff check src
    mypy src
"""
ENV = "\n[testenv:docs]\ncommands = sphinx-build -W docs out\n"
NOX = """import nox

nox.options.sessions = ["tests"]


@nox.session(python=["3.11", "3.12"])
def tests(session):
    session.install("-e", ".")
    session.run("pytest", "-v", "tests")
"""
SESSION = '\n\n@nox.session\ndef lint(session):\n    session.install("ruff")\n    session.run("ruff", "check", "src")\n'
SCRIPTS = '{"scripts": {"test": "jest", "lint": "eslint .", "check:types": "tsc --noEmit"}}'
FLOW, HOOKED, TOX, NOXFILE, PACKAGE = ".github/workflows/ci.yml", ".pre-commit-config.yaml", "tox.ini", "noxfile.py", "package.json"
VITEST = "export default defineConfig({\n  test: {\n    coverage: {\n      thresholds: { lines: 80, branches: 70 },\n    },\n  },\n});\n"
JEST = "module.exports = {\n  coverageThreshold: {\n    global: {\n      lines: 80,\n    },\n  },\n};\n"
JEST_PACKAGE = '{"jest": {"coverageThreshold": {"global": {"lines": 80}}}, "scripts": {"test": "jest"}}'
RUNS = {
    "a hook": (HOOKED, HOOKS, HOOKS + HOOK),
    "a hook of a repository that is used": (HOOKED, HOOKS, HOOKS.replace("  - id: ruff\n", "  - id: ruff-format\n  - id: ruff\n")),
    "a hook, and newer ones": (HOOKED, HOOKS, (HOOKS + HOOK).replace("v0.1.0", "v0.2.0")),
    "a job": (FLOW, CI, CI + JOB),
    "a job, and a newer action": (FLOW, CI, (CI + JOB).replace("checkout@v4", "checkout@v5")),
    "another system": (FLOW, CI, CI.replace("[ubuntu-latest]", "[ubuntu-latest, macos-latest]")),
    "a row of its own": (FLOW, CI, CI.replace("    steps", "        - {os: windows-latest, python: '3.13'}\n    steps", 1)),
    "a stricter call": (FLOW, CI, CI.replace("        pytest\n", "        pytest --strict-markers -W error\n")),
    "a check beside the tests": (FLOW, CI, CI.replace("        pytest\n", "        ruff check .\n        pytest\n")),
}
NO_RUNS = {
    "no hook": (HOOKED, HOOKS + HOOK, HOOKS),
    "a hook that does less": (HOOKED, HOOKS, HOOKS.replace("args: [--fix]", "args: [--fix, --exit-zero]") + HOOK),
    "a hook for fewer files": (HOOKED, HOOKS, HOOKS.replace("args: [--fix]", "exclude: src\n    args: [--fix]")),
    "files that no hook sees": (HOOKED, HOOKS, f"exclude: src\n{HOOKS}{HOOK}"),
    "a program of one's own": (HOOKED, HOOKS, f"{HOOKS}  - id: more\n    entry: sh x.sh\n    language: system\n"),
    "a program from a folder": (HOOKED, HOOKS, HOOKS + HOOK.replace("https://github.com/a/mypy", "../mypy")),
    "a hook from another repository": (HOOKED, HOOKS, HOOKS.replace("github.com/a/ruff", "github.com/b/ruff")),
    "a hook from a branch": (HOOKED, HOOKS, HOOKS.replace("rev: v0.1.0", "rev: main") + HOOK),
    "one hook for another": (HOOKED, HOOKS, HOOKS.replace("id: ruff", "id: ruff-format")),
    "a job, and one that is gone": (FLOW, CI, CI.replace("  test:\n    name: tests", "  all:\n    name: all") + JOB),
    "a job that another waits for": (FLOW, CI, CI.replace("    name: tests", "    name: tests\n    needs: lint") + JOB),
    "a job with the name of another": (FLOW, CI, CI + JOB.replace("  lint:", "  lint:\n    name: tests")),
    "a job with rights": (FLOW, CI, CI + JOB.replace("    steps", "    permissions: write-all\n    steps")),
    "a job with a secret": (FLOW, CI, CI + JOB.replace("ruff check .", "ruff check . ${{ secrets.TOKEN }}")),
    "a job that stops the others": (FLOW, CI, CI + JOB.replace("    steps", "    concurrency: {group: a, cancel-in-progress: true}\n    steps")),
    "a job with an action of somebody else": (FLOW, CI, CI + JOB.replace("a/setup@v1", "b/setup@v1")),
    "a job that pushes": (FLOW, CI, CI + JOB.replace("ruff check .", "git push")),
    "a job, and a step": (FLOW, CI, (CI + JOB).replace("    - run: |", "    - run: echo PYTEST_ADDOPTS=-k1 >> $GITHUB_ENV\n    - run: |")),
    "a job, and a condition": (FLOW, CI, CI.replace("    name: tests", "    name: tests\n    if: false") + JOB),
    "a job, and a step that may fail": (FLOW, CI, (CI + JOB).replace("    - run: |", "    - continue-on-error: true\n      run: |")),
    "a job, and a tail": (FLOW, CI, (CI + JOB).replace("        pytest\n", "        pytest || true\n")),
    "a job, and fewer tests": (FLOW, CI, (CI + JOB).replace("        pytest\n", "        pytest -k one\n")),
    "another system for one": (FLOW, CI, CI.replace("[ubuntu-latest]", "[macos-latest]")),
    "a combination that is left out": (FLOW, CI, CI.replace("        include", "        exclude: [{python: '3.11'}]\n        include")),
    "a row that changes others": (FLOW, CI, CI.replace("    steps", "        - {python: '3.12', only: one}\n    steps", 1)),
    "no combination": (FLOW, CI, CI.replace("        include", "        more: []\n        include")),
}  # fmt: skip
MORE = {
    "an environment": (TOX, ENVS, ENVS + ENV),
    "an environment that is listed": (TOX, ENVS, ENVS.replace("py311, lint", "py311, lint, docs") + ENV),
    "a further check": (TOX, ENVS, ENVS.replace("    mypy src", "    mypy src\n    codespell src")),
    "a stricter check": (TOX, ENVS, ENVS.replace("mypy src", "mypy --strict src").replace("pytest {", "pytest --strict-markers -W error {")),
    "a limit of coverage": (TOX, ENVS.replace("pytest {", "pytest --cov-fail-under=80 {"), ENVS.replace("pytest {", "pytest --cov-fail-under=90 {")),
    "a session": (NOXFILE, NOX, NOX + SESSION),
    "a session that runs by itself": (NOXFILE, NOX, NOX.replace('["tests"]', '["lint", "tests"]') + SESSION),
    "a version of a session": (NOXFILE, NOX, NOX.replace('"3.12"]', '"3.12", "3.13"]')),
    "a stricter call of a session": (NOXFILE, NOX, NOX.replace('"pytest",', '"pytest", "--strict-markers",')),
    "a check of a session": (NOXFILE, NOX, NOX + '    session.run("mypy", "src")\n'),
    "a script": (PACKAGE, SCRIPTS, SCRIPTS.replace('"lint"', '"check:spelling": "codespell", "lint"')),
    "a check before the tests": (PACKAGE, SCRIPTS, SCRIPTS.replace('"jest"', '"eslint . && npm run check:types && jest"')),
    "no warnings": (PACKAGE, SCRIPTS, SCRIPTS.replace('"eslint ."', '"eslint . --max-warnings 0"')),
}  # fmt: skip
LESS = {
    "an environment in the place of one": (TOX, ENVS, ENVS + ENV.replace("docs]", "py311]")),
    "an environment for a version": (TOX, ENVS, ENVS + ENV.replace("docs]", "py312]")),
    "an environment that does anything": (TOX, ENVS, ENVS + ENV.replace("sphinx-build -W docs out", "rm -rf tests")),
    "an environment with a tail": (TOX, ENVS, ENVS + ENV.replace(" out", " out || true")),
    "an environment for another": (TOX, ENVS, ENVS.replace("lint\n", "docs\n", 1) + ENV),
    "fewer checks": (TOX, ENVS, ENVS.replace("    mypy src\n", "")),
    "a check that may fail": (TOX, ENVS, ENVS.replace("    mypy", "    - mypy")),
    "a laxer check": (TOX, ENVS, ENVS.replace("mypy src", "mypy --ignore-missing-imports src")),
    "fewer tests": (TOX, ENVS, ENVS.replace("pytest {", "pytest --strict-markers -k one {")),
    "a value that looks like more": (TOX, ENVS, ENVS.replace("pytest {", "pytest -k --strict-markers {")),
    "a check that writes": (TOX, ENVS, ENVS.replace("    mypy src", "    mypy src\n    ruff check --fix tests")),
    "variables": (TOX, ENVS, ENVS.replace("commands =\n    pytest", "setenv = PYTEST_ADDOPTS=-k1\ncommands =\n    pytest") + ENV),
    "a lower limit of coverage": (TOX, ENVS.replace("pytest {", "pytest --cov-fail-under=80 {"), ENVS.replace("pytest {", "pytest --cov-fail-under=8 {")),
    "a session with the name of another": (NOXFILE, NOX, NOX + SESSION.replace("lint", "tests")),
    "a session with the name of a module": (NOXFILE, NOX, NOX + SESSION.replace("def lint", "def nox")),
    "a session that does anything": (NOXFILE, NOX, NOX + SESSION.replace('"ruff", "check", "src"', '"rm", "-rf", "tests"')),
    "a function": (NOXFILE, NOX, NOX + SESSION.replace("@nox.session\n", "")),
    "another session": (NOXFILE, NOX, NOX.replace('["tests"]', '["lint"]') + SESSION),
    "another version of a session": (NOXFILE, NOX, NOX.replace('"3.12"]', '"3.13"]')),
    "fewer tests of a session": (NOXFILE, NOX, NOX.replace('"-v", "tests"', '"-v", "-k", "one"')),
    "a session that may fail": (NOXFILE, NOX, NOX.replace('"-v", "tests"', '"-v", "tests", success_codes=[0, 1]')),
    "a return": (NOXFILE, NOX, NOX.replace("    session.install", "    return\n    session.install")),
    "no tests": (PACKAGE, SCRIPTS, SCRIPTS.replace('"jest"', '"true"')),
    "a script around the tests": (PACKAGE, SCRIPTS, SCRIPTS.replace('"lint"', '"pretest": "rm -rf test", "lint"')),
    "a script with a tail": (PACKAGE, SCRIPTS, SCRIPTS.replace('"jest"', '"eslint . && jest || true"')),
    "a script that writes": (PACKAGE, SCRIPTS, SCRIPTS.replace('"jest"', '"eslint --fix test && jest"')),
    "a script by name that does anything": (PACKAGE, SCRIPTS, SCRIPTS.replace('"jest"', '"npm run check:x && jest", "check:x": "rm -rf test"')),
    "laxer types": (PACKAGE, SCRIPTS, SCRIPTS.replace("tsc --noEmit", "tsc --noEmit --strict false")),
}  # fmt: skip
HIGHER = {
    "vitest": ("vitest.config.ts", VITEST, VITEST.replace("80", "90")),
    "vitest, a further limit": ("vitest.config.ts", VITEST, VITEST.replace("lines", "functions: 75, lines")),
    "vitest, the first limits": ("vitest.config.ts", VITEST.replace("      thresholds: { lines: 80, branches: 70 },\n", ""), VITEST),
    "jest": ("jest.config.js", JEST, JEST.replace("80", "85")),
    "jest in package.json": ("package.json", JEST_PACKAGE, JEST_PACKAGE.replace("80", "85")),
}
LOWER = {
    "vitest": ("vitest.config.ts", VITEST, VITEST.replace("80", "8")),
    "vitest, one higher and one lower": ("vitest.config.ts", VITEST, VITEST.replace("80", "90").replace("70", "60")),
    "vitest, without one": ("vitest.config.ts", VITEST, VITEST.replace("lines: 80, ", "")),
    "vitest, more files left out": ("vitest.config.ts", VITEST, VITEST.replace("80", "90").replace("coverage: {", "coverage: { exclude: ['src'],")),
    "vitest, as a comment": ("vitest.config.ts", VITEST, VITEST.replace("thresholds", "// thresholds").replace("80", "90")),
    "vitest, elsewhere as well": ("vitest.config.ts", VITEST, VITEST.replace("coverage", "thresholds: { lines: 90 }, coverage")),
    "vitest, one name twice": ("vitest.config.ts", VITEST, VITEST.replace("lines: 80,", "lines: 90, lines: 1,")),
    "jest": ("jest.config.js", JEST, JEST.replace("80", "8")),
    "jest, fewer tests": ("jest.config.js", JEST, JEST.replace("80", "85").replace("module.exports = {", "module.exports = {\n  testMatch: ['a'],")),
    "jest in package.json": ("package.json", JEST_PACKAGE, JEST_PACKAGE.replace("80", "8")),
}  # fmt: skip


@pytest.mark.parametrize(("path", "before", "after"), RUNS.values(), ids=RUNS)
def test_a_further_hook_job_or_combination_is_an_ordinary_change(path: str, before: str, after: str) -> None:
    assert before != after and runs_no_less(path, before, after)
    assert not runs_no_less(path, after, before)


@pytest.mark.parametrize(("path", "before", "after"), NO_RUNS.values(), ids=NO_RUNS)
def test_hooks_and_jobs_that_may_ask_for_less_judge(path: str, before: str, after: str) -> None:
    assert before != after and not runs_no_less(path, before, after)


@pytest.mark.parametrize(("path", "before", "after"), MORE.values(), ids=MORE)
def test_commands_that_only_ask_for_more_are_an_ordinary_change(path: str, before: str, after: str) -> None:
    assert before != after and not judges(path, before, after, ())
    assert judges(path, after, before, ())


@pytest.mark.parametrize(("path", "before", "after"), LESS.values(), ids=LESS)
def test_commands_that_may_ask_for_less_judge(path: str, before: str, after: str) -> None:
    assert before != after and judges(path, before, after, ())


@pytest.mark.parametrize(("path", "before", "after"), HIGHER.values(), ids=HIGHER)
def test_a_higher_limit_of_coverage_is_an_ordinary_change(path: str, before: str, after: str) -> None:
    assert before != after and asks_only_more(path, *(runner_part(path, text) for text in (before, after)))
    assert not asks_only_more(path, *(runner_part(path, text) for text in (after, before)))


@pytest.mark.parametrize(("path", "before", "after"), LOWER.values(), ids=LOWER)
def test_a_limit_of_coverage_that_may_be_lower_judges(path: str, before: str, after: str) -> None:
    assert before != after and not asks_only_more(path, *(runner_part(path, text) for text in (before, after)))


@pytest.mark.slow
def test_further_hooks_jobs_and_environments_are_clean_and_fewer_are_asked_about(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, FLOW: CI, HOOKED: HOOKS, TOX: ENVS, NOXFILE: NOX})
    p.commit({FLOW: CI + JOB, HOOKED: HOOKS + HOOK, TOX: ENVS + ENV, NOXFILE: NOX + SESSION})
    found = p.run("check", "--json").json
    assert not [flag for flag in found["flags"] if flag["level"] == "ask"], found
    p.commit({FLOW: (CI + JOB).replace("        pytest\n", "        pytest || true\n")})
    assert "judged-by" in kinds(p.run("check", "--json").json)
