"""Helpers for tests of push mode: small projects, scripts for the scripted agent, and runs driven in this process or by the command line."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from detent.app import App, open_app
from detent.app.driver_lock import only_driver
from detent.app.push import result
from detent.app.run_driver import driver
from detent.blocks.terms import Terms
from detent.door import AnyEvent, AnyRun
from detent.drive import Driver, Seen
from detent.kernel.model import Sent
from detent.workflows.tdd.tdd_start import start_tdd
from tests.project import INI, Project, Ran

Json = dict[str, Any]
HONEST = f"command:{sys.executable} {Path(__file__).with_name('honest_agent.py')}"
ALONE = "[git]\nremote = ''\n"  # a project without a remote
FILES = {
    "calc.py": "",
    "tests/test_start.py": "def test_start():\n    assert True\n",
    "pytest.ini": INI,
    ".gitignore": "__pycache__/\n",
}
RED = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
GREEN = "def add(a, b):\n    return a + b\n"
NAMED = {"currentTest": {"description": "adds", "testFile": "tests/test_add.py", "implFile": "calc.py"}}
NONE = {"currentTest": None}

# One whole cycle, turn by turn, as the scripted agent plays it.
PLANS: Json = {"state": "PLAN", "write": {"test-list.md": "- [ ] adds\n"}, "reply": NAMED}
REDS: Json = {"state": "RED", "write": {"tests/test_add.py": RED}, "reply": "the test is written"}
GREENS: Json = {"state": "GREEN", "write": {"calc.py": GREEN}, "reply": "the code is written"}
REFACTORS: Json = {"state": "REFACTOR", "reply": "nothing to do"}
ENDS: Json = {"state": "PLAN", "reply": NONE}
CYCLE = (PLANS, REDS, GREENS, REFACTORS, ENDS)


def project(folder: Path, config: str = ALONE, files: Mapping[str, str] | None = None) -> Project:
    """A project whose tests run quickly, even in the sandbox, with a state folder beside it."""
    made = Project(folder, {**FILES, "detent.toml": config, **(files or {})})
    made.env["XDG_STATE_HOME"] = os.environ["XDG_STATE_HOME"]
    return made


def scripted(p: Project, *entries: Json) -> str:
    """The spec of an agent that plays these entries."""
    file = p.root.parent / f"{p.root.name}.script.json"
    file.write_text(json.dumps(entries))
    return f"scripted:{file}"


def run(p: Project, *args: str, **env: str) -> Ran:
    return p.run("run", "add numbers", *args, **env)


def workspaces(p: Project) -> list[Path]:
    """The checkouts that Detent made, and git's records of them."""
    state = Path(p.env["XDG_STATE_HOME"]) / "detent" / "workspaces"
    kept = p.root / ".git" / "worktrees"
    return [*(state.iterdir() if state.is_dir() else ()), *(kept.iterdir() if kept.is_dir() else ())]


class Instead:
    """An object with some methods replaced."""

    def __init__(self, real: object, methods: dict[str, Callable[..., Any]]) -> None:
        self.real = real
        self.__dict__.update(methods)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


def instead(made: Driver, **methods: Callable[..., Any]) -> Driver:
    """A driver with some methods of its clock or turns replaced."""
    changed = copy(made)
    of_clock: dict[str, Callable[..., Any]] = {name: methods.pop(name) for name in ("sleep", "ends") if name in methods}
    changed.clock, changed.turns = Instead(made.clock, of_clock), Instead(made.turns, methods)
    return changed


class Driven:
    """A run of `tdd` driven in this process. Waits are recorded instead of slept."""

    def __init__(self, p: Project, *entries: Json, agent: str = "", request: str = "add numbers", known: str = "", **env: str) -> None:
        self.project, self.seen, self.slept = p, list[Seen](), list[float]()
        self.app: App = open_app(p.root, create=True, env={**p.env, **env})
        head = None if entries or agent else self.app.current()
        terms = Terms(request, agent=agent or scripted(p, *entries))
        self.id = known or (head.run if head else "") or start_tdd(self.app, Sent("start", by="human"), terms)

    def driver(self) -> Driver:
        return instead(driver(self.app, self.id, self.seen.append), sleep=self.slept.append)

    def go(self, made: Driver | None = None) -> Json:
        """Drive until the run ends or waits; its result."""
        with only_driver(self.app, self.id):
            briefing = (made or self.driver()).drive(self.id)
        return result(self.app, self.id, briefing, 0.0)

    def person(self, verb: str, **fields: str) -> None:
        verdict = self.app.door.submit(self.id, Sent(verb, by="human", channel="terminal", **fields))  # type: ignore[arg-type]
        assert verdict.status == "SUCCESS", verdict

    @property
    def run(self) -> AnyRun:
        return self.app.door.load(self.id).run

    @property
    def events(self) -> list[AnyEvent]:
        return list(self.app.worlds.runs.history(self.id))

    @property
    def moves(self) -> list[str]:
        return [event.on for event in self.events]

    def said(self, kind: str) -> list[str]:
        return [seen.text for seen in self.seen if seen.kind == kind]


@contextmanager
def driven(p: Project, *entries: Json, agent: str = "", request: str = "add numbers", known: str = "", **env: str) -> Iterator[Driven]:
    made = Driven(p, *entries, agent=agent, request=request, known=known, **env)
    try:
        yield made
    finally:
        made.app.journal.close()


def driven_on(p: Project, known: str = "") -> AbstractContextManager[Driven]:
    """Continue the run that is open in a project, or a named one."""
    return driven(p, known=known)


@contextmanager
def lent(p: Project) -> Iterator[Project]:
    """A project that several tests use in turn; runs that one of them leaves open are aborted."""
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", p.env["XDG_STATE_HOME"])
        yield p
        with closing((app := open_app(p.root, create=True, env=p.env)).journal):
            if (head := app.current()) is not None:
                app.door.submit(head.run, Sent("abort", by="human"))


@contextmanager
def running(p: Project, *args: str, **env: str) -> Iterator[subprocess.Popen[str]]:
    """A command that runs while the test does other things; killed with the block."""
    child = subprocess.Popen(
        p.argv(*args), cwd=p.root, env={**p.env, **env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        yield child
    finally:
        if child.poll() is None:
            child.kill()
        child.communicate()


def lines_until(child: subprocess.Popen[str], **wanted: str) -> list[Json]:
    """The lines of `--events` up to the first with these values."""
    assert child.stdout is not None
    lines: list[Json] = []
    for line in child.stdout:
        lines.append(json.loads(line))
        if all(lines[-1].get(name) == value for name, value in wanted.items()):
            return lines
    raise AssertionError(f"no line with {wanted} came: {lines}, {child.stderr.read() if child.stderr else ''}")


def later(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))


def tree_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, without its git dir."""
    found: dict[str, bytes] = {}
    for here, inner, files in os.walk(folder):
        inner[:] = [name for name in inner if name != ".git"]
        found |= {str((Path(here) / name).relative_to(folder)): (Path(here) / name).read_bytes() for name in files}
    return found
