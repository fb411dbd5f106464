"""Calls that do not fit are refused: exit 1, nothing ran, nothing counted, and the answer says what is possible."""

from pathlib import Path
from typing import Any

import pytest

from tests.cases import counts, project, runs, standing
from tests.project import PLAN, RED, Project

QUICK_DOORS = "[debug]\nhypothesize = 1\ninstrument = 1\nreduce_scope = 2\nescalate = 3\n"
FITTING = {"test_command": "pytest tests/test_add.py", "expectation": "FAIL"}

WRONG_CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "wrong expectation": ({**FITTING, "expectation": "PASS"}, "RED step expects FAIL"),
    "unknown expectation": ({**FITTING, "expectation": "fail"}, "RED step expects FAIL"),
    "missing expectation": ({"test_command": "pytest tests/test_add.py"}, "expectation is missing"),
    "summary only": ({}, "test_command is missing"),
    "blank command": ({**FITTING, "test_command": "  "}, "test"),
    "true": ({**FITTING, "test_command": "true"}, "pytest"),
    "false": ({**FITTING, "test_command": "false"}, "pytest"),
    "echo": ({**FITTING, "test_command": "echo 1 failed"}, "pytest"),
    "shell chain": ({**FITTING, "test_command": "pytest tests && false"}, "chains commands"),
    "shell alternative": ({**FITTING, "test_command": "pytest tests || true"}, "chains commands"),
    "second command": ({**FITTING, "test_command": "pytest tests; false"}, "chains commands"),
    "pipe": ({**FITTING, "test_command": "pytest tests | tee log"}, "chains commands"),
    "redirect": ({**FITTING, "test_command": "pytest tests > log"}, "redirects"),
    "command substitution": ({**FITTING, "test_command": "pytest $(cat files)"}, "shell"),
    "second line": ({**FITTING, "test_command": "pytest tests\nfalse"}, "line break"),
    "variable": ({**FITTING, "test_command": "PYTEST_ADDOPTS=-x pytest"}, "environment variable"),
    "another program": ({**FITTING, "test_command": "make test"}, "pytest"),
    "another interpreter's words": ({**FITTING, "test_command": "python3 -c 'raise SystemExit(1)'"}, "pytest"),
    "shell": ({**FITTING, "test_command": "sh -c pytest"}, "pytest"),
    "option that changes what is judged": ({**FITTING, "test_command": "pytest --collect-only"}, "--collect-only"),
    "another configuration": ({**FITTING, "test_command": "pytest -c other.ini"}, "-c"),
    "a plugin": ({**FITTING, "test_command": "pytest -p evil"}, "-p"),
    "a path outside": ({**FITTING, "test_command": "pytest ../elsewhere"}, "leaves the project"),
    "analysis out of turn": ({"analysis_decision": "SUCCESS"}, "is not possible in EXECUTING_TDD"),
    "analysis beside a fitting call": ({**FITTING, "analysis_decision": "SUCCESS"}, "is not possible in EXECUTING_TDD"),
    "commit hash instead of evidence": ({"commit_hash": "0123456789"}, "test_command is missing"),
    "no pull request left, in the middle of one": ({"no_pr_left": True}, "test_command is missing"),
}


def refused(p: Project, before: dict[str, Any], verdict: dict[str, Any], says: str, status: str = "REFUSED") -> None:
    """The verdict is a refusal with this sentence, and nothing else is different."""
    assert verdict["status"] == status, verdict
    assert verdict["exit"] == 1
    assert any(says in reason for reason in verdict["reasons"]), verdict["reasons"]
    assert verdict["instruction"]
    assert verdict["evidence"] is None
    assert standing(p) == before


@pytest.mark.slow
def test_calls_that_do_not_fit_the_step_are_refused_and_nothing_runs(tmp_path: Path) -> None:
    p = project(tmp_path / "p").planned()
    p.write({"tests/test_add.py": RED})
    before, ran, kept = standing(p), runs(p), sorted((p.root / ".git/detent/evidence").glob("*.json"))
    for name, (call, says) in WRONG_CALLS.items():
        verdict = p.submit(**call)
        assert verdict["status"] == "REFUSED", (name, verdict)
        assert verdict["exit"] == 1
        assert any(says in reason for reason in verdict["reasons"]), (name, verdict["reasons"])
        assert "submit_work" in verdict["instruction"]
    assert standing(p) == before
    assert runs(p) == ran
    assert sorted((p.root / ".git/detent/evidence").glob("*.json")) == kept
    assert p.submit(**FITTING)["status"] == "NEEDS_ANALYSIS"


def test_every_fault_of_a_call_is_a_sentence_of_its_own(tmp_path: Path) -> None:
    p = project(tmp_path / "p").planned()
    reasons = p.submit(test_command="true", expectation="PASS")["reasons"]
    assert len(reasons) == 2
    assert "expects FAIL" in reasons[0]
    assert "`true`" in reasons[1]


def test_a_green_step_refuses_the_expectation_of_a_red_one(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened()
    before = standing(p)
    refused(p, before, p.submit(**FITTING), "expects PASS")
    refused(p, before, p.submit(test_command="pytest tests/test_add.py"), "expectation is missing")


def test_debugging_refuses_words_alone_and_keeps_the_counter(tmp_path: Path) -> None:
    p = project(tmp_path / "p").debugging()
    before = standing(p)
    assert before["counts"] == {"debug": 1}
    refused(p, before, p.submit(), "words alone are not evidence")
    refused(p, before, p.submit(analysis_decision="SUCCESS"), "is not possible in DEBUGGING")
    refused(p, before, p.submit(test_command="true", expectation="PASS"), "`true`")


def test_an_analysis_needs_a_decision_and_the_tree_it_is_about(tmp_path: Path) -> None:
    p = project(tmp_path / "p").planned()
    assert p.red()["state"] == "NEEDS_ANALYSIS"
    before = standing(p)
    refused(p, before, p.submit(), "is not possible in NEEDS_ANALYSIS")
    refused(p, before, p.submit(**FITTING), "is not possible in NEEDS_ANALYSIS")
    refused(p, before, p.submit(analysis_decision="MAYBE"), "is not possible in NEEDS_ANALYSIS")
    p.write({"tests/test_add.py": RED + "\n# another thought\n"})
    refused(p, before, p.submit(analysis_decision="SUCCESS"), "the tree changed")
    p.write({"tests/test_add.py": RED})
    assert p.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"


@pytest.mark.slow
def test_the_hatches_are_locked_until_enough_attempts_failed(tmp_path: Path) -> None:
    p = project(tmp_path / "p", QUICK_DOORS).debugging()
    before = standing(p)
    for argv, left in (
        (("request-scope-reduction",), "locked until 1 more failed attempt"),
        (("escalate-for-external-help", "--report", "-"), "locked until 2 more failed attempts"),
    ):
        ran = p.run(*argv, "--json", stdin="# Help\n")
        refused(p, before, {**ran.json, "exit": ran.code}, left, "LOCKED")


def test_the_hatches_do_not_fit_outside_of_debugging(tmp_path: Path) -> None:
    p = project(tmp_path / "p", QUICK_DOORS).planned()
    before = standing(p)
    for argv, call in ((("request-scope-reduction",), "scope_reduction"), (("escalate-for-external-help", "--report", "-"), "escalate")):
        ran = p.run(*argv, "--json", stdin="# Help\n")
        refused(p, before, {**ran.json, "exit": ran.code}, f"{call} is not possible in EXECUTING_TDD")


PEOPLE: dict[str, tuple[str, ...]] = {
    "resume": ("resume",),
    "resume with guidance": ("resume", "--guidance", "go on"),
    "approve": ("answer", "REVIEW", "approve"),
    "another round": ("answer", "REVIEW", "another-round"),
    "finish": ("answer", "PLAN", "finish"),
    "an answer nobody asked for": ("answer", "WHATEVER", "yes"),
    "a machine's word": ("answer", "REVIEW", "merged"),
    "a machine's other word": ("answer", "PLAN", "none-left"),
}


@pytest.mark.slow
def test_people_are_refused_what_the_run_does_not_wait_for(tmp_path: Path) -> None:
    p = project(tmp_path / "p").planned()
    before = standing(p)
    for name, argv in PEOPLE.items():
        ran = p.run(*argv, "--json")
        assert (ran.json["status"], ran.code) == ("REFUSED", 1), (name, ran)
        assert ran.json["instruction"], name
    assert standing(p) == before


@pytest.mark.slow
def test_an_answer_must_name_the_decision_that_is_open(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    p.task()
    assert p.submit(no_pr_left=True)["status"] == "HALTED"
    before = standing(p)
    for argv in (
        ("answer", "REVIEW", "approve"),
        ("answer", "REVIEW", "finish"),
        ("answer", "PLAN", "approve"),
        ("answer", "PLAN", "resume"),
    ):
        ran = p.run(*argv, "--json")
        assert (ran.json["status"], ran.code) == ("REFUSED", 1), (argv, ran)
    assert standing(p) == before


def test_agents_are_refused_while_a_person_is_asked(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    p.task()
    assert p.submit(no_pr_left=True)["status"] == "HALTED"
    before = standing(p)
    for call in ({}, FITTING, {"analysis_decision": "SUCCESS"}, {"no_pr_left": True}):
        refused(p, before, p.submit(**call), "is not possible in HALTED")


def test_nothing_is_taken_after_the_end(tmp_path: Path) -> None:
    p = project(tmp_path / "p").planned()
    assert p.run("abort").code == 0
    for argv in (("resume",), ("abort",), ("steer", "left")):
        ran = p.run(*argv, "--json")
        assert (ran.json["status"], ran.code) == ("REFUSED", 1), argv
    verdict = p.submit(**FITTING)
    assert (verdict["status"], verdict["exit"], verdict["allowed_actions"]) == ("REFUSED", 1, [])
    assert any("The run has ended" in reason for reason in verdict["reasons"])
    assert p.task()["state"] == "ABORTED"


def test_a_review_without_findings_is_refused_and_no_error(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reviewing()
    before = standing(p)
    refused(p, before, p.submit(), "is not possible in CODE_REVIEW")
    refused(p, before, p.submit(test_command="pytest", expectation="PASS"), "is not possible in CODE_REVIEW")


SQUASHES: dict[str, tuple[tuple[tuple[str, ...], ...], str]] = {
    "not squashed": ((("commit", "-q", "--allow-empty", "-m", "feat: add numbers"),), "2 commits ahead of its base"),
    "another message": ((("reset", "-q", "--soft", "main"), ("commit", "-q", "-m", "wip")), "must be the title"),
    "another tree": (
        (("reset", "-q", "--hard", "main"), ("commit", "-q", "--allow-empty", "-m", "feat: add numbers")),
        "differs from the reviewed one",
    ),
    "another branch": ((("switch", "-q", "main"),), "git switch feat/add-numbers"),
}


@pytest.mark.parametrize("name", SQUASHES)
def test_a_squash_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    p = project(tmp_path / "p").finalizing()
    commands, says = SQUASHES[name]
    for command in commands:
        p.git(*command)
    before = standing(p)
    refused(p, before, p.submit(commit_hash=p.git("rev-parse", "HEAD")), says)


def test_a_commit_hash_must_be_the_head(tmp_path: Path) -> None:
    p = project(tmp_path / "p").finalizing()
    p.git("reset", "-q", "--soft", "main")
    p.git("commit", "-q", "-m", "feat: add numbers")
    before = standing(p)
    refused(p, before, p.submit(commit_hash=p.git("rev-parse", "main")), "but HEAD is")
    refused(p, before, p.submit(commit_hash="feat"), "but HEAD is")
    assert p.submit(commit_hash=p.git("rev-parse", "--short", "HEAD"))["state"] == "FINALIZE_COMPLETE"


def test_a_plan_update_that_is_none_is_refused(tmp_path: Path) -> None:
    p = project(tmp_path / "p").squashed()
    plan, text = p.root / "docs/Plan_Doc/Active_Plan.md", (p.root / "docs/Plan_Doc/Active_Plan.md").read_text()
    before = standing(p)
    refused(p, before, p.submit(), "does not carry [DONE]")
    plan.write_text(text.replace("- feat: add numbers\n", "- feat: add numbers [DONE]\n"))
    refused(p, before, p.submit(), "does not carry [DONE]")
    plan.write_text(text.replace("- feat: add numbers\n", "- feat: add numbers [DONE] 1234567\n"))
    refused(p, before, p.submit(), "does not carry [DONE]")
    plan.write_text(text.replace("- feat: subtract numbers\n", f"- feat: subtract numbers [DONE] {before['head'][:10]}\n"))
    refused(p, before, p.submit(), "does not carry [DONE]")
    plan.write_text(text)
    p.mark_done()
    p.write({"calc.py": "# and another thing\n"})
    refused(p, before, p.submit(), "calc.py changed too")
    p.git("checkout", "-q", "--", "calc.py")
    plan.write_text(plan.read_text().replace("subtract", "multiply"))
    refused(p, before, p.submit(), "only")
    plan.write_text(text)
    p.mark_done()
    assert p.submit()["state"] == "PLAN_UPDATED"


@pytest.mark.slow
def test_of_two_entries_that_share_words_only_the_one_that_is_meant_can_be_marked(tmp_path: Path) -> None:
    p = project(tmp_path / "p", files={PLAN: "# Plan\n\n- feat: add numbers and words\n- feat: add numbers\n"}).squashed()
    before, head = standing(p), p.git("rev-parse", "HEAD")[:10]
    text = (p.root / PLAN).read_text()
    p.write({PLAN: text.replace("and words\n", f"and words [DONE] {head}\n")})
    refused(p, before, p.submit(), "the plan's entry for 'feat: add numbers' does not carry [DONE]")
    p.write({PLAN: text.replace("and words", "and more").replace("- feat: add numbers\n", f"- feat: add numbers [DONE] {head}\n")})
    refused(p, before, p.submit(), "changed in other lines too; the plan update may change only the line of 'feat: add numbers'")
    p.write({PLAN: text})
    p.mark_done()
    assert p.submit()["state"] == "PLAN_UPDATED"


CHECK = {"check.sh": "grep -q add calc.txt\n", "calc.txt": "nothing\n"}


@pytest.mark.slow
def test_a_configured_command_that_nobody_reads_is_the_one_that_is_run(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[test]\ncommand = 'sh check.sh'\n", CHECK).planned()
    for other in ("false", "true", "sh other.sh", "sh check.sh || true", "sh check.sh.txt"):
        refused(
            p,
            standing(p),
            p.submit(test_command=other, expectation="FAIL"),
            "use `sh check.sh` (only its exit code is read)",
        )
    assert p.submit(test_command="sh check.sh tests/calc", expectation="FAIL")["status"] == "NEEDS_ANALYSIS"
    p.submit(analysis_decision="SUCCESS")
    refused(p, standing(p), p.submit(test_command="true", expectation="PASS"), "use `sh check.sh`")
    assert p.submit(test_command="sh check.sh", expectation="PASS")["status"] == "FAILURE"
    p.write({"calc.txt": "add\n"})
    green = p.submit(test_command="sh check.sh", expectation="PASS")
    assert (green["status"], green["evidence"]["kind"], green["evidence"]["command"]) == ("SUCCESS", "exit-code", "sh check.sh")


NO_CALLS = (
    "",
    "{",
    "[]",
    '{"summary": 1}',
    '{"summary": "s", "unknown": 1}',
    '{"test_command": "pytest"}',
    '{"summary": "s"} {}',
    "[" * 100_000,
)
NO_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("submit-work",),
    ("submit-work", "x"),
    ("submit-work", "--summary", "s", "--expectation", "MAYBE"),
    ("submit-work", "--summary", "s", "--findings", "nowhere"),
    ("escalate-for-external-help", "--report", "nowhere"),
    ("answer", "REVIEW"),
    ("get-task", "--run", "pr-nowhere"),
    ("frobnicate",),
)


def test_what_is_no_call_at_all_is_a_usage_error_and_touches_nothing(tmp_path: Path) -> None:
    p = project(tmp_path / "p").planned()
    before = standing(p)
    for stdin in NO_CALLS:
        ran = p.run("submit-work", "-", "--json", stdin=stdin)
        assert ran.code == 2, (stdin[:40], ran)
        assert ran.json["hint"]
    for argv in NO_COMMANDS:
        assert p.run(*argv).code == 2, argv
    assert p.run("escalate-for-external-help", "--report", "-", stdin="  \n").code == 2
    assert standing(p) == before
    assert counts(p) == {}
