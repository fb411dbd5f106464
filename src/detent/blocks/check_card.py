"""The proof card of a change or branch: as text for a terminal, as markdown, and as an object for programs. Pure."""

import re
import textwrap
from typing import Any

from detent.blocks.open_flags import hunk_of
from detent.evidence.outcomes.card import Card, Checked
from detent.kernel.model import Flag

WORDS = {"clean": "CLEAN", "flagged": "FLAGGED", "failed": "FAILED", "could-not-verify": "COULD NOT VERIFY"}
CODES = {"clean": 0, "flagged": 10, "failed": 1, "could-not-verify": 4}
MOST = {"names": 3, "flags": 6, "lines": 4, "output": 8}  # how many are shown by default
NARROW = 80  # columns, unless told otherwise
LONGEST = 200  # characters of a line in markdown
SCHEMA = 1
ELSEWHERE = "outside of all projects"
MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "¦", **{sign: f"\\{sign}" for sign in "\\`*[]~#"}})
LINKED = re.compile(r"(?<=@)|(?<=[#!$%&~^])(?=\w)|(?<=GH-)(?=\d)|(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)  # what hosts turn into links
ONE = {"fail": "fails", "pass": "passes", "are": "is"}  # a verb for one test
SEVERAL = re.compile(rf"\b(?:{'|'.join(ONE)})\b")


def lines_of(checked: Checked, verbose: bool = False, width: int = NARROW) -> list[str]:
    """The card for a terminal: at most a screenful, unless verbose."""
    head = [f"{checked.change.name[: width - 24]}  {_size(checked)}"]
    declared = [row("declared", checked.change.declared)] if checked.change.declared else []
    declared += wrapped("installed", checked.installed, width) if checked.installed else []
    body = [line for part in checked.parts or (checked,) for line in _rows_of(part, bool(checked.parts), verbose, width)]
    asks = checked.card.failed or checked.card.asks
    more = [row("", "--explain NAME says what was tried for any of these, and repeats it")] if asks else []
    return [*head, *declared, *body, *more, _end(checked)]


def short_of(checked: Checked, accepted: str = "") -> list[str]:
    """The card without names and flags, for views that already show them. `accepted`: the tree whose flags were accepted."""
    head, end = f"{checked.change.name}  {_size(checked)}", _end(checked, accepted == checked.card.tip)
    return [head, *_tests(checked.card, 0, NARROW), *_wrong(checked.card, NARROW), end]


def _rows_of(checked: Checked, is_part: bool, verbose: bool, width: int) -> list[str]:
    """What was found; for a project, below its name."""
    card = checked.card
    head = [row("project", cut(f"{title_of(checked)}  {checked.command}".rstrip(), width - WIDTH))] if is_part else []
    shown = len(card.proved) + len(card.pins) + len(card.known) if verbose else MOST["names"]
    shows_tests = (checked.project or checked.command or not is_part) and not card.unclear
    return [*head, *(_tests(card, shown, width) if shows_tests else []), *_wrong(card, width), *_flags(card, verbose, width)]


def _tests(card: Card, shown: int, width: int) -> list[str]:
    return [
        *_named("proved", "fail without this change and pass with it", card.proved, card, shown, width),
        *_named("pins", "are new and pass on both sides", card.pins, card, shown, width),
        *_kept(card),
        *_named("known", "failed before and still fail", card.known, card, shown, width),
    ]


def _wrong(card: Card, width: int) -> list[str]:
    text, *hints = card.unclear.splitlines() or [""]
    unclear = [*wrapped("unclear", text, width), *(row("", line) for line in hints)] if text else []  # a command to type stays on one line
    return [*(line for failure in card.failed for line in _failed(clickable_sentence(failure, card), width)), *unclear]


def _failed(text: str, width: int) -> list[str]:
    """A failure, followed by the last lines of output."""
    first, *output = text.splitlines()
    return [*wrapped("failed", first, width), *fit_lines([line.rstrip() for line in output if line.strip()][-MOST["output"] :], width)]


def title_of(part: Checked) -> str:
    """The title of a part: its project's folder, `.` for the root."""
    return part.project or ("." if part.command else ELSEWHERE)


def _size(checked: Checked) -> str:
    commits = [plural(len(checked.change.commits), "commit")] if checked.change.commits else []
    return ", ".join([*commits, plural(len(checked.change.paths), "file")])


def _named(label: str, what: str, names: tuple[str, ...], card: Card, most: int, width: int) -> list[str]:
    if not names:
        return [row(label, "no test fails without this change and passes with it")] if label == "proved" else []
    verb = what if len(names) > 1 else SEVERAL.sub(lambda verb: ONE[verb[0]], what)
    more = [row("", f"and {len(names) - most} more (--verbose)")] if len(names) > most > 0 else []
    return [row(label, f"{plural(len(names), 'test')} {verb}"), *fit_lines([clickable(name, card) for name in names[:most]], width), *more]


def _kept(card: Card) -> list[str]:
    if not card.kept:
        return []
    lost = "" if card.failed else f"; {len(card.out) or 'none'} {'taken out' if card.out else 'lost'}, none newly skipped"
    return [row("kept", f"{plural(card.kept, 'old test')} {'pass' if card.kept > 1 else 'passes'} as before{lost}")]


def _flags(card: Card, verbose: bool, width: int) -> list[str]:
    """Flags that a person is asked about, then notes."""
    flags = [*card.asks, *(flag for flag in card.flags if flag.level != "ask")]
    shown = flags if verbose else flags[: MOST["flags"]]
    rows = [line for flag in shown for line in _flag(flag, card, verbose, width)]
    return rows + ([row("", f"and {len(flags) - len(shown)} more (--verbose)")] if len(flags) > len(shown) else [])


def _flag(flag: Flag, card: Card, verbose: bool, width: int) -> list[str]:
    label = "flag" if flag.level == "ask" else "note"
    place = "  ".join(filter(None, (flag.kind, clickable(flag.place, card))))
    hunk = hunk_of(flag, 40 if verbose else MOST["lines"]) if flag.level == "ask" else ()
    return [row(label, cut(place, width - WIDTH)), *wrapped("", flag.sentence, width, "  "), *fit_lines(hunk, width)]


def _end(checked: Checked, accepted: bool = False) -> str:
    asks = len(checked.card.asks)
    to_look = f"{asks} {'looked at and accepted' if accepted else 'to look at'}" if checked.answer == "flagged" else ""
    suites = f", {plural(int(checked.card.suites), 'test run')}" if checked.card.suites else ""
    cost = "checked before, nothing ran again" if checked.kept else f"{checked.card.seconds:.1f} s{suites}"
    return f"{WORDS[checked.answer]:<{WIDTH - 2}}  {'  '.join(filter(None, (to_look, cost)))}"


def clickable(place: str, card: Card) -> str:
    """A place in the form that terminals and editors open: `path:line`, and the name of what is there."""
    at = card.places.get(place, "")
    name = place.partition("::")[2].rpartition("::")[2] if "::" in place else place.rpartition(": ")[2]  # a title may contain a colon
    return place if not at else at if name == place else f"{at} {name}"


def clickable_sentence(sentence: str, card: Card) -> str:
    """The same for a sentence that starts with a test's id."""
    test = max((test for test in card.places if sentence.startswith(f"{test} ")), key=len, default="")
    return f"{clickable(test, card)}{sentence.removeprefix(test)}"


# -- for programs and for pull requests ------------------------------------------------------------------------------------------


def object_of(checked: Checked) -> dict[str, Any]:
    """The card for programs; docs/check.md explains each field."""
    change, card = checked.change, checked.card
    return {
        "schema": SCHEMA,
        "answer": checked.answer,
        "exit_code": CODES[checked.answer],
        "range": change.name,
        "base": change.base,
        "commits": [{"hash": c.hash, "subject": c.subject} for c in change.commits],
        "trees": {"base": card.base, "tip": card.tip},
        "files": list(change.paths),
        "declared": change.declared,
        "proved": list(card.proved),
        "pins": list(card.pins),
        "kept": card.kept,
        "known_failures": list(card.known),
        "failed": list(card.failed),
        "flags": [
            {"kind": f.kind, "level": f.level, "place": f.place, "says": f.sentence, "before": f.before, "after": f.after}
            for f in card.flags
        ],
        "places": card.places,
        "unclear": card.unclear,
        "command": checked.command,
        "installed": checked.installed,
        "sandbox": checked.sandbox,
        "test_runs": card.suites,
        "seconds": round(card.seconds, 1),
        "known_before": checked.kept,
        "projects": [_project(part) for part in checked.parts],
    }


def _project(part: Checked) -> dict[str, Any]:
    """The object for one project. The root has the path `.`; a part outside all projects has an empty path."""
    whole = object_of(part)
    left_out = ("schema", "exit_code", "range", "base", "commits", "declared", "installed", "projects")
    return {"path": part.project or ("." if part.command else ""), **{name: value for name, value in whole.items() if name not in left_out}}


def markdown_of(checked: Checked, accepted: str = "") -> str:
    """The card for a pull request, comment or step summary. `accepted`: what to say about flags that were accepted earlier."""
    head = f"### Detent: {WORDS[checked.answer].lower()} — {_safe(checked.change.name)}, {_size(checked)}"
    declared = ["", f"Declared: {checked.change.declared}"] if checked.change.declared and checked.parts else []
    parts = [line for part in checked.parts for line in ("", f"#### {_safe(title_of(part))}", *_markdown(part, False, accepted))]
    return "\n".join([head, *declared, *(parts or _markdown(checked, True, accepted)), "", _foot(checked), ""])


def _foot(checked: Checked) -> str:
    return f"<sub>{_safe(checked.command) or 'no tests'} · {checked.card.seconds:.0f} s · sandbox {_safe(checked.sandbox)}</sub>"


def _markdown(checked: Checked, alone: bool, accepted: str) -> list[str]:
    """What was found, for the whole or for one project."""
    card = checked.card
    rows = [("proved", _listed(card.proved) or "no test fails without this change and passes with it")]
    rows += [("pins", _listed(card.pins))] if card.pins else []
    rows += [("kept", f"{plural(card.kept, 'old test')}")] if card.kept else []
    rows += [("known before", _listed(card.known))] if card.known else []
    rows += [("declared", checked.change.declared)] if checked.change.declared and alone else []
    rows = rows if alone or checked.command else []
    table = ["", "| | |", "|---|---|", *(f"| {name} | {text} |" for name, text in rows)] if rows else []
    wrong = ["", "**What fails**", "", *(f"- {_safe(failure)}" for failure in card.failed)] if card.failed else []
    unclear = ["", f"Could not be verified: {_safe(card.unclear)}"] if card.unclear else []
    accepted_lines = [accepted, ""] if accepted else []
    asked = (
        ["", "**To look at**", "", *accepted_lines, *(line for flag in card.asks for line in _bullet(flag, "[x] " if accepted else "[ ] "))]
        if card.asks
        else []
    )
    notes = [flag for flag in card.flags if flag.level != "ask"]
    note_lines = (
        ["", "<details><summary>Notes</summary>", "", *(line for flag in notes for line in _bullet(flag)), "", "</details>"]
        if notes
        else []
    )
    return [*table, *wrong, *unclear, *asked, *note_lines]


def _bullet(flag: Flag, box: str = "") -> list[str]:
    hunk = hunk_of(flag)
    place = f" `{_code(flag.place)}`" if flag.place else ""
    body = ["", "  ~~~~diff", *(f"  {cut(line.replace('~~~~', ''), LONGEST)}" for line in hunk), "  ~~~~"] if hunk else []
    return [f"- {box}**{flag.kind}**{place}: {_safe(flag.sentence)}", *body]


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{_code(name)}`" for name in names[: MOST["names"]])
    return shown + (f" and {len(names) - MOST['names']} more" if len(names) > MOST["names"] else "")


def _code(text: str) -> str:
    """Untrusted text for use between backticks, on one line."""
    return cut(" ".join(text.split()).replace("`", "").replace("|", "¦"), LONGEST)


def _safe(text: str) -> str:
    """Untrusted text for one line of markdown: it cannot form a tag, link, image, table cell, mention or address."""
    return LINKED.sub("\u200b", " ".join(text.split())).translate(MARKUP)


WIDTH = 11  # of the label column


def row(label: str, text: str) -> str:
    """A label and its text."""
    return f"{label:<{WIDTH}}{text}".rstrip()


def wrapped(label: str, text: str, width: int, indent: str = "") -> list[str]:
    """Text wrapped into as many rows as it needs."""
    parts = textwrap.wrap(" ".join(text.split()), max(width - WIDTH - len(indent), 20), break_on_hyphens=False) or [""]
    return [row(label if n == 0 else "", f"{indent}{part}") for n, part in enumerate(parts)]


def fit_lines(lines: list[str] | tuple[str, ...], width: int) -> list[str]:
    """Lines quoted below a row, each cut to the width."""
    return [row("", f"  {cut(line, width - WIDTH - 2)}") for line in lines]


def cut(text: str, most: int) -> str:
    """A text cut to a length."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def plural(count: int, what: str) -> str:
    """A count with its noun."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
