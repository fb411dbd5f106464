"""`detent` alone: what this is, where the folder stands, what to type next. And what `init` says next, and what `uninstall` takes away."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from detent.app.leaving import without_ours
from detent.effects.publish import EXCLUDED, MARK
from detent.evidence.runners import DETECTION
from detent.gates.plan_entries import entries
from detent.interfaces.cli import first_screen
from detent.interfaces.cli.first_screen import SIGNS, first_screen_in, look
from detent.interfaces.cli.help_rows import COMMANDS
from tests.project import PLAN, Project
from tests.repos import make_repo, sh
from tests.warm import without_marks

INIT_CLIENT = ("init", "--client", "claude", "--entry", "Round prices")


def typed(following: tuple[tuple[str, str], ...]) -> list[str]:
    return [command for command, _ in following]


def test_outside_a_repository_it_says_so_and_names_the_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert first_screen_in(str(tmp_path)) == 0
    said = capsys.readouterr().out
    assert said.startswith("Detent holds a coding agent at every step until evidence releases it.\n")
    assert f"{tmp_path} is not in a git repository" in said
    assert "  detent demo " in said


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert first_screen_in(str(tmp_path / "gone")) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_a_repository_without_a_commit_is_told_to_make_one(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    facts, following = look(str(tmp_path))
    assert ("Runs", "none: there is no commit yet") in facts
    assert typed(following)[0] == "git add -A && git commit -m start"


def test_a_repository_with_tests_and_no_run_is_told_to_check_first(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "shop", {"pytest.ini": "", "a.py": ""})
    facts, following = look(str(root))
    assert facts == [("Folder", "shop, branch main"), ("Tests", "pytest, by the look of pytest.ini"), ("Runs", "none yet")]
    assert typed(following) == ["detent check --worktree", "detent init", "detent demo"], "there is nothing before the first commit"
    sh(root, "git", "commit", "-q", "--allow-empty", "-m", "more")
    assert typed(look(str(root))[1]) == ["detent check HEAD~1..HEAD", "detent init", "detent demo"], "main adds nothing to main"
    subprocess.run(["git", "switch", "-q", "-c", "discount"], cwd=root, check=True)
    assert typed(look(str(root))[1]) == ["detent check", "detent init", "detent demo"]


def test_where_a_run_is_open_its_state_and_its_commands_are_shown(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    run = project.run("start", "--json").json["run"]
    facts, following = look(str(project.root / "tests"))
    assert facts[-1] == ("Runs", f"{run} is open here, at INITIALIZING")
    assert typed(following) == ["detent status", "detent get-task", "detent serve"]


def test_a_linked_worktree_is_a_checkout_too(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "p", {"go.mod": ""})
    subprocess.run(["git", "worktree", "add", "-q", "-b", "other", str(tmp_path / "linked")], cwd=root, check=True)
    facts, _ = look(str(tmp_path / "linked"))
    assert facts == [("Folder", "linked, branch other"), ("Tests", "go test, by the look of go.mod"), ("Runs", "none yet")]


def test_a_journal_that_cannot_be_read_is_named_and_no_traceback(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "p", {"a": ""})
    (root / ".git" / "detent").mkdir()
    (root / ".git" / "detent" / "journal.db").write_text("no database")
    facts, following = look(str(root))
    assert "cannot be read" in facts[-1][1] and typed(following)[0] == "detent doctor"


def test_every_file_by_which_a_runner_is_detected_is_a_sign_here_too() -> None:
    assert {name for sign in DETECTION for name in sign.files} <= {name for name, _ in SIGNS}


def test_what_it_names_are_commands_and_no_line_is_wider_than_a_terminal() -> None:
    lines = [value for value in vars(first_screen).values() if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str)]
    commands = [command for command, why in lines if command.startswith("detent ")]
    assert len(commands) >= 7
    assert all(command.split()[1] in COMMANDS for command in commands)
    assert all(len(f"  {command:<35} {why}") <= 80 for command, why in lines if command.startswith(("detent ", "git ")))


def test_it_imports_nothing_heavy(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "p", {"detent.toml": "[test]\ncommand = 'x'\n"})
    env = {k: v for k, v in os.environ.items() if not k.startswith("COV")} | {"PYTHONPATH": str(Path(__file__).parent.parent / "src")}
    done = subprocess.run([sys.executable, "-X", "importtime", "-m", "detent"], cwd=root, env=env, capture_output=True, text=True)
    modules = {row.rpartition("|")[2].strip() for row in done.stderr.splitlines() if row.startswith("import time:")}
    assert "Tests    as detent.toml says" in done.stdout
    assert {name for name in modules if name.startswith("detent")} <= {
        "detent",
        "detent.interfaces",
        "detent.interfaces.cli",
        "detent.interfaces.cli.main",
        "detent.interfaces.cli.first_screen",
    }
    assert {"click", "msgspec", "pathlib", "subprocess", "sqlite3", "tomllib", "re"} & modules <= {
        "pathlib",
        "re",
    }  # -m itself may bring these


def test_a_server_that_is_stopped_as_soon_as_it_speaks_ends_without_a_traceback(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    with subprocess.Popen(
        project.argv("serve", "--no-open", "--port", "0"), cwd=project.root, env=without_marks(project.env), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:  # fmt: skip
        assert child.stdout is not None and child.stderr is not None
        assert "http://127.0.0.1:" in child.stdout.readline()
        child.terminate()
        said = child.stderr.read()
    assert (child.returncode, said) == (143, "")


# -- what a plan lists ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("words only\n", 0), ("# Plan\n", 0), ("# The Active Plan\n\nSome words.\n", 0), ("# Plan\n\n- one\n- two\n", 2),
     ("- one\n", 1), ("# feat: add numbers\n", 1), ("# one\n# two\n", 2), ("# Plan\n\n## one\n", 1)],
)  # fmt: skip
def test_the_title_of_a_plan_is_no_entry(text: str, count: int) -> None:
    assert len(entries(text)) == count


# -- init --------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_init_names_start_only_where_start_is_accepted(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {"tests/test_a.py": "def test_a():\n    assert True\n", "pytest.ini": "[pytest]\n"})
    without = project.run("init", "--json").json
    assert next(row for row in without["found"] if row["name"] == "plan")["ok"] is False
    commit, entry = "git add detent.toml && git commit -m 'Set up Detent'", 'detent init --entry "what the first pull request does"'
    assert without["next"] == [commit, entry], "there is nothing to check before the first commit"
    planned = project.run("init", "--entry", "Round prices", "--json").json
    assert (planned["plan"], planned["written"]["pr.plan"]) == ("docs/plan.md", "docs/plan.md")
    assert (project.root / "docs/plan.md").read_text().endswith("\n- Round prices\n")
    assert planned["next"][-2:] == ["git add detent.toml docs/plan.md && git commit -m 'Set up Detent'", "detent start"]
    project.git("add", "detent.toml", "docs/plan.md")
    project.git("commit", "-qm", "Set up Detent")
    assert project.run("start").code == 0, "what it named works"
    assert "detent start" not in project.run("init", "--json").json["next"], "a run is open now"


@pytest.mark.slow
def test_init_names_only_its_own_files_to_commit_and_never_an_environment(tmp_path: Path) -> None:
    """As in a project whose .gitignore does not know .venv, and where somebody is at work."""
    project = Project(tmp_path / "p", {"tests/test_a.py": "def test_a():\n    assert True\n", "pytest.ini": "[pytest]\n"})
    project.write({f".venv/lib/python3/site-packages/a/{n}.py": "" for n in range(20)})
    own = "git add detent.toml docs/plan.md && git commit -m 'Set up Detent'"
    assert project.run("init", "--entry", "Round prices", "--json").json["next"][-2:] == [own, "detent start"]
    project.write({"till.py": "PRICE = 1\n", "notes.md": "mine\n"})
    assert project.run("init", "--json").json["next"][-3:] == [own, "git status", "detent start"]
    assert "notes.md and 1 more are not committed: commit or stash that too" in " ".join(project.run("init").out.split())
    for words in (("add", "detent.toml", "docs/plan.md"), ("commit", "-qm", "Set up Detent")):
        project.git(*words)
    (project.root / "till.py").unlink()
    (project.root / "notes.md").unlink()
    assert project.run("start").code == 0, "the environment is in nobody's way"


def test_init_says_that_a_red_project_needs_a_baseline(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {PLAN: "- one\n", "tests/test_a.py": "def test_a():\n    assert False\n", "pytest.ini": "[pytest]\n"})
    assert project.run("init", "--json").json["next"][-1] == "detent start --baseline"


def test_init_names_a_check_that_has_something_to_check(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {"tests/test_a.py": "def test_a():\n    assert True\n", "pytest.ini": "[pytest]\n"})
    project.write({"notes.md": "more\n"})
    project.git("add", "notes.md")
    project.git("commit", "-qm", "more")
    command = project.run("init", "--json").json["next"][0]
    assert command == "detent check HEAD~1..HEAD"
    assert project.run(*command.split()[1:]).code == 0, "on main, `detent check` alone has nothing to look at"


def test_nobody_is_sent_to_a_commit_before_the_first(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {"tests/test_a.py": "def test_a():\n    assert True\n", "pytest.ini": "[pytest]\n"})
    assert typed(look(str(project.root))[1])[0] == "detent check --worktree"
    assert not [line for line in project.run("init", "--json").json["next"] if line.startswith("detent check")]
    nothing, none = project.run("check"), project.run("check", "HEAD~1..HEAD")
    assert "HEAD~1" not in nothing.err and "detent check --worktree" in nothing.err, nothing
    assert "no commit of HEAD is as old as that" in none.err and "detent check --worktree" in none.err, none


def test_init_names_projects_whose_tests_its_command_does_not_run(tmp_path: Path) -> None:
    inner = {
        "web/package.json": '{"scripts": {"test": "node --test"}}',
        "web/a.test.mjs": "",
        "api/pyproject.toml": "",
        "api/tests/test_b.py": "",
    }
    project = Project(tmp_path / "p", {"tests/test_a.py": "def test_a():\n    assert True\n", "pytest.ini": "[pytest]\n", **inner})
    (row,) = (row for row in project.run("init", "--json").json["found"] if row["name"] == "projects")
    assert row["says"] == "web: tests of its own, which the command above does not run", "pytest at the root runs those of api"
    one = Project(tmp_path / "one", {"tests/test_a.py": "def test_a():\n    assert True\n", "pytest.ini": "[pytest]\n"})
    assert "projects" not in {row["name"] for row in one.run("init", "--json").json["found"]}


def test_init_names_no_check_where_the_tests_cannot_be_run(tmp_path: Path) -> None:
    files = {
        "tests/test_a.py": "def test_a():\n    assert True\n",
        "pytest.ini": "[pytest]\n",
        "detent.toml": '[test]\ncommand = "./python -m pytest"\n',
    }
    project = Project(tmp_path / "p", {**files, "python": "#!/bin/sh\necho 'python: No module named pytest'\nexit 1\n"})
    (project.root / "python").chmod(0o755)
    project.git("commit", "-qam", "its python")
    said = project.run("init", "--json").json
    assert next(row for row in said["found"] if row["name"] == "tried")["says"].endswith(
        "exited with code 1: python: No module named pytest"
    )
    assert said["next"][0] == "detent init" and "detent check" not in " ".join(said["next"])


# -- uninstall ---------------------------------------------------------------------------------------------------------------


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(f.relative_to(folder)): f.read_bytes()
        for f in folder.rglob("*")
        if f.is_file() and "/objects/" not in str(f) and "logs" not in f.parts
    }


def test_uninstall_lists_all_and_takes_back_all(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    project.git("pack-refs", "--all")
    before = files(project.root)
    assert project.run(*INIT_CLIENT, **env).code == 0
    project.git("checkout", "-q", "--", PLAN)
    assert project.run("start", "--adopt", **env).code == 0
    listed = project.run("uninstall", **env)
    for word in (
        "detent.toml",
        "claude in .mcp.json",
        "ORCHESTRATION_STATE.json",
        ".git/info/exclude",
        ".git/detent",
        str(tmp_path / "state"),
    ):
        assert word in listed.out
    assert "Nothing was removed." in listed.out and (project.root / "detent.toml").exists()
    gone = project.in_person("uninstall", "--yes", **env)
    assert gone.code == 0 and "Removed." in gone.out
    after = files(project.root)
    assert {name: text for name, text in after.items() if name != ".git/index"} == {n: t for n, t in before.items() if n != ".git/index"}
    assert not (tmp_path / "state" / "detent").exists()
    assert project.git("for-each-ref", "refs/detent", "refs/notes") == ""
    again = project.run("uninstall", "--json", **env).json
    assert (again["removed"], again["pieces"]) == (False, [])


def test_an_agent_does_not_uninstall_the_gate(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    assert project.run("start").code == 0
    done = project.alone("uninstall", "--yes")
    assert done.returncode == 2 and "only a person may do this" in done.stderr
    assert (project.root / ".git" / "detent" / "journal.db").exists()


def test_branches_that_hold_work_stay_and_are_named(tmp_path: Path) -> None:
    project = Project(tmp_path / "p").planned()
    listed = project.run("uninstall", "--json").json
    assert listed["kept"] == ["the branch feat/add-numbers: it holds work"]
    assert any(piece["kind"] == "ref" for piece in listed["pieces"]) and not listed["removed"]


def test_uninstall_keeps_what_a_person_changed(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    project.run("init")
    file = project.root / "detent.toml"
    file.write_text(file.read_text() + "[bash]\ntimeout = 9\n")
    said = json.loads(project.in_person("uninstall", "--yes", "--json").out)
    assert any("detent.toml" in line for line in said["kept"]) and file.exists()


def test_uninstall_names_the_plan_that_init_made_and_leaves_it(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {"tests/test_a.py": "def test_a():\n    assert True\n", "pytest.ini": "[pytest]\n"})
    project.run("init", "--entry", "Round prices")
    said = json.loads(project.in_person("uninstall", "--yes", "--json").out)
    assert said["kept"] == ["the plan docs/plan.md: its entries are yours"] and (project.root / "docs/plan.md").exists()


def test_uninstall_names_the_commit_that_removes_what_was_committed(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    project.write({"mine.txt": "1\n"})
    project.run("init")
    project.git("add", "-A")
    project.git("commit", "-qm", "Set up Detent")
    project.write({"mine.txt": "2\n"})
    said = project.in_person("uninstall", "--yes").out
    assert said.rstrip().endswith("To remove it for everybody:\n  git commit -m 'Remove Detent' -- detent.toml"), said
    project.git("commit", "-qm", "Remove Detent", "--", "detent.toml")
    assert project.git("status", "--short").split() == ["M", "mine.txt"]


def test_lines_of_a_person_in_the_exclude_file_stay() -> None:
    ours = "\n".join([MARK, *EXCLUDED]) + "\n"
    assert without_ours(f"# mine\n/error.log\n{ours}later\n") == "# mine\n/error.log\nlater\n"
    assert without_ours("a\n") == "a\n"
