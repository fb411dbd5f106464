"""The values that outcomes are kept and told in: the card of a run, the claim on a commit, and what is said of tests that went, weakened or shared a file."""

from pathlib import Path

import msgspec
import pytest

from detent.evidence.outcomes.card import Card, Change, Checked
from detent.evidence.outcomes.card_kept import keep_card, kept_card
from detent.evidence.outcomes.claims import LARGEST, VERSION, Claim, ClaimedStep, read, seal, written
from detent.evidence.outcomes.outcomes import Outcomes, describe_flaky, describe_successors, describe_weakened
from detent.evidence.outcomes.shared_test_files import flag_shared_files
from detent.storage.seal import keep

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
    keep(file, '{"change": "main…work", "worth": 7}', durable=False)
    assert kept_card(tmp_path, "r1") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x" * (LARGEST + 1), f"the claim has {LARGEST + 1} characters, more than any claim needs"),
        ("{", "the claim cannot be read: "),
        (
            written(seal(msgspec.structs.replace(CLAIM, version=VERSION + 1), "c0")),
            f"the claim is of version {VERSION + 1}; this Detent reads version {VERSION}",
        ),
        (written(seal(CLAIM, "c1")), "the claim was edited, or belongs to another commit: its digest does not fit"),
    ],
    ids=["too long", "no JSON", "of a later version", "of another commit"],
)
def test_a_claim_that_is_not_believed_says_why(text: str, said: str) -> None:
    found, fault = read(text, "c0")
    assert found is None and fault.startswith(said)
    sealed = seal(CLAIM, "c0")
    assert read(written(sealed), "c0") == (sealed, "")


GONE = "a.py::test_gone"


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (describe_successors(GONE, Outcomes(replaced={GONE: frozenset({"a.py::b"})}), False), f"{GONE} is gone; a.py::b came in its place"),
        (
            describe_successors(GONE, Outcomes(replaced={GONE: frozenset({"a.py::b", "a.py::c", "a.py::d"})}), True),
            f"{GONE} is gone; a.py::b and 2 more came in its place, but nothing there fails for a small change of the code that it failed for",
        ),
        (describe_weakened(GONE, Outcomes()), f"{GONE} is weakened: it was changed, and no longer fails for code that it failed for"),
        (
            describe_weakened(GONE, Outcomes(replaced={GONE: frozenset({"a.py::c", "a.py::b"})})),
            f"{GONE} is gone, and what came in its place (a.py::b) does not fail for code that it failed for",
        ),
        (
            describe_flaky(GONE),
            f"{GONE} failed once and passed in three more runs of the same tree: it is flaky, or the machine was too busy for it",
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
    assert flag.sentence == "what older tests share was changed: with it as it was, a.py::test_b fails with this change"
    assert flag_shared_files(patch, shared, (), alone) == [], "where none of them fails, there is nothing to say"
