"""The `claude` and `codex` backends, and the turn they share with ACP agents: a client program with a private home and one network address.

The program's own output decides whether the turn went well, never the exit code alone; the service's answers decide how it failed.
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
from detent.agents.clients.talk import ClientOutput, ClientTalk, Opens, Prompted
from detent.agents.command import Errors, Life, last_line_first, with_output
from detent.agents.question import Asked
from detent.errors import DetentError
from detent.sandbox.process import Ran

PORT = 7341  # any port is free in a network namespace of its own
SOCKET = "model"
TAIL = 2000


class FoundClient(NamedTuple):
    """A client that can be asked: its program, and the services it may reach with what pays for them."""

    program: Path
    ways: tuple[Access, ...]


def find(row: ClientRow, outer: Mapping[str, str]) -> FoundClient:
    """The client of a row. DetentError says what is missing and how to get it."""
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
    """One turn of a client that reads its prompt from standard input."""
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
    output: ClientOutput  # bound late: the gateway needs it only once the client makes its first call
    gate = Gateway(found.ways, row.login, secrets.token_hex(24), lambda: may_call(output), asked.meter.stir)
    with gate.at(folder if asked.turn.apart else None, SOCKET):
        wants = _wants(row, found, asked, folder, gate)
        lay(wants.home, row.files(wants))
        with opens(asked, wants, gate) as talk:
            output = ClientOutput(asked, talk, gate)
            ran, errors = _run(
                row, found, asked, wants, output, lambda: gate.ended is None and output.expects_more() and life.may_continue()
            )
    output.end()
    return Reply(_text(row, asked, EndedTurn(ran, output, life, gate, errors)), asked.meter.usage, asked.meter.turns)


def may_call(output: ClientOutput) -> None:
    """Called by the gateway's thread before each model call. AgentFailed if a limit is used up."""
    output.count()
    output.asked.meter.within_budget()


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
        form=way.wire_format.name if way else "",
    )


def _run(
    row: ClientRow, found: FoundClient, asked: Asked, wants: Wants, output: ClientOutput, wanted: Callable[[], bool]
) -> tuple[Ran, str]:
    """Run the client in the workspace, with its home and sockets writable and its package readable. Returns the result and its stderr."""
    turn, folder, errors = asked.turn, wants.home.parent, Errors(asked)
    argv, stderr = [str(found.program), *row.argv(wants)], ""
    try:
        ran = turn.start(
            relayed(folder, argv, PORT if turn.apart else 0, output.talk.words) if turn.apart or output.talk.words else argv,
            turn.workspace,
            {**turn.env, "HOME": str(wants.home), "PWD": str(turn.workspace), **row.env(wants)},
            asked.meter.left(),
            wanted,
            stdin=output.talk.stdin,
            stderr=errors.into,
            watch=output.feed,
            writable=(folder,),
            readable=(package(found.program),),
        )
    except OSError as e:
        raise AgentFailed("Crashed", f"{row.program} could not be started: {e.strerror}") from e
    finally:
        stderr = errors.end()
        output.count()
        asked.log.add("stderr", text=stderr)
    return ran, stderr


def lay(home: Path, files: Mapping[str, str]) -> None:
    home.mkdir()
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, encoding="utf-8")


def relayed(folder: Path, argv: list[str], port: int, words: str) -> list[str]:
    """The argv that starts a client behind the relay. The relay is copied, since our source need not be visible inside the sandbox."""
    copy = folder / "relay.py"
    copy.write_bytes(Path(relay_program.__file__).read_bytes())
    return [os.path.realpath(sys.executable), "-I", "-S", str(copy), str(folder), SOCKET, str(port), words or "-", *argv]


def package(program: Path) -> Path:
    """What must be readable to run a program: its whole node_modules folder if it is in one, else the program itself."""
    real = program.resolve()
    inside = real.parts.index("node_modules") if "node_modules" in real.parts else None
    return real if inside is None else Path(*real.parts[: inside + 1])


class EndedTurn(NamedTuple):
    """Everything known about how a client's turn went."""

    ran: Ran
    output: ClientOutput
    life: Life
    gate: Gateway
    stderr: str


def _text(row: ClientRow, asked: Asked, turn: EndedTurn) -> str:
    """The client's final text. Raises if anything says that the turn failed."""
    ran, talk, report = turn.ran, turn.output.talk, turn.output.talk.report
    if ended := turn.gate.ended or turn.output.broken:
        raise ended
    by_us = not talk.expects_more()  # it had finished, and we stopped it
    if ran.timed_out and not by_us:
        raise with_output(asked.meter.too_late(), _last(asked, turn))
    if ran.stopped and not by_us:
        raise with_output(turn.life.ended, _last(asked, turn)) if turn.life.ended else AgentFailed("Stopped", "the turn was stopped")
    if report.failed or not report.ended or (ran.exit_code != 0 and not by_us):
        raise _failed(row, asked, turn)
    if not report.text.strip():
        raise AgentFailed("Stuck", f"{row.program} ended its turn without saying anything")
    return report.text


def _last(asked: Asked, turn: EndedTurn) -> str:
    """The end of its text and of its stderr, redacted."""
    return "\n".join(part for text in (turn.output.talk.report.text, turn.stderr) if (part := asked.redact(text[-TAIL:]).strip()))


def _failed(row: ClientRow, asked: Asked, turn: EndedTurn) -> AgentFailed:
    """The failure of a turn: by the client's own sort, else by the service's last error, else by the error kind that the client names."""
    report, ran = turn.output.talk.report, turn.ran
    limit = f", at the limit on {ran.limit}" if ran.limit else ""
    words = report.failed or last_line_first(f"it ended without a result{limit}: ", turn.stderr.strip()[-TAIL:] or "it says nothing")
    code = "" if ran.exit_code is None else f" (exit code {ran.exit_code})"
    message = asked.redact(f"{row.program} failed{code}: {words}")
    if report.sort:
        return AgentFailed(report.sort, message)
    if turn.gate.fault:
        failed = turn.gate.fault.failed()
        return AgentFailed(failed.sort, f"{message}; {asked.redact(failed.message)}", failed.not_before)
    return of_kind(report.kind, message).failed()
