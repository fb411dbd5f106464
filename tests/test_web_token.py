"""The page's token: no judged and no driven program gets at it, and what was said with it is shown again where the branch lands."""

import json
import os
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from detent.app import open_app
from detent.app.land_branches import _question
from detent.app.land_flags import BranchSeen, _recorded
from detent.app.rolling_back import roll_back
from detent.app.run_configs import RunSandbox, sandbox_of
from detent.blocks.open_flags import briefing_flags
from detent.config.sources import load
from detent.kernel.decide import MOST_REMARKS, spoken, with_line
from detent.kernel.model import Flag, Run, Sent
from detent.workflows.pr.pr_data import PrData
from tests.cases import project
from tests.patience import LONG
from tests.project import Project
from tests.repos import make_repo
from tests.webbed import Served, served

# Looks for the token wherever a program may: in files, in the environments and words of other processes; asks the server without it.
SEARCH = r"""
import hashlib, http.client, json, os, re, sys
digest, port = sys.argv[1:]
roots = os.environ["ROOTS"].split()
found = []
def look(path):
    try:
        with open(path, "rb") as file:
            data = file.read(1_000_000)
    except OSError:
        return
    if any(hashlib.sha256(each).hexdigest() == digest for each in re.findall(rb"[0-9a-f]{64}", data)):
        found.append(path)
for root in roots:
    for here, folders, files in os.walk(root):
        for name in files:
            if os.path.isfile(f"{here}/{name}"):
                look(f"{here}/{name}")
for number in filter(str.isdigit, os.listdir("/proc")):
    look(f"/proc/{number}/environ")
    look(f"/proc/{number}/cmdline")
def ask(way, path, body=None):
    try:
        c = http.client.HTTPConnection("127.0.0.1", int(port), timeout=20)
        c.request(way, path, body, {"Content-Type": "application/json"})
        return c.getresponse().status
    except OSError:
        return 0
print(json.dumps([found, [ask("GET", "/api/runs"), ask("POST", "/api/token", b'{"once": "x"}')]]))
"""


def searched(start: str, p: Project, to: Served, **env: str) -> tuple[list[str], list[int]]:
    """What a program finds that is started as tests are judged, or as an agent is driven."""
    outer = {**p.env, **env}
    inside: RunSandbox = sandbox_of(load(lambda path: None, outer), start == "driven", outer, p.root)
    state = os.environ["XDG_STATE_HOME"]
    words = [sys.executable, "-c", SEARCH, sha256(to.token.encode()).hexdigest(), str(to.port)]
    roots = f"{state} {p.root.parent} /run /dev/shm"  # not among its words: what those name is shown to an agent, or refused
    given = {"PATH": outer["PATH"], "HOME": outer["HOME"], "ROOTS": roots}
    ran = inside.agent(words, p.root, given, LONG) if start == "driven" else inside.tests(words, p.root, given, LONG, lambda: True, ())
    found, answers = json.loads(ran.output.splitlines()[-1])
    return found, answers


def person(folder: Path) -> Project:
    """A person's home with a project in it."""
    p = Project(make_repo(folder / "home" / "project", {"a.py": ""}), made=True)
    p.env["HOME"] = str(folder / "home")
    return p


@pytest.mark.slow
@pytest.mark.needs("namespaces", "bubblewrap")
@pytest.mark.parametrize("start", ["judged", "driven"])
def test_neither_a_judged_nor_a_driven_program_finds_it(tmp_path: Path, start: str) -> None:
    p = person(tmp_path)
    with served(p) as to:
        found, answers = searched(start, p, to, DETENT_SANDBOX_PULL="auto")
        assert found == [] and set(answers) <= {0, 401, 403, 422}, (found, answers)
        assert 200 not in answers and to.ask("/api/runs")[0] == 200, "it is the right one"


def test_without_a_sandbox_the_same_program_finds_its_file(tmp_path: Path) -> None:
    p = person(tmp_path)
    with served(p) as to:
        found, _ = searched("judged", p, to, DETENT_SANDBOX_PULL="none")
    assert found == [str(Path(os.environ["XDG_STATE_HOME"]) / "detent" / "web-token")], "and nothing else: no argument, no variable, no log"


# -- shown again -----------------------------------------------------------------------------------------------------------------

LINE = "(web) told the agent: pytest.ini may be changed"


def steered(p: Project) -> Project:
    """A run in pull mode to which somebody with the token said something."""
    p.planned()
    with served(p) as to:
        status, said = to.ask(f"/api/runs/{p.task()['run']}/steer", {"text": "pytest.ini may be changed"})
    assert status == 200, said
    return p


@pytest.mark.slow
def test_a_word_that_was_said_with_it_stands_in_the_merge_commit(tmp_path: Path) -> None:
    p = steered(Project(tmp_path / "p"))
    finished(p)
    assert p.task()["state"] == "INITIALIZING"
    (line,) = [line for line in p.git("log", "-1", "--format=%B", "main").splitlines() if line.startswith("Said-By-People: ")]
    assert line.endswith(LINE), line


@pytest.mark.slow
def test_and_in_the_text_of_a_pull_request(tmp_path: Path) -> None:
    copies = f"cp {{body}} {tmp_path}/body.md"
    p = project(tmp_path / "p", f'[git]\nmerge = "pull-request"\npr_command = "{copies}"\n')
    p.git("clone", "-q", "--bare", str(p.root), str(tmp_path / "origin.git"))
    p.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    finished(steered(p))
    assert p.task()["state"] == "MERGING_BRANCH"
    text = (tmp_path / "body.md").read_text()
    assert "### Detent: clean — main…feat/add-numbers, 2 commits, 3 files" in text and "| proved | `tests/test_add.py::test_add` |" in text
    assert "If you did not say one of these, do not land this branch." in text and f" {LINE}\n" in text


def finished(p: Project) -> None:
    """From the first step to the branch that is ready to be merged."""
    assert p.red()["status"] == "NEEDS_ANALYSIS"
    p.submit(analysis_decision="SUCCESS")
    assert p.green()["status"] == "SUCCESS"
    assert p.task()["state"] == "CODE_REVIEW"
    p.write({"FINDINGS.json": "[]"})
    assert p.task()["state"] == "AWAITING_FINALIZATION"
    p.git("reset", "-q", "--soft", "main")
    p.git("commit", "-q", "-m", "feat: add numbers")
    p.submit(commit_hash=p.git("rev-parse", "HEAD"))
    p.mark_done()
    assert p.submit()["state"] == "PLAN_UPDATED"


def test_and_in_the_question_before_landing() -> None:
    flag = Flag("no-proof", "no test needs this", "calc.py", level="ask")
    run = Run("r", "pr", "HALTED", 9, PrData(), cause="flags", flags=(flag,), said=(f"a person {LINE}",))
    assert f"- a person {LINE}" in briefing_flags(run, "human", "")


def test_and_where_detent_lands_branches_of_executions() -> None:
    flag = Flag("no-proof", "no test needs this", "calc.py", level="ask")
    assert _question(BranchSeen("t", open=(flag,), remarks=(f"jo {LINE}",))).endswith(f"Said by people on the way: jo {LINE}.")
    assert _question(BranchSeen("t", open=(flag,))).endswith("Do you accept it?")
    assert _recorded((), "", (f"jo {LINE}",)) == f"Said-By-People: jo {LINE}"
    assert _recorded((flag,), "by jo", (f"jo {LINE}",)).splitlines()[1] == f"Said-By-People: jo {LINE}" and _recorded((), "", ()) == ""


def test_no_flood_of_words_hides_one() -> None:
    said: tuple[str, ...] = ()
    for number in range(500):
        said = with_line(said, spoken(Sent("steer", by="human", channel="web", note=f"word {number}")))
    assert len(said) == MOST_REMARKS + 1 and "word 0" in said[0] and "word 499" in said[-1]
    assert said[MOST_REMARKS // 2] == "460 more lines are left out here; `detent history` shows them all"


@pytest.mark.slow
def test_a_step_back_is_shown_too_and_loses_no_word(tmp_path: Path) -> None:
    p = steered(Project(tmp_path / "p"))
    app = open_app(p.root, env=p.env)
    fresh = roll_back(app, p.task()["run"], "1", "terminal")
    said = app.door.load(fresh).run.said
    app.journal.close()
    assert [LINE in said[0], said[1].startswith("a person (terminal) went back to an earlier step: from event 1 of")] == [True, True], said


def test_who_accepts_a_red_start_is_shown(tmp_path: Path) -> None:
    p = project(tmp_path / "p", files={"tests/test_red.py": "def test_red():\n    assert False\n"})
    assert p.run("start", "--baseline").code == 0
    (line,) = json.loads(p.alone("status", "--json").stdout)["said"]
    assert "accepted what failed at the start: tests/test_red.py::test_red" in line, line
