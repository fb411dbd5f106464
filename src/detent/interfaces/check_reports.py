"""Renders the result of `check` in standard formats: SARIF, JUnit XML, GitHub annotations and step summary."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from detent import __version__
from detent.app.explain import things_of
from detent.app.plain_text import plain
from detent.blocks.check_card import markdown_of
from detent.evidence.outcomes.card import LINE, Checked
from detent.kernel.model import KINDS

SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"fail": "error", "ask": "warning", "note": "note"}
ANNOTATIONS = {"error": "error", "warning": "warning", "note": "notice"}


class ReportedResult(NamedTuple):
    """One finding to report, with its place."""

    rule: str
    level: str  # error, warning, note
    place: str
    path: str  # the first changed file, if the place has none
    line: int
    says: str


def results_of(checked: Checked) -> Iterator[ReportedResult]:
    """The findings that a person should look at, the worst first; "could not verify" is one too."""
    for thing in things_of(checked.card):
        if thing.level:
            path, line = _where(checked, thing.place)
            yield ReportedResult(thing.kind, LEVELS[thing.level], thing.place, path, line, thing.says)


def _where(checked: Checked, place: str) -> tuple[str, int]:
    """The file and line of a place."""
    at = checked.card.at(place)
    if found := LINE.search(at):
        return at[: found.start()], int(found[1])
    return at or next(iter(checked.change.paths), ""), 1


def sarif_of(found: Sequence[Checked]) -> dict[str, Any]:
    """SARIF 2.1.0, with one run and one rule for each kind of flag."""
    rules = {"failed": "What the change breaks.", "could-not-verify": "The tests could not be run properly."}
    rules |= {name: f"{kind.when[0].upper()}{kind.when[1:]}." for name, kind in KINDS.items()}
    return {
        "$schema": SARIF,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "Detent",
                        "semanticVersion": __version__,
                        "rules": [{"id": name, "shortDescription": {"text": text}} for name, text in rules.items()],
                    }
                },
                "results": [_sarif(result) for one in found for result in results_of(one)],
            }
        ],
    }


def _sarif(result: ReportedResult) -> dict[str, Any]:
    at = {"physicalLocation": {"artifactLocation": {"uri": _uri(result.path)}, "region": {"startLine": result.line}}}
    where = {"locations": [at]} if result.path else {}
    says = (result.says or result.rule).replace("](", "] (")  # else SARIF would render a link
    return {"ruleId": result.rule, "level": result.level, "message": {"text": says}, **where}


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path.encode("utf-8", "surrogateescape"))


def junit_of(found: Sequence[Checked]) -> str:
    """JUnit XML: each failure or flag is a failed test case, each proof a passed one."""
    cases, bad = [], 0
    for one in (part for whole in found for part in whole.parts or (whole,)):
        package = f"{_xml(one.project)}." if one.project else ""
        cases += [f"  <testcase classname={quoteattr(f'{package}proved')} name={quoteattr(_xml(name))}/>" for name in one.card.proved]
        for result in results_of(one):
            head = f"  <testcase classname={quoteattr(package + result.rule)} name={quoteattr(_xml(result.place or one.change.name))}>"
            if result.level == "note":
                cases.append(f"{head}<system-out>{escape(_xml(result.says))}</system-out></testcase>")
                continue
            bad += 1
            body = f"<failure message={quoteattr(_xml(result.says))} type={quoteattr(result.rule)}/>"
            cases.append(f"{head}{body}</testcase>")
    head = f'<testsuite name="detent check" tests="{len(cases)}" failures="{bad}" errors="0" skipped="0">'
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', head, *cases, "</testsuite>"])


def _xml(text: str) -> str:
    """Text without characters that XML forbids, and with control characters escaped as for a terminal."""
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", plain(text))


@contextmanager
def no_commands(echo: Callable[[str], None]) -> Iterator[None]:
    """Stop GitHub Actions from reading commands in the output while foreign text is printed."""
    word = os.urandom(16).hex()
    echo(f"::stop-commands::{word}")
    yield
    echo(f"::{word}::")


def tell_github(found: Sequence[Checked], summary: str, echo: Callable[[str], None]) -> None:
    """Annotations on the lines, and the card in the step summary."""
    for one in found:
        for result in results_of(one):
            where = f" file={_property(result.path)},line={result.line},title={result.rule}" if result.path else f" title={result.rule}"
            echo(f"::{ANNOTATIONS[result.level]}{where}::{_data(result.says)}")
    if summary:
        with open(summary, "a", encoding="utf-8", errors="replace") as out:
            out.write("\n".join(markdown_of(one) for one in found))


def _data(text: str) -> str:
    text = text.encode("utf-8", "replace").decode()
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
