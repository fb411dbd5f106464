"""Bash: run one command line in the workspace and say how it ended. How it is sandboxed is the caller's business."""

from typing import Annotated

from msgspec import Meta, Struct

from detent.errors import ToolError
from detent.sandbox.process import Ran
from detent.tools.spill import keep
from detent.tools.tool_paths import MOST, cut_middle, visible
from detent.tools.tool_values import ToolResult, ToolRoom

DESCRIPTION = f"""Runs one shell command line in the workspace and shows its exit code and what it wrote, at most {MOST:,} characters;
the rest can be read by the name that is given.
There is no terminal and no input. One time limit holds for every command. Processes that it leaves behind are killed with it, so nothing runs in the background.
For files prefer Read, Write, Edit, Glob and Grep. What a command writes is checked like everything else."""


class BashArguments(Struct, frozen=True, forbid_unknown_fields=True):
    command: Annotated[str, Meta(description="The command line.")]


def bash(room: ToolRoom, args: BashArguments) -> ToolResult:
    _check(args.command)
    try:
        ran = room.shell(args.command)
    except OSError as e:
        raise ToolError(f"The command could not be started: {e.strerror or e}.") from e
    return ToolResult("\n".join([*_ended(ran), _output(room, ran)]), failed=ran.exit_code != 0)


def _check(command: str) -> None:
    if not command.strip():
        raise ToolError("The command is empty.")
    if "\0" in command:
        raise ToolError("The command contains a NUL character, which no command line may.")
    try:
        command.encode()
    except UnicodeEncodeError as e:
        raise ToolError(f"The command is not valid text at character {e.start + 1}.") from e


def _ended(ran: Ran) -> list[str]:
    """How the command ended, in plain sentences."""
    if ran.timed_out:
        how = f"It was stopped after {ran.seconds:.0f} s, the time limit of every command. It has no exit code."
    elif ran.stopped:
        how = "It was stopped because the work was stopped. It has no exit code."
    else:
        how = f"Exit code {ran.exit_code}."
    left = f"{ran.leftovers} process{'es' * (ran.leftovers > 1)} that it left behind {'were' if ran.leftovers > 1 else 'was'} ended."
    return [how, left] if ran.leftovers else [how]


def _output(room: ToolRoom, ran: Ran) -> str:
    if not ran.output:
        return "It wrote nothing."
    text = visible(ran.output.replace("\r\n", "\n"))
    if len(text) <= MOST:
        return f"Output:\n{text}"
    name = keep(room.spill, "bash", ran.output.encode("utf-8", "surrogatepass"))
    return f"Output, {ran.size:,} bytes:\n" + cut_middle(text, f"Read {name} with offset and limit, or Grep it, to see them")
