"""`detent land`, through the real command line: real git, a bare remote, real tests, executions that were really completed."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from detent.git.land_merge import FOLLOW
from tests.driven import scripted
from tests.executions import CONFIG, TEST, WORKS, Till
from tests.project import Project
from tests.repos import IDENTITY, PLAIN, sh, write

FREE = CONFIG + "[flags]\nno-proof = 'note'\n"  # for what is not about proof: many branches here change code that no test needs
EMPTY = {"calc.py": "def add(a, b):\n    return a + b\n"}
ONE = "from one import one\n\n\ndef test_one():\n    assert one() == 1\n"
LINE = "    return a + b\n"
MARKS = ("<<<<<<<", "=======", ">>>>>>>")


def branch(till: Till, name: str, files: dict[str, str], at: int = 0) -> str:
    """A finished branch that starts from main as it is; `at` is its age in seconds."""
    till.git("switch", "-q", "-c", name, "main")
    write(till.project.root, files)
    till.git("add", "-A")
    when = f"{1_700_000_000 + at} +0000"
    env = {**os.environ, **IDENTITY, **PLAIN, "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when}
    subprocess.run(["git", "commit", "-q", "-m", name], cwd=till.project.root, env=env, check=True)
    till.git("switch", "-q", "main")
    return till.git("rev-parse", name)


def adding(name: str, passes: bool = True) -> dict[str, str]:
    return {f"tests/test_{name}.py": f"def test_{name}():\n    assert {passes}\n"}


def outcomes(report: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    return {row["branch"]: row["outcome"] for row in report["branches"]}


@pytest.fixture
def till(tmp_path: Path) -> Till:
    return Till(tmp_path, FREE, files=EMPTY)


@pytest.mark.slow
def test_named_branches_land_oldest_first_each_on_the_main_of_then_and_are_pushed(till: Till) -> None:
    tips = {"young": branch(till, "young", adding("young"), 500), "old": branch(till, "old", adding("old"), 100)}
    ran = till.project.run("land", "young", "old", "--json")
    assert ran.code == 0 and outcomes(ran.json) == {"old": "landed", "young": "landed"}, ran
    assert [row["branch"] for row in ran.json["branches"]] == ["old", "young"] and "running its tests" in ran.err
    subjects = till.git("log", "--first-parent", "--format=%s", "main").splitlines()
    assert subjects[:2] == ["Merge branch 'young'", "Merge branch 'old'"]
    assert till.there("rev-parse", "main") == till.git("rev-parse", "main") == ran.json["branches"][1]["commit"]
    assert (till.project.root / "tests" / "test_young.py").exists() and till.git("status", "--porcelain") == "", "the checkout went along"
    assert {name: till.git("rev-parse", name) for name in tips} == tips, "no branch is touched"
    assert till.git("for-each-ref", FOLLOW) == ""
    again = till.project.run("land", "young")
    assert again.code == 0 and "IN MAIN young" in again.out


@pytest.mark.slow
def test_what_conflicts_or_is_red_once_merged_is_left_as_it_was_and_the_others_land(till: Till) -> None:
    branch(till, "first", {"calc.py": EMPTY["calc.py"].replace("a + b", "b + a")}, 1)
    conflicting = branch(till, "second", {"calc.py": EMPTY["calc.py"].replace("a + b", "sum((a, b))")}, 2)
    branch(till, "third", {"names.py": "NAME = 1\n"}, 3)
    red = branch(till, "fourth", adding("red", passes=False), 4)
    branch(till, "fifth", adding("fifth"), 5)
    ran = till.project.run("land", "fifth", "fourth", "third", "second", "first", "--json")
    assert ran.code == 10, ran
    assert outcomes(ran.json) == {"first": "landed", "second": "person", "third": "landed", "fourth": "person", "fifth": "landed"}
    reasons = {row["branch"]: row["reason"] for row in ran.json["branches"]}
    assert reasons["second"] == "it conflicts with main in calc.py" and "tests/test_red.py" in reasons["fourth"]
    assert (till.git("rev-parse", "second"), till.git("rev-parse", "fourth")) == (conflicting, red)
    assert not (till.project.root / "tests" / "test_red.py").exists() and till.there("rev-parse", "main") == till.git("rev-parse", "main")
    text = till.project.run("land", "second")
    assert text.code == 10 and "PERSON  second  it conflicts" in text.out and "detent land second" in text.out


@pytest.mark.slow
def test_code_that_no_test_needs_does_not_land_by_itself_and_lands_once_a_person_accepts_its_tree(tmp_path: Path) -> None:
    till = Till(tmp_path, files=EMPTY)
    branch(till, "turned", {"calc.py": EMPTY["calc.py"].replace("a + b", "b + a")}, 1)
    branch(till, "proved", {"one.py": "def one():\n    return 1\n", "tests/test_one.py": ONE}, 2)
    ran = till.project.run("land", "turned", "proved", "--json")
    assert ran.code == 10 and outcomes(ran.json) == {"turned": "flagged", "proved": "landed"}, ran
    row = ran.json["branches"][0]
    assert [(flag["kind"], flag["place"]) for flag in row["flags"]] == [("no-proof", "calc.py")] and "no-proof" in row["reason"]
    assert "b + a" not in till.there("show", "main:calc.py")
    told = till.project.run("land", "turned")
    assert told.code == 10 and f"detent land turned --accept {row['tree'][:12]}" in told.out, told
    assert till.project.run("land", "turned", "--accept", row["tree"]).code == 0
    assert "b + a" in till.there("show", "main:calc.py") and "Flag-Accepted: no-proof" in till.git("log", "-1", "--format=%B", "main")


LOOSE = "[flags]\nno-proof = 'allow'\nunnoticed = 'allow'\njudged-by = 'allow'\n"


@pytest.mark.parametrize("settings", ["of the branch", "in the checkout"])
def test_a_branch_does_not_bring_the_settings_by_which_it_lands(tmp_path: Path, settings: str) -> None:
    p = Project(tmp_path / "p")
    assert not (p.root / "detent.toml").exists()
    p.git("switch", "-q", "-c", "loose")
    p.write({"loose.py": "def loose():\n    return 0\n", **({"detent.toml": LOOSE} if settings == "of the branch" else {})})
    p.git("add", "-A")
    p.git("commit", "-q", "-m", "feat: loose")
    p.write({"detent.toml": LOOSE})
    ran = p.run("land", "loose")
    assert ran.code == (10 if settings == "of the branch" else 2), ran
    assert ("no-proof" if settings == "of the branch" else "in a file that is not committed") in ran.out + ran.err
    assert "loose.py" not in p.git("ls-tree", "--name-only", "main")


def test_a_branch_that_lets_programs_speak_for_people_does_not_accept_its_own_flags(tmp_path: Path) -> None:
    p = Project(tmp_path / "p")
    p.write({"detent.toml": "[test]\ntimeout = 60\n"})
    p.git("add", "-A")
    p.git("commit", "-q", "-m", "settings")
    for name, more in (("plain", ""), ("named", "[git]\nmain = 'named'\n")):
        p.git("switch", "-q", "-c", name, "main")
        p.write({"loose.py": "def loose():\n    return 0\n", "detent.toml": f"{more}[decisions]\nrequire = 'anywhere'\n"})
        p.git("add", "-A")
        p.git("commit", "-q", "-m", "feat: loose")
        done = p.alone("land", name, "--accept", p.git("rev-parse", "HEAD^{tree}"), CLAUDECODE="1")
        assert done.returncode == 2 and "this shell belongs to an agent" in done.stderr, (name, done)
        assert "loose.py" not in p.git("ls-tree", "--name-only", "main")


@pytest.mark.slow
def test_two_branches_that_are_fine_alone_and_red_together_do_not_both_land(till: Till) -> None:
    branch(till, "rename", {"calc.py": "def plus(a, b):\n    return a + b\n"}, 1)
    branch(till, "use", {"tests/test_add.py": TEST}, 2)
    ran = till.project.run("land", "rename", "use", "--json")
    assert (
        outcomes(ran.json) == {"rename": "landed", "use": "person"}
        and "merged with main, the tests fail" in ran.json["branches"][1]["reason"]
    )
    assert till.git("log", "-1", "--format=%s", "main") == "Merge branch 'rename'"


@pytest.mark.slow
def test_completed_executions_land_by_priority_and_a_conflict_goes_back_to_an_agent(till: Till) -> None:
    late, urgent, same = till.file("Late", priority=3), till.file("Urgent", priority=0), till.file("Same line", priority=4)
    work = [(late, adding("late")), (urgent, {"calc.py": EMPTY["calc.py"].replace("a + b", "b + a")}),
            (same, {"calc.py": EMPTY["calc.py"].replace("a + b", "sum((a, b))")})]  # fmt: skip
    for item, files in work:
        done = till.execute(item, {**WORKS, "write": {**files, **adding(item.replace("-", "_"))}})
        assert done.code == 0, done
    both = {"calc.py": EMPTY["calc.py"].replace("a + b", "sum((b, a))"), **adding("again")}
    agent = scripted(till.project, {**WORKS, "write": both})
    till.git("branch", "-q", "-D", f"{late}-late")  # as if another machine had made it: only the remote has it
    ran = till.project.run("land", "--agent", agent, "--json")
    rows = {row["item"]: row for row in ran.json["branches"]}
    assert ran.code == 1 and [row["item"] for row in ran.json["branches"]] == [urgent, late, same], ran
    assert [rows[item]["outcome"] for item in (urgent, late, same)] == ["landed", "landed", "agent"]
    execution = till.run(rows[same]["execution"])
    assert execution.state == "QUEUED" and execution.data.item.id == same
    context = execution.data.context
    assert "it conflicts with main in calc.py" in context and "+    return sum((a, b))" in context and "~~~~diff" in context
    marked = context.partition("Where it conflicts, main first, then the branch:\n\n~~~~text\n")[2].partition("~~~~")[0].splitlines()
    assert [line[:7] if line[:7] in MARKS else line for line in marked] == [
        "calc.py, line 1:", "def add(a, b):", "<<<<<<<", "    return b + a", "=======", "    return sum((a, b))", ">>>>>>>",
    ]  # fmt: skip
    assert till.item(same).status == "open" and "could not be landed" in till.item(same).notes
    assert [row["item"] for row in till.project.run("queue", "list", "--json").json["executions"]] == [same]
    tip = till.git("rev-parse", rows[same]["branch"])
    again = till.project.run("land", "--json")
    assert again.code == 1 and outcomes(again.json) == {rows[same]["branch"]: "waits"}, "it is not given back twice"
    assert till.git("rev-parse", rows[same]["branch"]) == tip
    person = till.project.run("land", rows[same]["branch"], "--to", "person", "--json")
    assert person.code == 10 and outcomes(person.json) == {rows[same]["branch"]: "person"}
    done = till.project.run("run", "--run", rows[same]["execution"], "--json")
    assert done.code == 0 and done.json["branch"] != rows[same]["branch"], done
    last = till.project.run("land", "--json")
    assert last.code == 0 and outcomes(last.json) == {done.json["branch"]: "landed"}, "what was done anew replaces what went back"
    assert "sum((b, a))" in till.there("show", "main:calc.py") and till.item(same).status == "closed"


def test_somebody_elses_push_meanwhile_is_merged_too_and_never_overwritten(till: Till, tmp_path: Path) -> None:
    """The remote goes on while the tests of the merge run: those tests push it."""
    other = tmp_path / "other"
    sh(tmp_path, "git", "clone", "-q", str(till.remote), str(other))
    write(other, adding("theirs"))
    sh(other, "git", "add", "-A")
    sh(other, "git", "commit", "-q", "-m", "theirs")
    theirs = sh(other, "git", "rev-parse", "HEAD")
    branch(till, "ours", adding("ours"))
    hook = till.remote / "hooks" / "pre-receive"
    push = f"unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY\nenv -u GIT_DIR git -C {other} push -q origin main >&2\nexit 1\n"
    hook.write_text(f"#!/bin/sh\n[ -e {tmp_path}/done ] && exit 0\ntouch {tmp_path}/done\n{push}")
    hook.chmod(0o755)
    ran = till.project.run("land", "ours", "--json")
    assert ran.code == 0 and outcomes(ran.json) == {"ours": "landed"}, ran
    assert "main moved in the meantime; trying again" in ran.err
    main = till.there("rev-parse", "main")
    assert till.git("rev-parse", "main") == main and sh(till.remote, "git", "merge-base", "--is-ancestor", theirs, main) == ""


@pytest.mark.slow
def test_a_dirty_checkout_of_main_and_a_remote_that_is_away_stop_it_before_anything_moves(till: Till) -> None:
    branch(till, "ready", adding("ready"))
    before = till.git("rev-parse", "main")
    (till.project.root / "calc.py").write_text("mine\n")
    dirty = till.project.run("land", "ready", "--json")
    assert dirty.code == 2 and "changes that are not committed" in dirty.json["error"] and outcomes(dirty.json) == {"ready": "untouched"}
    till.git("checkout", "-q", "calc.py")
    till.remote.rename(till.remote.with_name("away.git"))
    away = till.project.run("land", "ready")
    assert away.code == 2 and "cannot be reached" in away.err and "LEFT    ready" in away.out
    assert till.git("rev-parse", "main") == before
    assert till.project.run("land", "nowhere").code == 2


@pytest.mark.slow
def test_the_trackers_own_data_in_the_checkout_stops_no_landing_and_stays_as_it_is(tmp_path: Path) -> None:
    till = Till(tmp_path, FREE, files={**EMPTY, ".beads/issues.jsonl": '{"id": "bd-1"}\n'})
    branch(till, "ready", adding("ready"))
    items = till.project.root / ".beads" / "issues.jsonl"
    items.write_text('{"id": "bd-1"}\n{"id": "bd-2"}\n')
    landed = till.project.run("land", "ready", "--json")
    assert landed.code == 0 and outcomes(landed.json) == {"ready": "landed"}, landed
    assert items.read_text() == '{"id": "bd-1"}\n{"id": "bd-2"}\n' and till.git("status", "--porcelain") == "M .beads/issues.jsonl"


@pytest.mark.slow
def test_a_main_that_is_red_itself_blames_no_branch(till: Till) -> None:
    branch(till, "innocent", adding("innocent"))
    write(till.project.root, adding("broken", passes=False))
    till.git("add", "-A")
    till.git("commit", "-q", "-m", "broken")
    ran = till.project.run("land", "innocent", "--json")
    assert ran.code == 2 and "main does not pass its own tests" in ran.json["error"] and outcomes(ran.json) == {"innocent": "untouched"}


@pytest.mark.slow
def test_two_landings_at_once_are_kept_apart(till: Till) -> None:
    branch(till, "ready", adding("ready"))
    lock = till.project.root / ".git" / "detent" / "land.lock"
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        busy = till.project.run("land", "ready", "--json")
    assert busy.code == 1 and busy.json["error"].startswith("BUSY")
    assert till.project.run("land", "ready").code == 0


KILLED = """import os, signal, sys
from detent.effects import land_branch as landing
from detent.git import land_merge as land
name, when = sys.argv.pop(1).split()
place = land if name == "_follow" else landing
function = getattr(place, name)
def fragile(*args):
    if "-n" in args:  # it only looks
        return function(*args)
    if when == "after":
        function(*args)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(place, name, fragile)
from detent.interfaces.cli.main import main
sys.argv[0] = "detent"
main()
"""
LONG = pytest.mark.slow
POINTS = [
    "push_branch after",
    "_follow half",
    *(pytest.param(p, marks=LONG) for p in ("build_merge after", "_follow before", "_follow after")),
]


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
def test_killed_in_the_middle_it_lands_once_when_it_is_called_again(till: Till, point: str) -> None:
    branch(till, "ready", adding("ready") | adding("steady"))
    words = [sys.executable, "-c", KILLED, point, "land", "ready"]
    killed = subprocess.run(words, cwd=till.project.root, env=till.project.env, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed
    owed = till.git("for-each-ref", FOLLOW) != ""
    assert owed == point.startswith("_follow") and (till.there("log", "-1", "--format=%s", "main") != "start") == (
        not point.startswith("build")
    )
    if point == "_follow half":
        write(till.project.root, adding("ready"))
    ran = till.project.run("land", "ready", "--json")
    assert ran.code == 0 and outcomes(ran.json)["ready"] == ("landed" if point.startswith("build") else "already"), ran
    assert till.git("rev-list", "--count", "--merges", "main") == "1"
    assert till.there("rev-parse", "main") == till.git("rev-parse", "main")
    assert till.git("status", "--porcelain") == "" and till.git("for-each-ref", FOLLOW) == ""
    assert (till.project.root / "tests" / "test_ready.py").exists()


@pytest.mark.slow
def test_what_a_person_changed_in_a_checkout_that_lags_behind_is_not_touched(till: Till) -> None:
    branch(till, "ready", {"calc.py": EMPTY["calc.py"].replace("a + b", "b + a")})
    subprocess.run(
        [sys.executable, "-c", KILLED, "_follow before", "land", "ready"], cwd=till.project.root, env=till.project.env, capture_output=True
    )
    (till.project.root / "calc.py").write_text("mine\n")
    ran = till.project.run("land", "ready", "--json")
    assert ran.code == 2 and "its checkout" in ran.json["error"] and "calc.py" in ran.json["error"]
    assert (till.project.root / "calc.py").read_text() == "mine\n"


@pytest.mark.slow
def test_without_a_remote_it_lands_here_and_main_may_be_checked_out_nowhere(tmp_path: Path) -> None:
    till = Till(tmp_path, FREE + "[git]\nremote = ''\n", remote=False, files=EMPTY)
    branch(till, "ready", adding("ready"))
    till.git("switch", "-q", "--detach")
    ran = till.project.run("land", "ready", "--events")
    assert ran.code == 0, ran
    assert '"event": "landing"' in ran.out.splitlines()[0] and '"outcome": "landed"' in ran.out.splitlines()[-1]
    assert (
        till.git("log", "-1", "--format=%s", "main") == "Merge branch 'ready'"
        and not (till.project.root / "tests" / "test_ready.py").exists()
    )
    assert "Nothing is left to land" in till.project.run("land").out
