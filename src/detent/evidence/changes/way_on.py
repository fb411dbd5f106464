"""What to install when tests cannot run: a runner, a package that they import, a plugin of pytest. Reads what was said and the manifests; runs nothing."""

import re
import shlex
from collections.abc import Iterator, Mapping

from detent.evidence.changes.dependencies import declared_dependencies, plain
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
UNFETCHED: Mapping[str, tuple[re.Pattern[str], str]] = {  # what a toolchain says of modules that it may not fetch while tests run
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
}  # programs of other names
PROGRAM = re.compile(
    r"(?:^|: )([\w@.-]+): (?:command )?not found|Cannot find module '[^']*node_modules/((?:@[\w.-]+/)?[\w.-]+)", re.MULTILINE
)
LOADED = re.compile(r"cannot load such file -- ([\w-]+)")
MODULE = re.compile(r"No module named\s+'?([\w.]+)'?|Error importing plugin \"([\w.]+)\"")
OTHER = "or set another command: [test] command in detent.toml"
RUNNER_ITSELF = ("pytest", "_pytest")


def way_on(command: Command | None, said: str, files: Files) -> str:
    """What is not installed, with the command that installs it; empty where that is not what was said."""
    if command is None or SHUT_OUT in said:
        return ""
    if found := next(((name, line) for name, line in _lacking(said, files) if line), None):
        return f"{found[0]} is not installed here: {found[1]}"
    if unfetched := _unfetched(command.runner, said):
        return unfetched
    name = installing(files.read) if command.runner in OF_NPM else INSTALLS.get(command.runner, "")
    if name and (LACKING.search(said) or _gem_lacks(command.runner, said, files)):
        return f"a package that the tests need is not installed here: {name}"
    if not ABSENT.search(said):
        return ""
    if name:
        return f"{command.runner} is not installed here: {name}"
    if "node_modules/" in command.text:
        return f"a package that the tests need is not installed here: {installing(files.read)}"
    if program := PROGRAMS.get(command.runner):
        return f"{program} is not installed, or not on PATH: install it; `detent doctor` shows what is found"
    return _needed_by_script(command, said, files)


def in_clean_checkouts(hint: str) -> str:
    """The same hint for `check`, which can install into checkouts of its own."""
    name, found, line = hint.partition(" is not installed here: ")
    wanted = found and not line.startswith("install ") and "\n" not in line
    return f"{hint}\nor in clean checkouts: detent check --install {shlex.quote(line)}" if name and wanted else hint


def _unfetched(runner: str, said: str) -> str:
    """What helps where a toolchain lacks a module, or is itself older than the project asks for."""
    if runner == "go" and (newer := OLD_GO.search(said)):
        return f"the project asks for Go {newer[1]}, and the one on PATH is older: install Go {newer[1]}"
    pattern, line = UNFETCHED.get(runner, (None, ""))
    return f"a module that the tests need is not installed here: {line}" if pattern and pattern.search(said) else ""


def _gem_lacks(runner: str, said: str, files: Files) -> bool:
    """Whether Ruby could not load what no file of the project is called."""
    return runner == "rspec" and any(not files.exists(f"lib/{name}.rb") for name in LOADED.findall(said))


def _needed_by_script(command: Command, said: str, files: Files) -> str:
    """What helps where a script calls a program that is not there. Of those that the project declares it is known that a package brings them."""
    found = PROGRAM.search(said)
    program = (found[1] or found[2]) if found else ""
    if program and command.text.split()[0] in SCRIPTS:
        line = installing(files.read)
        if plain(BROUGHT.get(program, program)) in declared_dependencies(files):
            return f"{program} is not installed here: {line}"
        return f"`{command.text}` needs {program}, which is not installed: {line}, if a package brings it; {OTHER}"
    return f"`{command.text}` needs a program that is not installed: install it, {OTHER}"


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
