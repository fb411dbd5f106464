"""What to install when tests cannot run: a runner, a package that they import, a plugin of pytest. Reads what was said and the manifests; runs nothing."""

import re
import shlex
from collections.abc import Iterator, Mapping

from detent.evidence.changes.dependencies import declared_dependencies
from detent.evidence.changes.install_lines import install_line
from detent.evidence.changes.pytest_plugins import missing_plugins
from detent.evidence.runners.adapter import Command, Files
from detent.evidence.runners.javascript.node_package import installing

ABSENT = re.compile(
    r"could not be started: No such file|exited with code 127|No module named '?(?:pytest|_pytest)\b|: (?:command )?not found\b|command not found\b"
    r"|Cannot find module .*node_modules"
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
    if "node_modules/" in command.text:
        return f"a package that the tests need is not installed here: {installing(files.read)}"
    if program := PROGRAMS.get(command.runner):
        return f"{program} is not installed, or not on PATH: install it; `detent doctor` shows what is found"
    return f"`{command.text}` needs a program that is not installed: install it, or set another command: [test] command in detent.toml"


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
    for plugin in missing_plugins(said, declared_dependencies(files)):
        yield plugin, install_line(files, plugin) or f"pip install {plugin}"


def _line_for(module: str, files: Files) -> str:
    """The command that installs a module: a package that the project declares, or the project itself."""
    if line := install_line(files, module):
        return line
    top = module.split(".")[0]
    ours = any(files.exists(f"{folder}{top}{end}") for folder in ("", "src/", "lib/") for end in ("/__init__.py", ".py"))
    return "pip install -e ." if ours and any(map(files.exists, ("pyproject.toml", "setup.py", "setup.cfg"))) else ""
