"""A whole session of five tasks as a person leads it in a terminal of 80 columns: an edited specification, a plan that is sent back, another
scope, a way back, a check by hand, and the release. Every screen fits."""

from pathlib import Path

import pytest

from tests.driven import scripted
from tests.pane import Pane, Shown, pane
from tests.project import Project
from tests.sessions import LED, REQUEST, SUMS, S, till


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
    script = scripted(p, *LED)
    with pane(p.root, SOURCE_DATE_EPOCH=p.env["SOURCE_DATE_EPOCH"]) as shell:
        shell.types(f"detent run '{REQUEST}' --workflow pipeline --agent {script}", 300)
        typed(shell, "detent decisions", "1. Are prices whole cents?", "detent answer UD-1 'TEXT'", "detent answer UD-1 skip")
        typed(shell, "detent answer UD-1 'yes, whole cents'", "SUCCESS  INTAKE", "Next: detent resume")
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
        "requested changes (plan): taxes are missing",
        "changed tasks.yaml",
        "went back",
        "reported that a manual check fails: the total is cut off",
    ):
        assert words in report, report
    assert p.git("log", "-1", "--format=%s", "main~0^2") and "fix: print a receipt and read it" in p.git("log", "--format=%s", "main")
    assert {f"{name}.py" for name in SUMS} <= set(p.git("ls-tree", "--name-only", "main").split())


def edited_specification(p: Project, shell: Pane) -> None:
    typed(
        shell,
        "detent decisions",
        "THE DESIGN, IN ITS OWN WORDS",
        "manual: print a receipt and read it",
        "detent answer UD-APPROVE-DESIGN 'changes-requested: TEXT' [--to STAGE]",
    )
    spec = p.root / S / "spec.md"
    spec.write_text(spec.read_text().replace("prices are added", "prices are added in cents"))
    typed(shell, "detent status", "You changed spec.md. It does not count yet")
    typed(shell, "detent answer UD-APPROVE-DESIGN approved", "your change is applied now", "+prices are added in cents")
    typed(shell, "detent decisions", "WHAT CHANGED SINCE YOU WERE LAST ASKED", "+prices are added in cents")
    typed(shell, "detent answer UD-APPROVE-DESIGN approve", "did you mean: detent answer UD-APPROVE-DESIGN approved")
    typed(shell, "detent answer UD-APPROVE-DESIGN approved", "SUCCESS  PLAN")


def sent_back_plan(shell: Pane) -> None:
    typed(shell, "detent resume", "→ REVIEW_STRATEGY")
    typed(shell, "detent decisions", "4 tasks are planned", "Recommended: `single-final`, because the tasks are few")
    typed(shell, "detent answer UD-REVIEW-STRATEGY 'changes-requested: taxes are missing'", "SUCCESS  PLAN")
    typed(shell, "detent resume", "→ REVIEW_STRATEGY")
    typed(
        shell,
        "detent decisions",
        "WHAT WAS ASKED FOR",
        "taxes are missing",
        "+- id: T-005",
        "Recommended: `per-batch`, because there are 5 tasks",
    )
    typed(shell, "detent answer UD-REVIEW-STRATEGY per-batch", "SUCCESS  IMPLEMENT_LOOP")


def another_scope(p: Project, shell: Pane) -> None:
    """In the middle of the work, with two tasks done and the third one's Coder waiting for an answer."""
    typed(shell, "detent resume", "T-002", "a task is completed", "Stopped (question). A person is asked: detent decisions")
    typed(shell, "detent decisions", "The Coder of T-003 (double) asks: Which currency are prices in?")
    tasks = p.root / S / "tasks.yaml"
    tasks.write_text(tasks.read_text().replace("tax", "scale"))
    typed(shell, "detent revise --show", "T-005 is changed", "the review strategy is asked again", "work on T-003 stops")
    typed(shell, "detent revise --yes", "SUCCESS  REVIEW_STRATEGY")
    typed(shell, "detent answer UD-REVIEW-STRATEGY per-batch", "SUCCESS")
    typed(shell, "detent resume", "Stopped (question)")
    typed(shell, "detent answer UD-3001 euro", "the open question is UD-3101, not 'UD-3001'")  # work on the task began again
    typed(shell, "detent answer UD-3101 euro", "SUCCESS  CODE")
    typed(shell, "detent resume", "a manual check needs a person to confirm it", "A person is asked: detent decisions")


def went_back(p: Project, shell: Pane) -> None:
    events = p.run("history", "-n", "1000", "--json").json["events"]
    fourth = [e["seq"] for e in events if e["on"] == "task-completed"][3]
    typed(shell, f"detent rollback {fourth}", "4 of 5 tasks are done", "Nothing is lost", "Next: detent resume --run")
    typed(shell, "detent status", "Tasks: 4 of 5 done", "T-005 scale (open)")
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
    typed(shell, "detent answer UD-2 failed --note 'the total is cut off'", "SUCCESS  FIX_BUILD_CODE")
    typed(shell, "detent resume", "a manual check needs a person to confirm it")
    typed(shell, "detent decisions", "WHAT YOU SAW LAST TIME", "the total is cut off", "Fixed since")
    typed(shell, "detent answer UD-3 passed", "SUCCESS  INTEGRATED")
