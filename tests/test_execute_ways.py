"""The other ways of an execution: the strategies tdd and pr, the review before a pull request, workspaces that are set up, beads as the tracker."""

import json
import sys
from pathlib import Path

import pytest

from detent.git.place import find_place
from detent.git.workspace import choose_root, local_root
from detent.storage.state import read_sealed
from tests.driven import HONEST, workspaces
from tests.executions import BRANCH, CODE, CONFIG, OTHERS, TEST, WORKS, Till
from tests.trackers import beads_folder, put_bd

RUN = "execute-it-1-1"


def subjects(till: Till, branch: str) -> list[str]:
    return till.there("log", "--reverse", "--format=%s", f"main..{branch}").splitlines()


@pytest.mark.slow
def test_with_the_strategy_tdd_the_phases_are_pushed_as_they_are(tmp_path: Path) -> None:
    till = Till(tmp_path, f"{CONFIG}[queue]\nstrategy = 'tdd'\n")
    item = till.file("Sums", description="It adds two numbers.")
    ran = till.execute(item, agent=HONEST)
    assert (ran.code, ran.json["state"], ran.json["branch"]) == (0, "COMPLETED", "it-1-sums"), ran
    first = ["plan: adds two numbers", "test: adds two numbers", "feat: adds two numbers", "refactor: no changes needed"]
    assert subjects(till, "it-1-sums")[:4] == first and [c["subject"] for c in ran.json["commits"]][:4] == first
    assert till.run(f"{RUN}.work").parent == RUN and till.run(f"{RUN}.work").state == "COMPLETE"
    assert till.item(item).status == "closed" and "tdd: Sums [DONE]" in till.item(item).notes
    assert "refs/notes/detent-evidence" in till.there("for-each-ref") and not workspaces(till.project) and till.owed(RUN) == []


@pytest.mark.slow
def test_the_notes_of_an_inner_run_follow_its_commits_when_they_are_rebased(tmp_path: Path) -> None:
    till = Till(tmp_path, f"{CONFIG}[queue]\nstrategy = 'tdd'\n")
    till.hook(OTHERS.format(text="others = 1", path="others.py"))
    ran = till.execute(till.file("Sums", description="It adds two numbers."), agent=HONEST)
    assert (ran.code, ran.json["state"]) == (0, "COMPLETED"), ran
    commits = till.there("log", "--reverse", "--format=%H %s", "main..it-1-sums").splitlines()
    assert [line.partition(" ")[2] for line in commits][:3] == [
        "someone else was faster",
        "plan: adds two numbers",
        "test: adds two numbers",
    ]
    assert json.loads(till.git("notes", "--ref=tdd-handoffs", "show", commits[2].split()[0]))["phase"] == "RED"


@pytest.mark.slow
def test_with_the_strategy_pr_the_items_text_is_the_plan_and_stays_out_of_the_tree(tmp_path: Path) -> None:
    till = Till(tmp_path, f"{CONFIG}[queue]\nstrategy = 'pr'\n")
    item = till.file("add numbers", description="# Why\n- because")
    ran = till.execute(item, agent=HONEST)
    assert (ran.code, ran.json["state"]) == (0, "COMPLETED"), ran
    assert subjects(till, "it-1-add-numbers") == ["it-1: add numbers"]
    assert till.there("ls-tree", "-r", "--name-only", "it-1-add-numbers").splitlines().count(".detent/plan.md") == 0
    assert till.run(f"{RUN}.work").state == "DONE" and "pr: add numbers [DONE]" in till.item(item).notes
    assert till.there("rev-parse", "main") == till.git("rev-parse", "main")  # nothing was merged


@pytest.mark.slow
def test_an_item_is_not_done_by_what_an_agent_writes_into_its_plan(tmp_path: Path) -> None:
    till = Till(tmp_path, f"{CONFIG}[queue]\nstrategy = 'pr'\n")
    item = till.file("add numbers")
    liar = tmp_path / "liar.py"
    mark = f"open('.detent/plan.md', 'w').write('- {item}: add numbers [DONE] abcdef1')"
    liar.write_text(f"import json\n\n{mark}\nprint(json.dumps({{'summary': 's', 'no_pr_left': True}}))\n")
    ran = till.execute(item, agent=f"command:{sys.executable} {liar}")
    assert (ran.code, ran.json["state"]) == (1, "FAILED"), ran
    assert till.run(f"{RUN}.work").state == "ABORTED" and till.item(item).status == "in_progress"


@pytest.mark.slow
def test_an_inner_run_that_gives_up_fails_the_execution(tmp_path: Path) -> None:
    till = Till(tmp_path, f"{CONFIG}[queue]\nstrategy = 'tdd'\n[tdd]\nretries = 0\n")
    item = till.file("Sums")
    named = {"currentTest": {"description": "adds", "testFile": "tests/test_add.py", "implFile": "calc.py"}}
    plans = {"state": "PLAN", "write": {"test-list.md": "- [ ] adds\n"}, "reply": named}
    ran = till.execute(item, plans, {"state": "RED", "write": {"tests/test_add.py": "def test_x():\n    pass\n"}, "reply": "done"})
    assert (ran.code, ran.json["state"], ran.json["reason"]) == (1, "FAILED", "the inner run ended in HALTED"), ran
    assert till.run(f"{RUN}.work").state == "ABORTED" and till.item(item).status == "in_progress"
    assert [i.title for i in till.items()][1:] == ["The inner run did not finish: Sums"] and till.owed(RUN) == []


@pytest.mark.slow
def test_a_project_without_any_test_gets_its_first_suite(tmp_path: Path) -> None:
    till = Till(tmp_path)
    till.git("rm", "-q", "-r", "tests", "pytest.ini")
    till.git("commit", "-q", "-m", "no tests")
    till.git("push", "-q", "origin", "main")
    first = {"calc.py": CODE, "tests/test_add.py": TEST, "pytest.ini": "[pytest]\npythonpath = .\n"}
    ran = till.execute(till.file(), {"write": first, "reply": "a suite"})
    assert (ran.code, ran.json["state"]) == (10, "HALTED"), ran
    asks = [(flag.kind, flag.place) for flag in till.run(RUN).flags if flag.level == "ask"]
    assert asks == [("judged-by", "pytest.ini")], "how the project is tested is new, and a person looks at that"
    assert till.project.run("answer", "FLAGS", "accept", "--run", RUN).code == 0
    done = till.project.run("run", "--run", RUN, "--json")
    assert (done.code, done.json["state"]) == (0, "COMPLETED"), done
    assert "Test command, for the machine: `(none yet)`" in next(e.briefing.briefing for e in till.events(RUN) if e.briefing)


# -- what it needs -----------------------------------------------------------------------------------------------------------

TWICE = {
    "twice.py": "from calc import add\n\n\ndef twice(n):\n    return add(n, n)\n",
    "tests/test_twice.py": "from twice import twice\n\n\ndef test_twice():\n    assert twice(2) == 4\n",
}
THRICE = {
    path.replace("twice", "thrice"): text.replace("twice", "thrice").replace("add(n, n)", "add(n, add(n, n))").replace("== 4", "== 6")
    for path, text in TWICE.items()
}


def needing(till: Till) -> str:
    """An item whose need is done, on a branch that is not in main."""
    one, two = till.file(), till.file("Add twice")
    till.project.run("items", "dep", two, one)
    done = till.execute(one, WORKS)
    assert done.code == 0, done
    return two


@pytest.mark.slow
def test_an_execution_begins_with_the_finished_work_that_its_item_needs(tmp_path: Path) -> None:
    till = Till(tmp_path)
    two = needing(till)
    ran = till.execute(two, {**WORKS, "write": TWICE})
    assert (ran.code, ran.json["state"]) == (0, "COMPLETED"), ran
    run = till.run("execute-it-2-1")
    assert run.data.onto == "it-1-add-prices"
    (briefing,) = [e.briefing.briefing for e in till.events(run.id) if e.was == "QUEUED" and e.briefing]
    assert "begins at main plus the work that this item needs and that has not landed yet (it-1-add-prices)" in briefing
    subjects = till.there("log", "--first-parent", "--format=%s", "main..it-2-add-twice").splitlines()
    assert subjects == ["it-2: Add twice", "Merge branch 'it-1-add-prices', which it-2 needs"]
    assert till.git("log", "-1", "--format=%s", "main") != subjects[1], "main itself has not moved"
    landed = till.project.run("land", "--json")
    assert landed.code == 0 and {row["item"]: row["outcome"] for row in landed.json["branches"]} == {"it-1": "landed", two: "landed"}
    third = till.file("Add thrice")
    till.project.run("items", "dep", third, "it-1", two)
    assert till.execute(third, {**WORKS, "write": THRICE}).code == 0
    assert till.run("execute-it-3-1").data.base == till.git("rev-parse", "main"), "what has landed is in main"


@pytest.mark.slow
def test_needed_work_that_conflicts_with_main_waits_for_a_person_to_land_it(tmp_path: Path) -> None:
    till = Till(tmp_path)
    two = needing(till)
    till.project.write({"calc.py": "def add(a, b):\n    return sum((a, b))\n"})
    till.git("commit", "-qam", "the same, otherwise")
    till.git("push", "-q", "origin", "main")
    ran = till.execute(two, {**WORKS, "write": TWICE})
    assert (ran.code, ran.json["state"]) == (10, "HALTED"), ran
    assert "it-2 needs it-1-add-prices" in ran.json["error"] and "detent land it-1-add-prices" in ran.json["error"]
    assert till.git("branch", "--list", "it-2*") == "", "nothing was begun"
    till.git("merge", "-q", "-X", "ours", "-m", "by hand", "it-1-add-prices")
    till.git("push", "-q", "origin", "main")
    done = till.project.run("resume", "--run", "execute-it-2-1", "--json")
    assert (done.code, done.json["state"]) == (0, "COMPLETED"), done


# -- the review --------------------------------------------------------------------------------------------------------------

ISSUE = {"title": "No error handling", "description": "words are added too", "priority": 1, "type": "bug", "severity": "high"}
ISSUE |= {"file_path": "calc.py", "line_numbers": [1, 2]}
READY = {"state": "REVIEWING", "role": "reviewer", "reply": {"issues": [], "summary": "all is well", "pr_ready": True}}
NOT_READY = {"state": "REVIEWING", "role": "reviewer", "reply": {"issues": [ISSUE], "summary": "one issue", "pr_ready": False}}


def with_pull_requests(folder: Path, rounds: int = 1) -> Till:
    opened = f"sh -c 'echo x >> {folder}/opened; cp $0 {folder}/opened.md' {{body}}"
    return Till(folder, f"{CONFIG}[git]\nmerge = 'pull-request'\npr_command = \"{opened}\"\n[review]\nmax_rounds = {rounds}\n")


@pytest.mark.slow
def test_a_branch_that_is_ready_becomes_a_pull_request_once(tmp_path: Path) -> None:
    till = with_pull_requests(tmp_path)
    item = till.file()
    ran = till.execute(item, WORKS, READY)
    assert (ran.code, ran.json["state"]) == (0, "COMPLETED"), ran
    assert [e.on for e in till.events(RUN)][-3:] == ["pushed-for-review", "ready", "opened"]
    assert (tmp_path / "opened").read_text() == "x\n" and till.item(item).status == "closed"
    text = (tmp_path / "opened.md").read_text()
    assert f"### Detent: clean — main…{BRANCH}, 1 commit, 2 files" in text and "| proved | `tests/test_add.py::" in text, text


@pytest.mark.slow
def test_a_branch_that_is_not_ready_waits_for_its_items_and_is_reviewed_again_then(tmp_path: Path) -> None:
    till = with_pull_requests(tmp_path)
    item = till.file()
    ran = till.execute(item, WORKS, NOT_READY, READY)
    assert (ran.code, ran.json["state"], ran.json["outcome"]) == (10, "NOT_READY", "waiting"), ran
    (issue,) = [i for i in till.items() if "review" in i.labels]
    assert (issue.title, issue.priority, issue.type, issue.found_in) == ("No error handling", 1, "bug", (item,))
    assert "words are added too" in issue.description and "calc.py, lines 1, 2" in issue.description
    assert not (tmp_path / "opened").exists() and till.item(item).status == "in_progress"
    assert till.project.run("run", "--run", RUN, "--json").code == 10  # looking again changes nothing
    till.change(issue.id, status="closed")
    done = till.project.run("run", "--run", RUN, "--json")
    assert (done.code, done.json["state"]) == (0, "COMPLETED") and (tmp_path / "opened").read_text() == "x\n", done
    assert [e.on for e in till.events(RUN)][-4:] == ["items-closed", "nothing-new", "ready", "opened"]


@pytest.mark.slow
def test_a_person_overrules_the_review(tmp_path: Path) -> None:
    till = with_pull_requests(tmp_path)
    assert till.execute(till.file(), WORKS, NOT_READY).code == 10
    said = till.project.run("answer", "REVIEW", "override", "--run", RUN, "--json")
    assert (said.code, said.json["state"]) == (0, "OPENING"), said
    assert till.project.run("resume", "--run", RUN, "--json").json["state"] == "COMPLETED"


@pytest.mark.slow
@pytest.mark.parametrize("reply", ["looks good to me", '{"issues": [], "summary": "s", "pr_ready": true, "extra": 1}'])
def test_a_review_that_cannot_be_read_approves_nothing(tmp_path: Path, reply: str) -> None:
    till = with_pull_requests(tmp_path)
    ran = till.execute(till.file(), WORKS, {**READY, "reply": reply, "again": True})
    assert (ran.code, ran.json["state"]) == (10, "HALTED") and "the review cannot be read" in ran.json["error"], ran
    assert not (tmp_path / "opened").exists()


@pytest.mark.slow
def test_any_branch_can_be_reviewed_by_hand(tmp_path: Path) -> None:
    till = Till(tmp_path)
    till.git("switch", "-q", "-c", "mine")
    till.project.write({"calc.py": CODE, "tests/test_add.py": TEST})
    till.git("add", "-A")
    till.git("commit", "-q", "-m", "mine")
    till.git("switch", "-q", "main")
    script = till.project.root.parent / "review.json"
    script.write_text(json.dumps([{**NOT_READY, "again": True}]))
    ran = till.project.run("review", "mine", "--agent", f"scripted:{script}", "--json")
    assert (ran.code, ran.json["pr_ready"], ran.json["summary"], ran.json["items"]) == (1, False, "one issue", ["it-1"]), ran
    again = till.project.run("review", "mine", "--agent", f"scripted:{script}")
    assert again.code == 1 and "NOT READY  mine" in again.out and "it-1       high bug: No error handling  calc.py" in again.out
    assert len(till.items()) == 1 and till.item("it-1").status == "open"
    assert till.git("status", "--porcelain") == ""
    nothing = till.project.run("review", "main", "--agent", f"scripted:{script}", "--json")
    assert (nothing.code, nothing.json["error"]) == (2, "'main' has no commits that main does not have")


# -- workspaces --------------------------------------------------------------------------------------------------------------

SETUP = "mkdir -p vendored/bin && echo $PWD > vendored/bin/where && echo x >> {log}"


def furnished(folder: Path, setup: str = SETUP) -> Till:
    log = folder / "log"
    log.write_text("")
    config = f"{CONFIG}[sandbox]\nlevel = 'none'\n[workspace]\nsetup = '{setup.format(log=log)}'\ncopy = ['secret.env', 'data/*.csv']\n"
    till = Till(folder, config, files={"requirements.txt": "a==1\n", ".gitignore": "__pycache__/\nvendored/\nsecret.env\ndata/\n"})
    till.project.write({"secret.env": "KEY=1\n", "data/a.csv": "1,2\n", "data/b.txt": "b\n"})
    return till


READS = "from pathlib import Path\n\n\ndef test_env():\n    assert Path('secret.env').read_text() == 'KEY=1\\n' and Path('data/a.csv').exists()\n"
READS += "    assert not Path('data/b.txt').exists() and Path('vendored/bin/where').read_text().strip() == str(Path.cwd())\n"


@pytest.mark.slow
def test_a_workspace_is_set_up_once_for_the_same_lock_files_and_gets_its_ignored_files(tmp_path: Path) -> None:
    till = furnished(tmp_path)
    works = {**WORKS, "write": {**WORKS["write"], "tests/test_env.py": READS}}
    for number in (1, 2):
        ran = till.execute(till.file(f"Item {number}"), works)
        assert (ran.code, ran.json["state"]) == (0, "COMPLETED"), ran
        names = till.there("ls-tree", "-r", "--name-only", ran.json["branch"]).splitlines()
        assert "secret.env" not in names and not any(name.startswith(("vendored", "data")) for name in names)
    assert (tmp_path / "log").read_text() == "x\n"  # the second workspace got what the first one made


@pytest.mark.slow
def test_a_kept_set_up_whose_list_somebody_rewrote_is_made_anew(tmp_path: Path) -> None:
    till = furnished(tmp_path)
    assert till.execute(till.file("Item 1"), WORKS).code == 0
    (made,) = till.project.root.glob(".git/detent/setups/*/made.json")
    made.write_text(json.dumps({"root": "/", "paths": ["../../written"]}))
    (made.parent / "files/../../written").write_text("by somebody")
    assert till.execute(till.file("Item 2"), {**WORKS, "write": {"other.py": "", **WORKS["write"]}}).code == 0
    assert (tmp_path / "log").read_text() == "x\nx\n"
    assert json.loads(read_sealed(made) or "")["paths"] == ["vendored"]
    assert not list(Path(till.project.env["XDG_STATE_HOME"]).rglob("written"))


@pytest.mark.slow
def test_a_set_up_that_fails_halts_the_execution_and_is_no_failure_of_the_item(tmp_path: Path) -> None:
    till = furnished(tmp_path, "echo no such package; exit 3")
    item = till.file()
    ran = till.execute(item, WORKS)
    assert (ran.code, ran.json["state"]) == (10, "HALTED") and "no such package" in ran.json["error"], ran
    assert len(till.items()) == 1


@pytest.mark.slow
def test_a_file_that_git_does_not_ignore_is_not_copied(tmp_path: Path) -> None:
    till = furnished(tmp_path)
    till.project.write({".gitignore": "vendored/\n"})
    till.git("commit", "-qam", "no longer ignored")
    till.git("push", "-q", "origin", "main")
    ran = till.execute(till.file(), WORKS)
    assert (ran.code, ran.json["state"]) == (10, "HALTED") and "secret.env, which git does not ignore" in ran.json["error"], ran


@pytest.mark.slow
def test_two_projects_of_one_name_never_share_a_workspace(tmp_path: Path) -> None:
    places = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        till = Till(tmp_path / name, remote=False)
        ran = till.execute(till.file(), WORKS)
        assert (ran.code, ran.json["run"]) == (0, RUN), ran
        places.append(till.run(RUN).data.setup.workspace)
    assert places[0] != places[1]


# -- beads -------------------------------------------------------------------------------------------------------------------


def test_a_clone_never_takes_the_workspace_of_another(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    first, second = (find_place(Till(tmp_path / name).project.root) for name in ("a", "b"))
    stored = choose_root(first, RUN)
    stored.mkdir(parents=True)
    assert local_root(first.common_dir, str(stored), RUN) == stored
    assert local_root(second.common_dir, str(stored), RUN) == choose_root(second, RUN) != stored, (
        "also where that folder is on this machine"
    )
    gone = tmp_path / "away" / stored.name
    assert local_root(first.common_dir, str(gone), RUN) == stored, "the state folder was moved"


@pytest.mark.slow
def test_items_of_beads_are_claimed_closed_and_synced(tmp_path: Path) -> None:
    till = Till(tmp_path, f"{CONFIG}[tracker]\nkind = 'beads'\n", files={".gitignore": "__pycache__/\n.beads/\n"})
    beads_folder(till.project.root)
    till.project.env["PATH"] = f"{put_bd(tmp_path / 'bin')}:{till.project.env['PATH']}"
    item = till.file("Add prices", description="Totals are missing.")
    ran = till.execute(item, WORKS)
    assert (ran.code, ran.json["state"], ran.json["branch"]) == (0, "COMPLETED", "beads-bd-1-add-prices"), ran
    home = till.project.root / ".beads"
    assert till.item(item).status == "closed" and (home / "synced").read_text() == "x" and ran.json["warnings"] == []
    (home / "broken-sync").touch()
    second = till.execute(till.file("Again"), {**WORKS, "reply": "BLOCKED: no key"})
    assert second.code == 10 and "the remote does not answer" in second.json["warnings"][0]
    assert [(i.title, i.found_in) for i in till.items()][-1] == ("Blocked: Again", ("bd-2",))


def test_a_tracker_that_cannot_be_reached_starts_nothing(tmp_path: Path) -> None:
    till = Till(tmp_path, f"{CONFIG}[tracker]\nkind = 'beads'\n")
    ran = till.execute("bd-1", WORKS)
    assert ran.code == 2 and "neither the program bd nor" in ran.json["error"]
    listed = till.project.run("items", "list", "--json")
    assert listed.code == 2 and "items" not in listed.json and BRANCH not in till.git("branch", "--list")
