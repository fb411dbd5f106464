"""A headless client program as an agent: one turn of it, in a home of its own, with its model's service as the only thing it reaches.

What it says in its lines decides whether the turn went well, never its exit code alone; what the service answered decides how it failed.
"""

import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from detent.agents.asked import Asked
from detent.agents.clients import CLIENTS, Access, Row, Said, Wants
from detent.agents.clients import relay as relay_program
from detent.agents.clients.faults import of_kind
from detent.agents.clients.gateway import Gateway
from detent.agents.command import Errors, Life
from detent.agents.protocol import AgentFailed, Reply
from detent.errors import DetentError
from detent.sandbox.process import Ran

PORT = 7341  # in a network of its own every port is free
SOCKET = "model"
LONGEST_LINE = 32 << 20
TAIL = 2000


class Found(NamedTuple):
    """A client that can be asked: its program, and what pays for its model."""

    program: Path
    access: Access


def find(name: str, outer: Mapping[str, str]) -> Found:
    """The client of a name. DetentError says what is missing, and how to get it."""
    row = CLIENTS[name]
    program = find_program(row, outer)
    if program is None:
        raise DetentError(
            f"{row.program} is not installed ({row.install})", f"install it, or put the folder that has {row.program} on PATH"
        )
    access = row.access(outer)
    if access is None:
        raise DetentError(f"{row.program} has neither a login nor a key", row.login)
    return Found(program, access)


def find_program(row: Row, outer: Mapping[str, str]) -> Path | None:
    found = shutil.which(row.program, path=outer.get("PATH", os.defpath))
    return Path(found).absolute() if found else None


def ask_client(name: str, asked: Asked) -> Reply:
    """One turn of a client. AgentFailed says how it failed; DetentError what a person has to do first."""
    row, found = CLIENTS[name], find(name, asked.outer)
    if asked.turn.budget.usd is not None and not row.costs:
        raise DetentError(
            f"{row.program} does not say what a turn costs, so a limit in dollars cannot be kept", "limit tokens: [limits] tokens"
        )
    with tempfile.TemporaryDirectory(prefix="detent-client-", ignore_cleanup_errors=True) as folder:
        return _ask(row, found, asked, Path(folder).resolve())


def _ask(row: Row, found: Found, asked: Asked, folder: Path) -> Reply:
    token, heard, life = secrets.token_hex(24), Heard(row, asked), Life(asked)
    gate = Gateway(row, found.access, token, lambda: heard.may_call(gate), asked.meter.stir).at(
        folder if asked.turn.apart else None, SOCKET
    )
    with gate:
        wants = _wants(row, found, asked, folder, gate)
        lay(wants.home, row.files(wants))
        (folder / "prompt").write_text(asked.turn.prompt, encoding="utf-8", errors="backslashreplace")
        errors = Errors(asked)
        try:
            ran = _run(
                row, found, asked, wants, lambda: gate.ended is None and heard.broken is None and life.goes_on(), heard.feed, errors.into
            )
        except OSError as e:
            raise AgentFailed("Crashed", f"{row.program} could not be started: {e.strerror}") from e
        finally:
            said = errors.end()
            asked.log.add("stderr", text=said)
    heard.end()
    heard.count(gate)
    return Reply(_text(row, asked, Went(ran, heard, life, gate, said)), asked.meter.usage, asked.meter.turns)


def _wants(row: Row, found: Found, asked: Asked, folder: Path, gate: Gateway) -> Wants:
    turn = asked.turn
    return Wants(
        system=turn.system,
        model=row.model(asked.rest, turn.model),
        workspace=turn.workspace,
        home=folder / "home",
        url=f"http://127.0.0.1:{PORT if turn.apart else gate.port}",
        variable=found.access.variable,
        token=gate.token,
        usd=turn.budget.usd,
    )


def _run(
    row: Row, found: Found, asked: Asked, wants: Wants, wanted: Callable[[], bool], watch: Callable[[bytes], None], stderr: int
) -> Ran:
    """Start it: its home and the way out can be written, its program is seen, the workspace is where it stands."""
    turn, folder = asked.turn, wants.home.parent
    argv = [str(found.program), *row.argv(wants)]
    return turn.start(
        relayed(folder, argv) if turn.apart else argv,
        turn.workspace,
        {**turn.env, "HOME": str(wants.home), "PWD": str(turn.workspace), **row.env(wants)},
        asked.meter.left(),
        wanted,
        stdin=folder / "prompt",
        stderr=stderr,
        watch=watch,
        writable=(folder,),
        readable=(package(found.program),),
    )


def lay(home: Path, files: Mapping[str, str]) -> None:
    home.mkdir()
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, encoding="utf-8")


def relayed(folder: Path, argv: list[str]) -> list[str]:
    """The words that start a client behind the relay, which is copied: our own source need not be visible inside."""
    copy = folder / "relay.py"
    copy.write_bytes(Path(relay_program.__file__).read_bytes())
    return [os.path.realpath(sys.executable), "-I", "-S", str(copy), str(folder), SOCKET, str(PORT), *argv]


def package(program: Path) -> Path:
    """What must be visible beside a program: the packages around it, if it is one of many, else itself."""
    real = program.resolve()
    inside = real.parts.index("node_modules") if "node_modules" in real.parts else None
    return real if inside is None else Path(*real.parts[: inside + 1])


class Heard:
    """The lines of a client, one by one: kept in the transcript, shown, and read. What cannot be kept ends the turn."""

    def __init__(self, row: Row, asked: Asked) -> None:
        self.row, self.asked, self.said, self.rest = row, asked, Said(), b""
        self.broken: DetentError | None = None

    def feed(self, chunk: bytes) -> None:
        self.asked.meter.stir()
        *lines, self.rest = (self.rest + chunk).split(b"\n")
        if len(self.rest) > LONGEST_LINE:
            lines, self.rest = [*lines, self.rest], b""
        for line in lines:
            self.take(line)

    def end(self) -> None:
        rest, self.rest = self.rest, b""
        self.take(rest)
        if self.broken:
            raise self.broken

    def take(self, line: bytes) -> None:
        if not line.strip() or self.broken:
            return
        try:
            self.asked.log.add("line", line=as_value(line))
        except DetentError as e:
            self.broken = e
            return
        self.said = self.row.read(self.said, line)
        self.asked.meter.usage = self.said.usage
        for progress in self.row.show(line):
            self.asked.tell(progress)

    def count(self, gate: Gateway) -> None:
        self.asked.meter.turns = gate.calls

    def may_call(self, gate: Gateway) -> None:
        """Asked before each call of the model, in the gateway's thread: AgentFailed if a limit is used up."""
        self.count(gate)
        self.asked.meter.within_budget()


def as_value(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line.decode("utf-8", "replace")


class Went(NamedTuple):
    """How a turn of a client went, from all sides."""

    ran: Ran
    heard: Heard
    life: Life
    gate: Gateway
    stderr: str


def _text(row: Row, asked: Asked, went: Went) -> str:
    """Its last words, if everything says that the turn went well."""
    ran, said = went.ran, went.heard.said
    if went.gate.ended is not None:
        raise went.gate.ended
    if ran.timed_out:
        raise asked.meter.too_late()
    if ran.stopped:
        raise went.life.ended or AgentFailed("Stopped", "the turn was stopped")
    if not said.ended or said.failed or ran.exit_code != 0:
        raise _failed(row, asked, went)
    if not said.text.strip():
        raise AgentFailed("Stuck", f"{row.program} ended its turn without a word")
    return said.text


def _failed(row: Row, asked: Asked, went: Went) -> AgentFailed:
    """How it failed: by its own sort, else by what the service answered last, else by what it names itself."""
    said, ran = went.heard.said, went.ran
    limit = f", at the limit on {ran.limit}" if ran.limit else ""
    words = said.failed or f"it ended without a result{limit}: {went.stderr.strip()[-TAIL:] or 'it says nothing'}"
    told = asked.redact(f"{row.program} failed (exit code {ran.exit_code}): {words}")
    if said.sort:
        return AgentFailed(said.sort, told)
    if went.gate.fault:
        failed = went.gate.fault.failed()
        return AgentFailed(failed.sort, f"{told}; {asked.redact(failed.message)}", failed.not_before)
    return of_kind(said.kind, told).failed()
