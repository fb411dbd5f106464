"""A client program as an agent: one turn of it, in a home of its own, with its model's service as the only thing it reaches.

What it says in its lines decides whether the turn went well, never its exit code alone; what the service answered decides how it failed.
"""

import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from detent.agents.agent_protocol import AgentFailed, Reply
from detent.agents.clients import CLIENTS, Access, ClientRow, Wants
from detent.agents.clients import relay as relay_program
from detent.agents.clients.client_faults import of_kind
from detent.agents.clients.gateway import Gateway
from detent.agents.clients.talk import ClientTalk, HeardLines, Opens, Prompted
from detent.agents.command import Errors, Life, last_line_first, told_more
from detent.agents.question import Asked
from detent.errors import DetentError
from detent.sandbox.process import Ran

PORT = 7341  # in a network of its own every port is free
SOCKET = "model"
TAIL = 2000


class FoundClient(NamedTuple):
    """A client that can be asked: its program, and what pays for its models."""

    program: Path
    ways: tuple[Access, ...]


def find(row: ClientRow, outer: Mapping[str, str]) -> FoundClient:
    """The client of a row. DetentError says what is missing, and how to get it."""
    program = find_program(row, outer)
    if program is None:
        raise DetentError(
            f"{row.program} is not installed ({row.install})", f"install it, or put the folder that has {row.program} on PATH"
        )
    access = row.access(outer)
    if access is None:
        raise DetentError(f"{row.program} has neither a login nor a key", row.login)
    return FoundClient(program, (access,))


def find_program(row: ClientRow, outer: Mapping[str, str]) -> Path | None:
    found = shutil.which(row.program, path=outer.get("PATH", os.defpath))
    return Path(found).absolute() if found else None


def ask_client(name: str, asked: Asked) -> Reply:
    """One turn of a client that is given its prompt at once."""
    row = CLIENTS[name]

    @contextmanager
    def opened(asked: Asked, wants: Wants, gate: Gateway) -> Iterator[ClientTalk]:
        yield Prompted(row, asked, wants.home.parent)

    return ask_program(row, find(row, asked.outer), asked, opened)


def ask_program(row: ClientRow, found: FoundClient, asked: Asked, opens: Opens) -> Reply:
    """One turn of a client. AgentFailed says how it failed; DetentError what a person has to do first."""
    if asked.turn.budget.usd is not None and not row.costs:
        raise DetentError(
            f"{row.program} does not say what a turn costs, so a limit in dollars cannot be kept", "limit tokens: [limits] tokens"
        )
    with tempfile.TemporaryDirectory(prefix="detent-client-", ignore_cleanup_errors=True) as folder:
        return _ask(row, found, asked, opens, Path(folder).resolve())


def _ask(row: ClientRow, found: FoundClient, asked: Asked, opens: Opens, folder: Path) -> Reply:
    life = Life(asked)
    heard: HeardLines  # the gateway asks it before each call, and the first one comes long after it is there
    gate = Gateway(found.ways, row.login, secrets.token_hex(24), lambda: may_call(heard), asked.meter.stir)
    with gate.at(folder if asked.turn.apart else None, SOCKET):
        wants = _wants(row, found, asked, folder, gate)
        lay(wants.home, row.files(wants))
        with opens(asked, wants, gate) as talk:
            heard = HeardLines(asked, talk, gate)
            ran, said = _run(row, found, asked, wants, heard, lambda: gate.ended is None and heard.goes_on() and life.goes_on())
    heard.end()
    return Reply(_text(row, asked, Went(ran, heard, life, gate, said)), asked.meter.usage, asked.meter.turns)


def may_call(heard: HeardLines) -> None:
    """Asked before each call of the model, in the gateway's thread: AgentFailed if a limit is used up."""
    heard.count()
    heard.asked.meter.within_budget()


def _wants(row: ClientRow, found: FoundClient, asked: Asked, folder: Path, gate: Gateway) -> Wants:
    turn, way = asked.turn, next(iter(found.ways), None)
    return Wants(
        system=turn.system,
        model=row.model(asked.rest, turn.model),
        workspace=turn.workspace,
        home=folder / "home",
        url=f"http://127.0.0.1:{PORT if turn.apart else gate.port}",
        variable=way.variable if way else "",
        token=gate.token,
        usd=turn.budget.usd,
        form=way.dialect.name if way else "",
    )


def _run(row: ClientRow, found: FoundClient, asked: Asked, wants: Wants, heard: HeardLines, wanted: Callable[[], bool]) -> tuple[Ran, str]:
    """Start it: its home and the way out can be written, its program is seen, the workspace is where it stands. With what it wrote beside."""
    turn, folder, errors = asked.turn, wants.home.parent, Errors(asked)
    argv, said = [str(found.program), *row.argv(wants)], ""
    try:
        ran = turn.start(
            relayed(folder, argv, PORT if turn.apart else 0, heard.talk.words) if turn.apart or heard.talk.words else argv,
            turn.workspace,
            {**turn.env, "HOME": str(wants.home), "PWD": str(turn.workspace), **row.env(wants)},
            asked.meter.left(),
            wanted,
            stdin=heard.talk.stdin,
            stderr=errors.into,
            watch=heard.feed,
            writable=(folder,),
            readable=(package(found.program),),
        )
    except OSError as e:
        raise AgentFailed("Crashed", f"{row.program} could not be started: {e.strerror}") from e
    finally:
        said = errors.end()
        heard.count()
        asked.log.add("stderr", text=said)
    return ran, said


def lay(home: Path, files: Mapping[str, str]) -> None:
    home.mkdir()
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, encoding="utf-8")


def relayed(folder: Path, argv: list[str], port: int, words: str) -> list[str]:
    """The words that start a client behind the relay, which is copied: our own source need not be visible inside."""
    copy = folder / "relay.py"
    copy.write_bytes(Path(relay_program.__file__).read_bytes())
    return [os.path.realpath(sys.executable), "-I", "-S", str(copy), str(folder), SOCKET, str(port), words or "-", *argv]


def package(program: Path) -> Path:
    """What must be visible beside a program: the packages around it, if it is one of many, else itself."""
    real = program.resolve()
    inside = real.parts.index("node_modules") if "node_modules" in real.parts else None
    return real if inside is None else Path(*real.parts[: inside + 1])


class Went(NamedTuple):
    """How a turn of a client went, from all sides."""

    ran: Ran
    heard: HeardLines
    life: Life
    gate: Gateway
    stderr: str


def _text(row: ClientRow, asked: Asked, went: Went) -> str:
    """Its last words, if everything says that the turn went well."""
    ran, talk, said = went.ran, went.heard.talk, went.heard.talk.said
    if ended := went.gate.ended or went.heard.broken:
        raise ended
    by_us = not talk.goes_on()  # it had said all, and was ended for it
    if ran.timed_out and not by_us:
        raise told_more(asked.meter.too_late(), _last(asked, went))
    if ran.stopped and not by_us:
        raise told_more(went.life.ended, _last(asked, went)) if went.life.ended else AgentFailed("Stopped", "the turn was stopped")
    if said.failed or not said.ended or (ran.exit_code != 0 and not by_us):
        raise _failed(row, asked, went)
    if not said.text.strip():
        raise AgentFailed("Stuck", f"{row.program} ended its turn without saying anything")
    return said.text


def _last(asked: Asked, went: Went) -> str:
    """The end of what it said and of what it wrote to its second stream."""
    return "\n".join(part for text in (went.heard.talk.said.text, went.stderr) if (part := asked.redact(text[-TAIL:]).strip()))


def _failed(row: ClientRow, asked: Asked, went: Went) -> AgentFailed:
    """How it failed: by its own sort, else by what the service answered last, else by what it names itself."""
    said, ran = went.heard.talk.said, went.ran
    limit = f", at the limit on {ran.limit}" if ran.limit else ""
    words = said.failed or last_line_first(f"it ended without a result{limit}: ", went.stderr.strip()[-TAIL:] or "it says nothing")
    code = "" if ran.exit_code is None else f" (exit code {ran.exit_code})"
    told = asked.redact(f"{row.program} failed{code}: {words}")
    if said.sort:
        return AgentFailed(said.sort, told)
    if went.gate.fault:
        failed = went.gate.fault.failed()
        return AgentFailed(failed.sort, f"{told}; {asked.redact(failed.message)}", failed.not_before)
    return of_kind(said.kind, told).failed()
