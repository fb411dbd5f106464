"""Rigs that make each agent backend reply, fail or hang, so that one suite can test all of them. The backends are real."""

import contextlib
import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from detent.agents import AgentFailed, Reply, Turn, Usage, ask
from detent.errors import DetentError
from tests.acp_agent import made
from tests.any_service import AnyService, Fault, Says
from tests.any_service import denied as refused
from tests.clients.driven import Model, serving
from tests.machine import need
from tests.model_server import KEY, ModelServer, error, say
from tests.model_server import Reply as Said
from tests.patience import LONG
from tests.responses_server import denied

Does = Literal["replies", "fails", "hangs"]
WORDS = "done: it adds"
ENV = {"PATH": os.environ["PATH"], "DETENT_STATE": "RED", "DETENT_ROLE": "test"}


class Rig(NamedTuple):
    """A backend that does one thing. `begun`: whether it was reached at all; `fails_as`: how it fails."""

    ask: Callable[[Turn], Reply]
    begun: Callable[[], bool]
    fails_as: str


class Build(Protocol):
    def __call__(self, folder: Path, does: Does) -> contextlib.AbstractContextManager[Rig]: ...


def turn(folder: Path, **changes: object) -> Turn:
    briefing = json.dumps(
        {"run": "r1", "state": "RED", "role": "test", "attempt": 1, "attempt_id": "r1.1", "briefing": f"write it with {KEY}"}
    )
    plain = Turn(
        briefing, f"write it with {KEY}", "you test", folder, env=ENV, timeout=LONG, transcript=folder.parent / "log" / "turn.jsonl"
    )
    return plain._replace(**changes)  # type: ignore[arg-type]  # the fields' own types are the test's business


@contextlib.contextmanager
def anthropic_rig(folder: Path, does: Does) -> Iterator[Rig]:
    model = "claude-nobody-1" if does == "fails" else ""
    with ModelServer([Said(then="hang") if does == "hangs" else say(WORDS)]) as server:
        yield Rig(lambda t: ask(f"anthropic:{model}", t, server.outer), lambda: bool(server.seen), "ModelUnavailable")


@contextlib.contextmanager
def openai_rig(folder: Path, does: Does) -> Iterator[Rig]:
    model = "gpt-nobody" if does == "fails" else "claude-haiku-4-5"  # a service may have it by that name, and it has a price
    with ModelServer([Said(then="hang") if does == "hangs" else say(WORDS)]) as server:
        yield Rig(lambda t: ask(f"openai:{model}", t, server.outer), lambda: bool(server.seen), "ModelUnavailable")


COMMANDS = {"replies": f"cat > input; env > environment; echo '{WORDS}'", "fails": "echo no; exit 3", "hangs": "touch begun; exec sleep 60"}


@contextlib.contextmanager
def command_rig(folder: Path, does: Does) -> Iterator[Rig]:
    program = folder.parent / "agent"
    program.write_text(f"#!/bin/sh\ntouch begun\n{COMMANDS[does]}\n")
    program.chmod(0o755)
    yield Rig(lambda t: ask(f"command:{program}", t, {"ANTHROPIC_API_KEY": KEY}), (folder / "begun").exists, "Crashed")


ENTRIES: Mapping[str, object] = {"replies": {"reply": WORDS}, "fails": {"fail": {"sort": "Refused"}}, "hangs": {"wait": 60}}


@contextlib.contextmanager
def scripted_rig(folder: Path, does: Does) -> Iterator[Rig]:
    script = folder.parent / "script.json"
    script.write_text(json.dumps([{"write": {"begun": "yes"}, **ENTRIES[does]}]))  # type: ignore[dict-item]  # literals above
    yield Rig(lambda t: ask(f"scripted:{script}", t, {"ANTHROPIC_API_KEY": KEY}), (folder / "begun").exists, "Refused")


CHILD = """
import json, os, sys
from pathlib import Path
terminal, given, result, stop = sys.argv[1:]
os.open(terminal, os.O_RDWR)  # the first terminal that a new session opens is its own
from detent.agents import AgentFailed, Budget, Turn, ask
t = json.loads(Path(given).read_text())
turn = Turn(t["briefing"], t["prompt"], "", Path(t["workspace"]), timeout=t["timeout"], budget=Budget(*t["budget"]),
            wanted=lambda: t["wanted"] and not Path(stop).exists(), transcript=Path(t["transcript"]))
try:
    reply = ask("human", turn, {"ANTHROPIC_API_KEY": t["key"]})
    out = {"text": reply.text, "turns": reply.turns}
except AgentFailed as e:
    out = {"sort": e.sort, "message": e.message}
Path(result).write_text(json.dumps(out))
"""


class Person:
    """A person at a terminal of their own: a program in a new session gets it, and this types into it."""

    def __init__(self, folder: Path, types: bytes) -> None:
        self.folder, self.types, self.screen = folder, types, b""

    def ask(self, turn: Turn) -> Reply:
        need("terminals")
        given, result, stop = (self.folder.parent / name for name in ("given", "result", "stop"))
        stop.unlink(missing_ok=True)
        values = {
            "briefing": turn.briefing, "prompt": turn.prompt, "workspace": str(turn.workspace), "timeout": turn.timeout, "key": KEY,
            "budget": turn.budget, "transcript": str(turn.transcript), "wanted": turn.wanted(),
        }  # fmt: skip
        given.write_text(json.dumps(values))
        master, slave = pty.openpty()
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, os.ttyname(slave), given, result, stop],
            start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            self.sit(child, master, turn, stop)
        finally:
            child.kill() if child.poll() is None else None
            child.wait()
            os.close(master)
            os.close(slave)
        found = json.loads(result.read_text())
        if "sort" in found:
            raise AgentFailed(found["sort"], found["message"])
        return Reply(found["text"], Usage(), found["turns"])

    def sit(self, child: subprocess.Popen[bytes], master: int, turn: Turn, stop: Path) -> None:
        typed, end = False, time.monotonic() + LONG
        while child.poll() is None and time.monotonic() < end:
            if select.select([master], [], [], 0.05)[0]:
                self.screen += os.read(master, 1 << 16)
            if not typed and self.begun():
                typed = True
                os.write(master, self.types)
            if self.begun() and not turn.wanted():
                stop.touch()

    def begun(self) -> bool:
        return b"Ctrl-D stops" in self.screen


@contextlib.contextmanager
def human_rig(folder: Path, does: Does) -> Iterator[Rig]:
    person = Person(folder, {"replies": WORDS.encode() + b"\n", "fails": b"\x04", "hangs": b""}[does])
    yield Rig(person.ask, person.begun, "Stopped")


def client_rig(name: str) -> Build:
    """A rig for a real client without a sandbox, with a scripted model service."""

    @contextlib.contextmanager
    def rig(folder: Path, does: Does) -> Iterator[Rig]:
        faults: Mapping[str, list[object]] = {
            "fails": [gone(name)] * 9,
            "hangs": [Said(then="hang") if name == "claude" else {"hang": True}],
        }
        with serving(name, Model({"ANY": [WORDS]}, ANY=faults.get(does, [])), folder.parent) as served:
            yield Rig(lambda t: ask(name, t, served.env), lambda: bool(served.requests()), "ModelUnavailable")

    return rig


@contextlib.contextmanager
def acp_rig(folder: Path, does: Does) -> Iterator[Rig]:
    """A rig for a scripted program that speaks the protocol, with a scripted model service."""
    script: Mapping[str, Says] = {"replies": WORDS, "fails": refused(403, "permission_error"), "hangs": Fault(then="hang")}
    with AnyService([script[does]]) as service:
        spec, outer = f"acp:{made(folder.parent / 'agent')}", {**service.outer, "DETENT_TEST_API_KEY": KEY}
        yield Rig(lambda t: ask(spec, t, outer), lambda: bool(service.seen), "ModelUnavailable")


def gone(name: str) -> object:
    return error(403, "permission_error") if name == "claude" else denied(404, "invalid_request_error", code="model_not_found")


RIGS: Mapping[str, Build] = {
    "anthropic": anthropic_rig,
    "openai": openai_rig,
    "claude": client_rig("claude"),
    "codex": client_rig("codex"),
    "acp": acp_rig,
    "command": command_rig,
    "scripted": scripted_rig,
    "human": human_rig,
}


def failure(call: Callable[[], object]) -> AgentFailed | DetentError:
    """The error that a call raises."""
    try:
        said = call()
    except DetentError as e:
        return e
    raise AssertionError(f"it did not fail: {said}")
