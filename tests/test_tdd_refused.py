"""Calls that do not fit a phase of `tdd` are refused: exit 1, nothing ran, nothing counted, and the answer says what is possible."""

import json
from collections.abc import Callable

import pytest

from tests.feature import ADD, GREEN, LIST, NONE, RED, SUBTRACT, Files, at, named, refused, standing

EXTRA = {**ADD, "why": "because"}
REPLIES: dict[str, tuple[str, str]] = {
    "none": ("", "reply is missing"),
    "blank": (" \n", "reply is missing"),
    "words": ("I wrote the list", "cannot be read"),
    "cut off": (named(ADD)[:-3], "cannot be read"),
    "a list": ("[]", "cannot be read"),
    "a number": ("7", "cannot be read"),
    "nothing in it": ("{}", "cannot be read"),
    "an unknown key": (json.dumps({"currentTest": ADD, "done": True}), "unknown field `done`"),
    "an unknown key inside": (named(EXTRA), "unknown field `why`"),
    "a key twice": (f'{{"currentTest": null, "currentTest": {json.dumps(ADD)}}}', "currentTest appears twice"),
    "a key twice inside": (named(ADD).replace('"testFile"', '"testFile": "tests/a.py", "testFile"'), "testFile appears twice"),
    "a field less": (json.dumps({"currentTest": {"description": "adds two numbers"}}), "missing required field `testFile`"),
    "a wrong type": (json.dumps({"currentTest": "adds two numbers"}), "cannot be read"),
    "the short form": ('{"test": "adds two numbers", "complete": false}', "cannot be read"),
    "no text": (named({**ADD, "description": " "}), "description: must be a non-empty string"),
    "an absolute path": (named({**ADD, "testFile": "/etc/passwd"}), "testFile: must be a path inside the project"),
    "a path that climbs": (named({**ADD, "implFile": "src/../../calc.py"}), "implFile: must be a path inside the project"),
    "a home": (named({**ADD, "testFile": "~/test_add.py"}), "testFile: must be a path inside the project"),
    "one file for both": (named({**ADD, "implFile": ADD["testFile"]}), "implFile: must be another file"),
    "nested without end": ("[" * 100_000, "cannot be read"),
    "a number without end": ("1" * 5000, "cannot be read"),
    "a test of its own": (named({**ADD, "description": "multiplies"}), "is not the text of an open entry; open: adds two numbers"),
    "nearly an entry": (named({**ADD, "description": "adds two number"}), "is not the text of an open entry"),
    "null with open boxes": (NONE, "currentTest is null, and 2 entries are open, first: 'adds two numbers'"),
    "a word of another phase": ("ALREADY_SATISFIED", "cannot be read"),
}

LISTS: dict[str, tuple[str | None, str]] = {
    "not there": (None, "test-list.md is missing; write it"),
    "empty": ("", "has no checkbox"),
    "prose": ("# Tests\n\nadds two numbers\n", "has no checkbox"),
    "no space in the box": ("- [] adds two numbers\n", "test-list.md:1: a checkbox is written"),
    "another mark": ("- [ ] adds two numbers\n- [-] subtracts two numbers\n", "test-list.md:2: a checkbox is written"),
    "twice": (LIST + "- [ ] adds  two numbers\n", "'adds two numbers' appears twice"),
    "ticked by the agent": (LIST.replace("- [ ] sub", "- [x] sub"), "the box of 'subtracts two numbers' was ticked"),
    "only in a code block": ("~~~\n- [ ] adds two numbers\n~~~\n", "has no checkbox"),
}


@pytest.mark.slow
def test_a_plan_is_refused_whose_reply_or_list_does_not_fit() -> None:
    f = at("PLAN")
    before = standing(f)
    for reply, says in REPLIES.values():
        f.lay({"test-list.md": LIST})
        refused(f, before, f.submit(reply), says)
    for text, says in LISTS.values():
        f.lay({"test-list.md": text})
        refused(f, before, f.submit(named(ADD)), says)
    assert f.plan().state == "RED"


LATER: dict[str, tuple[Callable[[str], str], str]] = {
    "an open entry reworded": (lambda t: t.replace("subtracts two", "takes away two"), "rewording or removing needs a person's steer"),
    "an open entry removed": (lambda t: t.replace("- [ ] subtracts two numbers\n", ""), "'subtracts two numbers' is no longer in"),
    "a proved entry reworded": (
        lambda t: t.replace("adds two", "adds some"),
        "'adds two numbers' is no longer in test-list.md; it is proved",
    ),
    "a proved entry removed": (lambda t: t.replace("- [x] adds two numbers\n", ""), "it is proved and stays"),
    "a proved box cleared": (lambda t: t.replace("[x]", "[ ]"), "the box of 'adds two numbers' was cleared"),
    "a box ticked": (lambda t: t.replace("[ ]", "[x]"), "the box of 'subtracts two numbers' was ticked"),
    "a new entry that is ticked": (lambda t: t + "- [x] multiplies\n", "the box of 'multiplies' was ticked"),
    "every line gone": (lambda t: "", "has no checkbox"),
}


@pytest.mark.slow
def test_in_a_later_plan_what_stands_in_the_list_is_kept() -> None:
    f = at("CLOSED")
    text, before = f.read("test-list.md"), standing(f)
    assert "- [x] adds two numbers" in text
    for change, says in LATER.values():
        f.lay({"test-list.md": change(text)})
        refused(f, before, f.submit(named(SUBTRACT)), says)
    f.lay({"test-list.md": text})
    refused(f, before, f.submit(named(ADD)), "is not the text of an open entry; open: subtracts two numbers")
    refused(f, before, f.submit(NONE), "currentTest is null, and 1 entries are open")
    f.lay({"test-list.md": "- [ ] divides\n" + text + "- [ ] multiplies\n"})
    assert f.submit(named(SUBTRACT)).state == "RED", "adding and reordering is free"


WORK: dict[str, Files] = {"RED": {"tests/test_add.py": RED}, "GREEN": {"calc.py": GREEN}, "REFACTOR": {}}


@pytest.mark.slow
@pytest.mark.parametrize("phase", WORK)
def test_in_every_phase_the_list_and_the_branch_are_not_the_agents_to_change(phase: str) -> None:
    f = at(phase).lay(WORK[phase])
    before = standing(f)
    for text, says in (*LISTS.values(), (LIST.replace("adds two", "adds some"), "'adds two numbers' is no longer in")):
        f.lay({"test-list.md": text})
        refused(f, before, f.submit(), says)
    f.lay({"test-list.md": LIST})
    f.git("checkout", "-q", "-b", "elsewhere")
    refused(f, before, f.submit(), "the checkout is on elsewhere, but this run is on main; run `git switch main`")
    f.git("checkout", "-q", "--detach")
    refused(f, before, f.submit(), "the checkout is on no branch")
    f.git("checkout", "-q", "main")
    assert f.submit().status == "SUCCESS"


def test_already_satisfied_is_refused_at_the_first_try() -> None:
    f = at("RED").lay({"tests/test_add.py": RED})
    before = standing(f)
    for word in ("ALREADY_SATISFIED", '"ALREADY_SATISFIED"'):
        refused(f, before, f.submit(word), "submit the test itself first; ALREADY_SATISFIED is open from the second try on")


@pytest.mark.slow
def test_only_a_person_lets_an_entry_be_reworded() -> None:
    f = at("CLOSED")
    f.lay({"test-list.md": f.read("test-list.md").replace("subtracts two numbers", "takes away")})
    assert f.submit(named({**SUBTRACT, "description": "takes away"})).status == "REFUSED"
    assert f.person("steer", note="call it 'takes away'").status == "SUCCESS"
    assert f.submit(named({**SUBTRACT, "description": "takes away"})).state == "RED"
    assert [e.text for e in f.run.data.entries] == ["adds two numbers", "takes away"]


def test_what_a_person_may_say_is_refused_where_the_run_does_not_wait_for_it() -> None:
    f = at("RED")
    before = standing(f)
    refused(f, before, f.person("resume"), "resume is not possible in RED")
    refused(f, before, f.person("answer", decision="REVIEW", value="approve"), "is not possible in RED")


@pytest.mark.slow
def test_a_halted_run_takes_nothing_from_an_agent_and_an_ended_one_nothing_from_anyone() -> None:
    f = at("RED", "[tdd]\nretries = 0\n")
    assert f.submit().state == "HALTED"
    before = standing(f)
    for reply in ("", named(ADD), "ALREADY_SATISFIED", NONE):
        refused(f, before, f.submit(reply), "submit_work is not possible in HALTED. Next: detent resume")
    assert f.person("abort").state == "ABORTED"
    before = standing(f)
    refused(f, before, f.submit(), "The run has ended.")
    refused(f, before, f.person("resume"), "The run has ended.")
    refused(f, before, f.person("abort"), "The run has ended.")


def test_the_command_line_says_refused_by_its_words_and_its_exit_code() -> None:
    f = at("START")
    begun = f.cli("start", "--workflow", "tdd", "add", "numbers", "--json")
    assert (begun.code, begun.json["state"], begun.json["role"]) == (0, "PLAN", "test-list")
    said = f.cli("submit-work", "-", "--json", stdin=json.dumps({"summary": "s", "reply": named(ADD)}))
    assert (said.code, said.json["status"], said.json["state"]) == (1, "REFUSED", "PLAN")
    assert said.json["reasons"] == ["test-list.md is missing; write it, one line `- [ ] text` for each test"]
    assert f.cli("status", "--json").json["counts"] == {}
    typed = f.cli("submit-work", "--summary", "s", "--reply", "nowhere.json")
    assert (typed.code, "nowhere.json cannot be read" in typed.err) == (2, True)
