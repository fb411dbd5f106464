"""The proof card of a change or a branch: as text for a terminal, as markdown, and as an object for programs. Pure."""

from typing import Any

from detent.evidence.card import Card, Checked
from detent.kernel.model import Flag
from detent.workflows.open_flags import hunk_of

WORDS = {"clean": "CLEAN", "flagged": "FLAGGED", "failed": "FAILED", "could-not-verify": "COULD NOT VERIFY"}
CODES = {"clean": 0, "flagged": 10, "failed": 1, "could-not-verify": 4}
WIDTH = 11  # of the labels
MOST = {"names": 3, "flags": 6, "lines": 4}  # that are shown unless all are wanted
LONGEST = 200  # characters of a line in markdown
SCHEMA = 1


def lines_of(checked: Checked, verbose: bool = False, width: int = 80) -> list[str]:
    """The card as a person reads it: at most a screen, unless everything is wanted."""
    card = checked.card
    head = [f"{checked.change.name[: width - 24]}  {_size(checked)}"]
    shown = len(card.proved) + len(card.pins) + len(card.known) if verbose else MOST["names"]
    declared = [_row("declared", checked.change.declared)] if checked.change.declared else []
    return [*head, *declared, *_tests(card, shown, width), *_wrong(card, width), *_flags(card, verbose, width), _end(checked)]


def short_of(checked: Checked, accepted: str = "", width: int = 80) -> list[str]:
    """The card without names and flags, for where a run is shown: they stand there already. `accepted`: the tree whose flags were."""
    head, end = f"{checked.change.name}  {_size(checked)}", _end(checked, accepted == checked.card.tip)
    return [head, *_tests(checked.card, 0, width), *_wrong(checked.card, width), end]


def _tests(card: Card, shown: int, width: int) -> list[str]:
    return [
        *_named("proved", "fail without this change and pass with it", card.proved, shown, width),
        *_named("pins", "are new and pass on both sides", card.pins, shown, width),
        *_kept(card),
        *_named("known", "failed before and fail still", card.known, shown, width),
    ]


def _wrong(card: Card, width: int) -> list[str]:
    unclear = _wrapped("unclear", card.unclear, width) if card.unclear else []
    return [*(row for said in card.failed for row in _wrapped("failed", said, width)), *unclear]


def _size(checked: Checked) -> str:
    commits = [_many(len(checked.change.commits), "commit")] if checked.change.commits else []
    return ", ".join([*commits, _many(len(checked.change.paths), "file")])


def _named(label: str, what: str, names: tuple[str, ...], most: int, width: int) -> list[str]:
    if not names:
        return [_row(label, "no test fails without this change and passes with it")] if label == "proved" else []
    shown = names[:most]
    verb = what if len(names) > 1 else what.replace("fail ", "fails ").replace("pass ", "passes ").replace("are ", "is ")
    more = [_row("", f"and {len(names) - most} more (--verbose)")] if len(names) > most > 0 else []
    return [_row(label, f"{_many(len(names), 'test')} {verb}"), *(_row("", f"  {_cut(name, width - WIDTH - 2)}") for name in shown), *more]


def _kept(card: Card) -> list[str]:
    if not card.kept:
        return []
    lost = "" if card.failed else "; none lost, none newly skipped"
    return [_row("kept", f"{_many(card.kept, 'old test')} {'pass' if card.kept > 1 else 'passes'} as before{lost}")]


def _flags(card: Card, verbose: bool, width: int) -> list[str]:
    """Those that a person is asked about first; notes in a line each."""
    flags = [*card.asks, *(flag for flag in card.flags if flag.level != "ask")]
    shown = flags if verbose else flags[: MOST["flags"]]
    rows = [row for flag in shown for row in _flag(flag, verbose, width)]
    return rows + ([_row("", f"and {len(flags) - len(shown)} more (--verbose)")] if len(flags) > len(shown) else [])


def _flag(flag: Flag, verbose: bool, width: int) -> list[str]:
    label = "flag" if flag.level == "ask" else "note"
    said = "  ".join(filter(None, (flag.kind, flag.place)))
    hunk = hunk_of(flag, 40 if verbose else MOST["lines"]) if flag.level == "ask" else ()
    rows = [_row(label, _cut(said, width - WIDTH)), *(row for row in _wrapped("", flag.sentence, width, "  "))]
    return [*rows, *(_row("", f"  {_cut(line, width - WIDTH - 2)}") for line in hunk)]


def _end(checked: Checked, accepted: bool = False) -> str:
    asks = len(checked.card.asks)
    to_look = f"{asks} {'looked at and accepted' if accepted else 'to look at'}" if checked.answer == "flagged" else ""
    suites = f", {checked.card.suites:g} test run{'s' if checked.card.suites != 1 else ''}" if checked.card.suites else ""
    cost = "known from before" if checked.kept else f"{checked.card.seconds:.1f} s{suites}"
    return f"{WORDS[checked.answer]:<{WIDTH}}{'  '.join(filter(None, (to_look, cost)))}"


def _row(label: str, text: str) -> str:
    return f"{label:<{WIDTH}}{text}".rstrip()


def _wrapped(label: str, text: str, width: int, indent: str = "") -> list[str]:
    import textwrap

    parts = textwrap.wrap(" ".join(text.split()), max(width - WIDTH - len(indent), 20), break_on_hyphens=False) or [""]
    return [_row(label if n == 0 else "", f"{indent}{part}") for n, part in enumerate(parts)]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


# -- for programs and for pull requests ------------------------------------------------------------------------------------------


def object_of(checked: Checked) -> dict[str, Any]:
    """The card for programs; docs/check.md says what each field means."""
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
        "unclear": card.unclear,
        "command": checked.command,
        "sandbox": checked.sandbox,
        "test_runs": card.suites,
        "seconds": round(card.seconds, 1),
        "known_before": checked.kept,
    }


def markdown_of(checked: Checked, accepted: str = "") -> str:
    """The card for a pull request's text, a comment or a step summary. `accepted`: what is said of flags that were accepted before."""
    card = checked.card
    rows = [("proved", _listed(card.proved) or "no test fails without this change and passes with it")]
    rows += [("pins", _listed(card.pins))] if card.pins else []
    rows += [("kept", f"{_many(card.kept, 'old test')}")] if card.kept else []
    rows += [("known before", _listed(card.known))] if card.known else []
    rows += [("declared", checked.change.declared)] if checked.change.declared else []
    table = ["| | |", "|---|---|", *(f"| {name} | {said} |" for name, said in rows)]
    wrong = ["", "**What fails**", "", *(f"- {_safe(said)}" for said in card.failed)] if card.failed else []
    unclear = ["", f"Could not be verified: {_safe(card.unclear)}"] if card.unclear else []
    said = [accepted, ""] if accepted else []
    asked = ["", "**To look at**", "", *said, *(line for flag in card.asks for line in _bullet(flag))] if card.asks else []
    notes = [flag for flag in card.flags if flag.level != "ask"]
    told = (
        ["", "<details><summary>Notes</summary>", "", *(line for flag in notes for line in _bullet(flag)), "", "</details>"]
        if notes
        else []
    )
    head = f"### Detent: {WORDS[checked.answer].lower()} — {_safe(checked.change.name)}, {_size(checked)}"
    foot = f"<sub>{_safe(checked.command) or 'no tests'} · {card.seconds:.0f} s · sandbox {_safe(checked.sandbox)}</sub>"
    return "\n".join([head, "", *table, *wrong, *unclear, *asked, *told, "", foot, ""])


def _bullet(flag: Flag) -> list[str]:
    hunk = hunk_of(flag)
    place = f" `{_code(flag.place)}`" if flag.place else ""
    body = ["", "  ~~~~diff", *(f"  {_cut(line.replace('~~~~', ''), LONGEST)}" for line in hunk), "  ~~~~"] if hunk else []
    return [f"- **{flag.kind}**{place}: {_safe(flag.sentence)}", *body]


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{_code(name)}`" for name in names[: MOST["names"]])
    return shown + (f" and {len(names) - MOST['names']} more" if len(names) > MOST["names"] else "")


def _code(text: str) -> str:
    """Words of others between backticks in one line."""
    return _cut(" ".join(text.split()).replace("`", "").replace("|", "¦"), LONGEST)


def _safe(text: str) -> str:
    """Words of others in one line of markdown: they open no tag, no table cell and no mention."""
    return " ".join(text.split()).replace("<", "&lt;").replace("|", "¦").replace("@", "@\u200b")
