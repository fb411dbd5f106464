"""Prints briefings and verdicts, as one JSON object or as text wrapped to the terminal, and gives their exit codes.
Also how lines are wrapped.
"""

import re
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TextIO

import msgspec

from detent.app.plain_text import plain, render_briefing, typed
from detent.kernel.model import Briefing, Flag, Verdict

GOOD = ("SUCCESS", "NEEDS_ANALYSIS")
RED, GREEN, YELLOW, MAGENTA = 31, 32, 33, 35
ASKED = "Fix it now if you did not mean it; a person is asked about what is left before the branch lands."
COLOURS = {"SUCCESS": GREEN, "FAILURE": RED, "HALTED": MAGENTA, "ERROR": RED}


def channel() -> str:
    """The channel of this call: a terminal, or none."""
    return "terminal" if sys.stdin.isatty() and sys.stdout.isatty() else "no terminal"


def tell_briefing(briefing: Briefing, as_json: bool) -> int:
    """Print a briefing. Exit 10 where the run waits for a person to release it, else 0."""
    text, raw, code = render_briefing(briefing)
    sys.stdout.flush()
    sys.stdout.buffer.write((raw if as_json else text).encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
    return code


def tell_verdict(verdict: Verdict, as_json: bool) -> int:
    """Print a verdict. Exit 0 for what was accepted, 10 where a person is needed, else 1."""
    if as_json:
        _json(verdict)
    else:
        status = f"\x1b[1;{COLOURS.get(verdict.status, YELLOW)}m{verdict.status}\x1b[0m" if sys.stdout.isatty() else verdict.status
        print(f"{status}  {verdict.state}")
        for reason in verdict.reasons:
            print(fold(f"  {typed(plain(reason))}"))
        for line in flag_lines(verdict.flags):
            print(f"  {plain(line)}")
        if verdict.evidence is not None:
            counts = verdict.evidence.counts
            ran = f"{counts.passed} passed, {counts.failed} failed, {counts.errors} errors, {counts.skipped} skipped"
            kept = f"sandbox {verdict.evidence.sandbox}; canary {verdict.evidence.canary}"
            print(f"  Evidence: {verdict.evidence.kind}; {ran}; tree {verdict.evidence.tree[:12]}; {kept}")
        if verdict.output:
            print(f"\n{plain(verdict.output).rstrip()}\n")
        print(fold(f"Next: {typed(verdict.instruction)}"))
    return exit_code(verdict)


def local_time(at: str) -> str:
    """A time of the journal as local time."""
    from datetime import datetime

    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def flag_lines(flags: tuple[Flag, ...], hunks: bool = True) -> list[str]:
    """Flags as text: a line each, with both versions below it."""
    if not flags:
        return []
    from detent.blocks.open_flags import hunk_of, line_of

    lines = list[str]()
    for flag in flags:
        label = "Note" if flag.level == "note" else "Flag"
        lines += [f"{label}: {line_of(flag)}", *(f"  {line}" for line in (hunk_of(flag) if hunks else ()))]
    asked = hunks and any(flag.level == "ask" for flag in flags)
    return lines + ([ASKED] if asked else [])


def card_lines(common: Path, run: str, accepted: str) -> list[str]:
    """The proof card of a run in short; empty if it has none yet. `accepted`: the tree whose flags were accepted."""
    from detent.blocks.check_card import short_of
    from detent.evidence.outcomes.card import kept_card

    found = kept_card(common, run)
    head, *rest = short_of(found, accepted) if found else [""]
    return [plain(line) for line in (f"Card: {head}", *(f"  {line}" for line in rest))] if found else []


def exit_code(verdict: Verdict) -> int:
    return 0 if verdict.status in GOOD else 10 if verdict.status == "HALTED" else 1


def _json(value: msgspec.Struct) -> None:
    """Exactly one JSON object, always valid UTF-8."""
    sys.stdout.flush()
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.buffer.flush()


NARROW = 40
UNBROKEN = re.compile(r"`[^`\n]+`|\bdetent [a-z][\w-]*(?: (?:--?[\w-]+ [\w.-]+|[A-Z][\w-]*))*")  # commands, which people copy
SPACE = "\ue000"  # replaces the spaces of commands while lines are wrapped


def columns(stream: TextIO | None = None) -> int:
    """The width of a stream's terminal; 0 if it is none."""
    stream = stream or sys.stdout
    return max(NARROW, shutil.get_terminal_size((80, 24)).columns) if stream.isatty() else 0


def fold(line: str, hang: int | None = None, stream: TextIO | None = None) -> str:
    """A line wrapped to the terminal, continued `hang` columns in, or as far as the line itself. Commands and long words, such as a
    path, stay whole."""
    width = columns(stream)
    if not width or len(line) <= width:
        return line
    held = UNBROKEN.sub(lambda found: found[0].replace(" ", SPACE), line)
    rest = " " * (len(line) - len(line.lstrip()) if hang is None else hang)
    return "\n".join(textwrap.wrap(held, width, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)).replace(SPACE, " ")


def fold_command(command: str, indent: str) -> str:
    """Commands joined by &&, one on each line if they do not fit; the whole can still be copied."""
    width = columns()
    together = not width or len(indent + command) <= width
    return indent + (command if together else command.replace(" && ", f" &&\n{indent}"))
