"""Work that is judged by nobody else, or proves nothing: an agent's own review, entries that are closed as satisfied already, a GREEN without code."""

from pathlib import Path

import pytest

from detent.app.verify_steps import ALREADY
from detent.app.verifying import verify
from detent.evidence.outcomes.claims import REF, Claim, ClaimedStep, seal, written
from detent.evidence.probes.code_about import lines_about, words_of
from detent.evidence.source.diff import Changed
from detent.gates.judge import flags_in
from detent.gates.review_gates import ROOT_FILE, own_review_is_flagged
from detent.gates.testlist import ListData
from detent.gates.tests import product_changed
from detent.gates.tree import reading_is_flagged
from detent.git.notes import publish
from detent.kernel.model import Data, Flag, Run, Sent
from tests.looks import LiteralLook
from tests.project import START, Project
from tests.repos import git_at

CALC = "def add(a, b):\n    return a + b\n\n\ndef double(n):\n    return n * 2\n"
PARSER = "def parse_date(text):\n    return text\n"
RUN: Run[Data] = Run("r", "pr", "CODE_REVIEW", 3, Data())


# -- own-review ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent",
    [Sent("submit", findings="[]"), Sent("outcome", by="system", facts={"by": ROOT_FILE}), Sent("outcome", by="system")],
    ids=["handed in", "a file that lies there", "nobody knows"],
)
@pytest.mark.parametrize(("required", "level"), [("false", "note"), ("true", "ask")])
def test_a_review_of_ones_own_is_flagged_for_good(sent: Sent, required: str, level: str) -> None:
    (flag,) = flags_in(own_review_is_flagged(LiteralLook(RUN, sent, settings={"review.require_independent": required})))
    assert (flag.kind, flag.level, flag.stays) == ("own-review", level, True)


def test_a_review_by_the_configured_reviewer_is_not() -> None:
    assert own_review_is_flagged(LiteralLook(RUN, Sent("outcome", by="system", facts={"by": "command:review"}))) is None


# -- a GREEN without code --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [(), (Changed("README.md", "modified", "production"),), (Changed("tests/test_a.py", "added", "test"),)],
    ids=["nothing", "words", "tests"],
)
def test_a_green_that_changes_no_code_is_flagged_for_good(changes: tuple[Changed, ...]) -> None:
    (flag,) = flags_in(product_changed(LiteralLook(RUN, changes=changes)))
    assert flag.kind == "no-proof" and flag.stays
    assert product_changed(LiteralLook(RUN, changes=(Changed("calc.py", "modified", "production"),))) is None


# -- what an entry is about ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "lines"),
    [
        (("feat: add numbers",), {"calc.py": {1, 2}}),
        (("fix: parsing of dates",), {"dates.py": {1, 2, 3}}),
        (("feat: Doubling",), {"calc.py": {5, 6}}),
        (("feat: calc does more",), {"calc.py": set(range(1, 8))}),
        (("feat: add clamp",), {"calc.py": {1, 2}}),
        (("feat: clamp",), {}),
        (("users log in", "double a number"), {"calc.py": {5, 6}}),
    ],
)
def test_words_are_about_the_code_whose_names_share_one(said: tuple[str, ...], lines: dict[str, set[int]]) -> None:
    files = {"calc.py": CALC, "dates.py": PARSER}
    assert lines_about(said, files, files.__getitem__) == lines


def test_names_are_taken_apart() -> None:
    assert words_of("parseDate of a user_id") == {"parse", "date", "user"}


# -- reading, where a person named something -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "flag", "level"),
    [
        ("speak HTTP with httpx", Flag("new-dependencies", "x", "pyproject.toml: httpx"), "note"),
        ("speak HTTP", Flag("new-dependencies", "x", "pyproject.toml: httpx"), "ask"),
        ("add run.sh", Flag("executable-bits", "x", "run.sh"), "note"),
        ("mend calc.py", Flag("knows-the-tests", "x", "calc.py:3"), "ask"),
        ("write pytest.py", Flag("shadow", "x", "pytest.py", level="fail"), "fail"),
    ],
)
def test_what_a_person_asked_for_is_told_and_not_asked(request_: str, flag: Flag, level: str) -> None:
    run: Run[Data] = Run("r", "tdd", "GREEN", 3, ListData(feature_request=request_))
    (seen,) = flags_in(reading_is_flagged(LiteralLook(run, reading=(flag,))))
    assert seen.level == level


# -- on a real project -----------------------------------------------------------------------------------------------------------------


OLD = "from calc import double\n\n\ndef test_add():\n    assert double(2) == 4\n"
ITS_OWN = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"


@pytest.mark.slow
@pytest.mark.parametrize(("test", "status"), [(OLD, "FAILURE"), (ITS_OWN, "SUCCESS")], ids=["of something else", "of what it is about"])
def test_only_a_test_of_what_the_entry_is_about_closes_it_as_satisfied(tmp_path: Path, test: str, status: str) -> None:
    p = Project(tmp_path / "p", {**START, "calc.py": CALC}).planned("RED", "GREEN")
    assert p.red(test)["status"] == "FAILURE"
    said = p.submit(test_command="pytest tests/test_add.py", expectation="FAIL", reply="ALREADY_SATISFIED")
    assert said["status"] == status, said
    assert status == "SUCCESS" or "that the entry is about" in said["reasons"][0]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("test", "required", "answer"),
    [(ITS_OWN, False, "verified"), (ITS_OWN, True, "failed"), (OLD, False, "failed")],
    ids=["is listed", "fails where a RED is required", "fails if it is about something else"],
)
def test_verify_does_not_take_satisfied_already_for_a_red(tmp_path: Path, test: str, required: bool, answer: str) -> None:
    p = Project(tmp_path / "p", {**START, "calc.py": CALC})
    p.write({"tests/test_add.py": test})
    p.git("add", "-A")
    p.git("commit", "-q", "-m", "feat: add numbers")
    git = git_at(p.root)
    step = ClaimedStep("already", "add numbers", git.tree("HEAD"))
    publish(git, REF, {git.head(): written(seal(Claim("r", "pr", (step,)), git.head()))}, {step.tree})
    proof = verify(p.root, "HEAD", 2, {**p.env, "DETENT_EVIDENCE_MUTATION": "warn"}, lambda done, total, what: None, required)
    assert proof.answer == answer, proof.broken
    assert answer != "verified" or [each.says.partition(": ")[2] for each in proof.code_without_red] == [ALREADY]
