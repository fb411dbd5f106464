"""The rows of `doctor` on a project: tests, preflight, gates, runners, reviewer, pull requests, sandbox."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from detent.app.gate_steps import steps_are_known
from detent.app.preflight import default_preflight, missing_preflight
from detent.app.try_tests import try_tests
from detent.config import Settings
from detent.config.sources import load
from detent.errors import CannotTell, DetentError
from detent.evidence.looks.exit_code import better_command
from detent.evidence.runners import Folder, find_command
from detent.git.place import find_place
from detent.interfaces.cli.tell import fold
from detent.world.landing import BODY

PROGRAMS = ("python3", "node", "go", "cargo", "ctest", "rspec", "phpunit", "mvn", "gradle", "dotnet")


class DoctorCheck(NamedTuple):
    """One row of `doctor`."""

    name: str
    ok: bool
    says: str
    fix: str = ""
    needed: bool = True  # whether nothing works without it; else only what the sentence names

    @property
    def mark(self) -> str:
        return "ok " if self.ok else "NO " if self.needed else "-- "


def row_lines(row: DoctorCheck) -> list[str]:
    """One row as text, with the fix below it."""
    return [fold(line, 17) for line in (f"{row.mark} {row.name:<12} {row.says}", *(f"{'':<17}{line}" for line in row.fix.splitlines()))]


def project_checks() -> list[DoctorCheck]:
    root = _root()
    settings = _settings(root)
    if isinstance(settings, DoctorCheck):
        return [settings]
    return [
        tests_check(root, settings),
        preflight_check(root, settings),
        *_gates(settings),
        *_tried(settings),
        _runners(),
        _reviewer(root, settings),
        *_pull_requests(root, settings),
        _sandbox(settings),
        _containers(settings),
        *_machine(),
    ]


def machine_checks() -> list[DoctorCheck]:
    """The rows for a machine, outside any project."""
    settings = _settings(Path.cwd())
    return (
        [_runners(), settings]
        if isinstance(settings, DoctorCheck)
        else [_runners(), _sandbox(settings), _containers(settings), *_machine()]
    )


def _root() -> Path:
    try:
        return find_place(Path.cwd()).root
    except DetentError:
        return Path.cwd()


def _reader(root: Path) -> Callable[[str], str | None]:
    return lambda path: (root / path).read_text("utf-8", "replace") if (root / path).is_file() else None


def _settings(root: Path) -> Settings | DoctorCheck:
    try:
        return load(_reader(root), os.environ)
    except DetentError as e:
        return DoctorCheck("settings", False, e.message, e.hint)


def tests_check(root: Path, settings: Settings) -> DoctorCheck:
    """How the tests would be run, and whether that program is installed."""
    try:
        command = find_command(Folder(root, os.environ.get("PATH")), settings.test.command, settings.test.report)
    except DetentError as e:
        return DoctorCheck("tests", False, e.message, e.hint, needed=False)
    if command is None:
        way = 'set it in detent.toml: [test] command = "…"'
        return DoctorCheck("tests", False, "no test framework is recognised, so no step can be proved", way, needed=False)
    program = command.argv[0] if command.runner else (command.text.split() or [""])[0]
    if not (shutil.which(program) or (root / program).exists()):
        return DoctorCheck("tests", False, f"`{command.text}`, but '{program}' is not installed", f"install {program}", needed=False)
    if command.runner:
        with_it = shutil.which(program) or program
        return DoctorCheck("tests", True, f"`{command.text}`, with {with_it}; each test is read by the adapter for {command.runner}")
    better = better_command(command, _reader(root)("package.json") or "")
    way = f'set [test] command = "{better}", so that each test can be told apart' if better else ""
    return DoctorCheck("tests", not better, f"`{command.text}`; only its exit code is read", way, needed=False)


def preflight_check(root: Path, settings: Settings) -> DoctorCheck:
    """The preflight commands, and tools that the project configures but that are not installed."""
    path, given = os.environ.get("PATH", os.defpath), settings.preflight.commands
    read = _reader(root)
    commands = default_preflight(read, root, path) if given is None else tuple(given)
    shown = ", ".join(f"`{command}`" for command in commands) or "the tests alone"
    if given is None and (missing := missing_preflight(read, root, path)):
        way = f"install {' and '.join(missing)}, or set [preflight] commands"
        return DoctorCheck(
            "preflight", False, f"{shown}; {' and '.join(missing)} is configured and not there, so it is not run", way, needed=False
        )
    return DoctorCheck("preflight", True, shown)


def _gates(settings: Settings) -> list[DoctorCheck]:
    """The project's own gates, and whether the steps that they name exist."""
    shown = ", ".join(f"{gate.name} (`{gate.command}`)" for gate in settings.gate)
    try:
        steps_are_known(settings)
    except DetentError as e:
        return [DoctorCheck("gates", False, e.message, e.hint)]
    return [DoctorCheck("gates", True, shown)] if shown else []


def _tried(settings: Settings) -> list[DoctorCheck]:
    """The tests and the preflight, tried once on HEAD."""
    try:
        place = find_place(Path.cwd())
        tried = try_tests(place, settings, os.environ, commands_of(place.root, settings))
    except (DetentError, CannotTell) as e:
        return [DoctorCheck("tried", False, f"the tests could not be tried: {e}", needed=False)]
    if tried is None:
        return []
    good = not (tried.trouble or tried.failing or tried.preflight)
    way = tried.hint if tried.trouble else "" if good else "fix it, or accept it as known when a run starts: detent start --baseline"
    return [DoctorCheck("tried", good, tried.words, way, needed=False)]


def commands_of(root: Path, settings: Settings) -> tuple[str, ...]:
    """The preflight commands of a project: configured, or else detected."""
    given = settings.preflight.commands
    return default_preflight(_reader(root), root, os.environ.get("PATH", os.defpath)) if given is None else tuple(given)


def _runners() -> DoctorCheck:
    there = [name for name in PROGRAMS if shutil.which(name)]
    return DoctorCheck("runners", True, f"on PATH: {', '.join(there) or 'none'}")


def _reviewer(root: Path, settings: Settings) -> DoctorCheck:
    """The configured reviewer, and whether it is available."""
    from detent.app.fit import reviewer_is_ready

    if not settings.review.agent:
        return DoctorCheck("reviewer", True, "none is configured: the agent is asked to have its work reviewed by hand")
    try:
        spec = reviewer_is_ready(settings, os.environ, root)
    except DetentError as e:
        return DoctorCheck("reviewer", False, f"{e.message}; no run of `pr` will start", e.hint, needed=False)
    return DoctorCheck("reviewer", True, f"{spec} reviews every pull request")


def _pull_requests(root: Path, settings: Settings) -> list[DoctorCheck]:
    """If pull requests are opened: how, and whether they get Detent's text."""
    if settings.git.merge != "pull-request":
        return []
    command = settings.git.pr_command
    if not command:
        return [_at_forge(root, settings)]
    if BODY not in command:
        way = f"hand {BODY} to it, the file with the text: gh pr create --fill --body-file {BODY}"
        return [
            DoctorCheck(
                "pull requests", False, f"`{command}` gets no text, so pull requests will not say what they prove", way, needed=False
            )
        ]
    return [DoctorCheck("pull requests", True, f"`{command}`, with the proof card in {BODY}")]


def _at_forge(root: Path, settings: Settings) -> DoctorCheck:
    """Whether the forge is known and a token exists; the forge is not contacted."""
    from detent.app.forges import forge_of

    try:
        api, where = forge_of("", settings, find_place(root), os.environ)
    except DetentError as e:
        return DoctorCheck("pull requests", False, f"none can be opened: {e.message}", e.hint, needed=False)
    return DoctorCheck("pull requests", True, f"opened at {api.name}, in {where.project}, with the proof card")


def _sandbox(settings: Settings) -> DoctorCheck:
    """Whether the sandbox for driven agents holds, by attacking it."""
    from detent.app.run_configs import must_hold

    try:
        level = must_hold(settings, os.environ)
    except (DetentError, CannotTell) as e:
        hint = e.hint if isinstance(e, DetentError) else ""
        return DoctorCheck("sandbox", False, f"{e}; `detent run` will not start an agent", hint or "see docs/sandbox.md", needed=False)
    if level == "none":
        return DoctorCheck("sandbox", True, "none, as configured: agents that Detent drives run as you, unconfined")
    if level == "outer":
        return _outer()
    return DoctorCheck("sandbox", True, f"{level}: the probe tried every escape it knows, and none succeeded")


def _machine() -> list[DoctorCheck]:
    """Features that this system lacks, and what is weaker for that."""
    from detent.storage.machine import lacking

    return [DoctorCheck("machine", False, sentence, needed=False) for sentence in lacking()]


def _outer() -> DoctorCheck:
    """The row for level `outer`, where a person vouches for the container's isolation; names what agents could reach."""
    from detent.sandbox.ways_on import OUTER, in_reach

    sentence = f"outer, as configured: this container or machine is the isolation; {OUTER}"
    if found := in_reach(os.environ):
        return DoctorCheck(
            "sandbox", False, f"{sentence}. In reach of agents: {', '.join(found)}", "remove what agents must not reach", needed=False
        )
    return DoctorCheck("sandbox", True, sentence)


def _containers(settings: Settings) -> DoctorCheck:
    """Which container engines are available. Only a configured one is attacked, as the sandbox."""
    from detent.sandbox.container_engine import INSTALL, find

    faults, there = [], []
    for name in INSTALL:
        try:
            there.append(find(name).name)
        except DetentError as e:
            faults.append(e.message.removesuffix(", and nothing is run without it"))
    if not there:
        return DoctorCheck("containers", False, "; ".join(faults), 'needed for [sandbox] level = "container" only', needed=False)
    used = settings.sandbox.level in (*INSTALL, "container")
    way = "used as the sandbox" if used else f'[sandbox] level = "{there[0]}" makes it the sandbox, tried before it is relied on'
    return DoctorCheck("containers", True, f"{' and '.join(there)} can be called; {way}")
