"""Roles that only some sessions need, driven on a real repository: Researcher and Designer, and a Coder who mends what Security found."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from detent.kernel.model import Sent
from tests.project import Project
from tests.rooms import isolated
from tests.sessions import ARCHITECTURE, CODE_ADD, CODES, FIRST, INTAKE, LEAN, SPEC, TEAM, S, plays, reply, session, tasks_text, till

ASSUMES = SPEC + "# Assumptions\n- prices are in cents\n"
GRAVE = {"severity": "high", "category": "input", "file": "calc.py", "description": "prices are trusted"}
SAFE = "def add(a, b):\n    return int(a) + int(b)\n"
pytestmark = pytest.mark.timeout(600)  # whole sessions, also on a busy machine


@pytest.fixture
def p(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = till(tmp_path / "p", "[git]\nremote = ''\n[sandbox]\nlevel = 'none'\n")
    made.write({".github/copilot-instructions.md": "Prices are in cents.\n"})
    made.git("add", "-A"), made.git("commit", "-q", "-m", "instructions")
    return made


def files(*names: str) -> dict[str, Any]:
    return {"files": [f"{S}/{name}" for name in names], "notes": []}


@pytest.mark.slow
def test_a_researcher_and_a_designer_work_where_they_are_asked_for_and_later_roles_read_what_they_wrote(p: Project) -> None:
    more = {"research": True, "ui": True, "complexity": "low", "reason": ""}
    team = (
        plays("INTAKE", write={**INTAKE["write"], f"{S}/spec.md": ASSUMES}, reply=reply(next=more)),
        plays("DESIGN_RESEARCH", write={f"{S}/research/r.md": "this"}, reply=reply("Researcher", artifacts=files("research/r.md"))),
        plays("DESIGN", write={f"{S}/architecture.md": ARCHITECTURE, f"{S}/adr/ADR-001.md": "one module"}),
        plays("DESIGN_UI", write={f"{S}/design-specs/d.md": "a page"}, reply=reply(artifacts=files("design-specs/d.md"))),
        plays("PLAN", write={f"{S}/tasks.yaml": tasks_text(FIRST)}),
        plays("CODE", reply=reply(status="NEEDS_INFO", summary="rounded?")),
    )
    with session(p, *team) as s:
        assert s.go()["state"] == "APPROVE_DESIGN"
        assert [state for state, _ in s.turns()] == ["INTAKE", "DESIGN_RESEARCH", "DESIGN", "DESIGN_UI"]
        told = json.loads((p.root / S / "status.json").read_text())
        assert told["assumptions"] == ["prices are in cents"] and told["runtime_flags"]["copilot_instructions_exists"] is True
        assert (told["current_state"], told["mode"]) == ("APPROVE_DESIGN", "full")
        made = {f.relative_to(p.root / S).as_posix() for f in (p.root / S).rglob("*") if f.is_file()}
        assert made >= {
            "spec.md",
            "acceptance.json",
            "status.json",
            "research/r.md",
            "architecture.md",
            "adr/ADR-001.md",
            "design-specs/d.md",
        }
        assert s.app.door.submit(s.id, Sent("steer", by="human", note="keep it small")).status == "SUCCESS"
        assert s.answer("UD-APPROVE-DESIGN", "approved").status == "SUCCESS"
        assert s.go()["state"] == "REVIEW_STRATEGY"
        planner = s.seen[-1 - next(i for i, seen in enumerate(reversed(s.seen)) if seen.kind == "turn")].briefing
        assert planner.role == "Planner" and "keep it small" in planner.briefing  # what was said meanwhile, told to whoever works next
        assert all(name in planner.briefing for name in ("research/r.md", "design-specs/d.md", "instructions/copilot-instructions.md"))
        assert s.answer("UD-REVIEW-STRATEGY", "per-batch").status == "SUCCESS"
        assert s.go()["state"] == "ASK_USER"
        coder = next(seen.briefing.briefing for seen in s.seen if seen.kind == "turn" and seen.run.state == "CODE")
        assert "design-specs/d.md" in coder and "UD-APPROVE-DESIGN" in coder and "keep it small" not in coder


@pytest.mark.slow
def test_what_security_finds_grave_is_mended_by_a_coder_and_passes_all_gates_again(p: Project) -> None:
    risky = {**LEAN, "write": {**LEAN["write"], f"{S}/tasks.yaml": tasks_text({**FIRST, "risk_flags": ["input"]})}}
    worried = plays("SECURITY", again=False, reply=reply("Security", findings=[GRAVE]))
    mended = plays("FIX_SECURITY", write={"calc.py": SAFE})
    with session(p, risky, *CODES, worried, mended, *TEAM, lean=True) as s:
        done = s.go()
        assert (done["state"], done["outcome"]) == ("DONE", "done"), done
        gates = ["REVIEW", "QA", "SECURITY"]
        assert [state for state, _ in s.turns()] == ["INTAKE_LEAN", "CODE", *gates, "FIX_SECURITY", *gates]
        mending = next(seen.briefing.briefing for seen in s.seen if seen.kind == "turn" and seen.run.state == "FIX_SECURITY")
        assert "prices are trusted" in mending
    assert p.git("show", "main:calc.py") == SAFE.rstrip()
    assert json.loads((p.root / S / "status.json").read_text())["retry_counts"]["T-001"]["FIX_SECURITY"] == 1


# -- what roles may write, whatever they come to ------------------------------------------------------------------------------

MAJOR = {"severity": "major", "category": "bug", "file": "calc.py", "line": 1, "message": "no types"}
APPENDS = [{"tool": "Bash", "arguments": {"command": "echo 'STRAY = 1' >> calc.py"}}]
LEVELS = ("none", "bubblewrap")


def at_level(folder: Path, level: str) -> Project:
    if level == "bubblewrap":
        isolated({"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")})
    return till(folder, f"[git]\nremote = ''\n[sandbox]\nlevel = '{level}'\n")


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_what_a_reviewer_slips_into_the_tree_never_becomes_the_coders_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    p = at_level(tmp_path / "p", level)
    sly = plays("REVIEW", again=False, call=APPENDS, reply=reply("Reviewer", "BLOCKED", review_comments=[MAJOR]))
    idle = plays("FIX_REVIEW", reply=reply(status="NEEDS_INFO", summary="which types?"))
    with session(p, LEAN, *CODES, sly, sly, sly, idle, *TEAM, lean=True) as s:
        s.go()
        verdicts = [seen.verdict for seen in s.seen if seen.verdict and seen.briefing.state == "REVIEW"]
        if level == "none":  # nothing keeps it from writing: its verdict is void, and the tree is put back
            assert (s.acting.state, s.acting.cause) == ("BLOCKED", "subagent_failure")
            assert all(v.status in ("FAILURE", "HALTED") and "calc.py changed" in v.reasons[0] for v in verdicts) and len(verdicts) == 3
        else:
            assert s.acting.state == "ASK_USER" and [state for state, _ in s.turns()][-1] == "FIX_REVIEW"
        assert (s.workspace / "calc.py").read_text() == CODE_ADD


def test_a_role_that_writes_documents_can_write_nothing_else_whatever_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    p = at_level(tmp_path / "p", "bubblewrap")
    tries = f"echo 1 >> calc.py; echo 2 > new.py; rm -r tests; echo 3 > {S}/research.txt; cat {S}/research.txt > seen || ls > {S}/seen.txt"
    sly = {**INTAKE, "call": [{"tool": "Bash", "arguments": {"command": tries}}]}
    with session(p, sly, *TEAM) as s:
        assert s.go()["state"] == "APPROVE_DESIGN"
        assert not [seen.verdict for seen in s.seen if seen.verdict and seen.verdict.status != "SUCCESS"]
        assert sorted(f.name for f in s.workspace.iterdir() if not f.name.startswith(".")) == [
            "calc.py",
            "detent.toml",
            "pytest.ini",
            "tests",
        ]
        assert (s.workspace / S / "research.txt").read_text() == "3\n" and "new.py" not in (s.workspace / S / "seen.txt").read_text()
