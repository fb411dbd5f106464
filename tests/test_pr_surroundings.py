"""What a run meets around it: checkouts, plans, published files, settings, output, branches, remotes, people, adopted files."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cases import WRONG, counts, pass_all, project, runs, standing
from tests.project import GREEN, PLAN, RED, START, Project, Ran
from tests.repos import make_repo, sh

STEP = {"type": "RED", "description": "d", "status": "TODO"}
TASK = {"taskName": "t", "status": "TODO", "tdd_steps": [STEP]}
ACTIVE: dict[str, Any] = {"masterPlanPath": PLAN, "prTitle": "feat: add numbers", "summary": "s", "verificationPlan": "v", "tasks": [TASK]}
PYTEST = {"test_command": "pytest", "expectation": "PASS"}


def told(ran: Ran, *words: str) -> None:
    """Expected trouble: exit 2, a sentence and a way out, no traceback."""
    assert ran.code == 2, ran
    assert ran.err.startswith("detent: ")
    assert "Traceback" not in ran.err
    assert len(ran.err.splitlines()) == 2
    for word in words:
        assert word in ran.err, ran.err


def at(p: Project, folder: Path) -> Project:
    """The same project, called from another folder."""
    other = object.__new__(Project)
    other.root, other.env = folder, p.env
    return other


# -- the checkout -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_dirty_checkout_is_not_started_on(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    p.write({"calc.py": "# a person's own\n"})
    told(p.run("start"), "calc.py", "--adopt")
    p.git("checkout", "-q", "--", "calc.py")
    p.write({"notes.txt": "a person's own\n"})
    told(p.run("start"), "notes.txt", "--adopt")
    assert not (p.root / "ORCHESTRATION_STATE.json").exists()
    assert (p.root / "notes.txt").read_text() == "a person's own\n"


def test_staged_work_of_a_person_is_left_alone(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    p.write({"notes.txt": "a person's own\n"})
    p.git("add", "notes.txt")
    told(p.run("start"), "notes.txt is staged", "--adopt")
    assert p.git("diff", "--cached", "--name-only") == "notes.txt"


@pytest.mark.slow
def test_an_adopted_checkout_is_what_the_first_step_builds_on(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    p.write({"calc.py": "def minus(a, b):\n    return a - b\n", "notes.txt": "a person's own\n"})
    p.git("add", "notes.txt")
    assert p.run("start", "--adopt").code == 0
    p.planned()
    assert (p.root / "calc.py").read_text().startswith("def minus")
    assert p.red()["status"] == "NEEDS_ANALYSIS"
    assert p.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
    assert p.green((p.root / "calc.py").read_text() + "\n\n" + GREEN)["status"] == "SUCCESS"
    assert "notes.txt" in p.git("ls-tree", "--name-only", "HEAD")
    assert p.git("status", "--porcelain") == ""


def test_what_is_no_repository_or_has_no_commit_or_no_branch_is_refused(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    (tmp_path / "plain").mkdir()
    told(at(p, tmp_path / "plain").run("get-task"), "is not in a git repository", "git init")
    told(at(p, tmp_path / "plain").run("submit-work", "--summary", "s"), "is not in a git repository")
    (tmp_path / "empty").mkdir()
    sh(tmp_path / "empty", "git", "init", "-q")
    told(at(p, tmp_path / "empty").run("start", "--workflow", "pr"), "no commit yet", "git commit")
    p.git("switch", "-q", "--detach")
    told(p.run("start"), "HEAD is detached", "git switch")


def test_a_submit_without_a_run_says_how_to_start_one(tmp_path: Path) -> None:
    told(project(tmp_path / "p").run("submit-work", "--summary", "s"), "no run", "detent start")


def test_a_merge_in_progress_is_not_started_on(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    p.write({".git/MERGE_HEAD": p.git("rev-parse", "HEAD") + "\n"})
    told(p.run("start", "--adopt"), "MERGE_HEAD")


def test_a_second_start_names_the_open_run(tmp_path: Path) -> None:
    p = project(tmp_path / "p").planned()
    told(p.run("start"), "is open in this checkout", "detent abort")


@pytest.mark.slow
def test_a_linked_worktree_has_a_run_of_its_own(tmp_path: Path) -> None:
    p = project(tmp_path / "p").planned()
    p.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"), "main")
    linked = at(p, tmp_path / "linked").planned()
    assert linked.git("symbolic-ref", "HEAD") == "refs/heads/feat/add-numbers-2"
    assert linked.red()["status"] == "NEEDS_ANALYSIS"
    assert p.task()["state"] == "EXECUTING_TDD"
    assert len(p.run("runs", "--json").json["runs"]) == 2
    assert linked.state["current_pr_branch"] == "feat/add-numbers-2"
    assert p.state["current_pr_branch"] == "feat/add-numbers"


def test_every_folder_of_the_checkout_will_do_and_so_will_the_flag(tmp_path: Path) -> None:
    p = project(tmp_path / "p").planned()
    p.write({"tests/test_add.py": RED})
    inside = at(p, p.root / "tests").run(
        "submit-work", "--json", "--summary", "s", "--test-command", "pytest tests/test_add.py", "--expectation", "FAIL"
    )
    assert (inside.json["status"], inside.code) == ("NEEDS_ANALYSIS", 0)
    outside = at(p, tmp_path).run("-C", str(p.root), "get-task", "--json")
    assert (outside.json["state"], outside.code) == ("NEEDS_ANALYSIS", 0)
    told(at(p, tmp_path).run("-C", "nowhere", "get-task"), "nowhere")


@pytest.mark.slow
def test_a_repository_without_a_gitignore_gets_nothing_but_the_change(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    p.git("rm", "-q", ".gitignore")
    p.git("commit", "-qm", "no ignores")
    p.reddened()
    pass_all(p)
    assert p.git("diff", "--name-only", "main", "HEAD").splitlines() == ["calc.py", "tests/test_add.py"]
    assert p.git("status", "--porcelain") == ""


def test_secrets_dependencies_and_big_files_are_left_out_and_named(tmp_path: Path) -> None:
    p = project(tmp_path / "p").planned()
    p.write({".env": "TOKEN=1\n", "node_modules/x/index.js": "1\n", "tests/test_add.py": RED})
    (p.root / "data").mkdir()
    with open(p.root / "data/big.bin", "wb") as big:
        big.truncate(6_000_000)
    verdict = p.submit(test_command="pytest tests/test_add.py", expectation="FAIL")
    assert verdict["status"] == "NEEDS_ANALYSIS", verdict["reasons"]
    for name in (".env (looks like a secret)", "node_modules/x/index.js (a folder of dependencies", "data/big.bin (6 MB, over the limit"):
        assert name in verdict["output"]
    tree = p.git("ls-tree", "-r", "--name-only", verdict["evidence"]["tree"])
    assert "big.bin" not in tree
    assert ".env" not in tree


@pytest.mark.slow
def test_a_big_file_that_a_test_needs_is_missed_before_main_moves(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[git]\nsquash = 'auto'\n").planned()
    p.write(
        {
            "tests/test_add.py": RED
            + "\n\ndef test_data():\n    import os\n\n    from calc import DATA\n\n    assert os.path.getsize(DATA) > 10\n"
        }
    )
    assert p.submit(test_command="pytest", expectation="FAIL")["status"] == "NEEDS_ANALYSIS"
    p.submit(analysis_decision="SUCCESS")
    with open(p.root / "big.bin", "wb") as big:
        big.truncate(6_000_000)
    verdict = p.green(GREEN + "\n\nDATA = 'big.bin'\n")
    assert verdict["status"] == "SUCCESS"
    assert "not part of the change: big.bin (6 MB" in verdict["output"]
    p.task()
    p.write({"FINDINGS.json": "[]"})
    assert p.task()["state"] == "FINALIZE_COMPLETE"
    p.mark_done()
    main = p.git("rev-parse", "main")
    assert p.submit()["state"] == "PLAN_UPDATED"
    ran = p.run("get-task", "--json")
    assert (ran.code, ran.json["state"]) == (10, "HALTED")
    assert "test_data" in ran.json["last_error"]
    assert p.git("rev-parse", "main") == main


# -- plan, published files, settings -------------------------------------------------------------------------------------------


def test_a_missing_plan_is_told_with_its_path(tmp_path: Path) -> None:
    p = project(tmp_path / "p", files={PLAN: "# gone\n"})
    p.git("rm", "-q", PLAN)
    p.git("commit", "-qm", "no plan")
    told(p.run("start"), PLAN, "detent init --entry")
    told(p.run("start", "--workflow", "pr"), PLAN, "detent init --entry")
    told(p.run("start", "docs/other.md"), "docs/other.md")


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "- feat: add numbers [DONE] 0123456\n",
        "- feat: add numbers\n" * 2,
    ],
)
def test_a_plan_without_the_one_open_entry_takes_no_pull_request(tmp_path: Path, text: str) -> None:
    p = project(tmp_path / "p", files={PLAN: text})
    p.task()
    p.write_plan()
    verdict = p.submit()
    assert (verdict["status"], verdict["state"], verdict["exit"]) == ("REFUSED", "INITIALIZING", 1)
    assert verdict["reasons"][0].startswith("prTitle: 'feat: add numbers' matches ")
    assert json.loads((p.root / "ACTIVE_PR.json").read_text())["prTitle"] == "feat: add numbers", "the agent's draft stays"


@pytest.mark.parametrize("text", ["", "no entries here\n", "# Plan\n\n```\n- feat: add numbers\n```\n"])
def test_a_plan_without_entries_is_not_started_on(tmp_path: Path, text: str) -> None:
    p = project(tmp_path / "p", files={PLAN: text})
    told(p.run("start"), "has no entries", "detent init --entry")
    assert not (p.root / "ORCHESTRATION_STATE.json").exists()


FAULTS: dict[str, tuple[str, str]] = {
    "nothing": ("", "ACTIVE_PR.json is not JSON"),
    "no JSON": ("{", "ACTIVE_PR.json is not JSON"),
    "a list": ("[]", "ACTIVE_PR.json: must be an object"),
    "not a number": (json.dumps(ACTIVE).replace('"s"', "NaN"), "NaN is not allowed"),
    "too deep": ("[" * 100_000, "ACTIVE_PR.json is not JSON"),
    "no title": (json.dumps({k: v for k, v in ACTIVE.items() if k != "prTitle"}), "prTitle: is missing"),
    "no tasks": (json.dumps({k: v for k, v in ACTIVE.items() if k != "tasks"}), "tasks: is missing"),
    "unknown field": (json.dumps({**ACTIVE, "owner": "me"}), "owner: is not a known field"),
    "key twice": (json.dumps(ACTIVE).replace('"summary"', '"prTitle": "x", "summary"'), "prTitle: appears twice"),
    "key twice below": (json.dumps(ACTIVE).replace('"type"', '"type": "GREEN", "type"'), "tasks[0].tdd_steps[0].type: appears twice"),
    "empty summary": (json.dumps({**ACTIVE, "summary": " "}), "summary: must be a non-empty string"),
    "title of another type": (json.dumps({**ACTIVE, "prTitle": 7}), "prTitle: must be a non-empty string"),
    "tasks empty": (json.dumps({**ACTIVE, "tasks": []}), "tasks: must be a list with at least one task"),
    "tasks no list": (json.dumps({**ACTIVE, "tasks": {}}), "tasks: must be a list with at least one task"),
    "task no object": (json.dumps({**ACTIVE, "tasks": [TASK, 1]}), "tasks[1]: must be an object"),
    "task without name": (json.dumps({**ACTIVE, "tasks": [{"status": "TODO", "tdd_steps": [STEP]}]}), "tasks[0].taskName: is missing"),
    "task with another field": (json.dumps({**ACTIVE, "tasks": [{**TASK, "x": 1}]}), "tasks[0].x: is not a known field"),
    "task status": (json.dumps({**ACTIVE, "tasks": [{**TASK, "status": "NEW"}]}), "tasks[0].status: must be one of"),
    "task begun": (json.dumps({**ACTIVE, "tasks": [{**TASK, "status": "DONE"}]}), "tasks[0].status: must be TODO at the start"),
    "no steps": (json.dumps({**ACTIVE, "tasks": [TASK, {**TASK, "tdd_steps": []}]}), "tasks[1].tdd_steps: must be a list with at least one step"),
    "step type": (json.dumps({**ACTIVE, "tasks": [TASK, {**TASK, "tdd_steps": [{**STEP, "type": "BLUE"}]}]}), "tasks[1].tdd_steps[0].type: must be one of"),
    "step status": (json.dumps({**ACTIVE, "tasks": [{**TASK, "tdd_steps": [{**STEP, "status": "IN_PROGRESS"}]}]}), "tasks[0].tdd_steps[0].status: must be"),
    "step done": (json.dumps({**ACTIVE, "tasks": [{**TASK, "tdd_steps": [{**STEP, "status": "DONE"}]}]}), "tasks[0].tdd_steps[0].status: must be TODO at the start"),
    "step without description": (json.dumps({**ACTIVE, "tasks": [{**TASK, "tdd_steps": [{"type": "RED", "status": "TODO"}]}]}), "tasks[0].tdd_steps[0].description: is missing"),
    "GREEN before RED": (json.dumps({**ACTIVE, "tasks": [{**TASK, "tdd_steps": [{**STEP, "type": "GREEN"}]}]}), "tasks[0].tdd_steps[0].type: a GREEN step must come after a RED"),
    "two GREENs for one RED": (
        json.dumps({**ACTIVE, "tasks": [{**TASK, "tdd_steps": [STEP, {**STEP, "type": "GREEN"}, {**STEP, "type": "GREEN"}]}]}),
        "tasks[0].tdd_steps[2].type: a GREEN step must come after a RED",
    ),
    "unfinished history": (json.dumps({**ACTIVE, "tasks": [{**TASK, "breakdownHistory": {}}]}), "tasks[0].breakdownHistory.justification: is missing"),
    "title of no entry": (json.dumps({**ACTIVE, "prTitle": "feat: divide"}), "prTitle: 'feat: divide' matches 0 open entries"),
    "title of two entries": (json.dumps({**ACTIVE, "prTitle": "feat: "}), "prTitle: 'feat: ' matches 2 open entries"),
}  # fmt: skip


@pytest.mark.slow
def test_every_fault_of_a_plan_is_told_with_its_path(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    p.task()
    before = standing(p)
    for name, (text, says) in FAULTS.items():
        p.write({"ACTIVE_PR.json": text})
        verdict = p.submit()
        assert (verdict["status"], verdict["state"], verdict["exit"]) == ("REFUSED", "INITIALIZING", 1), (name, verdict)
        assert any(says in reason for reason in verdict["reasons"]), (name, verdict["reasons"])
    assert standing(p) == before
    p.write({"ACTIVE_PR.json": json.dumps({**ACTIVE, "summary": "", "owner": 1, "tasks": [{**TASK, "status": 0, "tdd_steps": [1]}]})})
    assert [r.partition(":")[0] for r in p.submit()["reasons"]] == ["owner", "summary", "tasks[0].status", "tasks[0].tdd_steps[0]"]
    (p.root / "ACTIVE_PR.json").unlink()
    assert "is missing" in p.submit()["reasons"][0]
    p.write_plan()
    assert p.submit()["status"] == "SUCCESS"


def test_published_files_edited_by_hand_are_refused_restored_and_kept_beside(tmp_path: Path) -> None:
    p = project(tmp_path / "p").planned()
    for name in ("ORCHESTRATION_STATE.json", "ACTIVE_PR.json"):
        ours = (p.root / name).read_text()
        forged = ours.replace("EXECUTING_TDD", "CODE_REVIEW").replace('"TODO"', '"DONE"') + " "
        p.write({name: forged, "tests/test_add.py": RED})
        before = {**standing(p), "published": None}
        verdict = p.submit(test_command="pytest tests/test_add.py", expectation="FAIL")
        assert (verdict["status"], verdict["exit"], verdict["state"]) == ("REFUSED", 1, "EXECUTING_TDD")
        assert f"{name} was edited by hand" in verdict["reasons"][0]
        assert (p.root / name).read_text() == ours
        assert (p.root / f"{name}.rejected").read_text() == forged
        assert {**standing(p), "published": None} == before
    (p.root / "ACTIVE_PR.json").unlink()
    p.write({"ORCHESTRATION_STATE.json": "{}"})
    assert p.task()["state"] == "EXECUTING_TDD"
    assert p.state["status"] == "EXECUTING_TDD"
    assert p.plan["prTitle"] == "feat: add numbers"
    assert p.git("status", "--porcelain") == "?? tests/test_add.py"


def test_a_file_that_the_project_tracks_is_never_overwritten(tmp_path: Path) -> None:
    own = {"ORCHESTRATION_STATE.json": "the project's own\n", "error.log": "kept for a test\n", "ACTIVE_PR.json": "[]\n"}
    p = project(tmp_path / "p", files=own)
    task = p.task()
    aside = p.root / ".git/detent/published"
    assert str(aside / "ACTIVE_PR.json") in task["briefing"], "the briefing names the copy"
    (aside / "ACTIVE_PR.json").write_text(json.dumps(ACTIVE))
    assert p.submit()["status"] == "SUCCESS"
    assert p.task()["state"] == "EXECUTING_TDD"
    verdict = p.red("def test_add():\n    assert True\n")
    assert verdict["status"] == "FAILURE", verdict
    assert {name: (p.root / name).read_text() for name in own} == own
    assert json.loads((aside / "ORCHESTRATION_STATE.json").read_text())["debug_attempt_counter"] == 1
    assert (aside / "error.log").read_text()
    assert p.git("status", "--porcelain") == "?? tests/test_add.py"


def test_a_published_file_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    p = project(tmp_path / "p").planned()
    (tmp_path / "outside").write_text("outside\n")
    (p.root / "ORCHESTRATION_STATE.json").unlink()
    (p.root / "ORCHESTRATION_STATE.json").symlink_to(tmp_path / "outside")
    assert p.task()["state"] == "EXECUTING_TDD"
    assert p.state["status"] == "EXECUTING_TDD"
    assert not (p.root / "ORCHESTRATION_STATE.json").is_symlink()
    assert (tmp_path / "outside").read_text() == "outside\n"


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("[test]\ncomand = 'pytest'\n", ("comand", "did you mean command?")),
        ("[preflght]\ncommands = []\n", ("preflght", "did you mean [preflight]?")),
        ("[debug]\nescalate = 'soon'\n", ("debug.escalate", "whole number")),
        ("[git]\nmerge = 'squash'\n", ("git.merge", '"auto"')),
        ("[test\n", ("line 1", "not TOML")),
    ],
)
def test_a_setting_that_is_none_is_told_with_the_nearest_one(tmp_path: Path, config: str, words: tuple[str, ...]) -> None:
    p = project(tmp_path / "p", config)
    told(p.run("start"), "detent.toml", *words)
    assert not (p.root / "ORCHESTRATION_STATE.json").exists()


def test_a_variable_that_is_no_setting_is_told_with_the_nearest_one(tmp_path: Path) -> None:
    told(project(tmp_path / "p").run("start", DETENT_TEST_TIMEOUTS="3"), "DETENT_TEST_TIMEOUTS", "DETENT_TEST_TIMEOUT")


# -- output --------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_output_without_end_needs_little_memory_and_is_shown_cut(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[test]\ncommand = 'python3 -m pytest -s'\n").reddened()
    p.write({"calc.py": "import os\n\nfor _ in range(100):\n    os.write(1, b'x' * 1_000_000)\n\n\n" + GREEN})
    argv = p.argv("submit-work", "--json", "--summary", "s", "--test-command", "pytest tests/test_add.py", "--expectation", "PASS")
    most = 0
    with open(tmp_path / "out", "wb") as out:
        child = subprocess.Popen(argv, cwd=p.root, env=p.env, stdout=out)
        while child.poll() is None:
            most = max(most, peak(child.pid))
    verdict = json.loads((tmp_path / "out").read_bytes())
    assert verdict["status"] == "SUCCESS", verdict["reasons"]
    assert len(verdict["output"]) < 500_000
    assert "bytes left out of 100" in verdict["output"]
    assert 0 < most < 100_000, f"{most} kB"


def peak(pid: int) -> int:
    """The most memory that a process has used so far, in kB."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


@pytest.mark.slow
def test_output_that_is_no_text_is_told_as_valid_json_and_harmless_text(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[test]\ncommand = 'python3 -m pytest -s'\n").reddened()
    noise = "import os\n\nos.write(1, bytes(range(256)) + b'\\x1b]0;title\\x07\\x1b[2J' + '\\u202e'.encode())\n\n\n"
    p.write({"calc.py": noise + WRONG})
    verdict = p.submit(test_command="pytest tests/test_add.py", expectation="PASS")
    assert verdict["status"] == "FAILURE"
    assert "\ufffd" in verdict["output"]
    ran = p.run("get-task")
    assert not {"\x1b", "\x07", "\x00", "\u202e"} & set(ran.out)
    assert p.state["last_error"]


# -- branches, main, remotes ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_branch_that_exists_is_left_alone_and_the_next_name_is_taken(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    p.git("branch", "feat/add-numbers")
    p.git("branch", "feat/add-numbers-2")
    before = p.git("rev-parse", "feat/add-numbers")
    p.planned()
    assert p.state["current_pr_branch"] == "feat/add-numbers-3"
    assert p.git("symbolic-ref", "--short", "HEAD") == "feat/add-numbers-3"
    assert p.git("rev-parse", "feat/add-numbers") == before


@pytest.mark.slow
def test_the_main_branch_is_found_and_not_assumed(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[git]\nsquash = 'auto'\n", branch="master").reviewing()
    p.write({"FINDINGS.json": "[]"})
    assert p.task()["state"] == "FINALIZE_COMPLETE"
    p.mark_done()
    assert p.submit()["state"] == "PLAN_UPDATED"
    assert p.task()["state"] == "INITIALIZING"
    assert p.git("symbolic-ref", "--short", "HEAD") == "master"
    assert p.git("log", "--format=%s", "--first-parent", "-1") == "Merge branch 'feat/add-numbers'"


def commit_on(p: Project, branch: str, files: dict[str, str]) -> None:
    """Someone else commits to a branch, elsewhere."""
    p.git("worktree", "add", "-q", str(p.root.parent / "elsewhere"), branch)
    other = at(p, p.root.parent / "elsewhere")
    other.write(files)
    other.git("add", "-A")
    other.git("commit", "-qm", "meanwhile")
    p.git("worktree", "remove", str(other.root))


@pytest.mark.slow
def test_a_main_that_moved_is_merged_onto(tmp_path: Path) -> None:
    p = project(tmp_path / "p").marked()
    commit_on(p, "main", {"other.py": "x = 1\n"})
    assert p.task()["state"] == "INITIALIZING"
    assert p.git("log", "--first-parent", "--format=%s", "main").splitlines() == ["Merge branch 'feat/add-numbers'", "meanwhile", "start"]
    assert (p.root / "other.py").exists()
    assert (p.root / "calc.py").read_text() == GREEN
    assert p.git("branch", "--format=%(refname:short)") == "main"
    assert not (p.root / "ACTIVE_PR.json").exists()
    assert p.state == {"status": "INITIALIZING", "debug_attempt_counter": 0}


def test_a_merged_tree_that_is_red_moves_nothing(tmp_path: Path) -> None:
    p = project(tmp_path / "p").marked()
    commit_on(p, "main", {"tests/test_more.py": "import calc\n\n\ndef test_more():\n    assert not hasattr(calc, 'add')\n"})
    main = p.git("rev-parse", "main")
    ran = p.run("get-task", "--json")
    assert (ran.code, ran.json["state"]) == (10, "HALTED")
    assert "test_more" in ran.json["last_error"]
    assert p.git("rev-parse", "main") == main
    assert p.git("symbolic-ref", "--short", "HEAD") == "feat/add-numbers"


@pytest.mark.slow
def test_a_conflict_halts_with_guidance_and_a_person_resolves_it(tmp_path: Path) -> None:
    p = project(tmp_path / "p").marked()
    commit_on(p, "main", {"calc.py": "def mul(a, b):\n    return a * b\n"})
    main = p.git("rev-parse", "main")
    ran = p.run("get-task", "--json")
    assert (ran.code, ran.json["state"]) == (10, "HALTED")
    assert "ERROR" in ran.json["last_error"]
    assert "calc.py" in ran.json["last_error"]
    assert "feat/add-numbers" in ran.json["briefing"]
    assert "detent resume" in ran.json["briefing"]
    assert p.git("rev-parse", "main") == main
    assert p.git("status", "--porcelain") == "", "no file was touched"
    early = p.run("resume", "--json")
    assert early.json["state"] == "MERGING_BRANCH"
    assert p.run("get-task").code == 10, "it conflicts still"
    p.git("switch", "-q", "main")
    subprocess.run(["git", "merge", "-q", "feat/add-numbers"], cwd=p.root, capture_output=True, env=p.env)
    p.write({"calc.py": GREEN + "\n\ndef mul(a, b):\n    return a * b\n"})
    p.git("commit", "-qam", "merged by hand")
    assert p.run("resume").code == 0
    assert p.task()["state"] == "INITIALIZING"
    assert p.git("log", "-1", "--format=%s", "main") == "merged by hand"


@pytest.mark.slow
def test_a_remote_that_is_gone_is_an_error_until_it_is_back(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    p.git("remote", "add", "origin", str(tmp_path / "gone.git"))
    p.task()
    p.write_plan()
    assert p.submit()["state"] == "CREATING_BRANCH"
    ran = p.run("get-task", "--json")
    assert (ran.code, ran.json["state"]) == (0, "CREATING_BRANCH")
    assert "origin cannot be reached" in ran.json["last_error"]
    assert counts(p) == {"errors": 1}
    assert p.git("symbolic-ref", "--short", "HEAD") == "main"
    p.git("clone", "-q", "--bare", str(p.root), str(tmp_path / "gone.git"))
    assert p.task()["state"] == "EXECUTING_TDD"
    assert counts(p) == {}


@pytest.mark.slow
def test_a_remote_that_is_ahead_is_built_and_merged_upon(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    p.git("clone", "-q", "--bare", str(p.root), str(tmp_path / "origin.git"))
    p.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    p.git("clone", "-q", str(tmp_path / "origin.git"), str(tmp_path / "colleague"))
    colleague = at(p, tmp_path / "colleague")
    colleague.write({"other.py": "x = 1\n"})
    colleague.git("add", "-A")
    colleague.git("commit", "-qm", "theirs")
    colleague.git("push", "-q")
    p.planned()
    assert p.git("log", "-1", "--format=%s") == "theirs"
    assert (p.root / "other.py").exists()


@pytest.mark.slow
def test_a_checkout_that_left_its_branch_is_told_to_come_back(tmp_path: Path) -> None:
    p = project(tmp_path / "p").planned()
    p.git("switch", "-q", "main")
    p.write({"tests/test_add.py": RED})
    verdict = p.submit(test_command="pytest", expectation="FAIL")
    assert verdict["status"] == "REFUSED"
    assert "git switch feat/add-numbers" in verdict["reasons"][0]
    p.git("switch", "-q", "feat/add-numbers")
    assert p.submit(test_command="pytest", expectation="FAIL")["status"] == "NEEDS_ANALYSIS"


# -- evidence that is reused ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_pass_is_reused_until_a_dependency_is_installed(tmp_path: Path) -> None:
    p = project(tmp_path / "p", files={".gitignore": "__pycache__/\n.venv/\n"})
    for name in ("python", "pytest"):
        p.write({f".venv/bin/{name}": f'#!/bin/sh\nexec "{sys.executable}" "$@"\n'})
        (p.root / ".venv/bin" / name).chmod(0o755)
    packages = p.root / ".venv/lib/python3.11/site-packages"
    packages.mkdir(parents=True)
    p.reddened("RED", "GREEN", "REFACTOR", "REFACTOR")
    pass_all(p)
    before = runs(p)
    assert p.submit(**PYTEST)["status"] == "SUCCESS"
    assert runs(p) == before, "the tree, the command and what it runs on are the same"
    (packages / "numbers-1.0.dist-info").mkdir()
    assert p.submit(**PYTEST)["status"] == "SUCCESS"
    assert runs(p) == before + 1


@pytest.mark.slow
def test_two_edits_that_a_clock_cannot_tell_apart_are_told_apart(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened()
    for code, status in (("a - b", "FAILURE"), ("a + b", "SUCCESS")):
        p.write({"calc.py": f"def add(a, b):\n    return {code}\n"})
        os.utime(p.root / "calc.py", (1_700_000_000, 1_700_000_000))
        assert p.submit(**PYTEST)["status"] == status


@pytest.mark.slow
def test_an_attempt_repeated_gets_the_earlier_verdict_and_counts_once(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reddened()
    p.write({"calc.py": WRONG})
    attempt = p.task()["attempt_id"]
    first = p.submit(**PYTEST, attempt_id=attempt)
    assert (first["status"], counts(p), runs(p)) == ("FAILURE", {"debug": 1}, runs(p))
    before = runs(p)
    p.write({"calc.py": GREEN})
    again = p.submit(**PYTEST, attempt_id=attempt)
    assert again == first
    assert (counts(p), runs(p)) == ({"debug": 1}, before)
    assert p.submit(**PYTEST, attempt_id=p.task()["attempt_id"])["status"] == "SUCCESS"


# -- files of an earlier agent ---------------------------------------------------------------------------------------------------


def left(*statuses: str) -> str:
    kinds = ("RED", "GREEN", "REFACTOR")
    steps = [{"type": t, "description": f"{t} of add", "status": s} for t, s in zip(kinds, statuses, strict=False)]
    task = "DONE" if set(statuses) == {"DONE"} else "IN_PROGRESS" if "DONE" in statuses else "TODO"
    return json.dumps({**ACTIVE, "tasks": [{"taskName": "add", "status": task, "tdd_steps": steps}]})


LEFT: dict[str, tuple[str, str | None, str, dict[str, int]]] = {
    "not begun": (left("TODO", "TODO"), '{"status": "INITIALIZING"}', "INITIALIZING", {}),
    "no state file": (left("TODO", "TODO"), None, "EXECUTING_TDD", {}),
    "at its second step": (left("DONE", "TODO"), '{"status": "EXECUTING_TDD"}', "EXECUTING_TDD", {}),
    "debugging": (left("DONE", "TODO"), '{"status": "DEBUGGING", "debug_attempt_counter": 2}', "DEBUGGING", {"debug": 2}),
    "debugging without a number": (left("DONE", "TODO"), '{"status": "DEBUGGING"}', "DEBUGGING", {"debug": 1}),
    "debugging for ever": (left("DONE", "TODO"), '{"status": "DEBUGGING", "debug_attempt_counter": 999}', "DEBUGGING", {"debug": 5}),
    "debugging by lies": (left("DONE", "TODO"), '{"status": "DEBUGGING", "debug_attempt_counter": "many"}', "DEBUGGING", {"debug": 1}),
    "waiting for an analysis": (left("TODO", "TODO"), '{"status": "NEEDS_ANALYSIS"}', "EXECUTING_TDD", {}),
    "in a later state": (left("DONE", "TODO"), '{"status": "AWAITING_FINALIZATION"}', "EXECUTING_TDD", {}),
    "done, it says": (left("DONE", "TODO"), '{"status": "DONE"}', "EXECUTING_TDD", {}),
    "state file is nonsense": (left("DONE", "TODO"), "[1", "EXECUTING_TDD", {}),
    "stale": (left("DONE", "DONE"), '{"status": "INITIALIZING"}', "INITIALIZING", {}),
    "stale without a state file": (left("DONE", "DONE"), None, "INITIALIZING", {}),
    "a plan that is none": ("{", '{"status": "CODE_REVIEW"}', "INITIALIZING", {}),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", LEFT)
def test_files_of_an_earlier_agent_are_taken_over_for_what_needs_no_proof(tmp_path: Path, name: str) -> None:
    plan, state, becomes, counted = LEFT[name]
    p = project(tmp_path / "p")
    p.write({"ACTIVE_PR.json": plan, **({"ORCHESTRATION_STATE.json": state} if state is not None else {}), "error.log": "it broke\n"})
    main = p.git("rev-parse", "main")
    task = p.task()
    assert task["state"] == becomes
    assert p.state["status"] == becomes
    status = p.run("status", "--json").json
    assert status["counts"] == counted
    if becomes == "INITIALIZING":
        stale = name.startswith("stale")
        assert (p.root / "ACTIVE_PR.json").exists() != stale
        assert bool(list((p.root / ".git/detent/stale").rglob("ACTIVE_PR.json")) if stale else True)
        return
    assert "add: RED RED of add" in status["unproven"], "a step that is DONE and not proved is shown so"
    assert task["step"]["type"] == ("GREEN" if '"DONE"' in plan else "RED")
    assert p.git("symbolic-ref", "--short", "HEAD") == "feat/add-numbers", "work goes on on a branch, never on main"
    assert p.git("rev-parse", "main") == main
    if becomes == "DEBUGGING":
        assert task["last_error"] == "it broke\n"


@pytest.mark.slow
def test_adopted_work_goes_on_to_the_next_proof(tmp_path: Path) -> None:
    p = project(
        tmp_path / "p", files={"tests/test_add.py": RED.replace("from calc import add", "import calc").replace("add(1", "calc.add(1")}
    )
    p.git("switch", "-qc", "feat/by-hand")
    p.write({"ACTIVE_PR.json": left("DONE", "TODO"), "ORCHESTRATION_STATE.json": '{"status": "EXECUTING_TDD"}'})
    assert p.task()["step"]["type"] == "GREEN"
    assert p.green(WRONG)["status"] == "FAILURE", "the test that failed before the run began is the one to be made to pass"
    pass_all(p)
    assert p.git("symbolic-ref", "--short", "HEAD") == "feat/by-hand"
    assert p.task()["state"] == "CODE_REVIEW"
    assert p.run("status", "--json").json["unproven"] == ["add: RED RED of add"]


# -- other ways --------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_without_branching_the_way_is_short(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[git]\nbranching = false\n")
    p.task()
    p.write_plan()
    assert p.submit()["state"] == "EXECUTING_TDD"
    base = p.git("rev-parse", "HEAD")
    assert "current_pr_branch" not in p.state
    assert p.red()["status"] == "NEEDS_ANALYSIS"
    p.submit(analysis_decision="SUCCESS")
    pass_all(p)
    assert p.task()["state"] == "CODE_REVIEW"
    p.write({"FINDINGS.json": "[]"})
    task = p.task()
    assert f"git reset --soft {base}" in task["briefing"]
    p.git("reset", "-q", "--soft", base)
    p.git("commit", "-qm", "feat: add numbers")
    assert p.submit()["state"] == "FINALIZE_COMPLETE"
    p.mark_done()
    assert p.submit()["state"] == "INITIALIZING"
    assert not (p.root / "ACTIVE_PR.json").exists()
    assert p.git("log", "--format=%s", "main").splitlines() == ["docs: mark the finished entry in the plan", "feat: add numbers", "start"]
    assert p.git("status", "--porcelain") == ""


@pytest.mark.slow
def test_without_branching_code_written_before_the_plan_is_part_of_the_first_step(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[git]\nbranching = false\n")
    p.task()
    p.write_plan()
    p.write({"calc.py": GREEN})
    assert p.submit()["state"] == "EXECUTING_TDD"
    verdict = p.red("def test_add():\n    assert False\n")
    assert verdict["status"] == "FAILURE"
    assert "calc.py changed" in verdict["reasons"][0]


@pytest.mark.slow
def test_the_agent_makes_the_checkpoints_where_it_is_asked_to(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[git]\ncheckpoint = 'agent'\n").reddened("RED", "GREEN", "REFACTOR")
    head = p.git("rev-parse", "HEAD")
    pass_all(p)
    assert p.git("rev-parse", "HEAD") == head
    assert "checkpoint" in p.task()["goal"]
    for call in ({}, PYTEST):
        verdict = p.submit(**call)
        assert (verdict["status"], verdict["state"]) == ("REFUSED", "EXECUTING_TDD")
        assert "uncommitted changes" in verdict["reasons"][0]
    p.git("add", "-A")
    p.git("commit", "-qm", "wip")
    assert p.submit()["status"] == "SUCCESS"
    assert p.task()["step"]["type"] == "REFACTOR"


@pytest.mark.slow
def test_the_machine_squashes_where_it_is_asked_to(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[git]\nsquash = 'auto'\n").reddened("RED", "GREEN", "REFACTOR")
    pass_all(p)
    assert p.green(GREEN + "\n\nsubtract = None\n")["status"] == "SUCCESS"
    tree = p.git("rev-parse", "HEAD^{tree}")
    assert p.git("rev-list", "--count", "main..HEAD") == "2"
    p.task()
    p.write({"FINDINGS.json": "[]"})
    task = p.task()
    assert task["state"] == "FINALIZE_COMPLETE"
    assert p.git("log", "--format=%s", "main..HEAD") == "feat: add numbers"
    assert p.git("rev-parse", "HEAD^{tree}") == tree
    assert p.state["last_commit_hash"] == p.git("rev-parse", "HEAD")
    assert p.state["last_commit_hash"] in task["briefing"]


@pytest.mark.slow
def test_a_person_merges_where_that_is_the_rule(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[git]\nmerge = 'branch'\n").marked()
    main = p.git("rev-parse", "main")
    for _ in range(2):
        ran = p.run("get-task", "--json")
        assert (ran.code, ran.json["state"], ran.json["actor"]) == (0, "MERGING_BRANCH", "human")
    assert p.run("resume").code == 0
    assert p.task()["state"] == "MERGING_BRANCH", "it is not merged yet"
    assert p.git("rev-parse", "main") == main
    p.git("switch", "-q", "main")
    p.git("merge", "-q", "--no-ff", "-m", "by a person", "feat/add-numbers")
    p.run("resume")
    assert p.task()["state"] == "INITIALIZING"
    assert p.git("log", "-1", "--format=%s") == "by a person"


@pytest.mark.slow
def test_a_pull_request_is_offered_once_and_its_tool_may_be_missing(tmp_path: Path) -> None:
    p = project(tmp_path / "p", f"[git]\nmerge = 'pull-request'\npr_command = '{tmp_path}/open-pr'\n")
    p.git("clone", "-q", "--bare", str(p.root), str(tmp_path / "origin.git"))
    p.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    p.marked()
    ran = p.run("get-task", "--json")
    assert (ran.code, ran.json["state"]) == (0, "MERGING_BRANCH")
    assert "could not be started" in ran.json["last_error"]
    (tmp_path / "open-pr").write_text(f"#!/bin/sh\necho opened >> {tmp_path}/opened\n")
    (tmp_path / "open-pr").chmod(0o755)
    for _ in range(3):
        assert p.task()["state"] == "MERGING_BRANCH"
    assert (tmp_path / "opened").read_text() == "opened\n"
    assert sh(tmp_path / "origin.git", "git", "rev-parse", "feat/add-numbers") == p.git("rev-parse", "HEAD")


# -- ways out ------------------------------------------------------------------------------------------------------------------------

EARLY = "[debug]\nhypothesize = 1\ninstrument = 1\nreduce_scope = 2\nescalate = 3\n"


def smaller(first: dict[str, Any] | None = None, last: dict[str, Any] | None = None, others: tuple[dict[str, Any], ...] = ()) -> str:
    """A new plan for the task `add`: a smaller task, and one that verifies."""
    red, green = {**STEP, "description": "zero"}, {**STEP, "type": "GREEN", "description": "zero"}
    history = {"originalTaskName": "add", "justification": "too much at once"}
    begin = {"taskName": "add zero", "status": "TODO", "tdd_steps": [red, green], "breakdownHistory": history}
    end = {
        "taskName": "verify add",
        "status": "TODO",
        "tdd_steps": [{**STEP, "description": "RED of add"}, {**STEP, "type": "GREEN", "description": "done"}],
    }
    return json.dumps({**ACTIVE, "tasks": [{**begin, **(first or {})}, {**end, **(last or {})}, *others]})


REPLANS: dict[str, tuple[str, str]] = {
    "no history": (
        smaller({"breakdownHistory": {"originalTaskName": "other", "justification": "j"}}),
        "tasks[0].breakdownHistory: must name 'add'",
    ),
    "one task": (json.dumps({**ACTIVE, "tasks": [json.loads(smaller())["tasks"][0]]}), "must become at least two tasks"),
    "another goal": (
        smaller(last={"tdd_steps": [STEP]}),
        "tasks[1].tdd_steps[0]: the verification task must begin with a RED step described as 'RED of add'",
    ),
    "begun": (smaller({"tdd_steps": [{**STEP, "status": "DONE"}]}), "start as TODO"),
    "another title": (smaller().replace("feat: add numbers", "feat: subtract numbers"), "prTitle"),
    "no plan": ("{", "is not JSON"),
}


@pytest.mark.slow
def test_a_scope_reduction_resets_the_work_keeps_it_recoverable_and_is_planned_anew(tmp_path: Path) -> None:
    p = project(tmp_path / "p", EARLY).reddened()
    p.green(WRONG)
    p.write({"scratch/idea.py": "# an untracked thought\n"})
    p.submit(test_command="pytest", expectation="PASS")
    good, run = p.git("rev-parse", "HEAD"), p.task()["run"]
    ran = p.run("request-scope-reduction", "--json")
    assert (ran.json["status"], ran.json["state"], ran.code) == ("SUCCESS", "REPLANNING", 0)
    assert p.git("rev-parse", "HEAD") == good
    assert p.git("status", "--porcelain") == ""
    assert not (p.root / "tests/test_add.py").exists()
    assert not (p.root / "scratch").exists()
    kept = p.git("for-each-ref", "--format=%(refname)", f"refs/detent/{run}/trees").splitlines()
    assert any("scratch/idea.py" in p.git("ls-tree", "-r", "--name-only", ref) for ref in kept)
    briefing = p.task()["briefing"]
    assert "RED of add" in briefing
    assert "assert" in briefing, "the final error is shown"
    before = standing(p)
    for name, (plan, says) in REPLANS.items():
        p.write({"ACTIVE_PR.json": plan})
        verdict = p.submit()
        assert (verdict["status"], verdict["state"]) == ("REFUSED", "REPLANNING"), name
        assert any(says in reason for reason in verdict["reasons"]), (name, verdict["reasons"])
    assert standing(p) == before
    p.write({"ACTIVE_PR.json": smaller()})
    assert p.submit()["state"] == "EXECUTING_TDD"
    assert p.state["debug_attempt_counter"] == 0
    assert p.plan["tasks"][0]["breakdownHistory"]["originalTaskName"] == "add"
    assert p.task()["step"] == {"task": "add zero", "index": 0, "type": "RED", "description": "zero"}


@pytest.mark.slow
def test_a_scope_reduction_takes_the_branch_back_from_what_the_agent_committed_by_itself(tmp_path: Path) -> None:
    p = project(tmp_path / "p", EARLY).reddened()
    good, run = p.git("rev-parse", "HEAD"), p.task()["run"]
    p.green(WRONG)
    p.git("add", "-A")
    p.git("commit", "-q", "-m", "mine")
    theirs = p.git("rev-parse", "HEAD")
    p.green(WRONG.replace("0", "1"))
    assert p.run("request-scope-reduction", "--json").json["state"] == "REPLANNING"
    assert (p.git("rev-parse", "HEAD"), p.git("status", "--porcelain")) == (good, "")
    assert theirs in p.git("for-each-ref", "--format=%(objectname)", f"refs/detent/{run}/agent").split(), "theirs is kept"


def replanned(p: Project) -> Project:
    """At the first step after a scope reduction."""
    p.reddened()
    for n in range(2):
        p.green(f"{WRONG}# {n}\n")
    assert p.run("request-scope-reduction").code == 0
    p.write({"ACTIVE_PR.json": smaller(last={"taskName": "add"})})
    assert p.submit()["state"] == "EXECUTING_TDD"
    return p


@pytest.mark.slow
def test_the_verification_task_is_proved_on_the_tree_it_was_planned_from(tmp_path: Path) -> None:
    p = replanned(project(tmp_path / "p", EARLY))
    p.write({"tests/test_zero.py": "from calc import add\n\n\ndef test_zero():\n    assert add(1, 0) == 1\n"})
    assert p.submit(test_command="pytest tests/test_zero.py", expectation="FAIL")["status"] == "NEEDS_ANALYSIS"
    p.submit(analysis_decision="SUCCESS")
    pass_all_of(p, "tests/test_zero.py")
    assert p.task()["step"] == {"task": "add", "index": 0, "type": "RED", "description": "RED of add"}
    verdict = p.red("def test_add():\n    assert True\n")
    assert verdict["status"] == "FAILURE", "it would have passed before, too"
    verdict = p.red()
    assert verdict["status"] == "NEEDS_ANALYSIS", verdict["reasons"]
    assert p.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
    green = p.green(GREEN)
    assert (green["status"], green.get("flags", [])) == ("SUCCESS", []), (
        "smaller tasks have written the code: nothing is left for this GREEN"
    )
    assert p.task()["state"] == "CODE_REVIEW"


def pass_all_of(p: Project, selector: str) -> None:
    p.write({"calc.py": GREEN})
    verdict = p.submit(test_command=f"pytest {selector}", expectation="PASS")
    assert verdict["status"] == "SUCCESS", verdict["reasons"]


@pytest.mark.slow
def test_a_task_that_fails_again_after_a_scope_reduction_may_escalate_at_once(tmp_path: Path) -> None:
    p = replanned(project(tmp_path / "p", EARLY))
    assert p.red("def test_add():\n    assert True\n")["status"] == "FAILURE"
    assert p.run("escalate-for-external-help", "--report", "-", stdin="# Stuck\n").code == 10


@pytest.mark.slow
def test_an_escalation_prints_the_report_and_guidance_brings_the_run_back(tmp_path: Path) -> None:
    p = project(tmp_path / "p", EARLY).debugging(3)
    report = "# Help needed\n\n- goal: add\n- tried: 10, 11, 12 — and more…\n"
    (tmp_path / "report.md").write_text(report)
    ran = p.run("escalate-for-external-help", "--report", str(tmp_path / "report.md"))
    assert ran.code == 10
    assert ran.out.strip() == report.strip()
    assert p.state["status"] == "HALTED"
    assert p.plan["tasks"][0]["status"] == "ERROR"
    task = p.run("get-task", "--json")
    assert (task.code, task.json["state"], task.json["actor"]) == (10, "HALTED", "human")
    resumed = p.run("resume", "--guidance", "return a + b", "--json")
    assert (resumed.json["state"], resumed.code) == ("DEBUGGING", 0)
    again = p.task()
    assert again["guidance"] == "return a + b"
    assert "return a + b" in again["briefing"]
    assert p.state["debug_attempt_counter"] == 0
    pass_all(p)
    assert p.task()["guidance"] is None


# -- review ------------------------------------------------------------------------------------------------------------------------


def finding(category: str = "bug", severity: str = "MAJOR", description: str = "adds wrongly") -> dict[str, Any]:
    where = {"file_path": "calc.py", "line_number": 2, "category": category, "severity": severity}
    return {**where, "description": description, "recommendation": "mend it"}


def test_findings_become_tasks_and_what_changes_is_reviewed_again(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reviewing()
    found = [finding(), finding("style", "MINOR", "a long name"), finding("style", "INFO", "nice")]
    p.write({"FINDINGS.json": json.dumps({"overall_assessment": "x", "executive_summary": "y", "findings": found})})
    verdict = p.submit(findings="FINDINGS.json")
    assert (verdict["status"], verdict["state"], verdict["exit"]) == ("SUCCESS", "EXECUTING_TDD", 0)
    assert not (p.root / "FINDINGS.json").exists()
    added = p.plan["tasks"][1:]
    assert [[s["type"] for s in t["tdd_steps"]] for t in added] == [["RED", "GREEN"], ["REFACTOR"]]
    assert "adds wrongly" in added[0]["taskName"]
    assert counts(p) == {"review": 1}
    assert p.task()["step"]["type"] == "RED"


@pytest.mark.slow
@pytest.mark.parametrize("branching", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_passes_only_where_it_was_written_is_neither_landed_nor_offered(tmp_path: Path, branching: bool) -> None:
    config = f'[git]\nsquash = "auto"\nmerge = "branch"\nbranching = {str(branching).lower()}\n'
    p = project(tmp_path / "p", config, {".gitignore": "__pycache__/\nanswers.py\n"})
    p.task()
    p.write_plan()
    p.submit()
    p.task()
    p.red()
    p.submit(analysis_decision="SUCCESS")
    p.write({"answers.py": GREEN})
    assert p.green("from answers import add\n")["status"] == "SUCCESS"
    p.task()
    p.write({"FINDINGS.json": "[]"})
    assert p.task()["state"] == "FINALIZE_COMPLETE"
    p.mark_done()
    verdict = p.submit()
    assert verdict["state"] == ("PLAN_UPDATED" if branching else "HALTED")
    task = p.task()
    assert task["state"] == "HALTED" and "clean checkout" in task["briefing"]
    status = p.run("status", "--json").json
    assert status["cause"] == ("red merge" if branching else "clean")
    if not branching:
        assert p.run("resume", "--json").json["state"] == "FINALIZE_COMPLETE"


def test_a_change_before_the_review_is_shown_however_often_it_is_looked_at(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reviewing()
    p.write({"FINDINGS.json": "[]", "calc.py": "# another thing\n"})
    before = counts(p)
    for _ in range(4):
        task = p.task()
        assert (task["state"], task["actor"]) == ("CODE_REVIEW", "agent")
        assert "calc.py changed since the last step passed" in task["last_error"] and task["last_error"] in task["briefing"]
    assert counts(p) == before
    p.git("checkout", "-q", "--", "calc.py")
    assert p.task()["state"] == "AWAITING_FINALIZATION"


@pytest.mark.parametrize("agent", ["reviewbot", "claude"])
def test_a_reviewer_that_cannot_be_asked_is_told_before_the_run_starts(tmp_path: Path, agent: str) -> None:
    p = project(tmp_path / "p", f'[review]\nagent = "{agent}"\n')
    p.env["PATH"] = f"{tmp_path}:/usr/bin:/bin"
    ran = p.run("start", "--workflow", "pr")
    assert ran.code == 2 and "[review] agent: " in ran.err and agent in ran.err, ran
    assert p.run("status").code == 2, "nothing was started"


@pytest.mark.slow
def test_a_change_after_the_last_proof_is_not_reviewed_along(tmp_path: Path) -> None:
    p = project(tmp_path / "p").reviewing()
    (p.root / "tests/test_add.py").unlink()
    (tmp_path / "findings.json").write_text("[]")
    verdict = p.submit(findings=str(tmp_path / "findings.json"))
    assert (verdict["status"], verdict["state"]) == ("REFUSED", "CODE_REVIEW")
    assert "tests/test_add.py changed since the last step passed" in verdict["reasons"][0]
    p.write({"FINDINGS.json": "[]"})
    task = p.task()
    assert task["state"] == "CODE_REVIEW"
    assert "tests/test_add.py" in task["last_error"]
    p.git("checkout", "-q", "--", "tests/test_add.py")
    assert p.task()["state"] == "AWAITING_FINALIZATION"


@pytest.mark.slow
def test_an_independent_review_cannot_be_reported_by_the_agent(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[review]\nrequire_independent = true\n").reviewing()
    (tmp_path / "findings.json").write_text("[]")
    verdict = p.submit(findings=str(tmp_path / "findings.json"))
    assert (verdict["status"], verdict["state"]) == ("REFUSED", "CODE_REVIEW")
    assert "independent" in verdict["reasons"][0]
    p.write({"FINDINGS.json": "[]"})
    assert p.task()["state"] == "CODE_REVIEW"


@pytest.mark.slow
def test_a_configured_reviewer_sees_plan_and_diff_and_its_findings_become_tasks(tmp_path: Path) -> None:
    asked = tmp_path / "asked.json"
    script = tmp_path / "reviewer"
    script.write_text(f'#!/bin/sh\ncat > {asked}\necho "$DETENT_ROLE $DETENT_STATE" >> {tmp_path}/roles\ncat {tmp_path}/answer.json\n')
    script.chmod(0o755)
    (tmp_path / "answer.json").write_text(json.dumps({"findings": [finding("style", "MINOR", "a long name")]}))
    p = project(tmp_path / "p", f"[review]\nagent = 'command:{script}'\n").reddened()
    pass_all(p)
    task = p.task()
    assert (task["state"], task["step"]["type"]) == ("EXECUTING_TDD", "REFACTOR")
    briefing = json.loads(asked.read_text())
    assert "+def add(a, b):" in briefing["diff"]
    assert "feat: add numbers" in briefing["plan"]
    (tmp_path / "answer.json").write_text('{"findings": []}')
    assert p.green(GREEN + "\n\nplus = add\n")["status"] == "SUCCESS"
    assert p.task()["state"] == "AWAITING_FINALIZATION"
    assert (tmp_path / "roles").read_text() == "reviewer CODE_REVIEW\n" * 2


def exhausted(folder: Path) -> Project:
    """Halted, since the last round of reviews has findings still."""
    p = project(folder, "[review]\nmax_rounds = 1\n").reviewing()
    p.write({"FINDINGS.json": json.dumps([finding("style")])})
    ran = p.run("get-task", "--json")
    assert (ran.code, ran.json["state"]) == (10, "HALTED")
    assert "detent answer REVIEW approve" in ran.json["briefing"]
    return p


@pytest.mark.slow
def test_after_the_last_round_a_person_may_approve(tmp_path: Path) -> None:
    p = exhausted(tmp_path / "p")
    ran = p.run("answer", "REVIEW", "approve", "--json")
    assert (ran.json["status"], ran.json["state"], ran.code) == ("SUCCESS", "AWAITING_FINALIZATION", 0)
    p.git("reset", "-q", "--soft", "main")
    p.git("commit", "-qm", "feat: add numbers")
    assert p.submit()["state"] == "FINALIZE_COMPLETE"


@pytest.mark.slow
def test_after_the_last_round_a_person_may_ask_for_another(tmp_path: Path) -> None:
    p = exhausted(tmp_path / "p")
    assert p.run("answer", "REVIEW", "another-round", "--note", "rename it", "--json").json["state"] == "EXECUTING_TDD"
    assert p.task()["step"]["type"] == "REFACTOR"
    assert counts(p) == {}


# -- the end ---------------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_pull_request_left_is_for_a_person_to_say_while_an_entry_is_open(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    p.task()
    verdict = p.submit(no_pr_left=True)
    assert (verdict["status"], verdict["state"], verdict["exit"]) == ("HALTED", "HALTED", 10)
    assert "feat: add numbers" in verdict["reasons"][0]
    assert "detent answer PLAN finish" in p.task()["briefing"]
    assert p.run("resume", "--json").json["state"] == "INITIALIZING"
    p.submit(no_pr_left=True)
    ran = p.run("answer", "PLAN", "finish", "--json")
    assert (ran.json["state"], ran.code) == ("DONE", 0)
    done = p.run("get-task", "--json")
    assert (done.code, done.json["state"], done.json["actor"]) == (0, "DONE", "none")


@pytest.mark.slow
def test_a_plan_that_is_worked_through_ends_the_run_as_done(tmp_path: Path) -> None:
    p = project(tmp_path / "p", files={PLAN: "# Plan\n\n- feat: add numbers\n"}).marked()
    assert p.task()["state"] == "INITIALIZING"
    verdict = p.submit(no_pr_left=True)
    assert (verdict["status"], verdict["state"], verdict["exit"]) == ("SUCCESS", "DONE", 0)
    task = p.task()
    assert task["state"] == "DONE"
    assert "feat: add numbers" in task["briefing"]
    assert p.task()["run"] == task["run"], "asking again starts nothing"
    assert p.git("status", "--porcelain") == ""
    assert p.git("log", "--format=%s", "main").splitlines()[0] == "Merge branch 'feat/add-numbers'"


@pytest.mark.slow
def test_a_repository_of_another_kind_is_judged_by_exit_code_and_says_so(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "p", {PLAN: START[PLAN], "check.sh": "grep -q add calc.txt\n", "calc.txt": "nothing\n"})
    p = at(project(tmp_path / "other"), root)
    p.task()
    p.write_plan("RED", "GREEN")
    p.submit()
    assert p.task()["state"] == "EXECUTING_TDD"
    verdict = p.submit(test_command="sh check.sh", expectation="FAIL")
    assert (verdict["status"], verdict["evidence"]["kind"]) == ("NEEDS_ANALYSIS", "exit-code")
