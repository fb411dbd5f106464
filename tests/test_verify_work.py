"""`detent verify` where work was proved as a whole: the plain way of `execute`, and the sessions of `pipeline`. No RED was seen, and it says so."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from detent.app.verify_steps import NO_RED
from tests.executions import BRANCH, CODE, CONFIG, TEST, WORKS, Till
from tests.proofs import EDITED, NOTES, Clone, Made, amended, only, step
from tests.sessions import CODE_ADD, YES, session, till

KEPT = "from calc import one\n\n\ndef test_one():\n    assert one() == 1\n"
ONE = "def one():\n    return 1\n"
BOTH = f"{ONE}\n\n{CODE}"
ADDS = "tests/test_add.py::test_add"


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """The branch of an item, done the plain way and pushed."""
    folder = tmp_path_factory.mktemp("verify-execute")
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", str(folder / "state"))
        shop = Till(folder, CONFIG, files={"calc.py": ONE, "tests/test_one.py": KEPT})
        ran = shop.execute(shop.file(), {**WORKS, "write": {"calc.py": BOTH, "tests/test_add.py": TEST}})
        assert (ran.code, ran.json["state"]) == (0, "COMPLETED"), ran
        yield Made(shop.project, BRANCH, folder, shop.remote)


@pytest.fixture(scope="module")
def lean(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """A lean session, offered as a branch."""
    folder = tmp_path_factory.mktemp("verify-session")
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", str(folder / "state"))
        p = till(folder / "p", "[git]\nremote = ''\nmerge = 'branch'\n")
        with session(p, lean=True) as s:
            assert s.go()["state"] == "LANDING"
            yield Made(p, s.run.data.branch.removeprefix("refs/heads/"), folder)


# -- what holds ----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_branch_of_a_plain_execution_verifies_from_a_fresh_clone_and_says_what_no_red_was_seen_for(executed: Made) -> None:
    clone = executed.clone()
    said = (ran := executed.cli(clone).run("verify", "--require-red", "--json")).json
    assert (ran.code, said["answer"], said["broken"], said["code_without_red"]) == (0, "verified", [], []), ran
    assert [(s["step"], s["phase"], s["holds"], s["run"]) for s in said["steps"]] == [
        ("1 work: Add prices", "work", True, "execute-it-1-1")
    ]
    assert said["without_red"] == [ADDS] and said["trees_tested"] == 2
    claimed = clone.claim(clone.commits()[0]).steps[0]
    assert (claimed.counts.passed if claimed.counts else 0, "pytest" in claimed.command) == (3, True)


@pytest.mark.slow
def test_a_session_verifies_from_a_fresh_clone_by_what_its_tasks_proved(lean: Made) -> None:
    clone = lean.clone()
    ran = lean.cli(clone).run("verify", "--require-red")
    assert ran.code == 0 and f"  ok  {clone.commits()[0][:12]}  T-001: add  (work)" in ran.out and "VERIFIED" in ran.out, ran
    assert f"New or changed tests that came without a RED step: {ADDS}\n" in ran.out and "Not proved by a RED" not in ran.out
    claim = clone.claim(clone.commits()[0])
    assert (claim.workflow, [(s.phase, s.about) for s in claim.steps]) == ("task", [("work", "add")])
    only(lean.clone(evidence=False).verify(), "not-verifiable", clone.commits()[-1], "evidence", f"{NOTES} is not here")


@pytest.mark.slow
def test_the_claims_of_an_execution_and_of_a_session_are_written_anew_from_the_journal(executed: Made, lean: Made) -> None:
    for made in (executed, lean):
        p = made.project
        before = p.git("rev-parse", f"{NOTES}^{{tree}}")
        assert p.run("repair-notes", "--json").json["claims"] == 0
        p.git("update-ref", "-d", NOTES)
        assert p.run("repair-notes", "--json").json["claims"] == 1
        assert p.git("rev-parse", f"{NOTES}^{{tree}}") == before


# -- what was changed since is named ---------------------------------------------------------------------------------------


def amended_test(clone: Clone) -> str:
    (clone.root / "tests/test_add.py").write_text(TEST.replace("add(1, 2) == 3", "True"))
    clone.git("commit", "-q", "-a", "--amend", "--no-edit")
    return "HEAD"


def one_less(clone: Clone) -> str:
    clone.git("rm", "-q", "tests/test_add.py")
    clone.git("commit", "-q", "-m", "tidy up")
    return "HEAD"


def edited(**fields: object) -> Callable[[Clone], str]:
    def tamper(clone: Clone) -> str:
        clone.edit(clone.commits()[0], step(**fields), sealed=False)
        return clone.commits()[0]

    return tamper


def swapped(clone: Clone) -> str:
    tree = clone.tree("HEAD", {"calc.py": "def add(a, b):\n    return 3\n"})
    clone.edit(commit := clone.commits()[0], step(tree=tree), sealed=True)
    return commit


MISFITS = {
    "amended": (amended, "not-verifiable", "claim", "so it was amended, rebased or squashed since"),
    "a weakened test": (amended_test, "not-verifiable", "claim", "so it was amended, rebased or squashed since"),
    "a deleted test": (one_less, "not-verifiable", "claim", "no claim is made for it"),
    "an edited note": (edited(about="another"), "failed", "claim", EDITED),
    "another phase": (edited(phase="green"), "failed", "claim", EDITED),
    "a swapped tree": (swapped, "failed", "tree", "and the claim ends with"),
}  # fmt: skip


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", MISFITS)
@pytest.mark.parametrize("of", ["executed", "lean"])
def test_whatever_is_changed_afterwards_is_named(of: str, name: str, request: pytest.FixtureRequest) -> None:
    made: Made = request.getfixturevalue(of)
    tamper, sort, check, says = MISFITS[name]
    clone = made.clone()
    commit = clone.git("rev-parse", tamper(clone))
    only(clone.verify(), sort, commit, check, says)


# -- who makes everything fit is found out by the replay ---------------------------------------------------------------------

SKIPPED = KEPT.replace("\ndef test_one", "import pytest\n\n\n@pytest.mark.skip\ndef test_one")
WEAKENED = KEPT.replace("one() == 1", "True")
FORGED: dict[str, tuple[dict[str, str | None], str, str]] = {
    "a test that is lost": ({"tests/test_one.py": None}, "none_is_lost", "tests/test_one.py::test_one is gone; tests must not be removed"),
    "a test that is skipped": ({"tests/test_one.py": SKIPPED}, "none_is_lost", "tests/test_one.py::test_one ran before and is skipped now"),
    "a test that fails": ({"calc.py": f"{ONE}\n\ndef add(a, b):\n    return 0\n"}, "nothing_broke", f"{ADDS} fails: "),
    "an older test that is weakened": ({"tests/test_one.py": WEAKENED}, "old_tests_still_notice", "tests/test_one.py::test_one is weakened"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", [n if n == "a test that is lost" else pytest.param(n, marks=pytest.mark.slow) for n in FORGED])
def test_work_that_loses_skips_or_breaks_a_test_does_not_hold(executed: Made, name: str) -> None:
    files, check, says = FORGED[name]
    clone = executed.clone()
    commit = clone.forge(0, files)[0]
    proof = clone.verify(DETENT_EVIDENCE_MUTATION="off")
    only(proof, "failed", commit, check, says)
    rewritten = "tests/test_one.py:5" in proof.without_red
    assert rewritten == (files.get("tests/test_one.py") == WEAKENED), "what an older test expects no more is named by its place"


@pytest.mark.slow
def test_a_task_that_loses_a_test_does_not_hold(lean: Made) -> None:
    clone = lean.clone()
    commit = clone.forge(0, {"tests/test_start.py": None})[0]
    only(clone.verify(DETENT_EVIDENCE_MUTATION="off"), "failed", commit, "none_is_lost", "tests/test_start.py::test_start is gone")


HOOKED = "def pytest_collection_modifyitems(items):\n    items.sort(key=str)\n"
ANYTHING = f"class Any:\n    def __eq__(self, other):\n        return True\n\n\n{ONE}\n\ndef add(a, b):\n    return Any()\n"
DOUBTS: dict[str, tuple[dict[str, str | None], str, str]] = {
    "code that no test is about": ({"calc.py": f"{BOTH}\n\ndef take_all(a):\n    return a - a\n"}, "code_without_red", f"calc.py: take_all: {NO_RED}"),
    "a hook": ({"conftest.py": HOOKED}, "tests_run_as_before", "conftest.py changes how tests are run (`def pytest_collection_modifyitems(items):`)"),
    "an answer that is equal to everything": ({"calc.py": ANYTHING}, "turned_tests_fail", f"{ADDS} also passes when it expects something different"),
}  # fmt: skip
LONG = ("a hook", "an answer that is equal to everything")


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in DOUBTS])
def test_what_no_red_was_seen_for_is_listed_and_fails_where_a_red_is_required(executed: Made, name: str) -> None:
    files, check, says = DOUBTS[name]
    clone = executed.clone()
    commit = clone.forge(0, files)[0]
    proof = clone.verify(require_red=True, DETENT_EVIDENCE_MUTATION="warn")
    assert (proof.answer, proof.broken) == ("failed", proof.code_without_red) and {b.commit for b in proof.broken} == {commit}
    assert any(b.check == check and says in b.says for b in proof.broken), proof.broken
    assert proof.without_red == (ADDS,)
    if name in LONG:
        listed = clone.verify(DETENT_EVIDENCE_MUTATION="warn")
        assert (listed.answer, listed.code_without_red) == ("verified", proof.broken)


# -- long ones -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_full_session_verifies_once_it_is_landed_with_its_tasks_and_the_commit_of_its_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    p = till(tmp_path / "p")
    with session(p, policies=YES) as s:
        assert s.go()["state"] == "DONE"
    clone = Clone(p.root, tmp_path / "c", "main", p.env)
    proof = clone.verify(require_red=True)
    named = [link.name for link in proof.links]
    assert (proof.answer, named[:3]) == ("verified", ["1 work: add", "1 work: subtract", "1 work: the session as a whole"]), proof.broken
    assert [link.phase for link in proof.links[3:]] == ["merge"]
    assert clone.git("diff-tree", "-r", "--name-only", "HEAD^2~", "HEAD^2") == "README.md", "no test speaks for it; they pass as before"
    assert CODE_ADD.rstrip() in clone.git("show", "HEAD:calc.py")
