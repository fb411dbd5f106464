"""Excerpts of a design's documents for a person to read before deciding. Pure."""

import re
from collections.abc import Iterator, Mapping

from detent.gates.documents import ARCHITECTURE, SPEC, SessionData, design_files, section

PARTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {  # document -> part -> words that its heading may contain
    SPEC: {
        "Goals": ("goal",), "Scope": ("scope",), "Out of scope": ("out of scope", "non-goal", "not in scope"), "Definition of done": ("definition of done",)
    },
    ARCHITECTURE: {
        "Overview": ("overview",), "Modules": ("module",), "Data flows": ("flow",), "Key decisions": ("decision",), "Risks": ("risk",)
    },
}  # fmt: skip
BUT: Mapping[str, tuple[str, ...]] = {"Scope": ("out of scope", "not in scope"), "Goals": ("non-goal", "non goal")}
PART, WHOLE, HEADS = 500, 3500, 12  # characters per part and in total; headings per design spec
MORE = " […]"


def design_summary(data: SessionData, documents: Mapping[str, str]) -> str:
    """Goals, scope, modules, risks and so on, titles of decision records, headings of design specs. Cuts are marked."""
    text = "\n\n".join(_parts(data, documents))
    return cut(text, WHOLE) or "There is nothing to show; read the documents."


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most].rstrip() + MORE


def _parts(data: SessionData, documents: Mapping[str, str]) -> Iterator[str]:
    for name, parts in PARTS.items():
        text = documents.get(f"{data.session}/{name}", "")
        for title, words in parts.items():
            if found := section(text, *words, but=BUT.get(title, ())):
                yield f"**{title}** ({name})\n\n{cut(found, PART)}"
    for path in design_files(data):
        if path in (*data.records, *data.design_specs):
            heads = _headings(documents.get(path, ""))
            shown = heads[:1] if path in data.records else heads[:HEADS]
            yield f"**{path.removeprefix(data.session + '/')}**: {cut('; '.join(shown) or 'no heading', PART)}"


def _headings(text: str) -> list[str]:
    return re.findall(r"^#{1,6}\s+(.+?)\s*$", text, re.MULTILINE)
