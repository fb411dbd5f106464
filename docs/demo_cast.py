"""Records `detent demo` as it really runs: docs/pictures/demo.cast (asciicast v2) and docs/pictures/demo.svg, the moving picture of the README.

Run from the project's root: .venv/bin/python docs/demo_cast.py
"""

import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
CAST, PICTURE = ROOT / "docs" / "pictures" / "demo.cast", ROOT / "docs" / "pictures" / "demo.svg"
COLUMNS, ROWS = 80, 26
LONGEST, LINGER, READING = 1.4, 6.0, 0.35  # seconds: of a pause that is shown, at the end, and for each line of the picture to be read
STEP, ADVANCE, LEFT, TOP = 18, 8.4, 14, 46  # pixels
STYLES = {"1": 'font-weight="bold"', "2": 'opacity=".6"', "31": 'fill="#ff7b72"', "32": 'fill="#7ee787"', "33": 'fill="#e3b341"'}
SGR = re.compile(r"\x1b\[([0-9;]*)m")
Event = tuple[float, str]


class Line(NamedTuple):
    """One line of the terminal: when it is there, and its pieces with their styles."""

    at: float
    pieces: tuple[tuple[str, tuple[str, ...]], ...]


def recorded() -> list[Event]:
    """What the demo writes to a terminal of 80 columns, and when; a long pause is cut."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "COLUMNS": str(COLUMNS), "LINES": str(ROWS), "TERM": "xterm-256color"}
    child = subprocess.Popen([str(ROOT / ".venv/bin/detent"), "demo"], env=env, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True)
    os.close(theirs)
    events, clock, last = list[Event](), 0.0, time.monotonic()
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:
            break
        if not data:
            break
        now = time.monotonic()
        clock, last = clock + min(now - last, LONGEST), now
        events.append((round(clock, 3), data.decode("utf-8", "replace")))
    if child.wait() != 0:
        sys.exit(f"the demo ended with {child.returncode}; nothing was recorded")
    return events


def lines(events: list[Event]) -> Iterator[Line]:
    """The lines as they stand once each is whole."""
    style, begun, pieces = list[str](), 0.0, list[tuple[str, tuple[str, ...]]]()
    for at, data in events:
        for part in re.split(r"(\x1b\[[0-9;]*m|\r?\n)", data):
            if part.endswith("\n"):
                yield Line(begun or at, tuple(pieces))
                pieces, begun = [], 0.0
            elif found := SGR.fullmatch(part):
                codes = [code for code in found[1].split(";") if code not in ("", "0")]
                style = [*style, *codes] if codes else []
            elif part:
                begun = begun or at
                pieces.append((part, tuple(style)))


def drawn(shown: list[Line]) -> str:
    """An SVG that plays the lines and begins again; what is above the last rows scrolls away."""
    whole = shown[-1].at + LINGER
    width, height = int(2 * LEFT + COLUMNS * ADVANCE), TOP + ROWS * STEP + 10
    steps = [(line.at, number - ROWS + 1) for number, line in enumerate(shown) if number >= ROWS]
    values = ";".join(["0 0", *(f"0 {-up * STEP}" for _, up in steps)])
    times = ";".join(["0", *(f"{at / whole:.4f}" for at, _ in steps)])
    rows = "\n".join(_row(number, line, whole) for number, line in enumerate(shown) if line.pieces)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>detent demo: an agent cheats three times, and is caught</title>
<rect width="{width}" height="{height}" rx="8" fill="#161b22"/>
<circle cx="20" cy="18" r="6" fill="#ff5f57"/><circle cx="40" cy="18" r="6" fill="#febc2e"/><circle cx="60" cy="18" r="6" fill="#28c840"/>
<text x="{width / 2}" y="23" fill="#8b949e" text-anchor="middle" font-family="monospace" font-size="13">$ detent demo</text>
<svg x="0" y="34" width="{width}" height="{height - 34}" viewBox="0 34 {width} {height - 34}">
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#e6edf3" xml:space="preserve">
<animateTransform attributeName="transform" type="translate" calcMode="discrete" dur="{whole:.2f}s" repeatCount="indefinite" values="{values}" keyTimes="{times}"/>
{rows}
</g></svg></svg>
"""


def _row(number: int, line: Line, whole: float) -> str:
    spans = "".join(
        f"<tspan {' '.join(STYLES[code] for code in codes if code in STYLES)}>{_kept(text)}</tspan>" for text, codes in line.pieces
    )
    when = f'<animate attributeName="opacity" calcMode="discrete" dur="{whole:.2f}s" repeatCount="indefinite" values="0;1" keyTimes="0;{line.at / whole:.4f}"/>'
    return f'<text x="{LEFT}" y="{TOP + (number + 1) * STEP - 8}">{when}{spans}</text>'


def _kept(text: str) -> str:
    """Text in which spaces are kept, as a terminal keeps them."""
    return re.sub(r"^ +| {2,}", lambda found: "\u00a0" * len(found[0]), escape(text))


def main() -> None:
    events = recorded()
    head = {"version": 2, "width": COLUMNS, "height": ROWS, "title": "detent demo", "env": {"TERM": "xterm-256color"}}
    CAST.write_text("\n".join([json.dumps(head), *(json.dumps([at, "o", data]) for at, data in events)]) + "\n", "utf-8")
    PICTURE.write_text(drawn([Line(line.at + READING * n, line.pieces) for n, line in enumerate(lines(events))]), "utf-8")
    print(f"{CAST.relative_to(ROOT)} and {PICTURE.relative_to(ROOT)}: {events[-1][0]:.0f} s")


if __name__ == "__main__":
    main()
