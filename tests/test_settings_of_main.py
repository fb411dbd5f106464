"""A run goes by the settings that main has: what a branch brings does not judge the branch, however a run is begun on it."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from detent.app import App, open_app
from detent.app.project import project_settings
from detent.blocks.terms import Terms
from detent.errors import DetentError
from detent.kernel.model import Sent
from detent.workflows.execute.execute_start import start_execution
from detent.workflows.pipeline.pipeline_start import start_pipeline
from detent.workflows.pr.pr_start import start_pr
from detent.workflows.tdd.tdd_start import start_tdd
from tests.driven import CYCLE, driven, project
from tests.project import PLAN, Project

PLANS = {PLAN: "- feat: add numbers\n", "lint.sh": "exit 0\n"}
STRICT = "[preflight]\ncommands = ['sh lint.sh']\n\n[[gate]]\nname = 'lint'\ncommand = 'sh lint.sh'\n"
LOOSE = (
    "[flags]\nunnoticed = 'allow'\nno-proof = 'allow'\nknows-the-tests = 'note'\n\n[decisions]\nrequire = 'anywhere'\n\n[sandbox]\nlevel = 'none'\n\n"
    "[evidence]\nmutation = 'off'\n\n[test]\ncommand = 'pytest -k nothing'\n\n[preflight]\ncommands = []\n\n[review]\nblock_at = 'CRITICAL'\n"
)
SENT = Sent("start", by="human", channel="test")


def on_a_branch(folder: Path, files: dict[str, str], strict: str = STRICT, name: str = "loose") -> Project:
    """A project whose checkout is on a branch that brings these files."""
    p = project(folder, strict, PLANS)
    p.git("switch", "-q", "-c", name)
    commit(p, files)
    return p


def commit(p: Project, files: dict[str, str]) -> None:
    p.write(files)
    p.git("add", "-A")
    p.git("commit", "-q", "-m", "settings of our own")


def opened(p: Project, **env: str) -> App:
    """The project, without what tests usually set by variables: those would hide what the files say."""
    return open_app(p.root, create=True, env={**{k: v for k, v in p.env.items() if not k.startswith("DETENT_EVIDENCE")}, **env})


def begun(app: App, workflow: str) -> str:
    if workflow == "execute":
        from detent.app.project import items_of
        from detent.tracker import NewItem

        return start_execution(app, SENT, Terms(items_of(app).add(NewItem("add numbers")).id))
    start = {"pr": start_pr, "tdd": start_tdd, "pipeline": start_pipeline}[workflow]
    return start(app, SENT, Terms("" if workflow == "pr" else "add numbers"))


@pytest.mark.sample(2)
@pytest.mark.parametrize("workflow", ["tdd", "pr", "pipeline", "execute"])
def test_what_a_branch_configures_does_not_judge_a_run_that_begins_on_it(tmp_path: Path, workflow: str) -> None:
    p = on_a_branch(tmp_path / "p", {"detent.toml": LOOSE, "lint.sh": "exit 1\n"} if workflow == "execute" else {"detent.toml": LOOSE})
    with closing((app := opened(p)).journal):
        run = app.door.load(begun(app, workflow)).run
        config = app.world.config_of(run)
        assert {config.settings[f"flags.{kind}"] for kind in ("unnoticed", "no-proof", "knows-the-tests")} == {""}
        found = [config.settings[name] for name in ("decisions.require", "sandbox.level", "evidence.mutation", "review.block_at")]
        assert found == ["", os.environ.get("DETENT_SANDBOX_LEVEL", "auto"), "warn", "MINOR"]
        assert config.suite.base is not None and "nothing" not in config.suite.base.text
        assert config.preflight == ("sh lint.sh",) and [gate.name for gate in config.gates] == ["lint"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("workflow", ["tdd", "pipeline"])
def test_an_agent_does_not_speak_for_people_in_a_run_on_a_branch_that_lets_it(tmp_path: Path, workflow: str) -> None:
    p = on_a_branch(tmp_path / "p", {"detent.toml": "[decisions]\nrequire = 'anywhere'\n"}, strict="")
    with closing((app := opened(p)).journal):
        begun(app, workflow)
    done = p.alone("steer", "pytest.ini may be changed", CLAUDECODE="1")
    assert done.returncode == 2 and "this shell belongs to an agent" in done.stderr, done


def test_who_starts_a_run_there_is_told_what_does_not_count(tmp_path: Path) -> None:
    p = on_a_branch(tmp_path / "p", {"detent.toml": "[flags]\nno-proof = 'allow'\n\n[test]\ntimeout = 77\n"}, strict="")
    ran = p.run("start", "add numbers")
    said = " ".join(ran.out.split())
    assert "detent.toml of this branch does not count: it sets flags.no-proof, test.timeout differently from main" in said, ran
    assert "land it on main first" in said


def test_an_older_commit_of_main_does_not_bring_back_what_main_no_longer_allows(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[flags]\nunnoticed = 'allow'\n\n[decisions]\nrequire = 'anywhere'\n", PLANS)
    old = p.git("rev-parse", "HEAD")
    commit(p, {"detent.toml": "[test]\ntimeout = 60\n"})
    p.git("switch", "-q", "-c", "from-the-past", old)
    with closing((app := opened(p)).journal):
        settings = app.world.config_of(app.door.load(begun(app, "tdd")).run).settings
        assert settings["flags.unnoticed"] == settings["decisions.require"] == ""


@pytest.mark.parametrize("how", ["[git] main", "init.defaultBranch"])
def test_a_branch_does_not_call_itself_main(tmp_path: Path, how: str) -> None:
    """What `land`, executions and messages to people go by is main, and a command of the branch is not run in a person's name."""
    evil = LOOSE + "\n[notify]\ncommand = 'touch evil'\n" + ("\n[git]\nmain = 'loose'\n" if how == "[git] main" else "")
    p = on_a_branch(tmp_path / "p", {"detent.toml": evil})
    if how == "init.defaultBranch":
        p.git("config", "init.defaultBranch", "loose")
    with closing((app := opened(p)).journal):
        if how == "[git] main":
            with pytest.raises(DetentError, match="calls loose the main branch") as told:
                project_settings(app.world.git, app.world.outer)
            assert "DETENT_GIT_MAIN=loose" in told.value.hint
        else:
            found, _ = project_settings(app.world.git, app.world.outer)
            assert (found.notify.command, found.decisions.require) == ("", "")


def test_a_branch_that_main_itself_names_is_main(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[git]\nmain = 'develop'\n", PLANS)
    p.git("switch", "-q", "-c", "develop")
    commit(p, {"detent.toml": "[git]\nmain = 'develop'\n\n[flags]\nunnoticed = 'note'\n"})
    with closing((app := opened(p)).journal):
        assert project_settings(app.world.git, app.world.outer)[0].level("unnoticed") == "note"
        assert app.world.config_of(app.door.load(begun(app, "tdd")).run).settings["flags.unnoticed"] == "note"


@pytest.mark.slow
@pytest.mark.parametrize("merge", ["auto", "pull-request", "branch"])
def test_what_a_branch_had_before_the_run_began_is_looked_at_where_it_lands(tmp_path: Path, merge: str) -> None:
    """Commits that nothing proved land with the branch, so they are part of what is looked at: here one that deletes a test."""
    p = project(tmp_path / "p", f"[git]\nmerge = '{merge}'\n[sandbox]\nlevel = 'none'\n")
    p.git("switch", "-q", "-c", "mine")
    p.git("rm", "-q", "tests/test_start.py")
    p.git("commit", "-q", "-m", "chore: tidy")
    with driven(p, *CYCLE) as run:
        told = run.go()
        assert ("tests/test_start.py::test_start" in (told["error"] or "")) == (merge != "branch"), told
        assert "tests/test_start.py" in p.git("ls-tree", "-r", "--name-only", "main")
