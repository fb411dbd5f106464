"""The `command` backend: any program, started without a shell. Its standard input is the briefing as JSON, its standard output the reply.

A program that writes output or changes files is slow but alive; one that does neither for too long is hung; a non-zero exit code is a
crash.
"""

import codecs
import os
import shlex
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from detent.agents.agent_protocol import AgentFailed, Progress, Reply, Usage
from detent.agents.question import Asked
from detent.agents.texts import LineBuffer
from detent.errors import DetentError
from detent.sandbox.process import Bounded, Ran

LAST_WORDS = 2000  # characters of each stream that are quoted in a failure


def ask_command(asked: Asked) -> Reply:
    """One turn of a program. AgentFailed on a non-zero exit code, a timeout or silence."""
    argv, turn, errors = split_command(asked.rest), asked.turn, Errors(asked)
    life = Life(asked)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", errors="backslashreplace", suffix=".json") as file:
        file.write(turn.briefing)
        file.flush()
        try:
            ran = turn.start(
                argv,
                turn.workspace,
                turn.env,
                asked.meter.left(),
                life.may_continue,
                stdin=Path(file.name),
                stderr=errors.into,
                watch=life.wrote,
            )
        except OSError as e:
            raise AgentFailed("Crashed", f"the agent '{argv[0]}' could not be started: {e.strerror}") from e
        finally:
            wrong = errors.end()
            asked.log.add("stderr", text=wrong)
    life.shown.end()
    asked.spend(Usage())
    return Reply(_reply(asked, argv[0], ran, life, wrong), asked.meter.usage, 1)


def _reply(asked: Asked, name: str, ran: Ran, life: "Life", wrong: str) -> str:
    if ran.timed_out:
        raise with_output(asked.meter.too_late(), _tail(asked, ran, wrong))
    if ran.stopped:
        raise with_output(life.ended, _tail(asked, ran, wrong)) if life.ended else AgentFailed("Stopped", "the turn was stopped")
    if ran.exit_code != 0:
        output = _tail(asked, ran, wrong)
        how = f"the agent '{name}' failed with exit code {ran.exit_code}"
        raise AgentFailed("Crashed", last_line_first(f"{how}: ", output) if output else f"{how}, and wrote nothing")
    return ran.output


def _tail(asked: Asked, ran: Ran, wrong: str) -> str:
    """The end of what a program wrote to both streams, redacted."""
    return "\n".join(part for text in (ran.output, wrong) if (part := asked.redact(text[-LAST_WORDS:]).strip()))


def last_line_first(how: str, output: str) -> str:
    """One line with how something ended and the last line of output, followed by all of the output if there is more."""
    lines = output.strip().splitlines()
    return f"{how}{lines[-1].strip()}" + (f"\n{output}" if len(lines) > 1 else "")


def with_output(failed: AgentFailed, output: str) -> AgentFailed:
    """The same failure with the end of the program's output."""
    if not output:
        return failed
    return AgentFailed(failed.sort, last_line_first(f"{failed.message}; it last wrote: ", output), failed.not_before, failed.usage)


class Life:
    """A program's signs of life: its output, and changes in its workspace."""

    def __init__(self, asked: Asked) -> None:
        self.meter, self.turn = asked.meter, asked.turn
        self.pulse = self.turn.pulse(self.turn.workspace)
        self.ended: AgentFailed | None = None
        self.shown = ShownStream(asked)

    def wrote(self, chunk: bytes) -> None:
        self.meter.stir()
        self.shown.feed(chunk)

    def may_continue(self) -> bool:
        """Polled about once a second. Looks at the workspace only after too long a silence."""
        if time.monotonic() - self.meter.stirred > self.turn.silence and (now := self.turn.pulse(self.turn.workspace)) != self.pulse:
            self.pulse = now
            self.meter.stir()
        try:
            self.meter.check()
        except AgentFailed as e:
            self.ended = e
        return self.ended is None


class ShownStream:
    """A stream in the live view, line by line, up to MOST bytes."""

    MOST = 1_000_000  # bytes

    def __init__(self, asked: Asked) -> None:
        self.asked, self.lines, self.size = asked, LineBuffer(), 0
        self.decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def feed(self, chunk: bytes) -> None:
        if self.size < self.MOST:
            self.tell(self.lines.feed(self.decode(chunk)))
        self.size += len(chunk)

    def end(self) -> None:
        self.tell(self.lines.end())

    def tell(self, lines: list[str]) -> None:
        for line in lines:
            self.asked.tell(Progress("text", line))


class Errors:
    """A program's stderr, read by a thread: shown live, and kept up to a limit."""

    def __init__(self, asked: Asked) -> None:
        self.meter, self.kept, self.shown = asked.meter, Bounded(), ShownStream(asked)
        self.out, self.into = os.pipe()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        with os.fdopen(self.out, "rb", buffering=0) as source:
            while chunk := source.read(1 << 16):
                self.kept.feed(chunk)
                self.meter.stir()
                self.shown.feed(chunk)
        self.shown.end()

    def end(self) -> str:
        os.close(self.into)
        self.reader.join(5)
        return self.kept.text()


def find_command(command: str, outer: Mapping[str, str], project: Path) -> None:
    """DetentError if the program of a command is missing: on PATH, or as a path below the project's root."""
    name = split_command(command)[0]
    there = os.access(project / name, os.X_OK) if "/" in name else shutil.which(name, path=outer.get("PATH", os.defpath))
    if not there:
        raise DetentError(
            f"there is no program '{name}' that could be started", "install it, fix its path, or name another agent: --agent SPEC"
        )


def split_command(command: str) -> list[str]:
    try:
        argv = shlex.split(command)
    except ValueError as e:
        raise DetentError(f"the agent's command cannot be read: {e}", "check the quotes") from e
    if not argv:
        raise DetentError("the agent's command is empty", "write command:PROGRAM [ARGS]")
    return argv
