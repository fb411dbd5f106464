"""How briefings and verdicts are told: as one JSON object, or as text for people and agents. And the exit code of each."""

import re
import sys
from pathlib import Path

import msgspec

from detent.kernel.model import Briefing, Flag, Verdict

GOOD = ("SUCCESS", "NEEDS_ANALYSIS")
STUCK = ("HALTED", "BLOCKED")
RED, GREEN, YELLOW, MAGENTA = 31, 32, 33, 35
COLOURS = {"SUCCESS": GREEN, "FAILURE": RED, "HALTED": MAGENTA, "ERROR": RED}


def channel() -> str:
    """How a person spoke: at a terminal, or through something that is none."""
    return "terminal" if sys.stdin.isatty() and sys.stdout.isatty() else "no terminal"


def tell_briefing(briefing: Briefing, as_json: bool) -> int:
    """Print a briefing. Exit 10 where the run waits for a person to release it, else 0."""
    text, raw, code = shown(briefing)
    sys.stdout.flush()
    sys.stdout.buffer.write((raw if as_json else text).encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
    return code


def shown(briefing: Briefing) -> tuple[str, str, int]:
    """A briefing as text, as JSON, and the exit code that goes with it."""
    trouble = f"\n\nLast error: {plain(briefing.last_error)}" if briefing.actor == "system" and briefing.last_error else ""
    text = plain(briefing.briefing).rstrip() + trouble + "\n"
    return text, msgspec.json.encode(briefing).decode() + "\n", 10 if briefing.state in STUCK else 0


def tell_verdict(verdict: Verdict, as_json: bool) -> int:
    """Print a verdict. Exit 0 for what was accepted, 10 where a person is needed, else 1."""
    if as_json:
        _json(verdict)
    else:
        status = f"\x1b[1;{COLOURS.get(verdict.status, YELLOW)}m{verdict.status}\x1b[0m" if sys.stdout.isatty() else verdict.status
        print(f"{status}  {verdict.state}")
        for reason in verdict.reasons:
            print(f"  {plain(reason)}")
        for line in flag_lines(verdict.flags):
            print(f"  {plain(line)}")
        if verdict.evidence is not None:
            counts = verdict.evidence.counts
            ran = f"{counts.passed} passed, {counts.failed} failed, {counts.errors} errors, {counts.skipped} skipped"
            kept = f"sandbox {verdict.evidence.sandbox}; canary {verdict.evidence.canary}"
            print(f"  Evidence: {verdict.evidence.kind}; {ran}; tree {verdict.evidence.tree[:12]}; {kept}")
        if verdict.output:
            print(f"\n{plain(verdict.output).rstrip()}\n")
        print(f"Next: {verdict.instruction}")
    return exit_code(verdict)


def flag_lines(flags: tuple[Flag, ...], hunks: bool = True) -> list[str]:
    """Flags for people and agents: a line each, with both versions below it."""
    if not flags:
        return []
    from detent.blocks.open_flags import hunk_of, line_of

    lines = [line for flag in flags for line in (f"Flag: {line_of(flag)}", *(f"  {line}" for line in (hunk_of(flag) if hunks else ())))]
    return [*lines, *(["Fix it now if you did not mean it: what is left is asked about before the branch lands."] if hunks else [])]


def card_lines(common: Path, run: str, accepted: str) -> list[str]:
    """What the branch of a run proves, in short; nothing before it was about to land. `accepted`: the tree whose flags were."""
    from detent.blocks.check_card import short_of
    from detent.evidence.card_kept import kept_card

    found = kept_card(common, run)
    head, *rest = short_of(found, accepted) if found else [""]
    return [plain(line) for line in (f"Card: {head}", *(f"  {line}" for line in rest))] if found else []


def card_object(common: Path, run: str) -> dict[str, object] | None:
    """The same for programs, whole."""
    from detent.blocks.check_card import object_of
    from detent.evidence.card_kept import kept_card

    found = kept_card(common, run)
    return object_of(found) if found else None


def exit_code(verdict: Verdict) -> int:
    return 0 if verdict.status in GOOD else 10 if verdict.status == "HALTED" else 1


def plain(text: str) -> str:
    """Text that cannot move the cursor, hide or recolour anything: control characters are shown, not sent."""
    return HIDDEN.sub(_spelled, text)


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


HIDDEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")  # all but tab and new line


def _json(value: msgspec.Struct) -> None:
    """Exactly one JSON object, always valid UTF-8."""
    sys.stdout.flush()
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.buffer.flush()
