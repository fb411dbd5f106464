"""The cause of a refusal: its sentence with names blanked, so that the same trouble in two projects counts as one. Pure."""

import re

BLANKS = (
    (re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|(?<!\w)'[^'\n]*'(?!\w)"), "…"),
    (re.compile(r"\b\S+::\S[^,;]*?(?=[,;:]? (?:and|or|is|are|was|were|has|have|did|does|do|passes|pass|fails|fail|ran|no|not)\b|[,;]|$)"), "…"),
    (re.compile(r"\S*[/\\]\S*[^\s.,;:)]|\b\w+(?:\.\w+)+\b|\b\w*_\w+\b|\b[0-9a-f]{7,40}\b"), "…"),
    (re.compile(r"\d+(?:[.,]\d+)*"), "N"),
)  # fmt: skip
LONGEST = 160


def cause_of(sentence: str) -> str:
    """The first line of a sentence, without names, paths and numbers."""
    text = (sentence.strip().splitlines() or [""])[0]
    for pattern, blank in BLANKS:
        text = pattern.sub(blank, text)
    text = re.sub(r"…(?:[\s,:]*(?:and )?…)+", "…", " ".join(text.split()))
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
