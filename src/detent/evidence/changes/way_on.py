"""What to install when tests cannot run: a runner, a package that they import, a plugin of pytest. Reads what was said and the manifests; runs nothing."""

import re
import shlex
from collections.abc import Iterator, Mapping

from detent.evidence.changes.dependencies import declared_dependencies, plain
from detent.evidence.changes.install_lines import install_line
from detent.evidence.runners.adapter import Command, Files
from detent.evidence.runners.javascript.node_package import installing

ABSENT = re.compile(
    r"could not be started: No such file|ended with code 127|No module named '?(?:pytest|_pytest)\b|: (?:command )?not found\b|command not found\b|Cannot find module .*node_modules"
)
LACKING = re.compile(r"Bundler::GemNotFound|Could not find gem|bundle install|composer install|Failed opening required .*vendor/autoload")
SHUT_OUT = "not visible inside the sandbox"  # then it is here, and the hint was given there
INSTALLS: Mapping[str, str] = {
    "pytest": "pip install pytest",
    "rspec": "bundle install",
    "phpunit": "composer install",
}
OF_NPM = ("vitest", "jest", "mocha")
PROGRAMS: Mapping[str, str] = {
    "node": "Node.js", "go": "Go", "cargo": "Rust", "ctest": "CMake", "maven": "Maven", "gradle": "Gradle", "dotnet": ".NET", "unittest": "Python"
}  # fmt: skip
MODULE = re.compile(r"No module named\s+'?([\w.]+)'?|Error importing plugin \"([\w.]+)\"")
RUNNER_ITSELF = ("pytest", "_pytest")
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


def way_on(command: Command | None, said: str, files: Files) -> str:
    """What is not installed, with the command that installs it; empty where that is not what was said."""
    if command is None or SHUT_OUT in said:
        return ""
    if found := next(((name, line) for name, line in _lacking(said, files) if line), None):
        return f"{found[0]} is not installed here: {found[1]}"
    name = installing(files.read) if command.runner in OF_NPM else INSTALLS.get(command.runner, "")
    if LACKING.search(said) and name:
        return f"a package that the tests need is not installed here: {name}"
    if not ABSENT.search(said):
        return ""
    if name:
        return f"{command.runner} is not installed here: {name}"
    if program := PROGRAMS.get(command.runner):
        return f"{program} is not installed here, or not on PATH: install it; detent doctor shows what is found"
    return f"`{command.text}` needs a program that is not here: install it, or name another command: [test] command in detent.toml"


def in_clean_checkouts(hint: str) -> str:
    """The same hint for `check`, which can install into checkouts of its own."""
    name, found, line = hint.partition(" is not installed here: ")
    wanted = found and not line.startswith("install ") and "\n" not in line
    return f"{hint}\nor in clean checkouts: detent check --install {shlex.quote(line)}" if name and wanted else hint


def _lacking(said: str, files: Files) -> Iterator[tuple[str, str]]:
    """What is not installed, each with the command that installs it."""
    for found in MODULE.finditer(said):
        module = found[1] or found[2]
        if module.split(".")[0] not in RUNNER_ITSELF:
            yield module, _line_for(module, files)
    for plugin in _plugins(said, files):
        yield plugin, install_line(files, plugin) or f"pip install {plugin}"


def _line_for(module: str, files: Files) -> str:
    """The command that installs a module: a package that the project declares, or the project itself."""
    if line := install_line(files, module):
        return line
    top = module.split(".")[0]
    ours = any(files.exists(f"{folder}{top}{end}") for folder in ("", "src/", "lib/") for end in ("/__init__.py", ".py"))
    return "pip install -e ." if ours and any(map(files.exists, ("pyproject.toml", "setup.py", "setup.cfg"))) else ""


def _plugins(said: str, files: Files) -> Iterator[str]:
    """Plugins of pytest that are missing, by what their absence makes pytest say."""
    yield from (found[1] for found in REQUIRED.finditer(said))
    declared = declared_dependencies(files)
    for found in OPTIONS.finditer(said):
        yield from filter(None, (_of_option(word, declared) for word in found[1].split() if word.startswith("-")))
    yield from (plugin for found in FIXTURE.finditer(said) if (plugin := PLUGIN_OF_FIXTURE.get(found[1])))
    if ASYNC in said:
        yield next((plugin for plugin in ASYNC_PLUGINS if plain(plugin) in declared), ASYNC_PLUGINS[0])


def _of_option(word: str, declared: frozenset[str]) -> str:
    """The plugin that an option belongs to: `--cov-report` to pytest-cov, if the project declares one of that name, or if it is well known."""
    option = word.split("=")[0]
    known = next((PLUGIN_OF_OPTION[name] for name in PLUGIN_OF_OPTION if option == name or option.startswith(f"{name}-")), "")
    if known or option.startswith("--cov"):
        return known or "pytest-cov"
    ours = sorted((name for name in declared if name.startswith("pytest_")), key=len, reverse=True)
    return next((name.replace("_", "-") for name in ours if option.startswith(f"--{name.removeprefix('pytest_').replace('_', '-')}")), "")
