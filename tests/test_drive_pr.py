"""`pr` without anybody at the keyboard: a plan of two pull requests, worked through by an agent program in the sandbox, from one command."""

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from detent.app import open_app
from detent.workflows.pr.pr_jobs import JOBS
from tests.driven import GREEN, HONEST, RED, Json, lines_until, project, running, workspaces
from tests.machine import no_walls, walls
from tests.patience import LONG
from tests.project import Project

PLAN = "docs/plan.md"
TITLES = ("feat: add numbers", "feat: subtract numbers")


@pytest.fixture
def p(tmp_path: Path) -> Project:
    return project(tmp_path / "p", files={PLAN: "# Plan\n\n" + "".join(f"- {title}\n" for title in TITLES)})


@pytest.mark.slow
def test_two_pull_requests_from_one_command_with_a_person_who_works_in_the_checkout_meanwhile(p: Project) -> None:
    with running(p, "run", "--workflow", "pr", PLAN, "--agent", HONEST, "--events") as child:
        lines = lines_until(child, event="state", state="FINALIZE_COMPLETE")
        (p.root / "calc.py").write_text("# my own idea\n")
        main = p.git("rev-parse", "main")
        out, err = child.communicate(timeout=LONG)
    assert child.returncode == 10, (out, err)
    lines += [json.loads(line) for line in out.splitlines()]
    waits = lines.pop()
    assert (waits["outcome"], waits["state"]) == ("waiting", "MERGING_BRANCH")
    assert "main is checked out in" in waits["error"] and "with changes that are not committed" in waits["error"]
    assert (p.root / "calc.py").read_text() == "# my own idea\n" and p.git("rev-parse", "main") == main
    assert seen(lines) == [
        ("INITIALIZING", "engineer", "SUCCESS"), ("EXECUTING_TDD", "engineer", "NEEDS_ANALYSIS"), ("NEEDS_ANALYSIS", "engineer", "SUCCESS"),
        ("EXECUTING_TDD", "engineer", "SUCCESS"), ("CODE_REVIEW", "reviewer", "SUCCESS"), ("FINALIZE_COMPLETE", "engineer", "SUCCESS"),
    ]  # fmt: skip

    p.git("checkout", "-q", "--", "calc.py")
    for path in workspaces(p):
        shutil.rmtree(path)  # and it is made anew
    done = p.run("resume", "--json")
    assert (done.code, done.json.get("outcome"), done.json.get("state")) == (0, "done", "DONE"), done
    assert p.git("log", "--first-parent", "--format=%s").splitlines() == [
        "Merge branch 'feat/subtract-numbers'", "Merge branch 'feat/add-numbers'", "start",
    ]  # fmt: skip
    for title, merge in zip(TITLES, ("main~1", "main"), strict=True):
        squashed, marked = p.git("log", "--reverse", "--format=%H %s", f"{merge}^1..{merge}^2").splitlines()
        assert squashed.partition(" ")[2] == title and marked.endswith("docs: mark the finished entry in the plan")
        assert f"- {title} [DONE] {squashed[:10]}" in p.git("show", f"main:{PLAN}")
        assert p.git("diff", "--name-only", f"{merge}^2~1", f"{merge}^2") == PLAN
    assert p.git("status", "--porcelain") == "" and "def subtract" in (p.root / "calc.py").read_text()  # it followed main, being clean
    assert p.git("for-each-ref", "--format=%(refname:short)", "refs/heads/") == "main"
    assert workspaces(p) == []
    assert not (p.root / "ACTIVE_PR.json").exists()


def seen(lines: list[Json]) -> list[tuple[str, str, str]]:
    """State, role and verdict of each turn."""
    return [(line["at"], line["role"], line["status"]) for line in lines if line["event"] == "verdict"]


@pytest.mark.slow
@walls
def test_a_configured_reviewer_works_inside_the_sandbox_too(tmp_path: Path) -> None:
    spy = tmp_path / "spy.py"
    look = "import json, os, sys\njson.load(sys.stdin)\n"
    finding = '{"file_path": "calc.py", "line_number": 1, "category": "c", "severity": "INFO", "description": f"sees {sees}", "recommendation": "r"}'
    look += f"sees = os.path.exists({str(tmp_path / 'p' / '.git' / 'HEAD')!r})\n"
    spy.write_text(look + f'print(json.dumps({{"overall_assessment": "o", "executive_summary": "s", "findings": [{finding}]}}))\n')
    python = HONEST.removeprefix("command:").split()[0]
    config = f'[git]\nremote = ""\nmerge = "branch"\n[review]\nagent = "command:{python} {spy}"\n'
    p = project(tmp_path / "p", config, {PLAN: f"- {TITLES[0]}\n"})
    ran = p.run("run", "--workflow", "pr", PLAN, "--agent", HONEST, "--json")
    assert (ran.code, ran.json["outcome"], ran.json["state"]) == (10, "waiting", "MERGING_BRANCH"), ran
    said = next(file.read_text() for file in (p.root / ".git").rglob("detent/reviews/*.json"))
    assert "sees False" in said


def test_an_agent_that_asks_for_what_is_locked_is_told_and_bounded(p: Project) -> None:
    file = p.root.parent / "script.json"
    file.write_text(json.dumps([{"again": True, "reply": {"action": "request_scope_reduction"}}]))
    ran = p.run("run", "--workflow", "pr", PLAN, "--agent", f"scripted:{file}", "--json")
    assert (ran.code, ran.json["outcome"]) == (10, "halted"), ran
    assert "What was handed in was not accepted" in ran.json["error"]
    assert p.run("status", "--json").json["cause"] == "agent"


@pytest.mark.slow
def test_what_a_step_wrote_beyond_its_part_is_brought_back_and_the_next_attempt_passes(p: Project) -> None:
    steps = [{"type": kind, "description": f"{kind} add", "status": "TODO"} for kind in ("RED", "GREEN")]
    plan = {"masterPlanPath": PLAN, "prTitle": TITLES[0], "summary": "s", "verificationPlan": "v"}
    tasks = [{"taskName": "add", "status": "TODO", "tdd_steps": steps}]
    code = {"calc.py": GREEN}
    script: list[Json] = [
        {"state": "INITIALIZING", "write": {"ACTIVE_PR.json": json.dumps({**plan, "tasks": tasks})}, "reply": "planned"},
        {"state": "EXECUTING_TDD", "write": {"tests/test_add.py": RED, **code}, "reply": "test and code"},
        {"state": "DEBUGGING", "reply": "the test is there"},
        {"state": "NEEDS_ANALYSIS", "reply": {"summary": "s", "analysis_decision": "SUCCESS"}},
        {"state": "EXECUTING_TDD", "write": {"tests/test_add.py": "def test_add():\n    pass\n", **code}, "reply": "weaker, and the code"},
        {"state": "DEBUGGING", "reply": "the code is there"},
        {"fail": {"sort": "ModelUnavailable", "message": "enough"}},
    ]
    file = p.root.parent / "script.json"
    file.write_text(json.dumps(script))
    ran = p.run("run", "--workflow", "pr", PLAN, "--agent", f"scripted:{file}", "--events")
    told = seen([json.loads(line) for line in ran.out.splitlines()][:-1])
    assert [status for _, _, status in told] == [
        "SUCCESS", "FAILURE", "NEEDS_ANALYSIS", "SUCCESS", "FAILURE", "SUCCESS", "HALTED",
    ], ran  # fmt: skip


@pytest.mark.slow
def test_the_reviewer_waits_for_its_usage_limit_counts_in_the_result_and_leaves_its_transcript(tmp_path: Path) -> None:
    script, usage = tmp_path / "review.json", {"input_tokens": 900, "output_tokens": 80, "cached_tokens": 20, "usd": 0.25}
    until = "2020-01-01T00:00:00Z"  # over by the time that it is looked at again
    limited = {"role": "reviewer", "fail": {"sort": "RateLimit", "message": "not so fast", "not_before": until}}
    approved = {"overall_assessment": "o", "executive_summary": "s", "findings": []}
    said = {"role": "reviewer", "usage": usage, "call": [WRITES], "reply": f"I have read it.\n{json.dumps(approved)}"}
    script.write_text(json.dumps([limited, said]))
    config = f'[git]\nremote = ""\nmerge = "branch"\n[review]\nagent = "scripted:{script}"\n'
    p = project(tmp_path / "p", config, {PLAN: f"- {TITLES[0]}\n"})
    held = {"DETENT_SANDBOX_LEVEL": "outer"} if no_walls() else {}  # a reviewer gets tools only where something holds it
    ran = p.run("run", "--workflow", "pr", PLAN, "--agent", HONEST, "--json", **held)
    done = ran.json
    assert (ran.code, done["outcome"], done["state"]) == (10, "waiting", "MERGING_BRANCH"), ran
    assert done["usage"] == usage
    with closing((app := open_app(p.root, env=p.env)).journal):
        run = app.door.load(done["run"]).run
        moves = [e.on for e in app.worlds.runs.history(run.id)]
        assert moves[moves.index("limited") :][:2] == ["limited", "approved"] and run.not_before == ""
        parked = replace(run, not_before="2099-01-01T00:00:00Z")
        assert JOBS["call_reviewer"](app.worlds.of(run), parked) is None  # nobody is asked before that
    texts = [file.read_text() for file in sorted((p.root / ".git/detent/transcripts").rglob("*.review.jsonl"))]
    assert len(texts) == 2
    seen = "".join(texts)
    assert "not so fast" in seen and "a review changes no file" in seen and "Review of the pull request feat: add numbers" in seen


WRITES: Json = {"tool": "Write", "arguments": {"file_path": "calc.py", "content": "mine"}}
