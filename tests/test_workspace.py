"""Workspaces: the person's checkout is left alone, the agent cannot reach a git dir, dependencies are there, and the work is landed as configured."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from detent.agents import Reply
from detent.app.run_driver import driver
from tests.driven import (
    ALONE,
    CYCLE,
    FILES,
    GREEN,
    GREENS,
    PLANS,
    RED,
    REDS,
    Json,
    driven,
    instead,
    lent,
    project,
    run,
    scripted,
    tree_of,
    workspaces,
)
from tests.machine import walls
from tests.project import Project
from tests.repos import PLAIN, make_repo, sh

STOP: Json = {"fail": {"sort": "ModelUnavailable"}}
LANDS = {"DETENT_GIT_MERGE": "auto"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield project(tmp_path_factory.mktemp("shared") / "p", files={".gitignore": "__pycache__/\n/local.txt\nnode_modules/\nvendor/\n"})


@pytest.fixture
def p(shared: Project) -> Iterator[Project]:
    start = shared.git("rev-parse", "main")
    with lent(shared):
        yield shared
    shared.git("reset", "-q", "--hard", start)
    shared.git("clean", "-qfdx")


def standing(p: Project) -> tuple[object, ...]:
    """Everything of a person's checkout that a driven run must leave as it is."""
    index = p.git("ls-files", "--stage", "--debug")
    return (
        tree_of(p.root),
        index,
        p.git("rev-parse", "HEAD"),
        p.git("symbolic-ref", "HEAD"),
        p.git("rev-parse", "main"),
        p.git("stash", "list"),
    )


def shell(p: Project, *commands: str) -> list[str]:
    """What these command lines of an agent answer, each, in a run of their own."""
    calls = [{"tool": "Bash", "arguments": {"command": command}} for command in commands]
    assert run(p, "--agent", scripted(p, {"call": calls, **STOP})).code == 10
    file = Path(p.run("history", "--json").json["events"][-1]["transcript"])
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return [line["text"] for line in lines if line["kind"] == "call"]


# -- the person's checkout ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_whole_run_leaves_checkout_index_head_and_untracked_files_as_they_are(p: Project) -> None:
    (p.root / "local.txt").write_text("mine\n")
    before = standing(p)
    done = run(p, "--agent", scripted(p, *CYCLE), "--json")
    assert done.code == 0, done
    assert standing(p) == before
    assert p.git("show", f"{done.json['branch']}:calc.py") + "\n" == GREEN
    assert workspaces(p) == []
    assert p.git("worktree", "list").count("\n") == 0


def test_a_dirty_checkout_is_refused_and_left_as_it_is(p: Project) -> None:
    for name, text in (("calc.py", "# mine\n"), ("fresh.py", "# mine\n")):
        (p.root / name).write_text(text)
        before = standing(p)
        ran = run(p, "--agent", scripted(p, *CYCLE), "--json")
        assert ran.code == 2 and f"changes that are not committed: {name}" in ran.json["error"], ran
        assert "--adopt" not in ran.json["hint"]  # which this command does not have
        assert standing(p) == before
        p.git("clean", "-qfd")
        p.git("checkout", "-q", "--", ".")


@walls
def test_of_the_git_dir_only_a_view_is_visible_inside_the_sandbox_and_nothing_is_writable(p: Project) -> None:
    (p.root / ".git" / "hooks" / "secret-hook").write_text("#!/bin/sh\n")
    view = "$(cut -d' ' -f2 .git)"
    inside, below, plant, status, written, own = shell(
        p,
        f"cat .git; ls -R {view} {p.root}/.git",
        f"ls {p.root}; git config --list; git remote",
        "echo 'gitdir: /tmp/evil' > .git || mv .git .old || rm .git",
        "git status",
        f"touch {view}/config {view}/hooks; mkdir {view}/hooks; git commit --allow-empty -m x",
        "echo hello > notes.txt && cat notes.txt",
    )
    assert str(p.root / ".git" / "worktrees") in inside and "Exit code 0" in inside
    assert "secret-hook" not in inside and "journal.db" not in inside and "commondir" not in inside
    assert "calc.py" not in below and "user.email" not in below
    assert "Exit code 0" not in plant and "Exit code 0" not in written
    assert "Exit code 0" in status and "not a git repository" not in status
    assert "Exit code 0" in own and "hello" in own
    link = next(path for path in workspaces(p) if (path / ".git").exists()) / ".git"
    assert link.read_text().startswith(f"gitdir: {p.root}/.git/worktrees/")


@pytest.mark.slow
def test_a_git_dir_that_an_agent_puts_into_the_workspace_is_never_consulted(p: Project, tmp_path: Path) -> None:
    evil = make_repo(tmp_path / "evil", {"calc.py": "evil\n"})
    hook = evil / ".git" / "hooks" / "post-index-change"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    sh(evil, "git", "config", "core.fsmonitor", f"touch {tmp_path}/ran; false")
    with driven(p, *CYCLE, DETENT_SANDBOX_LEVEL="none") as d:
        real = d.driver()

        def ask(briefing: Any, turn: Any) -> Reply:
            dot = turn.workspace / ".git"
            shutil.rmtree(dot) if dot.is_dir() else dot.unlink()
            shutil.copytree(evil / ".git", dot)
            return real.turns.ask(briefing, turn)

        done = d.go(instead(real, ask=ask))
        assert done["outcome"] == "done"
        assert p.git("show", f"{done['branch']}:calc.py") + "\n" == GREEN
    assert not (tmp_path / "ran").exists()
    assert "evil" not in p.git("log", "-p", f"main..{done['branch']}")


@pytest.mark.slow
@pytest.mark.parametrize("also_its_git_dir", [False, True])
def test_a_workspace_that_is_deleted_in_the_middle_is_made_anew(p: Project, also_its_git_dir: bool) -> None:
    with driven(p, PLANS, REDS, {"state": "GREEN", **STOP}, *CYCLE[2:]) as d:
        assert d.go()["state"] == "HALTED"
        checkout, git_dir = workspaces(p)
        shutil.rmtree(checkout)
        if also_its_git_dir:
            shutil.rmtree(git_dir)
        d.person("resume")
        done = d.go()
        assert done["outcome"] == "done"
        assert p.git("show", f"{done['branch']}:tests/test_add.py") + "\n" == RED


@pytest.mark.slow
def test_nothing_that_an_agent_left_is_lost_when_a_phase_is_rolled_back(p: Project) -> None:
    wrong = {"state": "GREEN", "write": {"calc.py": "def add(a, b):\n    return 0\n", "mine.py": "idea = 1\n"}, "reply": "hm"}
    with driven(p, PLANS, REDS, wrong, {"state": "GREEN", **STOP}) as d:
        d.go()
        root = Path(d.run.data.setup.workspace)
        assert not (root / "mine.py").exists() and (root / "calc.py").read_text() == ""
        trees = p.git("for-each-ref", "--format=%(objectname)", f"refs/detent/{d.id}/trees").split()
        assert any("mine.py" in p.git("ls-tree", "--name-only", tree) for tree in trees)


# -- dependencies ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_projects_own_virtual_environment_is_used_and_its_editable_install_does_not_hide_the_work(tmp_path: Path) -> None:
    files = {"calc.py": None, "src/calc.py": "", "pytest.ini": "[pytest]\n", ".gitignore": "__pycache__/\n.venv/\n"}
    kept = {name: text for name, text in {**FILES, **files}.items() if text is not None}
    p = Project(tmp_path / "p", {**kept, "detent.toml": ALONE})
    p.env["PYTHONPYCACHEPREFIX"] = project(tmp_path / "other").env["PYTHONPYCACHEPREFIX"]
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(p.root / ".venv")], check=True)
    packages = next((p.root / ".venv" / "lib").glob("python*/site-packages"))
    ours = Path(next(path for path in sys.path if path.endswith("site-packages")))
    for name in (
        "pytest",
        "_pytest",
        "pluggy",
        "iniconfig",
        "packaging",
        "pygments",
        "py.py",
        "pluggy-*.dist-info",
        "pytest-[0-9]*.dist-info",
    ):
        found = next(ours.glob(name))
        (packages / found.name).symlink_to(found)
    (p.root / ".venv" / "bin" / "pytest").write_text(
        "import pytest\n\npytest.console_main()\n"
    )  # by which an environment is known to have it
    (packages / "editable.pth").write_text(f"{p.root / 'src'}\n")
    (packages / "beside.py").write_text("WORD = 'installed'\n")
    test = RED + "\n\ndef test_beside():\n    import beside\n    import sys\n\n    assert (beside.WORD, sys.prefix) == ('installed', %r)\n"
    red = {**REDS, "write": {"tests/test_add.py": RED}}
    green = {**GREENS, "write": {"src/calc.py": GREEN}}
    refactor = {"state": "REFACTOR", "write": {"tests/test_add.py": test % str(p.root / ".venv")}, "reply": "more tests"}
    named = {"currentTest": {"description": "adds", "testFile": "tests/test_add.py", "implFile": "src/calc.py"}}
    call = [{"tool": "Bash", "arguments": {"command": ".venv/bin/python -c 'import beside; print(beside.WORD)'"}}]
    agent = scripted(p, {**PLANS, "reply": named}, {**red, "call": call}, green, refactor, CYCLE[4])
    done = run(p, "--agent", agent, "--json")
    assert done.code == 0, done
    events = p.run("history", "--json").json["events"]
    text = Path(next(e["transcript"] for e in events if e["on"] == "red")).read_text()
    assert "installed" in text  # an agent finds it under the name that the project uses
    tracked = p.git("ls-tree", "-r", "--name-only", done.json["branch"])
    assert ".venv" not in tracked and (p.root / ".venv" / "bin" / "python").exists()
    assert (p.root / "src" / "calc.py").read_text() == ""


@pytest.fixture
def package(p: Project) -> Iterator[Path]:
    """A package that lies, ignored, in the person's checkout."""
    made = p.root / "node_modules" / "left"
    made.mkdir(parents=True)
    (made / "index.js").write_text("module.exports = (s, n) => s.padStart(n)\n")
    yield made
    shutil.rmtree(p.root / "node_modules")


@walls
@pytest.mark.needs("node")
def test_ignored_node_modules_of_the_checkout_are_there_for_the_work_and_cannot_be_written(p: Project, package: Path) -> None:
    used, wrote = shell(p, """node -e 'console.log("[" + require("left")("x", 3) + "]")'""", "echo evil > node_modules/left/index.js")
    assert "[  x]" in used
    assert "Read-only file system" in wrote
    assert (package / "index.js").read_text().startswith("module.exports")


@walls
def test_an_agent_that_puts_its_own_dependencies_in_their_place_has_failed_and_they_are_put_back(p: Project, package: Path) -> None:
    call = [{"tool": "Bash", "arguments": {"command": "rm node_modules && mkdir node_modules"}}]
    with driven(p, {"call": call, "reply": "all done"}, STOP) as d:
        d.go()
        assert d.moves == ["start", "agent-failed", "no-model"]
        assert "node_modules is guarded, and the program changed it; it was restored" in d.events[1].sent.output
        link = Path(d.run.data.setup.workspace) / "node_modules"
        assert link.is_symlink() and (link / "left" / "index.js").exists()


@pytest.mark.slow
def test_a_link_to_dependencies_does_not_get_into_a_commit(p: Project) -> None:
    for name in ("node_modules", "vendor"):
        (p.root / name).mkdir()
        (p.root / name / "a").write_text("a")
    with driven(p, *CYCLE) as d:
        real, links = d.driver(), list[bool]()

        def ask(briefing: Any, turn: Any) -> Reply:
            links.append((turn.workspace / "node_modules").is_symlink() and (turn.workspace / "vendor" / "a").exists())
            return real.turns.ask(briefing, turn)

        done = d.go(instead(real, ask=ask))
        assert done["outcome"] == "done" and all(links)
        names = p.git("log", "--name-only", "--format=", f"main..{done['branch']}").split()
        assert sorted(set(names)) == ["calc.py", "test-list.md", "tests/test_add.py"]
        assert (p.root / "node_modules" / "a").exists()  # removing the workspace follows no link


# -- landing -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_feature_is_only_offered_as_a_branch_unless_something_else_is_configured(p: Project) -> None:
    main = p.git("rev-parse", "main")
    with driven(p, *CYCLE) as d:
        done = d.go()
        assert (done["outcome"], d.moves[-1]) == ("done", "offered")
        assert p.git("rev-parse", "main") == main
        assert p.git("merge-base", "main", done["branch"]) == main


@pytest.mark.slow
def test_merge_auto_lands_on_main_and_brings_a_clean_checkout_along(p: Project) -> None:
    with driven(p, *CYCLE, **LANDS) as d:
        done = d.go()
        assert (done["outcome"], d.moves[-1]) == ("done", "landed")
    assert p.git("log", "-1", "--format=%s") == f"Merge branch '{done['branch']}'"
    assert (p.root / "calc.py").read_text() == GREEN and p.git("status", "--porcelain") == ""
    assert p.git("symbolic-ref", "HEAD") == "refs/heads/main"


@pytest.mark.slow
def test_a_dirty_checkout_of_main_is_never_touched_the_run_halts_and_resume_lands(p: Project) -> None:
    with driven(p, *CYCLE, **LANDS) as d:
        real, main = d.driver(), p.git("rev-parse", "main")

        def ask(briefing: Any, turn: Any) -> Reply:
            (p.root / "calc.py").write_text("# my own idea\n")  # a person goes on working meanwhile
            return real.turns.ask(briefing, turn)

        done = d.go(instead(real, ask=ask))
        assert (done["outcome"], d.run.state, d.run.cause) == ("halted", "HALTED", "errors")
        assert "with changes that are not committed" in done["error"]
        assert (p.root / "calc.py").read_text() == "# my own idea\n" and p.git("rev-parse", "main") == main
        p.git("checkout", "-q", "--", "calc.py")
        d.person("resume")
        assert d.go()["outcome"] == "done"
        assert (p.root / "calc.py").read_text() == GREEN


@pytest.mark.slow
def test_a_conflict_with_main_halts_the_run_and_moves_nothing(p: Project) -> None:
    with driven(p, *CYCLE, **LANDS) as d:
        real = d.driver()

        def ask(briefing: Any, turn: Any) -> Reply:
            if briefing.state == "REFACTOR":  # someone else commits to main meanwhile
                (p.root / "calc.py").write_text("def other():\n    pass\n")
                p.git("commit", "-qam", "meanwhile")
            return real.turns.ask(briefing, turn)

        done = d.go(instead(real, ask=ask))
        assert (done["outcome"], d.run.cause, d.run.state) == ("halted", "conflict", "HALTED")
        assert "conflicts in: calc.py" in done["error"] and "Nothing was moved" in done["error"]
        assert p.git("log", "-1", "--format=%s") == "meanwhile"
        p.git("merge", "-q", "-X", "ours", "--no-edit", done["branch"])
        d.person("resume")
        assert d.go()["outcome"] == "done"


@pytest.mark.slow
def test_what_someone_commits_to_main_meanwhile_is_merged_and_tested_and_nothing_is_forced(p: Project) -> None:
    with driven(p, *CYCLE, **LANDS) as d:
        real = d.driver()

        def ask(briefing: Any, turn: Any) -> Reply:
            if briefing.state == "REFACTOR":
                (p.root / "tests" / "test_theirs.py").write_text(
                    "import calc\n\n\ndef test_theirs():\n    assert not hasattr(calc, 'add')\n"
                )
                p.git("add", "-A")
                p.git("commit", "-qm", "meanwhile")
            return real.turns.ask(briefing, turn)

        done = d.go(instead(real, ask=ask))
        assert (done["outcome"], d.moves[-1]) == ("halted", "red-merge")  # each is green by itself, and both together are not
        assert "does not pass in a clean checkout, so nothing was moved: tests/test_theirs.py::test_theirs" in done["error"]
        assert p.git("log", "-1", "--format=%s") == "meanwhile"


@pytest.mark.slow
def test_a_pull_request_is_pushed_and_opened_by_the_configured_program(p: Project, tmp_path: Path) -> None:
    opener = tmp_path / "open.sh"
    opener.write_text(f'#!/bin/sh\necho "$1 $GH_TOKEN $AWS_SECRET_ACCESS_KEY" >> {tmp_path}/opened\n')
    opener.chmod(0o755)
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(p.root), str(bare)], check=True, env={**p.env, **PLAIN})
    p.git("remote", "add", "upstream", str(bare))
    way = {"DETENT_GIT_MERGE": "pull-request", "DETENT_GIT_PR_COMMAND": f"{opener} please", "DETENT_GIT_REMOTE": "upstream"}
    with driven(p, *CYCLE, **way, GH_TOKEN="t0ken-for-the-opener", AWS_SECRET_ACCESS_KEY="not-for-it") as d:
        done = d.go()
        assert (done["outcome"], d.moves[-1]) == ("done", "offered")
    assert (tmp_path / "opened").read_text() == "please t0ken-for-the-opener \n"
    assert sh(bare, "git", "rev-parse", done["branch"]) == p.git("rev-parse", done["branch"])
    assert sh(bare, "git", "rev-parse", "main") == p.git("rev-parse", "main")


@pytest.mark.slow
def test_what_was_configured_when_a_run_began_holds_to_its_end(p: Project) -> None:
    with driven(p, PLANS, STOP) as d:
        p_limits = driver(d.app, d.id, d.seen.append).limits
        cast(dict[str, str], d.app.world.outer)["DETENT_LIMITS_TURNS"] = "1"
        assert driver(d.app, d.id, d.seen.append).limits == p_limits
