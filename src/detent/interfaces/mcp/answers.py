"""Answers of a size that clients pass on whole. Several cut a long result at about 48 KB, and its end says how to go on. Values only."""

import msgspec

from detent.kernel.model import Briefing, Verdict

LARGEST_TEXT = 16_000  # characters of one text; an error stands in a briefing twice, in its text and by itself


def bounded(value: Briefing | Verdict) -> Briefing | Verdict:
    """The answer with its long texts cut in the middle, so that no client cuts off the end, where the next call stands."""
    if isinstance(value, Verdict):
        return msgspec.structs.replace(value, output=cut(value.output))
    error = cut(value.last_error) if value.last_error is not None else None
    return msgspec.structs.replace(value, briefing=cut(value.briefing), last_error=error)


def cut(text: str, largest: int = LARGEST_TEXT) -> str:
    if len(text) <= largest:
        return text
    half = largest // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out; error.log has them]\n{text[-half:]}"
