"""Draws the diagrams of the site: those of docs/how-it-works.md into docs/pictures/, and a workflow's states for the page of each workflow.

Run it with `.venv/bin/python docs/drawings.py`; a test says when it is due. The pages of workflows get theirs when the site is built.
"""

from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from detent.app.registry import all_tables
from detent.kernel.draw import arrows
from detent.kernel.table import Table

PICTURES = Path(__file__).parent / "pictures"
INK, SOFT, LINE, PAPER = "#1f2430", "#667085", "#8a94a6", "#ffffff"
FILLS = {"agent": "#e7edff", "system": "#e8f6ee", "human": "#fff1d6", "end": "#eceff3", "no": "#fde8e8", "plain": "#ffffff"}
SIZE, STEP = 13, 18  # of letters, of lines


class Box(NamedTuple):
    """A rectangle with a bold first line and softer ones below."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]
    fill: str = "plain"

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


def words(x: float, y: float, text: str, *, colour: str = SOFT, anchor: str = "start", bold: bool = False, size: int = SIZE) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}" text-anchor="{anchor}" font-size="{size}"{weight}>{escape(text)}</text>'


def drawn(box: Box) -> str:
    top = box.middle - (len(box.lines) - 1) * STEP / 2 + 4.5
    rows = [
        words(box.x + box.width / 2, top + n * STEP, text, colour=SOFT if n else INK, anchor="middle", bold=not n)
        for n, text in enumerate(box.lines)
    ]
    shape = (
        f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" rx="7" fill="{FILLS[box.fill]}" stroke="{LINE}"/>'
    )
    return "\n".join([shape, *rows])


def arrow(*points: tuple[float, float]) -> str:
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{LINE}" stroke-width="1.5" marker-end="url(#tip)"/>'


def picture(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    """One SVG on white paper, so that it reads on a light and on a dark page; with the reader's own letters."""
    body = "\n".join(parts)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img" font-family="system-ui, sans-serif">
<title>{escape(title)}</title>
<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="{LINE}"/></marker></defs>
<rect width="{width:g}" height="{height:g}" rx="10" fill="{PAPER}"/>
{body}
</svg>
"""


def step() -> str:
    """One step: briefing, attempt, judgement, and the three kinds of no."""
    briefing = Box(20, 90, 150, 80, ("1  Briefing", "what to do now,", "what may be written"), "system")
    attempt = Box(210, 90, 150, 80, ("2  Attempt", "the agent works,", "then hands in"), "agent")
    snapshot = Box(400, 90, 150, 80, ("3  Snapshot", "the exact tree", "is kept by git"), "system")
    judged = Box(590, 90, 160, 80, ("4  Evidence", "Detent runs the tests", "on that tree"), "system")
    yes = Box(590, 230, 160, 56, ("SUCCESS", "that tree is committed"), "system")
    noes = (
        Box(20, 330, 230, 56, ("REFUSED", "does not fit; nothing ran"), "human"),
        Box(270, 330, 230, 56, ("FAILURE", "judged, and found wrong"), "no"),
        Box(520, 330, 230, 56, ("ERROR", "not judged; counts for nothing"), "end"),
    )
    ways = [arrow((a.right, a.middle), (b.x - 2, b.middle)) for a, b in ((briefing, attempt), (attempt, snapshot), (snapshot, judged))]
    ways.append(arrow((670, 170), (670, 228)))
    ways.append(arrow((590, 258), (95, 258), (95, 172)))
    parts = [words(20, 40, "One step of a run", colour=INK, bold=True, size=17)]
    parts.append(words(20, 62, "What the agent says about its work is kept, and decides nothing."))
    parts += [
        words(342, 250, "the next step", anchor="middle"),
        words(20, 318, "Three kinds of no. They are never mixed, and none is taken for a yes:"),
    ]
    return picture(770, 406, "One step of a run", [*parts, *ways, *map(drawn, (briefing, attempt, snapshot, judged, yes, *noes))])


def proof() -> str:
    """What a test proves: the three trees it is run on."""
    base = Box(20, 84, 220, 84, ("Base", "old code", "old tests"), "end")
    mixed = Box(275, 84, 220, 84, ("Mixed", "old code", "new tests"), "human")
    tip = Box(530, 84, 220, 84, ("Tip", "new code", "new tests"), "system")
    rows = (
        ("–", "fails", "passes", "fail-to-pass: the proof. It needs this change"),
        ("–", "passes", "passes", "a pin: new, welcome, proves nothing"),
        ("passes", "passes", "passes", "kept: nothing broke"),
        ("passes", "–", "fails", "a regression: FAILURE"),
        ("passes", "–", "gone, skipped", "lost: FAILURE"),
        ("fails", "–", "fails", "known before; held against nobody"),
    )
    parts = [words(20, 38, "What a test proves", colour=INK, bold=True, size=17)]
    parts.append(words(20, 60, "The same tests, on three trees. Only the middle one shows whether a test needs the change."))
    for n, (one, two, three, means) in enumerate(rows):
        y = 200 + n * 46
        parts += [words(x, y, text, anchor="middle", colour=INK) for x, text in ((130, one), (385, two), (640, three))]
        parts.append(words(385, y + 19, means, anchor="middle", bold=n == 0, colour=INK if n == 0 else SOFT))
        parts.append(f'<line x1="20" x2="750" y1="{y + 27}" y2="{y + 27}" stroke="#e4e7ec"/>')
    return picture(770, 476, "What a test proves", [*map(drawn, (base, mixed, tip)), *parts])


def doors() -> str:
    """Three ways in, one judge."""
    ways = (
        Box(20, 80, 220, 78, ("Check", "any commits, by anyone", "no run, no set-up"), "plain"),
        Box(275, 80, 220, 78, ("Hold", "your agent calls Detent", "pull mode, your checkout"), "agent"),
        Box(530, 80, 220, 78, ("Drive", "Detent calls the agent", "push mode, in a sandbox"), "agent"),
    )
    judge = Box(
        20,
        210,
        730,
        62,
        ("One engine of outcomes", "tests on base, mixed and tip; small changes of the code; disguised tests; what else changed"),
        "system",
    )
    ends = (
        Box(20, 324, 220, 62, ("Proved", "lands, or exit 0"), "system"),
        Box(275, 324, 220, 62, ("Flagged", "one question to a person"), "human"),
        Box(530, 324, 220, 62, ("Failed", "with the reason"), "no"),
    )
    lines = [arrow((x, 158), (x, 208)) for x in (130, 385, 640)] + [arrow((x, 272), (x, 322)) for x in (130, 385, 640)]
    parts = [words(20, 40, "Three ways in, one judge", colour=INK, bold=True, size=17)]
    parts.append(words(20, 62, "Settings and test command come from the commit that the work starts from, never from the work."))
    return picture(770, 406, "Three ways in, one judge", [*parts, *lines, *map(drawn, (*ways, judge, *ends))])


def pictures() -> dict[str, str]:
    """The diagrams that are kept in docs/pictures, by file name."""
    return {"how-step.svg": step(), "how-proof.svg": proof(), "how-doors.svg": doors()}


# --- a workflow: its states from top to bottom, ways down on the right, ways back on the left -----------------------------------


class Way(NamedTuple):
    """A way from one state to another, and the line that it takes beside the states."""

    at: int
    to: int
    label: str
    lane: int

    @property
    def down(self) -> bool:
        return self.to > self.at


GAP, LANE = 26, 14


def workflow(table: Table[Any]) -> str:
    """The states of a workflow and the ways between them. Ways that stay, and those to a halt, stand in the box in words."""
    names = list(table.states)
    ways = lanes(table, names)
    sides = [max([len(way.label) for way in ways if way.down == down] or [0]) * 6.4 + 24 for down in (True, False)]
    left = sides[1] + LANE * (1 + max([way.lane for way in ways if not way.down] or [0]))
    inside = [(name, *said(table, name)) for name in names]
    wide = max(len(text) for lines in inside for text in lines) * 7.6 + 16
    boxes, y = list[Box](), 64.0
    for n, (name, lines) in enumerate(zip(names, inside, strict=True)):
        height = max(len(lines) * STEP + 14, 28 + 16 * max(sum(way.at == n and way.down == down for way in ways) for down in (True, False)))
        boxes.append(Box(left + 10, y, wide, height, lines, "end" if table.states[name].end else table.states[name].actor))
        y += height + GAP
    width = left + wide + 20 + sides[0] + LANE * (1 + max([way.lane for way in ways if way.down] or [0]))
    parts = [words(20, 30, f"{table.name}: {table.title}", colour=INK, bold=True, size=15)]
    more = f" · from most states, and not drawn: {', '.join(sorted(frequent(table)))}" if frequent(table) else ""
    parts.append(words(20, 50, f"blue: an agent acts · green: Detent · yellow: a person · grey: an end{more}", size=12))
    return picture(
        max(width, 560), y, table.name, [*parts, *(line for way in routed(ways) for line in led(way, boxes, sides)), *map(drawn, boxes)]
    )


def lanes(table: Table[Any], names: list[str]) -> list[Way]:
    """Every way that is drawn; short ones nearest to the states, and no two on one line where they pass each other."""
    taken: dict[tuple[bool, int], list[tuple[int, int]]] = {}
    found = list[Way]()
    common = frequent(table)
    told = {ends: [label for label in labels if label not in common] for ends, labels in arrows(table).items()}
    shown = [(names.index(at), names.index(to), labels) for (at, to), labels in told.items() if labels and to in names and at != to]
    for at, to, labels in sorted(shown, key=lambda way: abs(way[1] - way[0])):
        if names[to] in halts(table):
            continue
        low, high, lane = min(at, to), max(at, to), 0
        while any(low < b and a < high for a, b in taken.setdefault((to > at, lane), [])):
            lane += 1
        taken[to > at, lane].append((low, high))
        found.append(Way(at, to, shortened(labels), lane))
    return found


def shortened(labels: list[str]) -> str:
    text = ", ".join(labels[:2])
    return f"{text}, …" if len(labels) > 2 else text


def said(table: Table[Any], name: str) -> list[str]:
    """What stands in a state's box: who acts, and whether it can end in a halt."""
    state, to = table.states[name], {target for at, target in arrows(table) if at == name}
    who = (
        f"end: {state.end}"
        if state.end
        else state.role or ("a person" if state.actor == "human" else "Detent" if state.actor == "system" else "agent")
    )
    stops = sorted(to & halts(table) - {name})
    return [who, *([f"may go to {', '.join(stops)}"] if stops else []), *(["returns to where it was"] if "back" in to else [])]


def frequent(table: Table[Any]) -> set[str]:
    """Events that lead on from at least half of the states: drawn, they would hide the others."""
    ways = [(at, label) for (at, to), labels in arrows(table).items() for label in labels if at != to and to not in halts(table)]
    return {label for _, label in ways if len({at for at, other in ways if other == label}) * 2 >= len(table.states)}


def halts(table: Table[Any]) -> set[str]:
    """States that a run returns from to where it was: nearly every state leads there."""
    return {at for at, to in arrows(table) if to == "back"}


def routed(ways: list[Way]) -> list[tuple[Way, int]]:
    """Each way with its number among those that leave the same side of its state."""
    return [(way, sum(other.at == way.at and other.down == way.down for other in ways[:n])) for n, way in enumerate(ways)]


def led(numbered: tuple[Way, int], boxes: list[Box], sides: list[float]) -> list[str]:
    """A way as a line out of its box, along its lane, into the other box; its label stands on the first stretch."""
    way, number = numbered
    a, b = boxes[way.at], boxes[way.to]
    y, into = a.y + 30 + number * 16, b.y + 9
    x, end, lane = (a.right, b.right, a.right + sides[0] + way.lane * LANE) if way.down else (a.x, b.x, a.x - sides[1] - way.lane * LANE)
    label = words(x + (6 if way.down else -6), y - 3, way.label, anchor="start" if way.down else "end", size=11)
    return [arrow((x, y), (lane, y), (lane, into), (end + (2 if way.down else -2), into)), label]


def workflows() -> dict[str, str]:
    """A picture of each workflow, by file name."""
    return {f"workflow-{name}.svg": workflow(table) for name, table in all_tables().items()}


if __name__ == "__main__":
    for file, text in pictures().items():
        (PICTURES / file).write_text(text, "utf-8")
        print(f"wrote docs/pictures/{file}")
