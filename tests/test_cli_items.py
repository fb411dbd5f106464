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
    assert "An item runs only after a person queued it" in " ".join(p.run("items", "--help").out.split())
    pull = p.run("start", "--workflow", "execute", "--json")
    assert pull.code == 2


# -- a list in a file ----------------------------------------------------------------------------------------------------------

MARKDOWN = """# The plan

- [ ] Round prices (P1) #money #ui
      Totals show fractions of a cent.

      - half cents go up
      needs: Store decimals, it-1
- [x] Done already
* Store decimals
1. Last [p4]
   Why not.

Not in a list.
"""
CSV = 'id,Title,description,priority,type,labels,depends_on\na,"Round, prices","Totals, too",1,bug,money;ui,b\nb,Store decimals,,,,,it-1\n'
JSON = '{"items": [{"id": 7, "title": "Round prices", "priority": "P1", "labels": ["money"], "depends_on": ["b"]}, {"id": "b", "title": "Store"}]}'
JSONL = '{"title": "Round prices", "depends_on": "Store"}\n\n{"title": "Store", "type": "chore"}\n'


@pytest.fixture
def q(p: Project) -> Project:
    p.run("items", "add", "There before")
    return p


def filed(p: Project, name: str, text: str) -> list[tuple[str, str, int, str, list[str], list[str]]]:
    (p.root / name).write_text(text)
    ran = p.run("items", "add", "--file", name, "-l", "plan", "--json")
    assert ran.code == 0, ran
    return [(i["id"], i["title"], i["priority"], i["type"], i["labels"], i["depends_on"]) for i in ran.json["items"]]


def test_a_markdown_list_is_filed_with_what_stands_below_each_entry(q: Project) -> None:
    assert filed(q, "plan.md", MARKDOWN) == [
        ("it-2", "Store decimals", 2, "task", ["plan"], []),
        ("it-3", "Last", 4, "task", ["plan"], []),
        ("it-4", "Round prices", 1, "task", ["money", "ui", "plan"], ["it-2", "it-1"]),
    ]
    assert q.run("items", "show", "it-4", "--json").json["description"] == "Totals show fractions of a cent.\n\n- half cents go up"
    assert q.run("items", "show", "it-3", "--json").json["description"] == "Why not."


@pytest.mark.parametrize(
    ("name", "text", "items"),
    [
        (
            "plan.csv",
            CSV,
            [
                ("it-2", "Store decimals", 2, "task", ["plan"], ["it-1"]),
                ("it-3", "Round, prices", 1, "bug", ["money", "ui", "plan"], ["it-2"]),
            ],
        ),
        ("plan.json", JSON, [("it-2", "Store", 2, "task", ["plan"], []), ("it-3", "Round prices", 1, "task", ["money", "plan"], ["it-2"])]),
        ("plan.jsonl", JSONL, [("it-2", "Store", 2, "chore", ["plan"], []), ("it-3", "Round prices", 2, "task", ["plan"], ["it-2"])]),
    ],
)
def test_csv_and_json_are_filed_as_they_say(q: Project, name: str, text: str, items: object) -> None:
    assert filed(q, name, text) == items


def test_a_list_that_is_filed_again_files_what_is_new(q: Project) -> None:
    first = filed(q, "plan.md", MARKDOWN)
    assert filed(q, "plan.md", f"{MARKDOWN}\n- One more\n") == [*first[:2], ("it-5", "One more", 2, "task", ["plan"], []), first[2]]
    shown = q.run("items", "add", "--file", "plan.md").out
    assert shown.startswith("it-2  Store decimals\n") and shown.endswith("Queue what is ready: detent queue add --ready\n")


CYCLE = '[{"title": "a", "depends_on": ["b"]}, {"title": "b", "depends_on": ["a"]}]'


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("nowhere.md", None, "nowhere.md cannot be read: No such file"),
        ("plan.xlsx", "x", "plan.xlsx is not a list that Detent can read"),
        ("plan", "- x", "plan is not a list that Detent can read"),
        ("plan.md", "", "plan.md has no items"),
        ("plan.md", "- [x] done\n", "plan.md has no items"),
        ("plan.md", "```\n- code\n```\n", "plan.md has no items"),
        ("plan.md", "- a\n- a\n", "plan.md, line 2 has the name 'a' that plan.md, line 1 has"),
        ("plan.md", f"- {'x' * 400}\n", "plan.md, line 1 has a title of 400 characters"),
        ("plan.md", "- a\n  needs: it-99\n", "there is no item 'it-99'"),
        ("plan.md", b"\xff\xfe", "is not UTF-8 text (byte 0)"),
        ("plan.csv", "name\nx\n", "plan.csv, line 2 has a field 'name', which items do not have"),
        ("plan.csv", "title,priority\na,9\n", "plan.csv, line 2: the priority is '9'"),
        ("plan.csv", "title\na,b\n", "plan.csv, line 2 has more columns than the first line names"),
        ("plan.csv", 'title\n"a', "plan.csv is not CSV after line 1"),
        ("plan.csv", "title,type\n,bug\n", "plan.csv, line 2 has no title"),
        ("plan.json", "{", "plan.json is not JSON"),
        ("plan.json", "[" * 100_000, "plan.json is not JSON"),
        ("plan.json", '"x"', "plan.json is not a list of items"),
        ("plan.json", "[1]", "plan.json, item 1 is not an item"),
        ("plan.json", '[{"title": 3}]', "plan.json, item 1: title is not text"),
        ("plan.json", '[{"title": "a", "type": "story"}]', "plan.json, item 1 has the type 'story'"),
        ("plan.json", '[{"title": "a", "labels": 3}]', "plan.json, item 1: labels is not a list of words"),
        ("plan.json", '[{"title": "a", "priority": true}]', "plan.json, item 1: the priority is 'True'"),
        ("plan.json", CYCLE, "that is a cycle: plan.json, item 1 → plan.json, item 2 → plan.json, item 1"),
        ("plan.json", '[{"title": "a", "depends_on": ["a"]}]', "that is a cycle"),
        ("plan.jsonl", '{"title": "a"}\n{"title"', "plan.jsonl, line 2 is not JSON"),
    ],
)
def test_a_list_with_something_wrong_files_nothing(q: Project, name: str, text: str | bytes | None, said: str) -> None:
    if text is not None:
        (q.root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    ran = q.run("items", "add", "--file", name, "--json")
    assert ran.code == 2 and said in ran.json["error"] and ran.json["hint"], ran
    assert len(q.run("items", "list", "--json").json["items"]) == 1


def test_a_list_and_an_item_are_not_filed_at_once(q: Project) -> None:
    (q.root / "plan.md").write_text("- a\n")
    for words in (("x",), ("-d", "x"), ("-p", "1"), ("-t", "bug"), ("--dep", "it-1")):
        ran = q.run("items", "add", "--file", "plan.md", *words)
        assert ran.code == 2 and "the file describes each item" in ran.err, ran
    assert q.run("items", "add").code == 2


# -- edit and reopen -----------------------------------------------------------------------------------------------------------


def test_an_item_is_edited_and_reopened(q: Project) -> None:
    told = q.run("items", "edit", "it-1", "--title", "Round prices", "-d", "-", "-p", "0", "-t", "bug", "-l", "money", stdin="Now.\n")
    assert told.out == "it-1  P0 open        bug      Round prices\n"
    assert q.run("items", "edit", "it-1", "--unlabel", "money", "--json").json["labels"] == []
    assert q.run("items", "show", "it-1", "--json").json["description"] == "Now.\n"
    q.run("items", "close", "it-1")
    assert q.run("items", "reopen", "it-1", "--reason", "it came back").out == "it-1  open  Round prices\n"
    shown = q.run("items", "show", "it-1", "--json").json
    assert (shown["status"], shown["notes"]) == ("open", "it came back")


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("edit", "it-1"), "say what is to change"),
        (("edit", "it-1", "--title", " "), "say what is to change"),
        (("edit", "it-1", "-p", "5"), "5 is not in the range"),
        (("edit", "it-1", "-l", "a", "--unlabel", "a"), "'a' cannot be both added and removed"),
        (("edit", "it-9", "-p", "1"), "there is no item 'it-9'"),
        (("reopen", "it-9"), "there is no item 'it-9'"),
        (("reopen",), "Missing argument"),
    ],
)
def test_what_cannot_be_edited_is_said(q: Project, words: tuple[str, ...], said: str) -> None:
    ran = q.run("items", *words)
    assert ran.code == 2 and said in ran.err, ran
