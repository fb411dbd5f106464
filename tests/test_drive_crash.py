"""A feature of four cycles, killed at any point and resumed, ends the same; and it can go on in a clone that has only the notes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from detent.agents import AgentFailed, Reply
from detent.journal.journal import SqliteJournal
from tests.driven import HONEST, driven, driven_on, instead, lent, project
from tests.project import ROOT, Project, Ran
from tests.repos import PLAIN, sh

REQUEST = "it adds, subtracts, multiplies and divides"
ONE = "it adds"
TWO = "it adds and subtracts"
NOTES = "--ref=tdd-handoffs"


def child(p: Project, point: int | None = None, request: str = REQUEST) -> subprocess.CompletedProcess[str]:
    env = {**p.env, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    argv = [sys.executable, "-m", "tests.drive_crash_child", str(p.root), HONEST, request, *([] if point is None else [str(point)])]
    return subprocess.run(argv, env=env, capture_output=True, text=True)


def made(folder: Path) -> Project:
    p = project(folder)
    p.env["XDG_STATE_HOME"] = str(folder.parent / f"{folder.name}.state")
    return p


def outcome(p: Project) -> dict[str, object]:
    """What must not depend on when the machine was killed."""
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", p.env["XDG_STATE_HOME"])
        with closing(SqliteJournal(p.root / ".git" / "detent" / "journal.db")) as journal:
            run = journal.heads()[0].run
            moves = [(e.on, e.state, e.status, e.tree) for e in journal.events(run, limit=1000)]
            runs, fault, owed = len(journal.heads()), journal.first_fault(), list(journal.owed(run))
    branch = p.git("for-each-ref", "--format=%(refname)", "refs/heads/detent/")
    workspaces = [*Path(p.env["XDG_STATE_HOME"]).glob("detent/workspaces/*"), *(p.root / ".git").glob("worktrees/*")]
    return {
        "runs": runs,
        "moves": moves,
        "fault": fault,
        "owed": owed,
        "branch": branch,
        "commits": p.git("log", "--reverse", "--format=%s %T", f"main..{branch}").splitlines(),
        "notes": notes_of(p, branch),
        "status": p.git("status", "--porcelain"),
        "workspaces": workspaces,
        "left": p.git("for-each-ref", "--format=%(refname)", "refs/notes/"),
    }


def notes_of(p: Project, branch: str) -> list[Any]:
    """The note on every commit of the run, in order; git fails if one is missing."""
    commits = p.git("log", "--reverse", "--format=%H", f"main..{branch}").split()
    return [json.loads(p.git("notes", NOTES, "show", commit)) for commit in commits]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, object]]:
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        p = made(tmp_path_factory.mktemp("calm") / "p")
    done = child(p)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    calm = outcome(p)
    assert said["state"] == "COMPLETE" and said["points"] > 1000
    commits = calm["commits"]
    assert isinstance(commits, list) and len(commits) == 17  # four cycles of four, and the last plan
    assert (calm["fault"], calm["owed"], calm["workspaces"], calm["runs"]) == (None, [], [], 1)
    return said["points"], calm


def killed_again_and_again(p: Project, first: int, stride: int, request: str = REQUEST) -> int:
    """Kill it, start it again, kill it a stride later, until it comes to its end; how often it was killed."""
    kills, point = 0, first
    while True:
        done = child(p, point, request)
        if done.returncode == 0:
            return kills
        assert done.returncode == -signal.SIGKILL, done.stderr
        kills, point = kills + 1, stride


@pytest.mark.timeout(600)
@pytest.mark.slow
@pytest.mark.parametrize("part", range(12))
def test_killed_again_and_again_a_feature_of_four_cycles_ends_the_same(
    tmp_path: Path, undisturbed: tuple[int, dict[str, object]], part: int
) -> None:
    points, calm = undisturbed
    p = made(tmp_path / "p")
    between = points // 14 + part * 31
    assert killed_again_and_again(p, 1 + part * 7, between) >= points // between
    assert outcome(p) == calm


@pytest.mark.slow
def test_killed_again_and_again_a_feature_of_one_cycle_ends_the_same(tmp_path: Path) -> None:
    calm, p = made(tmp_path / "calm"), made(tmp_path / "p")
    points = json.loads(child(calm, request=ONE).stdout)["points"]
    assert killed_again_and_again(p, points // 3, points // 2, ONE) >= 2
    assert outcome(p) == outcome(calm)


PARTS = 16  # of the sweep, so that several processes can share it


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(PARTS))
def test_killed_once_at_every_point_a_feature_of_one_cycle_ends_the_same(tmp_path: Path, part: int) -> None:
    calm = made(tmp_path / "calm")
    points, different = json.loads(child(calm, request=ONE).stdout)["points"], []
    for point in range(1 + part, points + 1, PARTS):
        p = made(tmp_path / str(point))
        assert child(p, point, ONE).returncode == -signal.SIGKILL
        assert child(p, request=ONE).returncode == 0
        if outcome(p) != outcome(calm):
            different.append(point)
    assert not different


# -- where only the notes are left -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A feature of two cycles that was worked through and pushed, to be cloned at any of its commits."""
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        p = project(tmp_path_factory.mktemp("whole") / "p", "[git]\nmerge = 'pull-request'\npr_command = 'true'\n")
        sh(p.root.parent, "git", "init", "-q", "--bare", "-b", "main", "hub.git")
        p.git("remote", "add", "origin", str(p.root.parent / "hub.git"))
        p.git("push", "-q", "origin", "main")
        with driven(p, agent=HONEST, request=TWO) as d:
            assert d.go()["outcome"] == "done"
        yield p


BRANCH = "detent/it-adds-and-subtracts"


def clone_at(whole: Project, folder: Path, at: int, note: str | None = None) -> Project:
    """A clone in which the feature has come as far as its commit number `at`, and which knows nothing but commits and notes."""
    commits = whole.git("log", "--reverse", "--format=%H", f"main..{BRANCH}").split()
    origin = folder.parent / "origin.git"
    sh(folder.parent, "git", "clone", "-q", "--mirror", str(whole.root.parent / "hub.git"), str(origin))  # as it was pushed
    sh(origin, "git", "update-ref", f"refs/heads/{BRANCH}", commits[at])
    if note is not None:
        sh(origin, "git", "notes", NOTES, "add", "-f", "-m", note, commits[at])
    sh(folder.parent, "git", "clone", "-q", "-b", BRANCH, str(origin), str(folder))
    p = object.__new__(Project)
    p.root = folder
    p.env = {**whole.env, **PLAIN, "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"], "DETENT_GIT_MERGE": "branch"}
    return p


def subjects_and_trees(p: Project, branch: str) -> list[str]:
    return p.git("log", "--reverse", "--format=%s %T", f"origin/main..{branch}").splitlines()


def goes_on(whole: Project, folder: Path, at: int) -> None:
    p = clone_at(whole, folder, at)
    ran = p.run("resume", "--agent", HONEST, "--json")
    assert (ran.code, ran.json.get("outcome")) == (0, "done"), ran
    wanted = whole.git("log", "--reverse", "--format=%s %T", f"main..{BRANCH}").splitlines()
    assert subjects_and_trees(p, ran.json["branch"]) == wanted
    assert ran.json["tests"] == {"completed": ["adds two numbers", "subtracts two numbers"], "pending": []}
    for commit in p.git("log", "--format=%H", f"origin/main..{ran.json['branch']}").split():
        assert json.loads(p.git("notes", NOTES, "show", commit))["featureRequest"] == TWO


LAST_CYCLE = (4, 5, 6, 7)  # its PLAN, RED, GREEN and REFACTOR


@pytest.mark.slow
@pytest.mark.parametrize("at", LAST_CYCLE)
def test_a_clone_that_has_only_the_notes_goes_on_after_any_phase_and_ends_the_same(whole: Project, tmp_path: Path, at: int) -> None:
    goes_on(whole, tmp_path / "clone", at)


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, 1, 2, 3])
def test_a_clone_goes_on_after_any_phase_of_the_first_cycle_too(whole: Project, tmp_path: Path, at: int) -> None:
    goes_on(whole, tmp_path / "clone", at)


def refused(p: Project) -> Ran:
    """A clone that does not go on: exit 2, nothing is left behind, nothing is started."""
    ran = p.run("resume", "--agent", HONEST, "--json")
    assert ran.code == 2, ran
    assert p.run("runs", "--all", "--json").json["runs"] == []
    assert not list((p.root / ".git").glob("worktrees/*"))
    assert p.git("for-each-ref", "--format=%(refname:short)", "refs/heads/") == BRANCH
    return ran


def changed(whole: Project, at: int, **fields: object) -> str:
    commit = whole.git("log", "--reverse", "--format=%H", f"main..{BRANCH}").split()[at]
    return json.dumps({**json.loads(whole.git("notes", NOTES, "show", commit)), **fields})


@pytest.mark.slow
def test_a_note_that_cannot_be_read_stops_it_and_names_the_way_out(whole: Project, tmp_path: Path) -> None:
    ran = refused(clone_at(whole, tmp_path / "clone", 5, '{"phase": "RED"'))
    assert "the handoff note on" in ran.json["error"] and "cannot be read" in ran.json["error"]
    assert "detent repair-notes" in ran.json["hint"]


@pytest.mark.slow
def test_a_note_that_claims_a_phase_which_did_not_pass_is_not_believed(whole: Project, tmp_path: Path) -> None:
    p = clone_at(whole, tmp_path / "clone", 5, changed(whole, 5, phase="GREEN", nextPhase="REFACTOR", testResult="PASS"))
    ran = refused(p)
    assert "the notes say that GREEN passed at" in ran.json["error"] and "it does not here: tests/test_subtract.py" in ran.json["error"]


@pytest.mark.slow
def test_a_note_that_calls_a_test_red_which_passes_is_not_believed(whole: Project, tmp_path: Path) -> None:
    p = clone_at(whole, tmp_path / "clone", 6, changed(whole, 6, phase="RED", nextPhase="GREEN"))
    assert "the notes say that RED passed at" in refused(p).json["error"]


@pytest.mark.slow
def test_a_note_that_closes_entries_which_the_list_does_not_is_not_believed(whole: Project, tmp_path: Path) -> None:
    both = ["adds two numbers", "subtracts two numbers"]
    p = clone_at(whole, tmp_path / "clone", 3, changed(whole, 3, completedTests=both, pendingTests=[]))
    assert "says that 'subtracts two numbers' is done, and test-list.md there does not" in refused(p).json["error"]


@pytest.mark.slow
def test_a_finished_feature_and_a_branch_without_notes_are_told_apart(whole: Project, tmp_path: Path) -> None:
    assert "this feature is complete" in refused(clone_at(whole, tmp_path / "clone", 8)).json["error"]
    sh(tmp_path, "git", "clone", "-q", "-b", "main", str(whole.root), str(tmp_path / "fresh"))
    p = object.__new__(Project)
    p.root, p.env = tmp_path / "fresh", {**whole.env, "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]}
    ran = p.run("resume", "--agent", HONEST, "--json")
    assert ran.code == 2 and "no handoff note on its branch" in ran.json["error"], ran


# -- notes that are broken where the journal is ------------------------------------------------------------------------------


@pytest.mark.slow
def test_notes_that_cannot_be_written_stop_the_run_and_repair_notes_makes_it_whole(whole: Project) -> None:
    with lent(whole) as p:
        good = notes_of(p, BRANCH)
        (p.root / ".git" / "refs" / "notes" / "tdd-handoffs").write_text("not a commit\n")
        ran = p.run("run", "it multiplies", "--agent", HONEST, "--json")
        assert ran.code == 2 and "the handoff notes could not be written" in ran.json["error"], ran
        assert "detent repair-notes" in ran.json["hint"]
        assert p.run("repair-notes", "--json").json["put_aside"]
        assert notes_of(p, BRANCH) == good
        with driven_on(p) as d:
            assert d.go(instead(d.driver(), ask=stops))["outcome"] == "halted"
        branch = p.git("for-each-ref", "--format=%(refname)", "refs/heads/detent/it-multiplies")
        assert [note["phase"] for note in notes_of(p, branch)] == ["PLAN"]


@pytest.mark.slow
def test_a_forged_and_a_lost_note_are_set_right_by_repair_notes(whole: Project) -> None:
    with lent(whole) as p:
        good, before = notes_of(p, BRANCH), p.git("rev-parse", BRANCH)
        p.git("notes", NOTES, "add", "-f", "-m", '{"phase": "FORGED"}', BRANCH)
        p.git("notes", NOTES, "remove", f"{BRANCH}~2")
        assert p.run("repair-notes", "--json").json["rewritten"] == 2
        assert notes_of(p, BRANCH) == good
        assert p.git("rev-parse", BRANCH) == before  # notes leave the history alone


def stops(briefing: object, turn: object) -> Reply:
    raise AgentFailed("ModelUnavailable", "enough")
