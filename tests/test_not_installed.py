"""A change whose tests need a package that is not installed here: that is told with the line that installs it, and nothing is said of the change."""

import sys
from pathlib import Path

import pytest

from detent.evidence.changes.dependencies import declared_dependencies, is_foreign
from detent.evidence.changes.install_lines import install_hint, install_line
from detent.evidence.runners import Command
from detent.evidence.running.installed import refuses_pip
from detent.world.whole_branch import sources_digest
from tests.test_check import BASE, Branch
from tests.test_check_monorepo import Words

GROUPS = '[project]\nname = "calc"\nversion = "1"\n\n[dependency-groups]\ntest = ["pytest", "pretend-nobody-has"]\n'
NEEDS = "import pretend_nobody_has\n\nfrom calc import half\n\n\ndef test_whole():\n    assert half(4) == 2\n"
ODD = "\n\ndef test_odd():\n    assert half(3) == 1.5\n"
FIXED = {"calc.py": BASE["calc.py"].replace("n // 2", "n / 2")}


@pytest.mark.parametrize(
    ("files", "module", "line"),
    [
        ({"pyproject.toml": GROUPS}, "pretend_nobody_has.part", "pip install --group test"),
        ({"pyproject.toml": '[project.optional-dependencies]\ndev = ["PyYAML>=6"]\n'}, "yaml", "pip install -e '.[dev]'"),
        ({"requirements/dev.txt": "# tests\nmock==5\n"}, "mock", "pip install -r requirements/dev.txt"),
        ({"package.json": '{"devDependencies": {"@a/b": "1"}}'}, "@a/b", "npm install"),
        ({"package.json": '{"devDependencies": {"a": "1"}}', "package-lock.json": "{}"}, "a", "npm ci"),
        ({"package.json": '{"devDependencies": {"a": "1"}}', "pnpm-lock.yaml": ""}, "a", "pnpm install"),
        ({"pyproject.toml": GROUPS, "uv.lock": ""}, "pretend_nobody_has", "uv sync --group test"),
        ({"pyproject.toml": GROUPS, "pdm.lock": ""}, "pretend_nobody_has", "pdm install -G test"),
        ({"pyproject.toml": '[tool.poetry.group.dev.dependencies]\nmock = "^5"\n'}, "mock", "poetry install --with dev"),
        ({"pyproject.toml": '[tool.poetry.dev-dependencies]\nmock = "^5"\n'}, "mock", "poetry install"),
        (
            {"pyproject.toml": '[tool.poetry.extras]\nfast = ["orjson"]\n[tool.poetry.dependencies]\norjson = "*"\n'},
            "orjson",
            "poetry install --extras fast",
        ),
        ({"pyproject.toml": '[tool.pdm.dev-dependencies]\ntest = ["mock"]\n'}, "mock", "pdm install -G test"),
        ({"pyproject.toml": '[tool.uv]\ndev-dependencies = ["mock"]\n'}, "mock", "uv sync"),
        ({"pyproject.toml": '[tool.hatch.envs.test]\nextra-dependencies = ["mock"]\n'}, "mock", "hatch env create test"),
        ({"pyproject.toml": '[project]\ndependencies = ["attrs"]\n'}, "attr", "pip install -e ."),
        ({"setup.cfg": "[options.extras_require]\ntests =\n    mock\n"}, "mock", "pip install -e '.[tests]'"),
        ({"Pipfile": '[dev-packages]\nmock = "*"\n'}, "mock", "pipenv install --dev"),
        ({"tox.ini": "[testenv]\ndeps =\n    -r x.txt\n    py311: mock>=5\n    pretend\n"}, "mock", "pip install mock"),
        ({"tox.toml": '[env_run_base]\ndeps = ["mock>=5"]\n'}, "mock", "pip install mock"),
        ({"noxfile.py": "def tests(session):\n    session.install('-e', '.', 'PyYAML>=6')\n"}, "yaml", "pip install PyYAML"),
        ({"pyproject.toml": '[dependency-groups]\n"x; rm -rf ." = ["mock"]\n'}, "mock", ""),
        ({"pyproject.toml": "= broken"}, "mock", ""),
        ({"pyproject.toml": "[tool]\npoetry = 3\nhatch = {envs = {test = 1}}\n", "tox.ini": "broken", "noxfile.py": "("}, "mock", ""),
        ({"pyproject.toml": "project = 3\ndependency-groups = [1]\n"}, "mock", ""),
    ],
)
def test_the_line_that_installs_a_package_is_that_of_where_it_is_declared(files: dict[str, str], module: str, line: str) -> None:
    assert install_line(Words(files), module) == line
    assert not line or is_foreign(declared_dependencies(Words(files)))(module)


PYTEST = Command((".venv/bin/python", "-m", "pytest"), "pytest")
DEV = {"pyproject.toml": '[project]\nname = "calc"\n\n[dependency-groups]\ndev = ["pytest", "pytest-cov", "pytest-black", "anyio"]\n'}
DEV_LINE = "pip install --group dev"
MODULE = "a module that the tests need is not installed here"
OLDER_GO = "the project asks for Go 1.24, and the one on PATH is older: install Go 1.24"
DEVS = '{"devDependencies": {"uvu": "1", "typescript": "5"}}'
CONFTEST = "ImportError while loading conftest 'tests/conftest.py'.\nE   ModuleNotFoundError: No module named '{}'"
ARGUMENTS = "error: unrecognized arguments: {} calc\n  inifile: pytest.ini"


@pytest.mark.parametrize(
    ("files", "said", "hint"),
    [
        (
            {"pyproject.toml": GROUPS},
            CONFTEST.format("pretend_nobody_has"),
            "pretend_nobody_has is not installed here: pip install --group test",
        ),
        (
            {"pyproject.toml": GROUPS, "src/calc/__init__.py": ""},
            CONFTEST.format("calc.part"),
            "calc.part is not installed here: pip install -e .",
        ),
        ({"setup.py": "", "calc.py": ""}, CONFTEST.format("calc"), "calc is not installed here: pip install -e ."),
        ({"calc.py": ""}, CONFTEST.format("calc"), ""),
        (DEV, CONFTEST.format("who_knows"), ""),
        (DEV, ARGUMENTS.format("--cov-append --cov"), f"pytest-cov is not installed here: {DEV_LINE}"),
        (DEV, ARGUMENTS.format("--black"), f"pytest-black is not installed here: {DEV_LINE}"),
        (DEV, ARGUMENTS.format("-n=4"), "pytest-xdist is not installed here: pip install pytest-xdist"),
        (DEV, ARGUMENTS.format("--hypothesis-profile=ci"), "hypothesis is not installed here: pip install hypothesis"),
        (DEV, ARGUMENTS.format("--no-such-option"), ""),
        (DEV, "Missing required plugins: pytest-timeout", "pytest-timeout is not installed here: pip install pytest-timeout"),
        (DEV, "E       fixture 'mocker' not found", "pytest-mock is not installed here: pip install pytest-mock"),
        (DEV, "E       fixture 'my_own' not found", ""),
        (DEV, "async def functions are not natively supported.", f"anyio is not installed here: {DEV_LINE}"),
        ({}, "async def functions are not natively supported.", "pytest-asyncio is not installed here: pip install pytest-asyncio"),
        (DEV, "No module named pytest", "pytest is not installed here: pip install pytest"),
        (DEV, "it is not visible inside the sandbox: No module named 'pytest'", ""),
    ],
)
def test_what_is_missing_is_named_with_the_command_that_installs_it(files: dict[str, str], said: str, hint: str) -> None:
    assert install_hint(PYTEST, said, Words(files), False) == hint


@pytest.mark.parametrize(
    ("command", "files", "said", "hint"),
    [
        (Command(("npx", "vitest", "run"), "vitest"), {"pnpm-lock.yaml": ""}, "sh: vitest: not found", "vitest is not installed here: pnpm install"),
        (Command(("bundle", "exec", "rspec"), "rspec"), {}, "Could not find gem 'rspec'", "a package that the tests need is not installed here: bundle install"),
        (Command(("go", "test"), "go"), {}, "could not be started: No such file", "Go is not installed, or not on PATH: install it; `detent doctor` shows what is found"),
        (Command(("node_modules/.bin/tape", "test"), ""), {}, "sh: 1: node_modules/.bin/tape: not found", "a package that the tests need is not installed here: npm install"),
        (Command(("./tests.sh",)), {}, "exited with code 127", ("`./tests.sh` needs a program that is not installed: install it, or "
         "set another command: [test] command in detent.toml")),
        (Command(("sh", "-c", "npm test")), {"package.json": DEVS, "yarn.lock": ""}, "sh: 1: uvu: not found", "uvu is not installed here: yarn install"),
        (Command(("sh", "-c", "npm test")), {"package.json": DEVS}, "sh: 1: tsc: not found", "tsc is not installed here: npm install"),
        (Command(("sh", "-c", "npm test")), {"package.json": DEVS}, "Error: Cannot find module '/tmp/a/node_modules/uvu/bin.js'", "uvu is not installed here: npm install"),
        (Command(("sh", "-c", "npm test")), {"package.json": DEVS}, "sh: 1: make: not found", ("`npm test` needs make, which is not installed: npm install, "
         "if a package brings it; or set another command: [test] command in detent.toml")),
        (Command(("go", "test"), "go"), {}, "x/y@v1.2.3: module lookup disabled by GOPROXY=off", f"{MODULE}: go mod download"),
        (Command(("go", "test"), "go"), {}, "go: go.mod requires go >= 1.24 (running go 1.19; GOTOOLCHAIN=local)", OLDER_GO),
        (Command(("cargo", "test"), "cargo"), {}, "error: no matching package named `bencher` found", f"{MODULE}: cargo fetch"),
        (Command(("rspec",), "rspec"), {"lib/a.rb": ""}, "cannot load such file -- strings", "a package that the tests need is not installed here: bundle install"),
        (Command(("rspec",), "rspec"), {"lib/a.rb": ""}, "cannot load such file -- a/b", ""),
        (Command(("go", "test"), "go"), {}, "a test failed", ""),
        (None, {}, "could not be started: No such file", ""),
    ],
)  # fmt: skip
def test_a_runner_that_is_missing_is_named_with_what_helps(command: Command | None, files: dict[str, str], said: str, hint: str) -> None:
    assert install_hint(command, said, Words(files), False) == hint


VENV = "python3 -m venv .venv && .venv/bin/pip install"
UNITTEST = Command(("python3", "-m", "unittest"), "unittest")


@pytest.mark.parametrize(
    ("command", "files", "said", "hint"),
    [
        (PYTEST, {}, "No module named pytest", f"pytest is not installed here: {VENV} pytest"),
        (PYTEST, {}, "E       fixture 'mocker' not found", f"pytest-mock is not installed here: {VENV} pytest pytest-mock"),
        (PYTEST, {"setup.py": "", "calc.py": ""}, CONFTEST.format("calc"), f"calc is not installed here: {VENV} pytest -e ."),
        (UNITTEST, {"setup.cfg": "[options.extras_require]\ntests = mock\n"}, "No module named 'mock'", f"mock is not installed here: {VENV} -e '.[tests]'"),
        (PYTEST, DEV, ARGUMENTS.format("--black"), (
            "pytest-black is not installed here: python3 -m venv --upgrade-deps .venv && .venv/bin/pip install pytest --group dev")),
        (PYTEST, {"pyproject.toml": GROUPS, "uv.lock": ""}, CONFTEST.format("pretend_nobody_has"), "pretend_nobody_has is not installed here: uv sync --group test"),
    ],
)  # fmt: skip
def test_where_pip_refuses_the_command_makes_an_environment_with_the_runner(
    command: Command, files: dict[str, str], said: str, hint: str
) -> None:
    assert install_hint(command, said, Words(files), True) == hint


def a_python(prefix: Path, *, managed: bool, called: str = "python3.12", does: str = "") -> Path:
    """A prefix with the files of a Python, or of one that the system's package manager owns."""
    library = prefix / "lib" / "python3.12"
    for folder in (prefix / "bin", library):
        folder.mkdir(parents=True, exist_ok=True)
    (prefix / "bin" / called).write_text(f"#!/bin/sh\n{does}\n")
    (prefix / "bin" / called).chmod(0o755)
    (prefix / "bin" / "python3").symlink_to(called)
    if managed:
        (library / "EXTERNALLY-MANAGED").write_text("[externally-managed]\nError=no\n")
    return prefix / "bin" / "python3"


def test_a_python_refuses_pip_where_its_library_says_so(tmp_path: Path) -> None:
    system, free = a_python(tmp_path / "usr", managed=True), a_python(tmp_path / "opt", managed=False)
    newer = a_python(tmp_path / "two", managed=True, called="python3.13")  # beside a system's 3.12: one of its own
    own = tmp_path / "p" / ".venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.symlink_to(system)
    (own.parents[1] / "pyvenv.cfg").write_text("")
    script = tmp_path / "bin" / "pytest"
    script.parent.mkdir()
    script.write_text(f"#!{system}\n")
    script.chmod(0o755)

    def refuses(*words: str, path: Path) -> bool:
        return refuses_pip(Command(words, "pytest"), tmp_path / "p", {"PATH": str(path)})

    assert refuses("python3", "-m", "pytest", path=system.parent) and refuses("pytest", path=script.parent)
    assert not refuses("python3", "-m", "pytest", path=free.parent) and not refuses("python3", path=newer.parent)
    assert not refuses(".venv/bin/python", "-m", "pytest", path=system.parent) and not refuses("cargo", "test", path=system.parent)


@pytest.mark.parametrize(
    ("options", "files", "lacks", "line"),
    [
        ("-S", FIXED, "pytest", f"{VENV} pytest"),
        (
            "",
            {**FIXED, "tests/test_needs.py": NEEDS},
            "pretend_nobody_has",
            f"{VENV.replace('venv .venv', 'venv --upgrade-deps .venv')} pytest --group test",
        ),
    ],
    ids=["without the runner", "without a package"],
)
def test_on_a_system_whose_python_refuses_pip_an_environment_is_named(
    tmp_path: Path, options: str, files: dict[str, str], lacks: str, line: str
) -> None:
    system = a_python(tmp_path / "usr", managed=True, does=f'exec {sys.executable} {options} "$@"')
    p = Branch(tmp_path / "p", {**BASE, "pyproject.toml": GROUPS})
    p.commit(files)
    p.env["PATH"] = f"{system.parent}:/usr/bin:/bin"
    ran = p.run("check", "--json")
    assert f"{lacks} is not installed here: {line}\n" in ran.json["unclear"], ran
    assert f"detent check --install '{line}'" in ran.json["unclear"]
    if options:
        assert f"{lacks} is not installed here: {line};" in p.run("init").out


@pytest.mark.parametrize("new", [False, True], ids=["an older file", "a new file"])
def test_a_change_whose_tests_lack_a_package_cannot_be_verified(tmp_path: Path, new: bool) -> None:
    base = {**BASE, "pyproject.toml": GROUPS}
    p = Branch(tmp_path / "p", base if new else {**base, "tests/test_needs.py": NEEDS})
    p.commit({**FIXED, "tests/test_needs.py": NEEDS + ODD})
    ran = p.run("check", "--json")
    assert ran.code == 4 and ran.json["answer"] == "could-not-verify", ran
    said = ran.json["unclear"]
    assert "tests/test_needs.py cannot run" in said and "pretend_nobody_has is not installed here: pip install --group test\n" in said
    assert "or in clean checkouts: detent check --install 'pip install --group test'" in said


@pytest.mark.slow
def test_a_package_that_the_change_itself_declares_is_no_fault_of_its_test(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p")
    p.commit({**FIXED, "pyproject.toml": GROUPS, "tests/test_needs.py": NEEDS + ODD})
    assert "pretend_nobody_has is not installed here" in p.run("check", "--json").json["unclear"]


@pytest.mark.slow
def test_where_another_test_proves_it_that_is_a_note(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, "pyproject.toml": GROUPS, "tests/test_needs.py": NEEDS})
    p.commit({**FIXED, "tests/test_needs.py": NEEDS + ODD, "tests/test_odd.py": "from calc import half" + ODD})
    found = p.run("check", "--json").json
    assert found["proved"] == ["tests/test_odd.py::test_odd"], found
    (note,) = [flag for flag in found["flags"] if "not installed here" in flag["says"]]
    assert (note["kind"], note["level"], found["answer"]) == ("weak-evidence", "note", "clean")


def test_a_card_belongs_to_the_code_that_made_it(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, text in ((one, "A = 1\n"), (other, "A = 2\n")):
        (folder / "looks").mkdir(parents=True)
        (folder / "looks" / "a.py").write_text(text)
    assert sources_digest(one) != sources_digest(other)


def test_options_of_a_plugin_that_is_not_installed_name_it_with_the_command_that_installs_it(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, **DEV, "pytest.ini": "[pytest]\naddopts = --pretend-cov=1 --black-pretend\n"})
    p.commit(FIXED)
    ran = p.run("check", "--json")
    assert ran.code == 4, ran
    assert (
        "pytest-black is not installed here: pip install --group dev\nor in clean checkouts: detent check --install" in ran.json["unclear"]
    ), ran


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("test", "plugin"),
    [
        ("def test_odd(mocker):\n    assert half(3) == 1.5\n", "pytest-mock is not installed here: pip install pytest-mock"),
        ("async def test_odd():\n    assert half(3) == 1.5\n", "anyio is not installed here: pip install --group dev"),
    ],
    ids=["a fixture", "a coroutine"],
)
def test_a_test_that_lacks_a_plugin_of_pytest_is_no_failure_of_the_change(tmp_path: Path, test: str, plugin: str) -> None:
    p = Branch(tmp_path / "p", {**BASE, **DEV})
    p.commit({**FIXED, "tests/test_new.py": f"from calc import half\n\n\n{test}"})
    ran = p.run("check", "--json")
    assert ran.code == 4 and plugin in ran.json["unclear"], ran
