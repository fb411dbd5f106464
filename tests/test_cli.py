"""The command line as a whole: help, versions, errors told plainly, exit codes, and that nothing is imported that is not used."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from detent import __version__
from detent.app.plain_text import plain
from detent.interfaces.cli.help_rows import COMMANDS
from tests.machine import no_walls
from tests.project import Project
from tests.repos import sh


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "p")


def test_the_version_is_told(project: Project) -> None:
    assert project.run("--version").out == f"detent {__version__}\n"


def test_help_lists_every_command_and_imports_none(project: Project) -> None:
    ran = project.run("--help")
    assert ran.code == 0
    assert all(name in ran.out for name in COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_itself(project: Project, name: str) -> None:
    ran = project.run(name, "--help")
    assert ran.code == 0
    assert len(ran.out.splitlines()) > 5


def test_an_unknown_command_names_the_nearest_one(project: Project) -> None:
    ran = project.run("get-tsk")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "detent: there is no command 'get-tsk'; did you mean 'get-task'?\n  see `detent --help`\n"


def test_trouble_is_told_as_json_where_json_is_asked_for(project: Project) -> None:
    ran = project.run("show", "nothing", "--json")
    assert ran.code == 2
    assert set(ran.json) == {"error", "hint", "exit_code"}


def test_a_bad_folder_is_told_plainly(project: Project) -> None:
    ran = project.run("-C", "nowhere", "runs")
    assert (ran.code, ran.err.splitlines()[0]) == (2, "detent: cannot work in nowhere: No such file or directory")


@pytest.mark.slow
def test_the_folder_can_be_named_in_the_environment(project: Project, tmp_path: Path) -> None:
    def runs(folder: str, *words: str) -> subprocess.CompletedProcess[str]:
        call = [sys.executable, "-m", "detent", *words, "status"]
        return subprocess.run(call, cwd=tmp_path, env={**project.env, "TDD_PROJECT_ROOT": folder}, capture_output=True, text=True)

    here = project.run("status")
    named = runs(str(project.root))
    assert (named.returncode, named.stdout, named.stderr) == (here.code, here.out, here.err)
    assert runs("nowhere").stderr.startswith("detent: cannot work in nowhere: ")
    assert runs("nowhere", "-C", str(project.root)).stdout == here.out


def test_a_bug_is_a_traceback_and_exit_3(project: Project, tmp_path: Path) -> None:
    (project.root / ".git" / "detent").mkdir()
    script = "import sys; from detent.interfaces.cli import group; group.COMMANDS['boom'] = 'x'; sys.exit(group.run(['boom']))"
    done = subprocess.run([sys.executable, "-c", script], cwd=project.root, env=project.env, capture_output=True, text=True)
    assert done.returncode == 3
    assert "Traceback" in done.stderr and "this is a bug in Detent" in done.stderr


def test_a_closed_pipe_is_no_error(project: Project) -> None:
    line = f"{sys.executable} -m detent graph pr | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], cwd=project.root, env=project.env, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "0", done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize("workflow", ["pr", "tdd", "execute", "pipeline", "task"])
def test_a_workflow_is_drawn_as_table_diagram_and_json(project: Project, workflow: str) -> None:
    assert project.run("graph", workflow).out.startswith(f"# {workflow}: ")
    assert project.run("graph", workflow, "--format", "mermaid").out.startswith("stateDiagram-v2\n")
    drawn = project.run("graph", workflow, "--json").json
    assert drawn["workflow"] == workflow and drawn["states"] and drawn["mermaid"]


def test_an_unknown_workflow_is_told_with_those_there_are(project: Project) -> None:
    ran = project.run("graph", "waterfall")
    assert ran.code == 2 and "known: pr, tdd" in ran.err


def test_runs_without_a_journal_says_how_to_begin(project: Project) -> None:
    ran = project.run("runs")
    assert ran.code == 0 and "detent start" in ran.out
    assert project.run("runs", "--json").json == {"runs": []}


def test_a_run_is_listed_and_shown(project: Project) -> None:
    run = project.task()["run"]
    assert [r["run"] for r in project.run("runs", "--json").json["runs"]] == [run]
    shown = project.run("show", run, "--json").json
    assert shown["state"] == "INITIALIZING" and [e["on"] for e in shown["events"]] == ["start"]
    assert run in project.run("show", run).out and run in project.run("runs").out


@pytest.mark.slow
def test_the_doctor_says_what_is_there(project: Project, tmp_path: Path) -> None:
    project.task()
    ran = project.run("doctor", "--json")
    assert ran.code == 0 and ran.json["ok"]
    assert {c["name"] for c in ran.json["checks"]} >= {"python", "git", "repository", "journal", "workflows"}
    (tmp_path / "empty").mkdir()
    outside = project.run("-C", str(tmp_path / "empty"), "doctor")
    assert outside.code == 2 and "not in a git repository" in outside.out and "git init" in outside.out


@pytest.mark.slow
def test_the_doctor_says_what_would_not_work_and_how_to_mend_it(project: Project) -> None:
    def row(name: str, **env: str) -> dict[str, Any]:
        return next(c for c in project.run("doctor", "--json", **env).json["checks"] if c["name"] == name)

    assert row("tests")["ok"] and "-m pytest" in row("tests")["says"]
    assert row("sandbox")["ok"] and ("none, as configured" if no_walls() else "bubblewrap") in row("sandbox")["says"]
    unfound = row("tests", DETENT_TEST_COMMAND="nowhere-to-be-found")
    assert not unfound["ok"] and "'nowhere-to-be-found' is not installed" in unfound["says"] and unfound["fix"]
    assert "only its exit code" in row("tests", DETENT_TEST_COMMAND="sh run-tests.sh")["says"]
    assert "by hand" in row("reviewer")["says"] and row("reviewer", DETENT_REVIEW_AGENT="human")["ok"]
    unknown = row("reviewer", DETENT_REVIEW_AGENT="reviewbot")
    assert not unknown["ok"] and "there is no agent 'reviewbot'" in unknown["says"] and "command:PROGRAM" in unknown["fix"]
    assert row("preflight")["says"] == "the tests alone"
    project.write({"mypy.ini": "[mypy]\n"})
    bare = row("preflight", PATH="/usr/bin:/bin")
    assert not bare["ok"] and "mypy is configured and not there, so it is not run" in bare["says"] and "install mypy" in bare["fix"]
    without = row("sandbox", DETENT_SANDBOX_LEVEL="docker")
    assert not without["ok"] and not without["needed"] and "will not start" in without["says"] and without["fix"]
    wrong = project.run("doctor", DETENT_SANDBOX_LEVEL="podmna")
    assert wrong.code == 2 and "sandbox" in wrong.out.lower()


@pytest.mark.slow
def test_the_doctor_finds_a_damaged_journal_and_accepts_only_on_demand(project: Project) -> None:
    project.task()
    journal = project.root / ".git" / "detent" / "journal.db"
    for file in journal.parent.glob("journal.db*"):
        file.unlink()
    assert project.run("get-task").code == 2
    said = project.run("doctor")
    assert said.code == 2 and "is gone" in said.out and "--accept" in said.out
    assert project.run("doctor", "--accept").code == 0


@pytest.mark.slow
def test_a_planted_hook_stops_every_command_that_would_call_git(project: Project) -> None:
    project.planned()
    (project.root / ".git" / "hooks" / "pre-commit").write_text("#!/bin/sh\ntouch ran\n")
    ran = project.run("submit-work", "--summary", "s", "--test-command", "pytest", "--expectation", "FAIL")
    assert ran.code == 2 and "could run programs" in ran.err and "doctor --accept" in ran.err
    assert project.run("doctor", "--accept").code == 0
    assert project.submit(test_command="pytest", expectation="FAIL")["status"] == "FAILURE"


def test_json_output_is_exactly_one_object_and_text_is_none(project: Project) -> None:
    assert set(json.loads(project.run("start", "--json").out)) >= {"run", "state", "briefing", "instruction", "attempt_id"}
    assert not project.run("get-task").out.startswith("{")


def imported(project: Project, *args: str) -> set[str]:
    """The modules that a call imports."""
    line = [sys.executable, "-X", "importtime", "-m", "detent", *args]
    done = subprocess.run(line, cwd=project.root, env=project.env, capture_output=True, text=True)
    return {row.rpartition("|")[2].strip() for row in done.stderr.splitlines() if row.startswith("import time:")}


def test_nothing_is_imported_that_is_not_used(project: Project) -> None:
    assert "rich" not in imported(project, "runs")
    assert not {"anthropic", "mcp", "starlette", "dbos"} & imported(project, "get-task")
    assert not any(m.startswith("detent.workflows.pipeline.pipeline_table") for m in imported(project, "status"))


@pytest.mark.parametrize(
    ("raw", "shown"),
    [("a\x1b[31mred", "a\\x1b[31mred"), ("a\rb", "a\\x0db"), ("\u202etxt", "\\u202etxt"),
      ("zero\u200bwidth", "zero\\u200bwidth"), ("tab\tand\nline", "tab\tand\nline"), ("ünï", "ünï")],
)  # fmt: skip
def test_text_from_agents_cannot_move_the_cursor_or_hide(raw: str, shown: str) -> None:
    assert plain(raw) == shown


def test_a_linked_worktree_has_its_own_run(project: Project, tmp_path: Path) -> None:
    first = project.task()["run"]
    sh(project.root, "git", "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    second = project.run("-C", str(tmp_path / "linked"), "start", "--json").json["run"]
    assert second != first
    assert {r["run"] for r in project.run("runs", "--json").json["runs"]} == {first, second}
