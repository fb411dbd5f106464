"""The values that outcomes are kept and told in: the card of a run, the claim on a commit, and what is said of tests that went, weakened or shared a file."""

from pathlib import Path

import msgspec
import pytest

from detent.evidence.outcomes.card import Card, Change, Checked, keep_card, kept_card
from detent.evidence.outcomes.claims import LARGEST, VERSION, Claim, ClaimedStep, parse_claim, seal, written
from detent.evidence.outcomes.flaky import flag_warned
from detent.evidence.outcomes.outcomes import Outcomes, describe_flaky, describe_successors, describe_weakened
from detent.evidence.outcomes.reasons import NOT_INSTALLED, Reason, not_installed
from detent.evidence.outcomes.settle import MOST_LISTED, describe_outcomes
from detent.evidence.outcomes.shared_test_files import flag_shared_files
from detent.evidence.report import TestReport
from detent.storage.state import write_sealed

CARD = Checked(Change("main…work", "b0", "t0", "t1", ()), Card("t0", "t1", proved=("a.py::test_a",)), "pytest", "none")
CLAIM = Claim("tdd-1", "tdd", (ClaimedStep("red", "adds", "t1"),))


def test_a_card_is_written_once_for_as_long_as_it_says_the_same(tmp_path: Path) -> None:
    keep_card(tmp_path, "r1", CARD)
    (file,) = (tmp_path / "detent" / "cards").iterdir()
    first = file.stat().st_ino
    keep_card(tmp_path, "r1", CARD)
    assert (kept_card(tmp_path, "r1"), file.stat().st_ino) == (CARD, first)
    other = CARD._replace(command="tox")
    keep_card(tmp_path, "r1", other)
    assert kept_card(tmp_path, "r1") == other


def test_a_card_in_the_form_of_another_version_is_not_shown(tmp_path: Path) -> None:
    assert kept_card(tmp_path, "r1") is None
    keep_card(tmp_path, "r1", CARD)
    (file,) = (tmp_path / "detent" / "cards").iterdir()
    write_sealed(file, '{"change": "main…work", "worth": 7}', durable=False)
    assert kept_card(tmp_path, "r1") is None


@pytest.mark.parametrize(
    ("place", "at"),
    [
        ("tests/test_a.py::test_a", "tests/test_a.py:7"),
        ("tests/test_b.py::test_b", "tests/test_b.py"),
        ("calc.py: half", "calc.py"),
        ("calc.py:12", "calc.py:12"),
        ("docs/one: two.md:12", "docs/one: two.md:12"),
        ("a.rb::2", "a.rb"),
    ],
)
def test_whatever_stands_on_a_card_can_be_opened_at_its_file_and_line_where_that_is_known(place: str, at: str) -> None:
    assert Card("t0", "t1", places={"tests/test_a.py::test_a": "tests/test_a.py:7"}).at(place) == at


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x" * (LARGEST + 1), f"the claim is too long ({LARGEST + 1} characters)"),
        ("{", "the claim cannot be read: "),
        (
            written(seal(msgspec.structs.replace(CLAIM, version=VERSION + 1), "c0")),
            f"the claim is of version {VERSION + 1}; this Detent reads version {VERSION}",
        ),
        (written(seal(CLAIM, "c1")), "the claim was edited, or belongs to another commit: its digest does not match"),
    ],
    ids=["too long", "no JSON", "of a later version", "of another commit"],
)
def test_a_claim_that_is_not_believed_says_why(text: str, said: str) -> None:
    found, fault = parse_claim(text, "c0")
    assert found is None and fault.startswith(said)
    sealed = seal(CLAIM, "c0")
    assert parse_claim(written(sealed), "c0") == (sealed, "")


GONE = "a.py::test_gone"


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (describe_successors(GONE, Outcomes(replaced={GONE: frozenset({"a.py::b"})}), False), f"{GONE} is gone; a.py::b came in its place"),
        (
            describe_successors(GONE, Outcomes(replaced={GONE: frozenset({"a.py::b", "a.py::c", "a.py::d"})}), True),
            f"{GONE} is gone; a.py::b and 2 more came in its place, but they do not fail for a small change to the code that it failed for",
        ),
        (
            describe_weakened(GONE, Outcomes()),
            f"{GONE} is weakened: it was changed, and no longer fails for code that it failed for before",
        ),
        (
            describe_weakened(GONE, Outcomes(replaced={GONE: frozenset({"a.py::c", "a.py::b"})})),
            f"{GONE} is gone, and its replacement (a.py::b) does not fail for code that it failed for",
        ),
        (
            describe_flaky(GONE),
            f"{GONE} failed once and passed in three more runs of the same tree: it is flaky, or the machine was overloaded",
        ),
    ],
    ids=["one came", "some came and notice less", "weakened", "weaker in its place", "flaky"],
)
def test_what_became_of_an_older_test_is_said_with_its_name_and_what_came_for_it(said: str, sentence: str) -> None:
    assert said == sentence


@pytest.mark.parametrize(("alone", "level"), [(True, "ask"), (False, "note")])
def test_shared_data_without_lines_to_show_are_named_themselves(alone: bool, level: str) -> None:
    patch = b"--- a/calc.py\n+++ b/calc.py\n@@ -3 +3 @@\n-19\n+20\n"
    shared = ("tests/b.png", "tests/a.png")
    (flag,) = flag_shared_files(patch, shared, ("a.py::test_b",), alone)
    assert (flag.kind, flag.place, flag.before, flag.after, flag.level) == ("rewritten-test", "tests/a.png", "", "", level)
    assert flag.sentence == "code shared by older tests changed: with the old version, a.py::test_b fails with this change"
    assert flag_shared_files(patch, shared, (), alone) == [], "where none of them fails, there is nothing to say"


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ((), ()),
        (("a",), ("a changed: as it was, it ends with DeprecationWarning here, and passes where a warning is only shown",)),
        (
            ("a", "b", "c"),
            ("a and 2 more changed: as it was, it ends with DeprecationWarning here, and passes where a warning is only shown",),
        ),
    ],
)
def test_tests_that_only_a_warning_ended_are_one_note(tests: tuple[str, ...], said: tuple[str, ...]) -> None:
    seen = TestReport(kinds={"a": "DeprecationWarning", "b": "UserWarning", "c": "UserWarning"})
    flags = flag_warned(frozenset(tests), seen)
    assert tuple(flag.sentence for flag in flags) == said
    assert all((flag.kind, flag.place, flag.level) == ("rewritten-test", "a", "note") for flag in flags)


def ids(word: str, count: int) -> frozenset[str]:
    return frozenset(f"{word}{n:02}" for n in range(count))


@pytest.mark.parametrize(
    ("seen", "first", "lines", "last"),
    [
        (Outcomes(), "", 0, ""),
        (Outcomes(pins=ids("pin", 3)), "", 0, ""),
        (Outcomes(newly_failing=ids("new", 1)), "fails now, and did not before: new00", 2, "    why new00 fails"),
        (
            Outcomes(newly_failing=ids("new", 1), pins=ids("pin", 1)),
            "fails now, and did not before: new00",
            3,
            "passes already, so it only pins what is there: pin00",
        ),
        (
            Outcomes(newly_failing=ids("new", MOST_LISTED + 2), pins=ids("pin", MOST_LISTED + 3)),
            "fails now, and did not before: new00",
            3 * MOST_LISTED + 1,
            "and 5 more",
        ),
    ],
    ids=["nothing", "only pins", "one fails", "one pins", "many"],
)
def test_what_needs_a_step_is_told_with_its_reason_and_at_no_length(seen: Outcomes, first: str, lines: int, last: str) -> None:
    said = describe_outcomes(seen, lambda test: Reason("product", f"why {test} fails"))
    told = said.rstrip("\n").splitlines()
    assert (told[:1], len(told), told[-1:]) == ([first] if first else [], lines, [last] if last else [])


@pytest.mark.parametrize(
    ("sentence", "package"),
    [
        (f"ModuleNotFoundError: No module named 'yaml' (tests/test_a.py:1): yaml{NOT_INSTALLED}", "yaml"),
        ("ModuleNotFoundError: No module named 'shapes' (tests/test_a.py:1)", ""),
    ],
)
def test_the_package_that_a_test_lacks_is_known_by_its_name(sentence: str, package: str) -> None:
    assert not_installed(Reason("test", sentence)) == package
