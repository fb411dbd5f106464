"""The end of a session: what the checks run on, where the branch goes, and what the report tells."""

import json
from pathlib import Path

import msgspec
import pytest

from detent.gates.documents import Criterion, KnownIssue
from detent.kernel.model import Event, Found, Sent, Verdict
from detent.workflows.pipeline.pipeline_data import Manual, PipelineData
from detent.workflows.pipeline.pipeline_effects import JOBS
from detent.workflows.pipeline.session import CommandProof
from detent.workflows.pipeline.session_report import report_of
from tests.repos import sh
from tests.sessions import TEAM, Driven, till
from tests.sessions import session as driven
from tests.test_pipeline_tables import FULL, a_task, session

replace = msgspec.structs.replace
pytestmark = pytest.mark.timeout(600)  # whole sessions, also on a busy machine


def checked(s: Driven, check: str = "cmd: true", verify: str = "cmd: true") -> Sent:
    """What the checks of INTEGRATE come to, for a session with these."""
    data = s.run.data
    tasks = (replace(a_task("T-001"), acceptance_checks=(check,)), replace(a_task("T-002"), acceptance_checks=("manual: look",)))
    made = replace(data, tasks=tasks, criteria=(Criterion("AC-001", "d", (verify,)),))
    run = replace(s.run, data=made)
    sent: Sent | None = JOBS["run_checks"](s.app.worlds.of(run), run)
    assert sent is not None
    return sent


def test_integrate_runs_the_tests_preflight_every_check_and_every_criterion_at_the_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    p = till(tmp_path / "p", "[git]\nremote = ''\n[sandbox]\nlevel = 'none'\n[preflight]\ncommands = ['test ! -e BAD']\n")
    with driven(p) as s:
        root = s.app.worlds.of(s.run).place.root
        green = checked(s)
        assert green.outcome == "green" and green.facts["tree"] == s.run.data.good_tree
        assert [c["check"] for c in json.loads(green.facts["checks"])] == ["cmd: true"]
        for red in (checked(s, check="cmd: test -s A"), checked(s, verify="cmd: test -s A")):
            assert red.outcome == "red" and "`test -s A` fails" in red.output
        (root / "BAD").touch()
        unfit = checked(s)
        assert unfit.outcome == "red" and "test ! -e BAD" in unfit.output
        (root / "BAD").unlink()
        (root / "tests/test_start.py").write_text("def test_start():\n    assert False\n")
        failing = checked(s)
        assert failing.outcome == "red" and "test_start" in failing.output and failing.facts["tree"] != s.run.data.good_tree


@pytest.mark.slow
def test_a_session_lands_as_it_is_configured_and_may_leave_its_branch_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    p = till(tmp_path / "p", "[git]\nremote = ''\nmerge = 'branch'\n[sandbox]\nlevel = 'none'\n")
    with driven(p, *TEAM, lean=True) as s:
        assert s.go()["state"] == "LANDING"
        branch = s.run.data.branch
        assert p.git("log", "--format=%s", "main") == "start"  # main is where it was, and stays there
        assert p.git("log", "--format=%s", f"main..{branch}") == "T-001: add"
        p.git("merge", "-q", branch)  # by whoever decides what main gets
        assert s.go()["state"] == "DONE"


@pytest.mark.slow
def test_a_session_may_end_as_a_pull_request_that_is_opened_once_and_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    opener, bare = tmp_path / "open.sh", tmp_path / "bare.git"
    opener.write_text(f"#!/bin/sh\necho opened >> {tmp_path}/opened\ncp $1 {tmp_path}/body.md\n")
    opener.chmod(0o755)
    p = till(tmp_path / "p", f"[git]\nmerge = 'pull-request'\npr_command = '{opener} {{body}}'\n[sandbox]\nlevel = 'none'\n")
    sh(tmp_path, "git", "clone", "-q", "--bare", str(p.root), str(bare))
    p.git("remote", "add", "origin", str(bare))
    with driven(p, *TEAM, lean=True) as s:
        assert [s.go()["state"] for _ in range(2)] == ["LANDING", "LANDING"]
        assert (tmp_path / "opened").read_text() == "opened\n"
        assert (
            "### Detent: clean — main…" in (text := (tmp_path / "body.md").read_text())
            and "- T-001: add\n" in text
            and "| proved | `" in text
        ), text
        branch = s.run.data.branch
        assert sh(bare, "git", "rev-parse", branch) == p.git("rev-parse", branch)
        assert sh(bare, "git", "log", "--format=%s", "main") == "start"
        sh(bare, "git", "update-ref", "refs/heads/main", branch)  # by whoever takes the pull request
        assert s.go()["state"] == "DONE"


# -- the report ----------------------------------------------------------------------------------------------------------------

DATA = replace(
    FULL,
    tasks=(replace(a_task("T-001"), acceptance_checks=("cmd: make check",), status="completed"),),
    criteria=(Criterion("AC-001", "adds", ("cmd: pytest -q", "manual: open the page")), Criterion("AC-002", "never ran", ("cmd: other",))),
    proofs=(CommandProof("cmd: pytest -q", "t1" * 20, "passed", 1.5), CommandProof("cmd: make check", "t1" * 20, "failed", 2.0, "boom")),
    manual=(Manual("manual: open the page", "t1" * 20, "UD-4"),),
    known_issues=(KnownIssue("f1", "slow", "T-001"),),
    report_notes=("a till was built", "run it: python till.py", "test it: pytest"),
    last_ci_result="green at t1",
)


def test_the_report_tells_what_was_done_how_to_run_and_test_it_and_what_is_known_to_be_wrong() -> None:
    told = report_of(session("DONE", DATA), (), ("abc T-001: sums",))
    heads = [
        "What was done",
        "How to run it, how to test it",
        "Known issues",
        "Open notes",
        "Evidence",
        "Rounds of changes",
        "Decisions",
        "Cost and time by role",
    ]
    assert [line[3:] for line in told.splitlines() if line.startswith("## ")] == heads
    done, how, known = (told.partition(f"## {head}\n")[2].partition("\n## ")[0] for head in heads[:3])
    assert "T-001 title of T-001 [completed]" in done and "abc T-001: sums" in done and "a till was built" in done
    assert "run it: python till.py" in how and "test it: pytest" in how and "`make check`" in how
    assert known.strip() == "- [f1] slow (T-001)"


def test_the_report_gives_the_evidence_for_each_criterion_and_cost_and_time_for_each_role() -> None:
    usage = json.dumps({"input_tokens": 100, "output_tokens": 20, "usd": 0.5})
    facts = {"usage": usage, "seconds": "30", "turns": "2"}

    def event(was: str) -> Event[PipelineData]:
        return Event(session(was, DATA), "x", was, "", Sent("submit", facts=facts), Found(), "SUCCESS", Verdict("SUCCESS", was))

    told = report_of(session("DONE", DATA), (event("PLAN"), event("PLAN"), event("INTAKE")), ())
    tree = ("t1" * 20)[:12]
    for row in (
        f"| AC-001 | `cmd: pytest -q` | passed in 1.5 s | {tree} |",
        f"| AC-001 | `manual: open the page` | confirmed by a person (UD-4) | {tree} |",
        "| AC-002 | `cmd: other` | not verified |  |",
        f"| T-001 | `cmd: make check` | failed in 2 s | {tree} |",
        "| Planner | 4 | 60 s | 240 | $1.00 |",
        "| SpecAgent | 2 | 30 s | 120 | $0.50 |",
    ):
        assert row in told, row
    assert "by hand: 1" in told and "green at t1" in told
