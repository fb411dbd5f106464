"""What the tools tell a model: content, bounds, why an edit missed, how a command ended, and which calls are none."""

import json
import math
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from detent.sandbox.process import Ran
from detent.tools import TOOLS, Toolbox, schemas
from detent.tools.beneath import MOST as MOST_BYTES
from detent.tools.read import CHARACTERS
from detent.tools.tool_paths import MOST, visible
from tests.toolboxes import Bench, bench

ROOT = Path(__file__).parent.parent


@pytest.fixture
def at(tmp_path: Path) -> Bench:
    return bench(tmp_path)


# Read


def test_read_shows_a_part_and_says_how_to_go_on(at: Bench) -> None:
    at.put("a.txt", "".join(f"line {n}\n" for n in range(1, 5001)))
    whole = at.told("Read", file_path="a.txt")
    assert whole.startswith("     1\tline 1\n") and "  2000\tline 2000\n[3,000 more lines; continue with offset=2001]" in whole
    assert at.told("Read", file_path="a.txt", offset=2001, limit=2).splitlines() == [
        "  2001\tline 2001",
        "  2002\tline 2002",
        "[2,998 more lines; continue with offset=2003]",
    ]
    assert at.told("Read", file_path="a.txt", offset=5000) == "  5000\tline 5000"
    assert at.refused("Read", file_path="a.txt", offset=5001) == "a.txt has 5,000 lines; there is no line 5,001."


def test_reading_on_as_told_shows_every_line_once(at: Bench) -> None:
    lines = [f"{n} " + "x" * (n % 300) for n in range(1, 3001)]
    at.put("a.txt", "\n".join(lines))
    seen, offset = [], 1
    while offset:
        text = at.told("Read", file_path="a.txt", offset=offset)
        assert len(text) <= CHARACTERS + 200
        seen += [line.partition("\t")[2] for line in text.splitlines() if not line.startswith("[")]
        more = re.search(r"offset=(\d+)\]", text)
        offset = int(more[1]) if more else 0
    assert seen == lines


def test_long_lines_and_large_files_are_cut_and_said_so(at: Bench) -> None:
    at.put("wide.txt", "w" * 10_000 + "\nnext\n")
    assert "w [… 8,000 more characters in this line]\n     2\tnext" in at.told("Read", file_path="wide.txt")
    at.put("large.txt", b"x" * 99 + b"\n")
    with (at.root / "large.txt").open("r+b") as file:
        file.truncate(10**12)  # a hole: it needs no room
    text = at.told("Read", file_path="large.txt")
    assert f"has 1,000,000,000,000 bytes; Read sees the first {MOST_BYTES:,}" in text and len(text) < 40_000


def test_read_tells_of_what_is_no_plain_text(at: Bench) -> None:
    at.put("latin.txt", "caf\xe9\n".encode("latin-1"))
    at.put("dos.txt", "one\r\ntwo\r\n")
    at.put("hidden.txt", "a\u202eb\x1b[31m\u200bc\n")
    at.put("image.bin", bytes(range(256)) * 100)
    at.put("empty.txt", "")
    latin = at.told("Read", file_path="latin.txt")
    assert "caf\ufffd\n" in latin and "is not UTF-8" in latin
    assert at.told("Read", file_path="dos.txt").startswith("     1\tone\n     2\ttwo\n[its lines end with CRLF")
    assert "a\\u202eb\\x1b[31m\\u200bc\n[it holds hidden characters" in at.told("Read", file_path="hidden.txt")
    assert len(at.told("Read", file_path="image.bin")) < 20_000
    assert at.told("Read", file_path="empty.txt") == "[empty.txt is empty]"


# Edit

CODE = "def one():\n    return 1\n\n\ndef two():\n\treturn  2\n"


@pytest.mark.parametrize(
    ("old", "sentence"),
    [
        ("", "old_string is empty"),
        ("return 3", "The lines most like its first one:\n     2\t    return 1"),
        ("def on():", "     1\tdef one():"),
        ("  return 1", ""),
        ("\treturn 1", "at line 2: line 2 begins with 4 spaces in the file, and with 1 tab in old_string."),
        ("def one():\n  return 1", "at line 1: line 2 begins with 4 spaces in the file, and with 2 spaces in old_string."),
        ("def one(): \n    return 1", "line 1 ends with nothing in the file, and with 1 space in old_string."),
        ("\treturn 2", "line 6 has other white space between its words"),
        ("     1\tdef one():\n     2\t    return 1", "line numbers that Read shows"),
        ("return", "2 times: in lines 2, 6. Give more of the text around it, or set replace_all."),
        ("completely different 12345", "No line is like its first one"),
        ("\n\n\n\n", "only white space"),
    ],
)
def test_an_edit_that_does_not_match_says_why(at: Bench, old: str, sentence: str) -> None:
    file = at.put("a.py", CODE)
    answer = at.call("Edit", file_path="a.py", old_string=old, new_string="pass")
    assert answer.failed == bool(sentence) and sentence in answer.text, answer.text
    assert (file.read_text() == CODE) == answer.failed


def test_an_edit_that_changes_nothing_is_refused(at: Bench) -> None:
    at.put("a.py", CODE)
    assert "are the same" in at.refused("Edit", file_path="a.py", old_string="one", new_string="one")


def test_replace_all_replaces_every_place(at: Bench) -> None:
    file = at.put("a.py", CODE)
    assert "2 places, first in line 2" in at.told("Edit", file_path="a.py", old_string="return", new_string="yield", replace_all=True)
    assert file.read_text() == CODE.replace("return", "yield")


def test_an_edit_tells_of_a_file_that_changed_since_it_was_read(at: Bench) -> None:
    at.put("a.py", CODE)
    at.told("Read", file_path="a.py")
    assert "changed since" not in at.refused("Edit", file_path="a.py", old_string="nowhere", new_string="x")
    at.told("Bash", command="echo 'def three(): pass' > a.py")
    assert "changed since you last read or wrote it" in at.refused("Edit", file_path="a.py", old_string="return 1", new_string="x")


def test_line_ends_are_kept(at: Bench) -> None:
    file = at.put("dos.txt", "one\r\ntwo\r\nthree\r\n")
    at.told("Edit", file_path="dos.txt", old_string="one\ntwo", new_string="1\n2\n2b")
    assert file.read_bytes() == b"1\r\n2\r\n2b\r\nthree\r\n"
    mixed = at.put("mixed.txt", "a\r\nb\nc\nd\r\ne\r\n")
    at.told("Edit", file_path="mixed.txt", old_string="b\nc", new_string="B\nC")
    at.told("Edit", file_path="mixed.txt", old_string="d\ne", new_string="D\nE")
    assert mixed.read_bytes() == b"a\r\nB\nC\nD\r\nE\r\n"


def test_a_file_that_is_no_text_is_not_edited(at: Bench) -> None:
    for name, data in (("latin.txt", "caf\xe9".encode("latin-1")), ("nul.bin", b"caf\0e")):
        file = at.put(name, data)
        assert "Nothing was changed" in at.refused("Edit", file_path=name, old_string="caf", new_string="x")
        assert file.read_bytes() == data


def test_a_mark_at_the_start_of_a_file_stays(at: Bench) -> None:
    file = at.put("bom.txt", b"\xef\xbb\xbfone\n")
    at.told("Edit", file_path="bom.txt", old_string="one", new_string="two")
    assert file.read_bytes() == b"\xef\xbb\xbftwo\n"


def test_an_edit_cannot_grow_a_file_without_end(at: Bench) -> None:
    at.put("a.txt", "a" * 1_000_000)
    said = at.refused("Edit", file_path="a.txt", old_string="a", new_string="b" * 1_000_000, replace_all=True)
    assert "larger than" in said


def test_explaining_a_miss_does_not_take_long_on_a_large_file(at: Bench) -> None:
    at.put("a.txt", "".join(f"return value_{n} + other_{n * 7} - third_{n % 13}  # {'filler ' * 20}\n" for n in range(20_000)))
    said = at.refused("Edit", file_path="a.txt", old_string="return value_19999 + other_1 # " + "filler " * 20, new_string="x")
    assert "The lines most like its first one" in said


# Bash


def test_bash_tells_how_a_command_ended(at: Bench) -> None:
    assert at.told("Bash", command="echo out; echo err >&2") == "Exit code 0.\nOutput:\nout\nerr\n"
    assert at.refused("Bash", command="echo no; exit 3") == "Exit code 3.\nOutput:\nno\n"
    assert at.told("Bash", command="true") == "Exit code 0.\nIt wrote nothing."
    assert at.told("Bash", command="pwd") == f"Exit code 0.\nOutput:\n{at.root}\n"


@pytest.mark.slow
def test_bash_tells_of_the_time_limit_and_of_what_was_left_behind(tmp_path: Path) -> None:
    at = bench(tmp_path, timeout=5)
    said = at.refused("Bash", command="echo begun; sleep 60")
    assert "stopped after 5 s, the time limit of every command" in said and "begun" in said
    assert re.search(r"^\d+ process(es)? that it left behind w", at.told("Bash", command="sleep 60 > /dev/null 2>&1 & echo on"), re.M)


def test_no_call_can_set_a_time_limit_of_its_own(at: Bench) -> None:
    assert "unknown field `timeout`. The form is Bash{command}." in at.refused("Bash", command="touch ran", timeout=5)
    assert not (at.root / "ran").exists()


def test_long_output_is_shown_in_part_and_the_rest_can_be_read(at: Bench) -> None:
    text = at.told("Bash", command="seq 1 60000")
    assert len(text) < MOST + 300 and text.endswith("\n59999\n60000\n")
    name = re.search(r"Read (output:\S+) with offset", text)
    assert name and "348,894 bytes" in text and "characters left out here" in text
    assert at.told("Read", file_path=name[1], offset=30_000, limit=1).startswith(" 30000\t30000\n")
    assert at.told("Grep", pattern="^3000.$", path=name[1], output_mode="count") == f"{name[1]}:10"
    assert at.told("Bash", command="seq 1 60000").count("output:bash-2.txt") == 1
    assert "No output is kept" in at.refused("Read", file_path="output:../../etc/passwd")
    assert "does not exist" in at.refused("Read", file_path="output:bash-99.txt")


def test_output_cannot_steer_a_terminal_or_hide(at: Bench) -> None:
    command = r"printf 'a\033]52;c;eA==\007b\rc\000d\377e\342\200\256f\r\n'"
    assert at.told("Bash", command=command) == "Exit code 0.\nOutput:\na\\x1b]52;c;eA==\\x07b\\x0dc\\x00d\ufffde\\u202ef\n"


@pytest.mark.parametrize("command", ["", "  \n", "echo a\0b", "echo \ud800", "x" * 3_000_000])
def test_a_command_that_cannot_be_run_is_told_so(at: Bench, command: str) -> None:
    assert at.refused("Bash", command=command)


def test_a_command_that_was_stopped_is_told_so(tmp_path: Path) -> None:
    box = Toolbox(tmp_path, lambda p: None, lambda c: Ran(None, "", 0, "", 1.0, stopped=True), tmp_path / "spill")
    assert box.call("Bash", {"command": "x"}).text.startswith("It was stopped because the work was stopped.")


# Calls that are none


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("Fetch", {}, "There is no tool Fetch. The tools are Read, Write, Edit, Bash, Glob, Grep."),
        ("read", {"file_path": "a"}, "There is no tool read."),
        ("Read", {}, "missing required field `file_path`. The form is Read{file_path, offset?, limit?}."),
        ("Read", {"file_path": "a", "path": "b"}, "unknown field `path`"),
        ("Read", {"file_path": 7}, "Expected `str`, got `int`"),
        ("Read", {"file_path": "a", "offset": "1"}, "Expected `int`, got `str`"),
        ("Read", {"file_path": "a", "offset": 0}, "Expected `int` >= 1"),
        ("Read", {"file_path": "a", "limit": True}, "Expected `int`, got `bool`"),
        ("Read", {"file_path": "a", "limit": math.nan}, "Expected `int`"),
        ("Read", {"file_path": "a", "offset": 10**5000}, "Nothing was done"),
        ("Read", None, "Expected `object`, got `null`"),
        ("Read", "a", "Expected `object`"),
        ("Read", [{"file_path": "a"}], "Expected `object`"),
        ("Edit", {"file_path": "a", "old_text": "a", "new_text": "b"}, "Edit{file_path, old_string, new_string, replace_all?}"),
        ("Grep", {"pattern": "a", "output_mode": "lines"}, "Invalid enum value 'lines'"),
        ("Grep", {"pattern": "a", "-A": -1}, "-A?"),
        ("Write", {"file_path": "a", "content": None}, "Expected `str`, got `null`"),
        ("Write", {"file_path": "a", "content": "\ud800"}, "not valid text at character 1"),
        ("Write", {"file_path": "a/", "content": "x"}, "names a folder"),
    ],
)
def test_a_call_that_does_not_fit_does_nothing_and_names_the_right_form(at: Bench, name: str, arguments: object, sentence: str) -> None:
    answer = at.tools.call(name, arguments)
    assert answer.failed and sentence in answer.text, answer.text
    assert list(at.root.iterdir()) == []


@pytest.mark.slow
def test_deep_and_huge_arguments_are_only_wrong_ones(at: Bench) -> None:
    deep: object = "x"
    for _ in range(100_000):
        deep = [deep]
    for arguments in ({"file_path": deep}, {"x" * 10_000_000: 1}, {"file_path": "y" * 10_000_000}, deep):
        answer = at.tools.call("Read", arguments)
        assert answer.failed and len(answer.text) < 5_000
    while isinstance(deep, list):  # taken apart from the outside, since it is too deep to be freed at once
        deep = deep.pop()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.text(alphabet=st.characters(categories=["Cs", "Cc", "Cf"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KEYS = sorted({key for tool in TOOLS for key in tool.input_schema["properties"]} - {"command"})  # type: ignore[attr-defined]  # a dict
NAMES = [t.name for t in TOOLS if t.name not in ("Glob", "Grep")]
LIKELY = st.sampled_from(["a.txt", ".", "..", "/", "~", "one", "output:bash-1.txt", "d/e", "**"])


@given(name=st.sampled_from(NAMES) | st.text(), arguments=ANYTHING | st.dictionaries(st.sampled_from(KEYS), LIKELY | ANYTHING, max_size=5))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_model_sends_the_answer_is_a_text(at: Bench, name: str, arguments: object) -> None:
    at.put("a.txt", "one\n") if not (at.root / "a.txt").exists() else None
    answer = at.tools.call(name, arguments)
    answer.text.encode()


@given(st.text(alphabet=st.characters()))
def test_visible_text_is_valid_and_stays_as_it_is(text: str) -> None:
    shown = visible(text)
    shown.encode()
    assert visible(shown) == shown
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b]", shown)


# What is told of the tools


def test_the_six_tools_have_the_names_and_parameters_that_models_know() -> None:
    want = {
        "Read": (["file_path"], ["offset", "limit"]),
        "Write": (["file_path", "content"], []),
        "Edit": (["file_path", "old_string", "new_string"], ["replace_all"]),
        "Bash": (["command"], []),
        "Glob": (["pattern"], ["path"]),
        "Grep": (["pattern"], ["path", "glob", "output_mode", "-i", "-n", "-A", "-B", "-C", "head_limit", "multiline", "type"]),
    }
    got = {}
    for schema in json.loads(json.dumps(schemas())):
        assert set(schema) == {"name", "description", "input_schema"}
        inner = schema["input_schema"]
        assert inner["type"] == "object" and inner["additionalProperties"] is False and "$ref" not in json.dumps(inner)
        assert all(part["description"] and part["type" if "enum" not in part else "enum"] for part in inner["properties"].values())
        got[schema["name"]] = (inner["required"], [p for p in inner["properties"] if p not in inner["required"]])
        assert len(schema["description"]) > 100
    assert got == want


def test_every_tool_has_its_row_in_the_docs_with_every_parameter() -> None:
    rows = {line.split("`")[1]: line for line in (ROOT / "docs" / "tools.md").read_text("utf-8").splitlines() if line.startswith("| `")}
    assert list(rows) == [tool.name for tool in TOOLS]
    for tool in TOOLS:
        assert all(f"`{part}`" in rows[tool.name] for part in tool.form.partition("{")[2].rstrip("}").split(", ")), tool.form
