"""A whole session as a person leads it in a terminal of 80 columns: an edited specification, a plan that is sent back, another scope, a way back, a check by
hand, and the release. Every screen fits."""

import json
from pathlib import Path

import pytest
import yaml

from tests.driven import scripted
from tests.pane import Pane, Shown, pane
from tests.project import Project
from tests.sessions import (
    CODES,
    CRITERION,
    DESIGN,
    FIRST,
    INTEGRATE,
    JUDGES,
    RELEASE,
    REQUEST,
    SECOND,
    SPEC,
    S,
    acceptance_text,
    plays,
    reply,
    task,
    tasks_text,
    till,
)

BY_HAND = {"id": "AC-002", "description": "a receipt is readable", "verify": ["manual: print a receipt and read it"]}
ASKS = plays("INTAKE", again=False, reply=reply(status="NEEDS_INFO", summary="one thing", notes=("Which currency?",)))
INTAKE = plays("INTAKE", write={f"{S}/spec.md": SPEC, f"{S}/acceptance.json": acceptance_text(CRITERION, BY_HAND)})
PLAN_ONE = plays("PLAN", again=False, write={f"{S}/tasks.yaml": tasks_text(FIRST)})
PLAN_TWO = plays("PLAN", write={f"{S}/tasks.yaml": tasks_text(FIRST, SECOND)})
REFUND = task("T-003", "refund", "give money back", "pytest -q tests/test_refund.py", "T-001")
CODE_REFUND = plays("CODE", step="give money back", write={
    "refund.py": "def refund(price):\n    return -price\n", "tests/test_refund.py": "from refund import refund\n\n\ndef test_refund():\n    assert refund(3) == -3\n"})  # fmt: skip
FIX = plays("FIX_BUILD_CODE", write={"refund.py": "def refund(price):\n    return 0 - price\n"})
CAST = (ASKS, INTAKE, DESIGN, PLAN_ONE, PLAN_TWO, *CODES, CODE_REFUND, *JUDGES, INTEGRATE, FIX, *RELEASE)


@pytest.fixture
def p(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return till(tmp_path / "p")


def typed(shell: Pane, command: str, *parts: str) -> Shown:
    """Type a command; what it shows has these parts, and no line that the terminal had to break."""
    shown = shell.types(command, 300)
    flat = " ".join(" ".join(shown.lines).split())
    assert [part for part in parts if " ".join(part.split()) not in flat] == [], shown
    assert [line for line in shown.too_wide if not any(len(word) > 50 for word in line.split())] == [], shown  # a path is left whole
    return shown


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.needs("tmux", "terminals")
def test_a_person_leads_a_session_from_request_to_release_in_a_terminal(p: Project) -> None:
    script = scripted(p, *CAST)
    with pane(p.root, SOURCE_DATE_EPOCH=p.env["SOURCE_DATE_EPOCH"]) as shell:
        shell.types(f"detent run '{REQUEST}' --workflow pipeline --agent {script}")
        typed(shell, "detent decisions", "1. Which currency?", "detent answer UD-1 'TEXT'", "detent answer UD-1 skip")
        typed(shell, "detent answer UD-1 euro", "SUCCESS  INTAKE", "Next: detent resume")
        typed(shell, "detent resume", "→ APPROVE_DESIGN")
        edited_specification(p, shell)
        sent_back_plan(shell)
        another_scope(p, shell)
        went_back(p, shell)
        checked_by_hand(shell)
        typed(shell, "detent resume", "It is merged into main", "Report:")
    report = (p.root / S / "report.md").read_text()
    for words in (
        "changed spec.md",
        "requested changes (plan): refunds are missing",
        "changed tasks.yaml",
        "went back",
        "reported that a manual check fails: it is cut off",
    ):
        assert words in report, report
    assert p.git("log", "-1", "--format=%s", "main~0^2") and "fix: print a receipt and read it" in p.git("log", "--format=%s", "main")


def edited_specification(p: Project, shell: Pane) -> None:
    typed(
        shell,
        "detent decisions",
        "THE DESIGN, IN ITS OWN WORDS",
        "manual: print a receipt and read it",
        "detent answer UD-APPROVE-DESIGN 'changes-requested: TEXT' [--to STAGE]",
    )
    spec = p.root / S / "spec.md"
    spec.write_text(spec.read_text().replace("prices are added", "prices are added in euro"))
    typed(shell, "detent status", "You changed spec.md. It does not count yet")
    typed(shell, "detent answer UD-APPROVE-DESIGN approved", "your change is applied now", "+prices are added in euro")
    typed(shell, "detent decisions", "WHAT CHANGED SINCE YOU WERE LAST ASKED", "+prices are added in euro")
    typed(shell, "detent answer UD-APPROVE-DESIGN approve", "did you mean: detent answer UD-APPROVE-DESIGN approved")
    typed(shell, "detent answer UD-APPROVE-DESIGN approved", "SUCCESS  PLAN")


def sent_back_plan(shell: Pane) -> None:
    typed(shell, "detent resume", "→ REVIEW_STRATEGY")
    typed(shell, "detent answer UD-REVIEW-STRATEGY 'changes-requested: refunds are missing'", "SUCCESS  PLAN")
    typed(shell, "detent resume", "→ REVIEW_STRATEGY")
    typed(
        shell,
        "detent decisions",
        "WHAT WAS ASKED FOR",
        "refunds are missing",
        "+- id: T-002",
        "Recommended: per-batch, because T-002 is flagged",
    )


def another_scope(p: Project, shell: Pane) -> None:
    typed(shell, "detent answer UD-REVIEW-STRATEGY per-batch", "SUCCESS  IMPLEMENT_LOOP")
    (p.root / S / "tasks.yaml").write_text(yaml.safe_dump(json.loads(tasks_text(FIRST, REFUND)), sort_keys=False))
    typed(shell, "detent revise --show", "T-002 is removed", "T-003 is new", "the review strategy is asked again")
    typed(shell, "detent revise --yes", "SUCCESS  REVIEW_STRATEGY")
    typed(shell, "detent answer UD-REVIEW-STRATEGY per-batch", "SUCCESS")
    typed(shell, "detent resume", "a manual check needs a person to confirm it", "A person is asked: detent decisions")


def went_back(p: Project, shell: Pane) -> None:
    events = p.run("history", "-n", "1000", "--json").json["events"]
    first = next(e["seq"] for e in events if e["on"] == "task-completed")
    typed(shell, f"detent rollback {first}", "1 of 2 tasks are done", "Nothing is lost", "Next: detent resume --run")
    typed(shell, "detent status", "Tasks: 1 of 2 done", "T-003 refund (open)")
    typed(shell, "detent resume", "a manual check needs a person to confirm it")


def checked_by_hand(shell: Pane) -> None:
    typed(
        shell,
        "detent decisions",
        "WHAT TO CHECK BY HAND",
        "AC-002 a receipt is readable",
        "How to run it: python calc.py",
        "detent answer UD-2 failed --note TEXT",
    )
    typed(shell, "detent answer UD-2 failed", "say what you saw")
    typed(shell, "detent answer UD-2 failed --note 'it is cut off'", "SUCCESS  FIX_BUILD_CODE")
    typed(shell, "detent resume", "a manual check needs a person to confirm it")
    typed(shell, "detent decisions", "WHAT YOU SAW LAST TIME", "it is cut off", "Fixed since")
    typed(shell, "detent answer UD-3 passed", "SUCCESS  INTEGRATED")
