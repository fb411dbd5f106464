"""The entries of a master plan: which lines stand for pull requests, and which of those are open. Knows only text.

The first form that the plan uses decides: headings or items that begin with "PR 1:"; check boxes; items that begin like a commit message
(`feat:`, `fix:` …); lines like those that carry [DONE]; else every heading and item except prose such as "Context". A configured pattern
overrides this.
"""

import re
from typing import NamedTuple

NUMBERED = re.compile(r"(?:pr|pull request)\s*#?\d+\s*[:.)–—-]", re.IGNORECASE)
COMMIT = re.compile(r"(?:feat|fix|refactor|docs|tests?|chore|perf|build|ci|style|revert)(?:\([^)]*\))?!?:\s", re.IGNORECASE)
PROSE = re.compile(
    r"(?:\d+[.)]?\s*)?(?:context|background|overview|introduction|summary|abstract|motivation|references?|links|resources|notes?|glossary|appendix|appendices|scope"
    r"|(?:in |out of )scope|(?:non-?)?goals?|assumptions?|constraints?|risks?|decisions?|open questions?|questions|faq|changelog|history|status|legend"
    r"|acceptance criteria|definition of done|conventions?|architecture|design|test(?:ing)? (?:plan|strategy)|table of contents|contents|how to .*)\W*",
    re.IGNORECASE,
)


class PlanLine(NamedTuple):
    """A heading or list item of a master plan."""

    depth: int  # headings 1 to 6; list items from 10 up, by their indent
    text: str
    done: bool
    line: int  # line number, from 0
    box: bool = False  # whether it has a check box


def lines_of(text: str) -> list[PlanLine]:
    """Every heading and list item outside code blocks, in order."""
    found: list[PlanLine] = []
    fenced = False
    for at, line in enumerate(text.splitlines()):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if fenced:
            continue
        if m := re.match(r"(#{1,6})\s+(.+)", line):
            found.append(PlanLine(len(m.group(1)), m.group(2).strip(), is_done(line), at))
        elif m := re.match(r"(\s*)(?:[-*+]|\d+[.)])\s+(\[[ xX]\]\s+)?(.+)", line):
            ticked = bool(m.group(2)) and m.group(2)[1] != " "
            found.append(PlanLine(10 + len(m.group(1).expandtabs(4)), m.group(3).strip(), ticked or is_done(line), at, bool(m.group(2))))
    return found


def entries(text: str, form: str = "") -> list[PlanLine]:
    """The lines of a plan that stand for pull requests, by the plan's own form or by a configured pattern."""
    found = lines_of(text)
    if form:
        wanted = re.compile(form)
        return [e for e in found if wanted.search(text.splitlines()[e.line])]
    marked = [e for e in found if e.done]
    for chosen in ([e for e in found if NUMBERED.match(e.text)], _boxes(found), [e for e in found if COMMIT.match(e.text)]):
        if chosen and (not marked or set(chosen) & set(marked)):
            return chosen
    depths = {e.depth for e in marked}
    rest = _without_prose(found)
    return [e for e in rest if e.depth in depths] if depths else rest


def _boxes(found: list[PlanLine]) -> list[PlanLine]:
    """The items with check boxes; none if all of them are details below items that begin like a commit message."""
    ends, covered, alone = _ends(found), 0, False
    for i, entry in enumerate(found):
        alone = alone or (entry.box and i >= covered)
        covered = max(covered, ends[i] if COMMIT.match(entry.text) else 0)
    return [e for e in found if e.box] if alone else []


def _without_prose(found: list[PlanLine]) -> list[PlanLine]:
    """All lines except an overall title and sections of prose."""
    ends, until, kept = _ends(found), 0, list[PlanLine]()
    over = bool(found) and found[0].depth == 1 and ends[0] == len(found)
    titled = over and (len(found) > 1 or re.search(r"\bplan\b", found[0].text, re.IGNORECASE) is not None)
    for i, entry in enumerate(found):
        until = max(until, ends[i] if entry.depth < 10 and PROSE.fullmatch(entry.text) else 0)
        if i >= until and not (titled and i == 0):
            kept.append(entry)
    return kept


def find_entry(title: str, master: str, form: str = "") -> tuple[PlanLine | None, int]:
    """The open entry that a title means, and how many entries contain it: the one with exactly this text, else the only match."""
    matches = [e for e in open_entries(master, form) if title in e.text]
    exact = [e for e in matches if e.text == title]
    return next((found[0] for found in (exact, matches) if len(found) == 1), None), len(matches)


def entry_text(title: str, master: str, form: str = "") -> str:
    """The entry that a title means, with everything below it."""
    entry, _ = find_entry(title, master, form)
    after = next((e.line for e in lines_of(master) if entry and e.line > entry.line and e.depth <= entry.depth), None)
    return "\n".join(master.splitlines()[entry.line : after]) if entry else ""


def open_entries(text: str, form: str = "") -> tuple[PlanLine, ...]:
    """The open entries. An entry is done if its line says so, if one above it is done, or if it has entries below it and all are done."""
    over = _done_above(text)
    found = entries(text, form)
    ends, left, first = _ends(found), list[PlanLine](), len(found)
    for i in reversed(range(len(found))):
        if found[i].line not in over and (ends[i] == i + 1 or first < ends[i]):
            first = i  # the first open entry from here on
            left.append(found[i])
    return tuple(reversed(left))


def _done_above(text: str) -> set[int]:
    """The lines that are done, themselves or through a line above them."""
    found = lines_of(text)
    ends, done_to, over = _ends(found), 0, set[int]()
    for i, entry in enumerate(found):
        done_to = max(done_to, ends[i] if entry.done else 0)
        if i < done_to:
            over.add(entry.line)
    return over


def _ends(found: list[PlanLine]) -> list[int]:
    """For each entry, the index after the last one below it."""
    ends, above = [len(found)] * len(found), list[int]()
    for i, entry in enumerate(found):
        while above and found[above[-1]].depth >= entry.depth:
            ends[above.pop()] = i
        above.append(i)
    return ends


def is_done(line: str) -> bool:
    """Whether a line carries [DONE] and a commit hash of at least seven digits."""
    return "[DONE]" in line and re.search(r"\b[0-9a-f]{7,40}\b", line) is not None
