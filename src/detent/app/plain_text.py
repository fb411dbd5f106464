"""Texts as a terminal can be given them, and briefings as text: for commands, and for what is kept for the quick way."""

import re

import msgspec

from detent.app.typed import typed
from detent.kernel.model import Briefing

STUCK = ("HALTED", "BLOCKED")


def shown(briefing: Briefing) -> tuple[str, str, int]:
    """A briefing as text, as JSON, and the exit code that goes with it."""
    trouble = f"\n\nLast error: {plain(briefing.last_error)}" if briefing.actor == "system" and briefing.last_error else ""
    text = typed(plain(briefing.briefing)).rstrip() + trouble + "\n"
    return text, msgspec.json.encode(briefing).decode() + "\n", 10 if briefing.state in STUCK else 0


def plain(text: str) -> str:
    """Text that cannot move the cursor, hide or recolour anything: control characters are shown, not sent."""
    return HIDDEN.sub(_spelled, text)


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


HIDDEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")  # all but tab and new line
