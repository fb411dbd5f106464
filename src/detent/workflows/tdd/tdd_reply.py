"""What the last words of an agent of `tdd` hand in: the test that was chosen, or the one word that stands for something else."""

import json
from collections.abc import Mapping

from detent.blocks.last_words import last_object, summary_of
from detent.kernel.model import Briefing, Sent

WORDS = {"RED": "ALREADY_SATISFIED", "GREEN": "TEST_WRONG"}  # what may be said instead of handing in, by phase


def read(briefing: Briefing, text: str, known: Mapping[str, str]) -> Sent:
    summary = str(last_object(text, "summary").get("summary", "")) or summary_of(text)
    if briefing.state == "PLAN":
        named = last_object(text, "currentTest")
        return Sent("submit", summary=summary, reply=json.dumps({"currentTest": named["currentTest"]}) if named else "")
    words = [line.strip(" `*.\"'") for line in text.splitlines() if line.strip(" `*.\"'")]
    word = WORDS.get(briefing.state, "")
    return Sent("submit", summary=summary, reply=word if word in words[-3:] else "")
