"""The test runners that Detent understands, and how a project's tests are run: as configured, else by the first matching row of a table of signs.

A new runner is a file with its RUNNER, a line here and a row in the docs; it passes the conformance tests. Reads files, starts nothing, and
imports a runner only where there is a sign of it. Also decides whether an agent's command is a call of these tests.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import NamedTuple

from detent.errors import DetentError
from detent.evidence.runners.adapter import Command, Files, Folder, Runner, split_words

__all__ = ["RUNNERS", "UNSEEN", "Command", "Files", "Folder", "Runner"]

WHERE = {  # in the order in which they may adopt a configured command
    "pytest": "python.pytest",
    "node": "javascript.node",
    "vitest": "javascript.vitest",
    "jest": "javascript.jest",
    "mocha": "javascript.mocha",
    "unittest": "python.unittest",
    "go": "go.go",
    "cargo": "rust.cargo",
    "rspec": "ruby.rspec",
    "phpunit": "php.phpunit",
    "ctest": "cmake.ctest",
    "maven": "jvm.maven",
    "gradle": "jvm.gradle",
    "dotnet": "dotnet.dotnet",
    "report": "reports.report_runner",
}
UNSEEN = frozenset({"dotnet"})  # adapters never tried with the real program


class Runners(Mapping[str, Runner]):
    """The runners by name. Each is imported only when it is asked for, so a submit pays for its own alone."""

    def __getitem__(self, name: str) -> Runner:
        if name and name not in WHERE:
            return _installed(name)
        found: Runner = import_module(f"{__name__}.{WHERE[name]}").RUNNER
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(WHERE)

    def __len__(self) -> int:
        return len(WHERE)


RUNNERS = Runners()


def _installed(name: str) -> Runner:
    """The runner that an installed package provides under a name that is not built in."""
    from detent import extensions  # imported late: most calls know their runner

    found: Runner | None = extensions.load(extensions.RUNNERS, name, lambda value: _wrong(name, value))
    if found is None:
        raise DetentError(f"there is no test runner '{name}' here", f"known: {', '.join(WHERE)}; install the package that provides it")
    return found


def ask_installed(ask: Callable[[Runner], Command | None], or_say: bool = False) -> Command | None:
    """The first command that a package's runner gives. `or_say`: if none does, raise the error of a runner that cannot be loaded."""
    from detent import extensions

    faults = list[DetentError]()
    for name in extensions.names(extensions.RUNNERS, WHERE):
        try:
            if (found := ask(_installed(name))) is not None:
                return found
        except DetentError as e:
            faults.append(e)
    if faults and or_say:
        raise faults[0]
    return None


def _wrong(name: str, value: object) -> str:
    if not isinstance(value, Runner):
        return "it is not a Runner (detent.evidence.runners)"
    return "" if value.name == name else f"it calls itself '{value.name}'; runner and entry point must have the same name"


class Sign(NamedTuple):
    """One row: what is seen in the project, the runners it may mean, and files of which one must exist."""

    seen: str
    runners: tuple[str, ...]
    files: tuple[str, ...] = ()


DETECTION: tuple[Sign, ...] = (
    Sign("`pom.xml` with JUnit or TestNG", ("maven",), ("pom.xml",)),
    Sign("`build.gradle` or `build.gradle.kts`", ("gradle",), ("build.gradle", "build.gradle.kts")),
    Sign("`package.json` with a test script, or with vitest, jest or mocha", ("node", "vitest", "jest", "mocha"), ("package.json",)),
    Sign("test files of `unittest`, and no sign of pytest", ("unittest",)),
    Sign("`pytest.ini`, `pyproject.toml`, `setup.py` or test files of pytest", ("pytest",)),
    Sign("`go.mod` or `go.work`", ("go",), ("go.mod", "go.work")),
    Sign("`Cargo.toml`", ("cargo",), ("Cargo.toml",)),
    Sign("`.rspec` or `*_spec.rb`", ("rspec",)),
    Sign("`phpunit.xml` or `phpunit.xml.dist`", ("phpunit",), ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")),
    Sign("`CMakeLists.txt` with `enable_testing` or `include(CTest)`", ("ctest",), ("CMakeLists.txt",)),
    Sign("`*.sln`, `*.slnx`, or a .NET project with `Microsoft.NET.Test.Sdk`", ("dotnet",)),
)
REDIRECTS = ">"
CALLED = {"pytest": ("pytest", "py.test", "tox"), "maven": ("mvn",)}  # the first word of its calls, if not its name


def find_command(files: Files, configured: str = "", report: str = "") -> Command | None:
    """How this project's tests are run: as configured, else as detected; None if no framework is recognised.

    A configured command that no adapter understands runs in a shell; only its exit code counts, or the `report` it writes.
    """
    if report:
        return Command(("sh", "-c", configured), "report", report=report)
    if not configured.strip():
        found = next(filter(None, (_detected(sign, files) for sign in DETECTION)), None)
        return found or ask_installed(lambda runner: runner.detect(files), or_say=True)
    words, fault = split_words(configured)
    if words[:1] == ("npm",) or REDIRECTS in configured:
        from detent.evidence.runners.javascript.node_package import CALLS, script_words
        from detent.evidence.runners.javascript.node_tap import adopt_tap, by_tap

        if tap := by_tap(files) if words in CALLS else adopt_tap(configured):
            return tap
        words = (script_words(files) if words in CALLS else ()) or words
    adopted = (RUNNERS[name].adopt(words) for name in RUNNERS if not fault and _is_called(name, words))
    own = next(filter(None, adopted), None)
    more = ask_installed(lambda runner: runner.adopt(words)) if words and not fault and own is None else None
    return own or more or Command(("sh", "-c", configured))


def _is_called(name: str, words: tuple[str, ...]) -> bool:
    """Whether a command can be a call of a runner at all; if not, the runner is not imported."""
    return any(word.rpartition("/")[2].startswith(CALLED.get(name, (name,))) for word in words)


def _detected(sign: Sign, files: Files) -> Command | None:
    """The command for a sign: of the first runner that detects itself, else an npm script run for its exit code."""
    if sign.files and not any(map(files.exists, sign.files)):
        return None
    found = next(filter(None, (RUNNERS[name].detect(files) for name in sign.runners)), None)
    if found or "package.json" not in sign.files:
        return found
    from detent.evidence.runners.javascript.node_package import test_script
    from detent.evidence.runners.javascript.node_tap import by_tap

    return by_tap(files) or (Command(("sh", "-c", "npm test"), "", "npm") if test_script(files) else None)


def refuse(command: str, base: Command | None) -> str | None:
    """Why an agent's test command is refused; None if it is taken. Without a known test command any command is taken."""
    if base is not None and base.runner:
        return RUNNERS[base.runner].parse(command, base).fault or None
    if not command.strip():
        return "test_command is empty; words alone are not evidence"
    given = command.strip()
    if base is None or given == base.text:
        return None
    if given.startswith(f"{base.text} "):
        words, fault = split_words(given.removeprefix(base.text))
        if not fault and not any(word.startswith("-") for word in words):
            return None  # plain words after the command are selectors; it is run as configured
    return f"`{given[:200]}` is not how this project is tested; use `{base.text}` (only its exit code is read)"
