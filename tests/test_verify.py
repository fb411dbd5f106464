"""`detent verify`: a branch that a run made proves itself again from a fresh clone, and whatever is changed afterwards is named."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from detent.app.verify_steps import NO_RED
from detent.errors import DetentError
from detent.evidence.outcomes.claims import REF, Claim, ClaimedStep, seal, written
from detent.evidence.runners import Command
from detent.evidence.running.collect import Collector
from detent.evidence.running.suite import Suite
from detent.git.notes import held_trees, publish, push_notes
from tests import cases
from tests.driven import ALONE, CYCLE, GREEN, RED, project, run, scripted
from tests.machine import no_walls
from tests.project import Project
from tests.proofs import EDITED, NOTES, Clone, Made, amended, only, step
from tests.repos import git_at, make_repo, sh

KEPT = "def test_kept():\n    assert True\n"
TIDY = '"""Sums."""\n\n\ndef add(a, b):\n    return a + b\n'
PLAN, REDS, GREENS, REFACTORS, ENDS = range(5)  # the commits of the run
TESTS = "tests/test_add.py"
ADDS = f"{TESTS}::test_add"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """A branch of `detent run`: one cycle, with a refactoring that changes something."""
    folder = tmp_path_factory.mktemp("verify")
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", str(folder / "state"))
        p = project(folder / "p", ALONE + '[sandbox]\nlevel = "bubblewrap"\n', {"tests/test_kept.py": KEPT})
        script = [*CYCLE[:3], {"state": "REFACTOR", "write": {"calc.py": TIDY}, "reply": "tidied"}, CYCLE[4]]
        ran = run(p, "--agent", scripted(p, *script), "--json")
        assert (ran.code, ran.json.get("outcome")) == (0, "done"), ran
        yield Made(p, ran.json["branch"], folder)


# -- what holds ----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_branch_made_by_run_verifies_from_a_fresh_clone(made: Made) -> None:
    clone = made.clone()
    ran = made.cli(clone).run("verify", "--json")
    said = ran.json
    assert (ran.code, said["answer"], said["broken"], said["known_failures"], said["without_red"]) == (0, "verified", [], [], []), ran
    assert [(s["phase"], s["holds"]) for s in said["steps"]] == [(p, True) for p in ("plan", "red", "green", "refactor", "complete")]
    assert [s["commit"] for s in said["steps"]] == [c["hash"] for c in said["commits"]] == clone.commits()
    assert said["trees_tested"] == 6 and "pytest" in said["command"] and said["sandbox"] == ("none" if no_walls() else "bubblewrap")
    assert clone.claim(clone.commits()[REDS]).steps[0].tests == (TESTS,), "a file that cannot be collected yet"
    assert clone.git("status", "--porcelain") == "", "the checkout is as it was"


@pytest.mark.slow
def test_without_the_evidence_the_answer_is_not_verifiable_and_exit_1(made: Made) -> None:
    clone = made.clone(evidence=False)
    ran = made.cli(clone).run("verify")
    assert ran.code == 1, ran
    assert f"evidence: {NOTES} is not here" in ran.out and "NOT VERIFIABLE" in ran.out and "No test was run" in ran.out
    assert f"git fetch origin {NOTES}:{NOTES}" in ran.out


@pytest.mark.slow
def test_the_evidence_keeps_every_tree_through_gc_and_is_written_once(made: Made) -> None:
    clone = made.clone()
    trees = {step.tree for commit in clone.commits() for step in clone.claim(commit).steps}
    clone.git("checkout", "-q", "--detach", "origin/main")
    clone.git("branch", "-q", "-D", made.branch)
    clone.git("update-ref", "-d", f"refs/remotes/origin/{made.branch}")
    clone.git("-c", "gc.reflogExpire=now", "-c", "gc.reflogExpireUnreachable=now", "gc", "-q", "--prune=now")
    assert len(trees) == 5 and held_trees(git_at(clone.root), clone.git("rev-parse", NOTES)) == trees
    assert {clone.git("cat-file", "-t", tree) for tree in trees} == {"tree"}
    clone.git("fsck", "--strict", "--no-dangling")
    before = made.project.git("rev-parse", NOTES)
    mended = made.project.run("repair-notes", "--json")
    assert (mended.json["claims"], made.project.git("rev-parse", NOTES)) == (0, before), mended
    made.project.git("update-ref", "-d", NOTES)
    assert made.project.run("repair-notes", "--json").json["claims"] == 5
    assert made.project.git("rev-parse", f"{NOTES}^{{tree}}") == made.project.git("rev-parse", f"{before}^{{tree}}")


def test_evidence_of_several_people_is_joined_when_it_is_pushed(tmp_path: Path) -> None:
    sh(tmp_path, "git", "init", "-q", "--bare", "hub")
    people = []
    for name in ("one", "two"):
        git = git_at(make_repo(tmp_path / name, {"a": name}))
        git.run("remote", "add", "origin", str(tmp_path / "hub"))
        publish(git, REF, {git.head(): f"of {name}\n"}, {git.tree("HEAD")})
        people.append(git)
    assert [push_notes(git, "origin", REF) for git in people] == ["", ""]
    one, two = people
    assert [push_notes(one, "origin", REF), one.resolve(NOTES)] == ["", two.resolve(NOTES)]
    for git in people:
        assert sh(tmp_path / "hub", "git", "notes", f"--ref={REF}", "show", git.head()).startswith("of ")
    assert held_trees(two, two.resolve(NOTES)) == {git.tree("HEAD") for git in people}


# -- what was changed and does not fit together any more: named before a test is run -----------------------------------------


def amended_files(clone: Clone) -> str:
    (clone.root / "calc.py").write_text("def add(a, b):\n    return 3\n")
    clone.git("commit", "-q", "-a", "--amend", "--no-edit")
    return "HEAD"


def one_more(clone: Clone) -> str:
    (clone.root / "calc.py").write_text("def add(a, b):\n    return 3\n")
    clone.git("commit", "-q", "-a", "-m", "quick fix")
    return "HEAD"


def no_note(clone: Clone) -> str:
    clone.git("notes", f"--ref={NOTES}", "remove", "HEAD~2")
    return "HEAD~2"


def edits(at: int, edit: Callable[[dict[str, object]], object], sealed: bool = False) -> Callable[[Clone], str]:
    def tamper(clone: Clone) -> str:
        commit = clone.commits()[at]
        clone.edit(commit, edit, sealed)
        return commit

    return tamper


def another_tree(clone: Clone) -> str:
    commits = clone.commits()
    other = clone.claim(commits[REFACTORS]).steps[0].tree
    return edits(GREENS, step(tree=other), sealed=True)(clone)


def no_text(clone: Clone) -> str:
    commit = clone.commits()[GREENS]
    clone.put(commit, "yes\n")
    return commit


def of_another_commit(clone: Clone) -> str:
    commits = clone.commits()
    clone.put(commits[GREENS], clone.note(commits[REDS]))
    return commits[GREENS]


def of_another_repository(clone: Clone) -> str:
    commit = clone.commits()[GREENS]
    foreign = git_at(make_repo(clone.root.parent / f"{clone.root.name}-foreign", {"b.py": "b = 1\n"})).tree("HEAD")
    clone.put(commit, written(seal(Claim("tdd-000000", "tdd", (ClaimedStep("green", "b", foreign),)), commit)))
    return commit


MISFITS = {
    "the tip was amended": (amended, "not-verifiable", "claim", "so it was amended, rebased or squashed since"),
    "the tip was amended with other files": (amended_files, "not-verifiable", "claim", "so it was amended, rebased or squashed since"),
    "one more commit": (one_more, "not-verifiable", "claim", "no claim is made for it"),
    "a note was removed": (no_note, "not-verifiable", "claim", "no claim is made for it"),
    "tree edited": (edits(GREENS, step(tree="0" * 40)), "failed", "claim", EDITED),
    "step removed": (edits(GREENS, lambda raw: raw.update(steps=[])), "failed", "claim", EDITED),
    "tests removed": (edits(REDS, step(tests=[])), "failed", "claim", EDITED),
    "command changed": (edits(GREENS, step(command="true")), "failed", "claim", EDITED),
    "counts changed": (edits(GREENS, step(counts=None)), "failed", "claim", EDITED),
    "phase changed": (edits(GREENS, step(phase="refactor")), "failed", "claim", EDITED),
    "a field added": (edits(GREENS, lambda raw: raw.update(approved=True)), "failed", "claim", "the claim cannot be read"),
    "a phase nobody knows": (edits(GREENS, step(phase="trust me")), "failed", "claim", "the claim cannot be read"),
    "no text": (no_text, "failed", "claim", "the claim cannot be read"),
    "sealed: another tree": (another_tree, "failed", "tree", "and the claim ends with"),
    "sealed: no step": (edits(GREENS, lambda raw: raw.update(steps=[]), sealed=True), "failed", "tree", "the claim ends with no step"),
    "the note of another commit": (of_another_commit, "failed", "claim", EDITED),
}  # fmt: skip


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", MISFITS)
def test_what_does_not_fit_together_is_named_and_no_test_is_run(made: Made, name: str) -> None:
    tamper, sort, check, says = MISFITS[name]
    clone = made.clone()
    commit = clone.git("rev-parse", str(tamper(clone)))
    proof = clone.verify()
    only(proof, sort, commit, check, says)
    assert (proof.trees, proof.span.tip) == (0, clone.git("rev-parse", "HEAD"))


def test_a_claim_of_another_repository_names_the_tree_that_is_not_here(made: Made) -> None:
    clone = made.clone()
    commit = of_another_repository(clone)
    broken = clone.verify().broken
    assert {(b.sort, b.commit, b.check) for b in broken} == {("failed", commit, "tree")}
    assert "that the claim names is not here" in broken[0].says and "and the claim ends with" in broken[1].says


# -- what was changed with care: the replay itself says no -------------------------------------------------------------------

ALWAYS = RED.replace("add(1, 2) == 3", "True")
SKIPPED = "import pytest\n\n" + RED.replace("def test_add", "@pytest.mark.skip\ndef test_add")
HOOKED = "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if i.name != 'test_add']\n"
ANYTHING = "class Any:\n    def __eq__(self, other):\n        return True\n\n\ndef add(a, b):\n    return Any()\n"
NO_FIXTURE = "def test_add(two):\n    assert two\n"
FORGED: dict[str, tuple[int, dict[str, str | None], str, str]] = {
    "a RED that passes": (REDS, {TESTS: ALWAYS.replace("from calc import add", "")}, "something_needs_this_step", f"{ADDS} already passes"),
    "a RED that no code can turn green": (REDS, {TESTS: NO_FIXTURE}, "fails_for_the_product", "fails because of the test itself, which no code can fix: "),
    "a RED that loses a test": (REDS, {"tests/test_kept.py": None}, "none_is_lost", "test_kept is gone; tests must not be removed"),
    "a RED that brings code": (REDS, {"calc.py": "x = 1\n"}, "only_tests_changed", "calc.py changed"),
    "a GREEN with a weaker test": (GREENS, {TESTS: ALWAYS}, "tests_frozen", f"{TESTS} was modified"),
    "a GREEN with a hook": (GREENS, {"conftest.py": HOOKED}, "config_frozen", "conftest.py changed"),
    "a RED with a hook": (REDS, {"conftest.py": HOOKED}, "conftest_stays_plain", "conftest.py changes how tests are run (`def pytest_collection_modifyitems(items):`)"),
    "a GREEN whose answer is equal to everything": (GREENS, {"calc.py": ANYTHING}, "turned_tests_fail", f"{ADDS} also passes when it expects something different"),
    "a GREEN that does not pass": (GREENS, {"calc.py": "def add(a, b):\n    return 0\n"}, "red_tests_pass", f"{ADDS} still fails: "),
    "a REFACTOR whose answer is equal to everything": (REFACTORS, {"calc.py": ANYTHING}, "turned_tests_fail", f"{ADDS} also passes"),
    "a REFACTOR with other configuration": (REFACTORS, {"conftest.py": "ONE = 1\n"}, "config_frozen", "conftest.py changed"),
    "a REFACTOR without the test": (REFACTORS, {TESTS: None}, "none_is_lost", f"{ADDS} is gone; tests must not be removed"),
    "a REFACTOR that skips": (REFACTORS, {TESTS: SKIPPED}, "none_is_lost", f"{ADDS} ran before and is skipped now"),
    "a REFACTOR with a weaker test": (REFACTORS, {TESTS: ALWAYS.replace("from calc import add", "")}, "old_tests_still_notice", f"{ADDS} is weakened"),
    "a REFACTOR with an idle test": (REFACTORS, {"tests/test_idle.py": KEPT.replace("kept", "idle")}, "new_tests_can_fail", "was never seen failing"),
    "a PLAN that brings code": (ENDS, {"calc.py": "x = 1\n"}, "only_list_changed", "calc.py changed"),
}  # fmt: skip


LONG = ("a RED that no code can turn green", "a REFACTOR with an idle test", "a PLAN that brings code")


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in FORGED])
def test_a_forger_who_makes_everything_fit_is_found_out_by_the_replay(made: Made, name: str) -> None:
    at, files, check, says = FORGED[name]
    clone = made.clone()
    commit = clone.forge(at, files)[at]
    if at == REDS:
        clone.edit(commit, step(tests=[]), sealed=True)  # nobody would name them
    how = "warn" if check == "turned_tests_fail" else "off"
    only(clone.verify(commit, DETENT_EVIDENCE_MUTATION=how), "failed", commit, check, says)


BESIDE = "\n\ndef take_all(account):\n    return account - account\n"


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["refactor", pytest.param("green", marks=pytest.mark.slow)])
def test_code_that_only_a_word_proves_is_named_and_fails_where_a_red_is_required(made: Made, phase: str) -> None:
    clone = made.clone()
    commit = clone.forge(REFACTORS, {"calc.py": TIDY + BESIDE})[REFACTORS]
    clone.edit(commit, step(phase=phase), sealed=True)
    proof = clone.verify(commit, DETENT_EVIDENCE_MUTATION="warn")
    assert proof.answer == "verified" and [(b.commit, b.says) for b in proof.code_without_red] == [(commit, f"calc.py: take_all: {NO_RED}")]
    only(clone.verify(commit, require_red=True), "failed", commit, "code_without_red", "calc.py: take_all")
    ran = made.cli(clone).run("verify", commit, DETENT_EVIDENCE_MUTATION="warn")
    assert ran.code == 0 and f"Not proved by a RED: {commit[:12]} step 1 {phase}" in ran.out, ran


@pytest.mark.slow
def test_what_comes_after_a_red_is_a_green_whatever_it_is_called(made: Made) -> None:
    clone = made.clone()
    red, commit = clone.forge(GREENS, {TESTS: ALWAYS})[REDS : GREENS + 1]
    clone.edit(commit, step(phase="work"), sealed=True)
    only(clone.verify(f"{red}^..{commit}"), "failed", commit, "tests_frozen", f"{TESTS} was modified")


@pytest.mark.slow
def test_a_refactoring_of_tested_code_needs_no_red_of_its_own(made: Made) -> None:
    clone = made.clone()
    proof = clone.verify(clone.commits()[REFACTORS], require_red=True)
    assert (proof.answer, proof.code_without_red) == ("verified", ()), proof.broken


@pytest.mark.slow
def test_a_claim_cannot_make_a_failure_a_known_one_nor_name_other_tests(made: Made) -> None:
    clone = made.clone()
    commits = clone.forge(GREENS, {"calc.py": "def add(a, b):\n    return 0\n"})
    for commit in commits:
        clone.edit(commit, lambda raw: raw.update(baseline=[ADDS, TESTS]), sealed=True)
    proof = clone.verify(f"{commits[REDS]}^..{commits[GREENS]}")
    only(proof, "failed", commits[GREENS], "red_tests_pass", f"{ADDS} still fails: ")
    assert proof.known == ()
    clone.edit(commits[REDS], step(tests=[TESTS, f"{TESTS}::test_more"]), sealed=True)
    only(clone.verify(commits[REDS]), "failed", commits[REDS], "tests_are_as_claimed", "the claim names tests/test_add.py::test_more")


@pytest.mark.slow
def test_the_command_comes_from_the_base_and_neither_from_a_claim_nor_from_the_branch(made: Made) -> None:
    clone = made.clone()
    lax = f'[test]\ncommand = "python -m pytest --deselect {ADDS}"\n[git]\nremote = ""\n'
    commit = clone.forge(REFACTORS, {"detent.toml": lax, "calc.py": "def add(a, b):\n    return 0\n"})[REFACTORS]
    clone.edit(commit, step(command=f"python -m pytest --deselect {ADDS}"), sealed=True)
    proof = clone.verify(commit)
    only(proof, "failed", commit, "nothing_broke", f"{ADDS} passed before and fails now: ")
    assert "--deselect" not in proof.command


@pytest.mark.slow
def test_what_lies_in_the_checkout_and_is_not_committed_is_not_looked_at(made: Made) -> None:
    clone = made.clone()
    (clone.root / "detent.toml").write_text('[test]\ncommand = "python -m pytest -p nothing"\n')
    (clone.root / "conftest.py").write_text("raise SystemExit(1)\n")
    (clone.root / TESTS).unlink()
    proof = clone.verify(clone.commits()[GREENS])
    assert (proof.answer, proof.trees, "nothing" in proof.command) == ("verified", 2, False), proof.broken


@pytest.mark.slow
def test_a_range_that_ends_between_red_and_green_does_not_hold(made: Made) -> None:
    clone = made.clone()
    commits = clone.commits()
    only(clone.verify(f"origin/main..{commits[REDS]}"), "failed", commits[REDS], "ends_green", f"{TESTS} fails where the range ends")
    assert clone.verify(commits[REDS]).answer == "verified", "one commit by itself may be a RED"


# -- what cannot be told -------------------------------------------------------------------------------------------------------


def test_where_the_runner_is_missing_the_answer_is_could_not_verify_and_exit_2(made: Made, tmp_path: Path) -> None:
    clone = made.clone()
    (tmp_path / "git").symlink_to(sh(tmp_path, "which", "git"))
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python3").chmod(0o755)
    ran = made.cli(clone).run("verify", clone.commits()[GREENS], "--json", PATH=str(tmp_path))
    assert (ran.code, ran.json["answer"], ran.json["exit_code"]) == (2, "could-not-verify", 2), ran
    assert {b["sort"] for b in ran.json["broken"]} == {"could-not-verify"}


def test_a_shallow_clone_an_unknown_commit_and_an_empty_range_are_told(made: Made, tmp_path: Path) -> None:
    sh(tmp_path, "git", "clone", "-q", "--depth=1", "-b", made.branch, f"file://{made.origin}", "shallow")
    p = Project(tmp_path / "shallow", made=True)
    ran = p.run("verify", "--json")
    assert (ran.code, "is shallow" in ran.json["error"], "unshallow" in ran.json["hint"]) == (2, True, True), ran
    clone = made.clone()
    for span, says in (("nowhere", "no commit 'nowhere'"), ("HEAD..HEAD", "there is no commit in HEAD..HEAD"), ("HEAD~5", "has no parent")):
        with pytest.raises(DetentError, match=says):
            clone.verify(span)


# -- `pr`: many steps in one commit, offered to a person who merges it -------------------------------------------------------


@pytest.fixture(scope="module")
def offered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """A pull request, squashed, pushed to a remote together with its evidence."""
    folder = tmp_path_factory.mktemp("verify-pr")
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", str(folder / "state"))
        p = cases.project(folder / "p", '[git]\nmerge = "pull-request"\npr_command = "true"\n')
        sh(folder, "git", "init", "-q", "--bare", "-b", "main", "hub")
        p.git("remote", "add", "origin", str(folder / "hub"))
        p.git("push", "-q", "origin", "main")
        p.marked()
        assert p.task()["state"] == "MERGING_BRANCH"
        yield Made(p, "feat/add-numbers", folder, folder / "hub")


@pytest.mark.slow
def test_a_squashed_pull_request_is_pushed_with_its_evidence_and_verifies_also_once_it_is_merged(offered: Made) -> None:
    clone = offered.clone()
    proof = clone.verify()
    assert (proof.answer, [link.phase for link in proof.links]) == ("verified", ["red", "green", "entry"]), proof.broken
    squashed = clone.commits()[0]
    assert [s.phase for s in clone.claim(squashed).steps] == ["red", "green"]
    clone.git("checkout", "-q", "main")
    clone.git("merge", "-q", "--no-ff", "-m", "Merge", f"origin/{offered.branch}")
    landed = clone.verify()
    assert (landed.answer, [link.phase for link in landed.links]) == ("verified", ["red", "green", "entry", "merge"]), landed.broken
    (clone.root / "calc.py").write_text(GREEN + "\n\nDOOR = 1\n")
    clone.git("commit", "-q", "-a", "--amend", "--no-edit")
    only(clone.verify(), "not-verifiable", clone.git("rev-parse", "HEAD"), "merge", "it differs from git's own merge of its parents")


@pytest.mark.slow
def test_steps_of_a_pull_request_cannot_be_left_out_or_swapped(offered: Made) -> None:
    clone = offered.clone()
    squashed, marked = clone.commits()
    whole = clone.note(squashed)
    clone.edit(squashed, lambda raw: raw["steps"].pop(0), sealed=True)
    only(clone.verify(squashed), "failed", squashed, "tests_frozen", f"{TESTS} was added")
    clone.put(squashed, whole)
    base = clone.git("rev-parse", f"{squashed}^{{tree}}")
    clone.edit(squashed, step(tree=base, tests=[]), sealed=True)
    only(clone.verify(squashed), "failed", squashed, "only_tests_changed", "calc.py changed")
    clone.put(squashed, whole)
    clone.edit(marked, step(path="calc.py"), sealed=True)
    only(
        clone.verify(marked), "failed", marked, "only_the_plan_changed", "calc.py is not the plan: at the start of the range that is docs/"
    )


# -- long ones -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_that_went_back_verifies_as_a_whole(tmp_path: Path) -> None:
    from tests.feature import NONE, at

    f = at("GREEN", files={"detent.toml": '[git]\nremote = ""\n'})
    f.lay({"calc.py": GREEN}).submit()
    first = f.git("rev-parse", "HEAD")
    went = f.cli("rollback", f.git("rev-parse", "HEAD~1")[:12], "--json")
    f.run_id = went.json["run"]
    assert f.lay({"calc.py": TIDY}).submit().state == "REFACTOR"
    assert f.submit().state == "PLAN"
    f.lay({"test-list.md": "# Sums\n\n- [x] adds two numbers\n"})
    f.person("steer", note="subtracting is not wanted")
    assert f.submit(NONE).state == "LANDING", f.run.last_error
    assert f.app().door.next(f.run_id).state == "COMPLETE"
    ran = f.cli("verify", "--json")
    assert (ran.code, ran.json["answer"]) == (0, "verified"), ran
    assert [s["phase"] for s in ran.json["steps"]] == ["plan", "red", "green", "refactor", "complete"] and first not in str(ran.json)


def finished(p: Project) -> Project:
    """From the review to where a person merges."""
    p.write({"FINDINGS.json": "[]"})
    assert p.task()["state"] == "AWAITING_FINALIZATION"
    p.git("reset", "-q", "--soft", "main")
    p.git("commit", "-q", "-m", "feat: add numbers")
    assert p.submit(commit_hash=p.git("rev-parse", "HEAD"))["state"] == "FINALIZE_COMPLETE"
    p.mark_done()
    assert p.submit()["state"] == "PLAN_UPDATED"
    return p


@pytest.mark.slow
def test_a_pull_request_with_a_scope_reduction_claims_what_led_to_its_commit_and_verifies(tmp_path: Path) -> None:
    from tests.cases import pass_all
    from tests.test_pr_surroundings import EARLY, pass_all_of, replanned

    p = replanned(cases.project(tmp_path / "p", EARLY))
    p.write({"tests/test_zero.py": "from calc import add\n\n\ndef test_zero():\n    assert add(1, 0) == 1\n"})
    assert p.submit(test_command="pytest tests/test_zero.py", expectation="FAIL")["status"] == "NEEDS_ANALYSIS"
    p.submit(analysis_decision="SUCCESS")
    pass_all_of(p, "tests/test_zero.py")
    assert p.red()["status"] == "NEEDS_ANALYSIS"
    p.submit(analysis_decision="SUCCESS")
    pass_all(p)
    assert p.task()["state"] == "CODE_REVIEW"
    ran = finished(p).run("verify", "--json")
    assert (ran.code, ran.json["answer"]) == (0, "verified"), ran
    assert [s["phase"] for s in ran.json["steps"]] == ["red", "green", "verify", "green", "entry"], (
        "the RED that was given up is not claimed"
    )


@pytest.mark.slow
def test_what_a_person_took_over_without_proof_is_not_verifiable(tmp_path: Path) -> None:
    p = cases.project(tmp_path / "p")
    p.write({"calc.py": "def minus(a, b):\n    return a - b\n"})
    assert p.run("start", "--adopt").code == 0
    p.reddened()
    assert p.green((p.root / "calc.py").read_text() + "\n\n" + GREEN)["status"] == "SUCCESS"
    assert p.task()["state"] == "CODE_REVIEW"
    ran = finished(p).run("verify", "--json")
    assert (ran.code, ran.json["answer"]) == (1, "not-verifiable"), ran
    assert [(b["check"], "calc.py was uncommitted when the run started" in b["says"]) for b in ran.json["broken"]] == [
        ("nothing_changed", True)
    ]


def test_files_that_are_laid_over_a_tree_are_never_written_through_its_links(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "mine").write_text("mine")
    root = make_repo(tmp_path / "p", {"a": "a"})
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "link").symlink_to(tmp_path / "outside" / "mine")
    sh(root, "git", "add", "-A")
    sh(root, "git", "commit", "-q", "-m", "links")
    git = git_at(root)
    suite = Suite(Command(("sh", "-c", "cat out/b link a")), 30, os.environ["PATH"])
    report = Collector(git, suite, "r", os.environ).clean(git.tree("HEAD"), lambda: True, (), {"out/b": b"laid", "link": b"-over-"})
    assert report.output.startswith("laid-over-a")
    assert [f.name for f in (tmp_path / "outside").iterdir()] == ["mine"] and (tmp_path / "outside" / "mine").read_text() == "mine"


def test_the_help_teaches_and_the_docs_name_every_field_and_answer() -> None:
    from detent.interfaces.cli.verify import CODES

    text = (Path(__file__).parent.parent / "docs" / "verify.md").read_text("utf-8")
    p = Project(Path.cwd(), made=True)
    said = p.run("verify", "--help").out
    for word in ("RED fails again", "origin/main..HEAD", "refs/notes/detent-evidence", "Exit 0 only if everything holds"):
        assert word in " ".join(said.split())
    for word in (*CODES, "without_red", "known_failures", "trees_tested", "from_tree", "holds", "fetch-depth: 0", "GIT_DEPTH", NOTES):
        assert word in text, word
