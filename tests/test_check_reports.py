"""What `detent check` hands to programs: JSON by its own schema, SARIF by the official one, JUnit XML and annotations as their readers read them.

One branch is checked once, commit by commit: one that is clean, one that is flagged, one that fails. Everything after that is told from memory.
"""

import json
import re
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from detent.evidence.outcomes.card import Card, Change, Checked
from detent.git.commits import Commit
from detent.interfaces.check_reports import junit_of, sarif_of, tell_github
from detent.kernel.model import KINDS, Flag
from tests.project import ROOT
from tests.test_check import BASE, HALF, PROVED, THIRD, Branch

SCHEMA: dict[str, Any] = json.loads(files("detent.interfaces").joinpath("check.schema.json").read_text("utf-8"))
SARIF: dict[str, Any] = json.loads((ROOT / "tests/golden/sarif-2.1.0-part.json").read_text("utf-8"))
COMMITS = {
    "clean": PROVED,
    "flagged": {"calc.py": HALF + "\n\ndef third(n):\n    return n / 3\n"},
    "failed": {"calc.py": HALF.replace("n * 2", "n * 3")},
}


def validated(value: Any, schema: dict[str, Any] = SCHEMA) -> Any:
    """A value as it is, once its schema takes it."""
    jsonschema = import_module("jsonschema")  # it comes with the MCP library
    jsonschema.validators.validator_for(schema)(schema).validate(value)
    return value


@pytest.fixture(scope="module")
def p(tmp_path_factory: pytest.TempPathFactory) -> Branch:
    p = Branch(tmp_path_factory.mktemp("reports") / "p")
    for answer, change in COMMITS.items():
        p.commit(change, answer)
    p.run("check", "--each")
    return p


@pytest.fixture(scope="module")
def unclear(tmp_path_factory: pytest.TempPathFactory) -> Branch:
    p = Branch(tmp_path_factory.mktemp("unclear") / "p", {**BASE, "detent.toml": "[test]\ncommand = 'nowhere/bin/pytest'\n"})
    p.commit(PROVED)
    return p


def of(p: Branch, answer: str, *args: str) -> str:
    """What is said of one of the commits."""
    n = len(COMMITS) - 1 - [*COMMITS].index(answer)
    return p.run("check", f"HEAD~{n}", *args).out


# -- JSON ------------------------------------------------------------------------------------------------------------------------


def test_the_schema_is_a_schema_and_stands_in_the_docs() -> None:
    import_module("jsonschema").Draft202012Validator.check_schema(SCHEMA)
    assert json.loads((ROOT / "docs/check.schema.json").read_text("utf-8")) == SCHEMA
    assert set(SCHEMA["$defs"]["kind"]["enum"]) == set(KINDS), "each kind of flag, and no other"


@pytest.mark.slow
@pytest.mark.parametrize("answer", COMMITS)
def test_the_card_of_each_answer_is_as_the_schema_says(p: Branch, answer: str) -> None:
    card = validated(json.loads(of(p, answer, "--json")))
    assert (card["answer"], card["known_before"]) == (answer, True)


@pytest.mark.slow
def test_the_cards_of_commits_an_explanation_and_an_error_are_too(p: Branch, unclear: Branch) -> None:
    assert [one["answer"] for one in validated(p.run("check", "--each", "--json").json)["commits"]] == [*COMMITS]
    assert validated(unclear.run("check", "--json").json)["exit_code"] == 4
    assert validated(json.loads(of(p, "failed", "--explain", "failed", "--json")))["found"][0]["level"] == "fail"
    assert validated(p.run("check", "nowhere..HEAD", "--json").json)["exit_code"] == 2


def test_the_schema_refuses_what_it_does_not_know(p: Branch) -> None:
    card = json.loads(of(p, "clean", "--json"))
    for wrong in ({"exit_code": 1}, {"more": 1}, {"answer": "fine"}, {"failed": ["it does"]}, {"places": {"a": "b"}}):
        with pytest.raises(import_module("jsonschema").ValidationError):
            validated({**card, **wrong})


def test_the_docs_have_a_row_for_each_field() -> None:
    page = (ROOT / "docs/check.md").read_text("utf-8")
    for part in ("card", "explained", "trial"):
        missing = [name for name in SCHEMA["$defs"][part]["properties"] if f"`{name}`" not in page]
        assert not missing, f"docs/check.md says nothing of {missing}"


# -- SARIF -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("answer", "rule", "level", "line"), [("flagged", "no-proof", "warning", 7), ("failed", "failed", "error", 8)])
def test_sarif_is_as_its_schema_says_and_points_at_the_line(p: Branch, answer: str, rule: str, level: str, line: int) -> None:
    run = validated(json.loads(of(p, answer, "--sarif")), SARIF)["runs"][0]
    first = run["results"][0]
    assert (first["ruleId"], first["level"]) == (rule, level)
    assert first["locations"][0]["physicalLocation"]["region"]["startLine"] == line, first


def test_sarif_of_what_is_clean_or_unclear_is_as_its_schema_says(p: Branch, unclear: Branch) -> None:
    assert validated(json.loads(of(p, "clean", "--sarif")), SARIF)["runs"][0]["results"] == []
    (result,) = validated(json.loads(unclear.run("check", "--sarif").out), SARIF)["runs"][0]["results"]
    assert result["ruleId"] == "could-not-verify" and result["locations"], "code scanning shows nothing that is nowhere"


# -- JUnit -----------------------------------------------------------------------------------------------------------------------

# As Jenkins' junit-10.xsd has it: what an element must have, what it may have, and what may stand in it.
JUNIT: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuite": ({"name", "tests", "failures", "errors"}, {"skipped", "time", "timestamp"}, {"testcase"}),
    "testcase": ({"name", "classname"}, {"time"}, {"failure", "error", "skipped", "system-out", "system-err"}),
    "failure": (set(), {"message", "type"}, set()),
    "system-out": (set(), set(), set()),
}


def read_junit(text: str) -> ElementTree.Element:
    """A reader that takes nothing which is not in the table, and counts for itself."""
    suite = ElementTree.fromstring(text)
    for element in suite.iter():
        must, may, inner = JUNIT[element.tag]
        assert must <= set(element.attrib) <= must | may and {child.tag for child in element} <= inner, ElementTree.tostring(element)
    counts = {"tests": len(suite.findall("testcase")), "failures": len(suite.findall("testcase/failure")), "errors": 0}
    assert {name: int(suite.attrib[name]) for name in counts} == counts
    return suite


@pytest.mark.parametrize(("answer", "failures"), [("clean", 0), ("flagged", 1), ("failed", 2)])
def test_junit_is_read_by_a_strict_reader(p: Branch, answer: str, failures: int) -> None:
    suite = read_junit(of(p, answer, "--junit"))
    assert suite.attrib["failures"] == str(failures)
    assert (suite.find("testcase[@classname='proved']") is not None) == (answer == "clean")


# -- GitHub ----------------------------------------------------------------------------------------------------------------------


class Runner:
    """The log of a job as the runner of GitHub Actions reads it: lines that begin with `::` are commands, unless they were stopped."""

    def __init__(self, log: str) -> None:
        self.commands: list[tuple[str, dict[str, str], str]] = []
        stopped = ""
        for line in log.splitlines():
            found = re.match(r"\s*::([^\s:]+)(?: ([^:]*))?::(.*)", line)
            if found and stopped in ("", found[1]):
                stopped = found[3] if found[1] == "stop-commands" else ""
                given = dict(each.split("=", 1) for each in (found[2] or "").split(",") if each)
                said = {name: self.meant(value, (":", ",")) for name, value in given.items()}
                self.commands.append((found[1], said, self.meant(found[3])))
        assert not stopped

    @staticmethod
    def meant(text: str, also: tuple[str, ...] = ()) -> str:
        for sign in ("\r", "\n", *also):
            text = text.replace(f"%{ord(sign):02X}", sign)
        return text.replace("%25", "%")

    @property
    def annotations(self) -> list[tuple[str, dict[str, str], str]]:
        return [each for each in self.commands if each[0] in ("error", "warning", "notice")]


def test_annotations_point_at_the_line_and_the_card_is_in_the_summary(p: Branch, tmp_path: Path) -> None:
    n, summary = 0, tmp_path / "summary.md"
    log = p.run("check", f"HEAD~{n}", "--github", GITHUB_STEP_SUMMARY=str(summary)).out
    (level, where, said), *_ = Runner(log).annotations
    assert (level, where) == (
        "error",
        {"file": "tests/test_calc.py", "line": "8", "title": "failed"},
    ) and "test_double passed before" in said
    assert summary.read_text().startswith("### Detent: failed")


# -- words of others ---------------------------------------------------------------------------------------------------------------

HOSTILE = 'a%0A,b:c"<&>]]>\x00\x1b[31m\udcff \r\n::error::x\n::stop-commands::y ü'


def hostile() -> Checked:
    """A card on which nothing is harmless."""
    flag = Flag("unnoticed", f"says {HOSTILE}", f"src/{HOSTILE}.py:3", HOSTILE, HOSTILE)
    note = Flag("weak-evidence", HOSTILE, level="note")
    card = Card(
        "b" * 40, "c" * 40, proved=(f"tests/t.py::{HOSTILE}",), failed=(HOSTILE, f"tests/t.py::x fails: {HOSTILE}"), flags=(flag, note)
    )
    commit = Commit("a" * 40, "c" * 40, ("b" * 40,), HOSTILE)
    return Checked(Change(HOSTILE, "b" * 40, "b" * 40, "c" * 40, (commit,), "", (f"src/{HOSTILE}.py",)), card, "pytest", "none")


def test_words_of_others_break_no_format(tmp_path: Path) -> None:
    (tmp_path / "summary").touch()
    validated(sarif_of([hostile()]), SARIF)
    read_junit(junit_of([hostile()]))
    lines: list[str] = []
    tell_github([hostile()], str(tmp_path / "summary"), lines.append)
    seen = Runner("\n".join(lines).encode().decode())
    assert len(seen.annotations) == len(lines) == 4 == len(seen.commands), "a line of theirs is no command"
    (_, where, said) = seen.annotations[2]
    assert where["file"] == f"src/{HOSTILE}.py".replace("\udcff", "?") and said == f"says {HOSTILE}".replace("\udcff", "?")


def test_letters_that_turn_or_hide_others_are_spelled_out_in_junit() -> None:
    found = hostile()
    turned = found._replace(card=msgspec.structs.replace(found.card, proved=("tests/t.py::\u202etxt.exe\u200b",)))
    assert "\u202e" not in junit_of([turned]) and "\\u202etxt.exe\\u200b" in junit_of([turned])


def test_the_card_in_the_log_gives_no_commands(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p")
    p.commit({**THIRD, "::error::x.py": "def f():\n    return 1\n"}, "::error::y")
    log = p.run("check", "--github", "--each").out
    assert {said for _, _, said in Runner(log).annotations} and not any(said in ("x.py", "y") for _, _, said in Runner(log).annotations)
    assert next(name for name, _, _ in Runner(log).commands) == "stop-commands"
