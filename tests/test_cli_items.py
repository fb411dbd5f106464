"""`detent items` by the command line: what people type, and what programs read."""

from pathlib import Path

import pytest

from tests.driven import project
from tests.project import Project


@pytest.fixture
def p(tmp_path: Path) -> Project:
    return project(tmp_path / "p")


def test_items_are_filed_listed_shown_and_closed(p: Project) -> None:
    assert p.run("items", "list").out == 'No items yet. File one: detent items add "TITLE"\n'
    first = p.run("items", "add", "Round prices", "-d", "-", "-p", "0", "-t", "bug", "-l", "money", stdin="Totals are wrong.\n")
    assert (first.code, first.out) == (0, "it-1  Round prices\nQueue it: detent queue add it-1\n")
    second = p.run("items", "add", "\x1b[31mRed", "--dep", "it-1", "--json").json
    assert (second["id"], second["depends_on"], second["status"], second["priority"]) == ("it-2", ["it-1"], "open", 2)
    listed = p.run("items", "list").out.splitlines()
    assert listed == [
        "it-1       P0 open        bug      Round prices", "it-2       P2 open        task     \\x1b[31mRed  (waits for it-1)",
    ]  # fmt: skip
    assert [i["id"] for i in p.run("items", "list", "--ready", "--json").json["items"]] == ["it-1"]
    shown = p.run("items", "show", "it-1").out
    assert "open, bug, priority 0" in shown and "labels: money" in shown and "Totals are wrong." in shown
    assert p.run("items", "close", "it-1", "--reason", "rounded").out == "it-1  closed  Round prices\n"
    assert p.run("items", "show", "it-1", "--json").json["notes"] == "rounded"
    assert [i["id"] for i in p.run("items", "list", "--ready", "--json").json["items"]] == ["it-2"]
    assert len(p.run("items", "list", "--all", "--json").json["items"]) == 2


def test_what_cannot_be_is_said_with_the_way_out(p: Project) -> None:
    for title in "ab":
        p.run("items", "add", title)
    assert p.run("items", "dep", "it-2", "it-1").out == "it-2  waits for it-1\n"
    circle = p.run("items", "dep", "it-1", "it-2", "--json")
    assert (circle.code, circle.json["error"]) == (2, "that is a cycle: it-1 → it-2 → it-1")
    unknown = p.run("items", "show", "it-9")
    assert unknown.code == 2 and "there is no item 'it-9'" in unknown.err and "detent items list --all" in unknown.err
    assert p.run("items", "add", " ").code == 2 and p.run("items", "add", "x", "-p", "7").code == 2
    assert "An item runs only after a" in p.run("items", "--help").out
    pull = p.run("start", "--workflow", "execute", "--json")
    assert pull.code == 2
