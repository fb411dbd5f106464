"""What to install when tests cannot run (a runner, an imported package, a pytest plugin), and the command for it with the tool that the
project uses. Reads the runner's output and the manifests; runs nothing.

A project's dependency lists are searched from the narrowest on: a group or an extra before the main dependencies.
"""

import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from detent.evidence.changes.changes import TreeFiles
from detent.evidence.changes.dependencies import (
    IMPORTED_AS,
    MOST,
    REQUIREMENTS,
    declared_dependencies,
    names_of,
    normalize_name,
    of_nox,
    of_package_json,
    packages_in,
    read_ini,
    requirement_rows,
)
from detent.evidence.runners.adapter import Command, Files
from detent.evidence.runners.javascript.node_package import installing
from detent.evidence.running.collect import Collector
from detent.evidence.running.installed import refuses_pip

OPTIONS = re.compile(r"unrecognized arguments: (.*)")
REQUIRED = re.compile(r"Missing required plugins: ([\w.-]+)")
FIXTURE = re.compile(r"fixture '(\w+)' not found")
ASYNC = "async def functions are not natively supported"
ASYNC_PLUGINS = ("pytest-asyncio", "anyio", "pytest-trio", "pytest-aiohttp")
PLUGIN_OF_OPTION: Mapping[str, str] = {
    "-n": "pytest-xdist", "--numprocesses": "pytest-xdist", "--dist": "pytest-xdist", "--maxprocesses": "pytest-xdist", "--reruns": "pytest-rerunfailures",
    "--ds": "pytest-django", "--reuse-db": "pytest-django", "--nomigrations": "pytest-django", "--no-migrations": "pytest-django",
    "--disable-socket": "pytest-socket", "--allow-hosts": "pytest-socket", "--snapshot": "syrupy", "--hypothesis": "hypothesis",
    "--typeguard-packages": "typeguard", "--mypy-ini-file": "pytest-mypy-plugins",
}  # fmt: skip
PLUGIN_OF_FIXTURE: Mapping[str, str] = {
    "mocker": "pytest-mock", "benchmark": "pytest-benchmark", "httpserver": "pytest-httpserver", "requests_mock": "requests-mock",
    "httpx_mock": "pytest-httpx", "aiohttp_client": "pytest-aiohttp", "freezer": "pytest-freezer", "datadir": "pytest-datadir",
    "data_regression": "pytest-regressions", "db": "pytest-django", "django_db_setup": "pytest-django", "faker": "Faker", "qtbot": "pytest-qt",
    "event_loop": "pytest-asyncio", "anyio_backend": "anyio", "httpbin": "pytest-httpbin", "subtests": "pytest-subtests", "fs": "pyfakefs",
    "time_machine": "time-machine", "snapshot": "syrupy", "worker_id": "pytest-xdist",
}  # fmt: skip
PLUGINS = frozenset((*PLUGIN_OF_OPTION.values(), *PLUGIN_OF_FIXTURE.values(), *ASYNC_PLUGINS, "pytest-cov"))


def missing_plugins(output: str, declared: frozenset[str]) -> Iterator[str]:
    """The pytest plugins that are missing, judged by pytest's error messages."""
    yield from (found[1] for found in REQUIRED.finditer(output))
    for found in OPTIONS.finditer(output):
        yield from filter(None, (_of_option(word, declared) for word in found[1].split() if word.startswith("-")))
    yield from (plugin for found in FIXTURE.finditer(output) if (plugin := PLUGIN_OF_FIXTURE.get(found[1])))
    if ASYNC in output:
        yield next((plugin for plugin in ASYNC_PLUGINS if normalize_name(plugin) in declared), ASYNC_PLUGINS[0])


def _of_option(word: str, declared: frozenset[str]) -> str:
    """The pytest plugin that adds an option: a well-known one, or a declared one of that name, such as pytest-cov for `--cov-report`."""
    option = word.split("=")[0]
    known = next((PLUGIN_OF_OPTION[name] for name in PLUGIN_OF_OPTION if option == name or option.startswith(f"{name}-")), "")
    if known or option.startswith("--cov"):
        return known or "pytest-cov"
    ours = sorted((name for name in declared if name.startswith("pytest_")), key=len, reverse=True)
    return next((name.replace("_", "-") for name in ours if option.startswith(f"--{name.removeprefix('pytest_').replace('_', '-')}")), "")


class Installer(NamedTuple):
    """A tool's commands to install a dependency group, an extra, and the main dependencies."""

    group: str
    extra: str
    needed: str


PIP = Installer("pip install --group {}", "pip install -e '.[{}]'", "pip install -e .")
BY_LOCK = {
    "uv.lock": Installer("uv sync --group {}", "uv sync --extra {}", "uv sync"),
    "poetry.lock": Installer("poetry install --with {}", "poetry install --extras {}", "poetry install"),
    "pdm.lock": Installer("pdm install -G {}", "pdm install -G {}", "pdm install"),
}
TYPED = re.compile(r"[\w@ ./'\[\]-]+")  # a command that is safe to suggest: no shell syntax in it
PIP_CALL = "pip install "
INTO_VENV = "python3 -m venv .venv && .venv/bin/pip install "  # the tests run with .venv from then on, if it has their runner
INTO_NEW_VENV = INTO_VENV.replace("venv .venv", "venv --upgrade-deps .venv")  # with the newest pip
OFFER = tuple[Iterable[str], str]  # packages, and the command that installs them, with {} for the package


def install_line(files: Files, module: str) -> str:
    """The command that installs the package of a module; empty if the project does not declare it."""
    top = normalize_name(module.split("/")[0].split(".")[0])
    wanted = {top, normalize_name(module), *(name for name, imported in IMPORTED_AS.items() if imported == top)}
    offers = (offer for read in (_pyproject, _setup_cfg, _lists, _pipfile, _sessions, _node) for offer in read(files))
    for packages, line in offers:
        found = next((name for name in packages if normalize_name(name) in wanted), "")
        if found and TYPED.fullmatch(line := line.replace("{}", found)):
            return line
    return ""


def where_pip_installs(line: str, runner: str, refuses: bool) -> str:
    """The command as it is, or one that makes a virtual environment with the runner and the packages, if pip refuses this Python."""
    what = line.removeprefix(PIP_CALL)
    if not refuses or what == line:
        return line
    beside = f"{runner} " if runner == "pytest" != what else ""
    return (INTO_NEW_VENV if what.startswith("--group ") else INTO_VENV) + beside + what


def _table(within: object, *keys: str) -> dict[str, object]:
    """A nested table; empty if it is missing or not a table."""
    for key in keys:
        within = within.get(key) if isinstance(within, dict) else None
    return within if isinstance(within, dict) else {}


def _toml(files: Files, name: str) -> dict[str, object]:
    try:
        return tomllib.loads(files.read(name) or "")
    except tomllib.TOMLDecodeError:
        return {}


def _pyproject(files: Files) -> Iterator[OFFER]:
    table = _toml(files, "pyproject.toml")
    way = next((way for lock, way in BY_LOCK.items() if files.read(lock) is not None), PIP)
    poetry, pdm, uv, hatch = (_table(table, "tool", name) for name in ("poetry", "pdm", "uv", "hatch"))
    yield from _each(_table(table, "dependency-groups"), way.group)
    yield from _each(_table(table, "project", "optional-dependencies"), way.extra)
    yield from ((_table(poetry, "group", name, "dependencies"), f"poetry install --with {name}") for name in _table(poetry, "group"))
    yield from _each(_table(poetry, "extras"), BY_LOCK["poetry.lock"].extra)
    yield from ((_table(poetry, key), "poetry install") for key in ("dev-dependencies", "dependencies"))
    yield from _each(_table(pdm, "dev-dependencies"), BY_LOCK["pdm.lock"].group)
    yield packages_in(uv.get("dev-dependencies")), "uv sync"
    for name in _table(hatch, "envs"):
        environment = _table(hatch, "envs", name)
        yield from ((packages_in(environment.get(key)), f"hatch env create {name}") for key in ("dependencies", "extra-dependencies"))
    yield packages_in(_table(table, "project").get("dependencies")), way.needed


def _each(groups: dict[str, object], line: str) -> Iterator[OFFER]:
    return ((packages_in(names), line.format(group)) for group, names in groups.items())


def _setup_cfg(files: Files) -> Iterator[OFFER]:
    for section, key, value in read_ini(files, "setup.cfg"):
        if section == "options.extras_require":
            yield requirement_rows(value), PIP.extra.format(key)
        elif key == "install_requires":
            yield requirement_rows(value), PIP.needed
        elif key == "tests_require":
            yield requirement_rows(value), "pip install {}"


def _lists(files: Files) -> Iterator[OFFER]:
    paths = [path for path in files.paths() if REQUIREMENTS.fullmatch(path)][:MOST]
    return ((names_of((files.read(path) or "").splitlines()), f"pip install -r {path}") for path in paths)


def _pipfile(files: Files) -> Iterator[OFFER]:
    table = _toml(files, "Pipfile")
    yield _table(table, "dev-packages"), "pipenv install --dev"
    yield _table(table, "packages"), "pipenv install"


def _sessions(files: Files) -> Iterator[OFFER]:
    """The packages that tox and nox install into environments of their own; the command installs just the one package."""
    for section, key, value in read_ini(files, "tox.ini"):
        if key == "deps" and section.startswith("testenv"):
            yield requirement_rows(value), "pip install {}"
    environments = _table(_toml(files, "tox.toml"), "env")
    for each in (_table(_toml(files, "tox.toml"), "env_run_base"), *(_table(environments, name) for name in environments)):
        yield packages_in(each.get("deps")), "pip install {}"
    yield of_nox(files), "pip install {}"


def _node(files: Files) -> Iterator[OFFER]:
    yield of_package_json(files), installing(files.read)


ABSENT = re.compile(
    r"could not be started: No such file|exited with code 127|No module named '?(?:pytest|_pytest)\b|: (?:command )?not found\b|command not found\b"
    r"|Cannot find module .*node_modules"
)
LACKING = re.compile(r"Bundler::GemNotFound|Could not find gem|bundle install|composer install|Failed opening required .*vendor/autoload")
SHUT_OUT = "not visible inside the sandbox"  # the program is installed, and the sandbox's own message has the hint
INSTALLS: Mapping[str, str] = {
    "pytest": "pip install pytest",
    "rspec": "bundle install",
    "phpunit": "composer install",
}
OF_NPM = ("vitest", "jest", "mocha")
PROGRAMS: Mapping[str, str] = {
    "node": "Node.js", "go": "Go", "cargo": "Rust", "ctest": "CMake", "maven": "Maven", "gradle": "Gradle", "dotnet": ".NET", "unittest": "Python"
}  # fmt: skip
UNFETCHED: Mapping[str, tuple[re.Pattern[str], str]] = {  # a toolchain's error for a module it may not download
    "go": (re.compile(r"module lookup disabled by GOPROXY=off"), "go mod download"),
    "cargo": (re.compile(r"no matching package named `|you're using offline mode|can't checkout from .*offline mode"), "cargo fetch"),
}
OLD_GO = re.compile(r"go\.mod requires go >= ([\w.]+)")
SCRIPTS = ("npm", "pnpm", "yarn", "bun")
BROUGHT: Mapping[str, str] = {
    "tsc": "typescript",
    "_mocha": "mocha",
    "run-s": "npm-run-all",
    "run-p": "npm-run-all",
}  # packages by program, where the names differ
PROGRAM = re.compile(
    r"(?:^|: )([\w@.-]+): (?:command )?not found|Cannot find module '[^']*node_modules/((?:@[\w.-]+/)?[\w.-]+)", re.MULTILINE
)
LOADED = re.compile(r"cannot load such file -- ([\w-]+)")
MODULE = re.compile(r"No module named\s+'?([\w.]+)'?|Error importing plugin \"([\w.]+)\"")
OTHER = "or set another command: [test] command in detent.toml"
RUNNER_ITSELF = ("pytest", "_pytest")


def install_hint_at(collector: Collector, tree: str, output: str) -> str:
    """`install_hint` for the test command and the Python of a collector, with the files of a tree."""
    return install_hint(collector.suite.base, output, TreeFiles(collector.git, tree), _refuses(collector))


def line_here(line: str, collector: Collector) -> str:
    """`where_pip_installs` for the Python of a collector."""
    base = collector.suite.base
    return where_pip_installs(line, base.runner if base else "", _refuses(collector))


def _refuses(collector: Collector) -> bool:
    base = collector.suite.base
    return base is not None and refuses_pip(base, collector.home, collector.env)


def install_hint(command: Command | None, output: str, files: Files, refuses: bool) -> str:
    """A sentence that names what is not installed and the command that installs it; empty if the output has another cause.

    refuses: pip installs nothing for this Python.
    """
    if command is None or SHUT_OUT in output:
        return ""
    if found := next(((name, line) for name, line in _lacking(output, files) if line), None):
        return f"{found[0]} is not installed here: {where_pip_installs(found[1], command.runner, refuses)}"
    if unfetched := _unfetched(command.runner, output):
        return unfetched
    name = installing(files.read) if command.runner in OF_NPM else INSTALLS.get(command.runner, "")
    if name and (LACKING.search(output) or _gem_lacks(command.runner, output, files)):
        return f"a package that the tests need is not installed here: {name}"
    if not ABSENT.search(output):
        return ""
    if name:
        return f"{command.runner} is not installed here: {where_pip_installs(name, command.runner, refuses)}"
    if "node_modules/" in command.text:
        return f"a package that the tests need is not installed here: {installing(files.read)}"
    if program := PROGRAMS.get(command.runner):
        return f"{program} is not installed, or not on PATH: install it; `detent doctor` shows what is found"
    return _needed_by_script(command, output, files)


def in_clean_checkouts(hint: str) -> str:
    """The hint, and the `detent check --install` command that installs the same into clean checkouts."""
    name, found, line = hint.partition(" is not installed here: ")
    wanted = found and not line.startswith("install ") and "\n" not in line
    return f"{hint}\nor in clean checkouts: detent check --install {shlex.quote(line)}" if name and wanted else hint


def _unfetched(runner: str, output: str) -> str:
    """A sentence for a toolchain that lacks a module, or is older than the project requires."""
    if runner == "go" and (newer := OLD_GO.search(output)):
        return f"the project asks for Go {newer[1]}, and the one on PATH is older: install Go {newer[1]}"
    pattern, line = UNFETCHED.get(runner, (None, ""))
    return f"a module that the tests need is not installed here: {line}" if pattern and pattern.search(output) else ""


def _gem_lacks(runner: str, output: str, files: Files) -> bool:
    """Whether Ruby failed to load something that is not a file of the project, so a gem is missing."""
    return runner == "rspec" and any(not files.exists(f"lib/{name}.rb") for name in LOADED.findall(output))


def _needed_by_script(command: Command, output: str, files: Files) -> str:
    """A sentence for a script that calls a missing program, which comes from a declared package if it has that name."""
    found = PROGRAM.search(output)
    program = (found[1] or found[2]) if found else ""
    if program and command.text.split()[0] in SCRIPTS:
        line = installing(files.read)
        if normalize_name(BROUGHT.get(program, program)) in declared_dependencies(files):
            return f"{program} is not installed here: {line}"
        return f"`{command.text}` needs {program}, which is not installed: {line}, if a package brings it; {OTHER}"
    return f"`{command.text}` needs a program that is not installed: install it, {OTHER}"


def _lacking(output: str, files: Files) -> Iterator[tuple[str, str]]:
    """The missing modules and plugins, each with the command that installs it."""
    for found in MODULE.finditer(output):
        module = found[1] or found[2]
        if module.split(".")[0] not in RUNNER_ITSELF:
            yield module, _line_for(module, files)
    for plugin in missing_plugins(output, declared_dependencies(files)):
        yield plugin, install_line(files, plugin) or f"pip install {plugin}"


def _line_for(module: str, files: Files) -> str:
    """The command that installs a module: a declared package, or the project itself; empty if unknown."""
    if line := install_line(files, module):
        return line
    top = module.split(".")[0]
    ours = any(files.exists(f"{folder}{top}{end}") for folder in ("", "src/", "lib/") for end in ("/__init__.py", ".py"))
    return "pip install -e ." if ours and any(map(files.exists, ("pyproject.toml", "setup.py", "setup.cfg"))) else ""
