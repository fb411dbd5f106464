"""Where a session meets people: what they read before they decide, how their answers are taken, and what they are asked before anything is specified."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from detent.app.registry import brief_of, workflow_of
from detent.gates.documents import Criterion, section
from detent.gates.human import APPROVE, STRATEGY, answers_the_question, ask_again, cancel, not_understood, pending, resolve
from detent.gates.reply import points, read_reply
from detent.gates.summary import design_summary
from detent.interfaces.cli.decisions import paper
from detent.interfaces.cli.tell import fold
from detent.kernel.model import Event, Found, Run, Sent, Verdict
from detent.kernel.table import Change
from detent.workflows.pipeline.gate_text import gate_text
from detent.workflows.pipeline.pipeline_data import PipelineData
from detent.workflows.pipeline.pipeline_table import PIPELINE
from detent.workflows.pipeline.session_report import report_of
from detent.workflows.pipeline.task_data import context_files
from detent.workflows.pipeline.task_table import TASK
from tests.looks import LiteralLook
from tests.project import Project
from tests.sessions import ADD, TEAM, YES, plays, till
from tests.sessions import S as TILL
from tests.sessions import reply as said
from tests.sessions import session as driven
from tests.test_pipeline_tables import (
    DUE,
    FULL,
    NEW_TEST,
    SPEC,
    S,
    after,
    as_role,
    at_approval,
    at_strategy,
    comment,
    finding,
    outcome,
    reply,
    says,
    session,
    take,
    task,
)  # fmt: skip

replace = msgspec.structs.replace


def asked(run: Run[Any]) -> str:
    """What the person reads at a gate."""
    made = pending(run.data)
    assert made is not None
    return gate_text(run, made)


# -- what is shown -------------------------------------------------------------------------------------------------------------


def test_what_is_out_of_scope_is_not_shown_as_scope() -> None:
    for text in (
        "# Out of scope\ntaxes\n# Scope\none till\n",
        "# Scope\none till\n## Out of scope\ntaxes\n",
        "# Scope\none till\n# Out of scope\ntaxes\n",
    ):
        told = design_summary(PipelineData(session=S), {f"{S}/spec.md": SPEC + text})
        assert "**Scope** (spec.md)\n\none till\n\n**Out of scope** (spec.md)\n\ntaxes" in told
    assert section("# Scope\na\n# Out of scope\nb\n", "scope", but=("out of",)) == "a"


def test_a_design_is_shown_with_its_criteria_and_what_it_takes_for_granted() -> None:
    text = asked(at_approval(criteria=FULL.criteria, assumptions=("cents",)))
    assert all(words in text for words in ("sums", "one module", "AC-001 it works", "cmd: pytest -q", "- cents"))


def test_a_second_round_shows_what_was_asked_for() -> None:
    run = after(at_approval(), says("changes-requested: in cents", APPROVE, to="architecture"), outcome("prepared"), reply())
    made = pending(run.data)
    assert made is not None and made.wanted == "in cents" and made.before > 0
    assert "### What was asked for\n\nin cents" in asked(run)
    assert "```diff\n+cents\n```" in gate_text(run, made, "+cents")


def test_the_strategy_is_asked_with_the_tasks_the_choices_and_the_recommendation() -> None:
    run = at_strategy()
    text = asked(run)
    assert all(words in text for words in ("**T-001** sums", "add", "`per-batch`", "`single-final`", "Recommended"))
    assert "'changes-requested: TEXT'" in workflow_of("pipeline").means(run, pending(run.data))  # type: ignore[arg-type]
    assert list(pending(run.data).shown) == [f"{S}/tasks.yaml"]  # type: ignore[union-attr]
    assert "changes-requested" in brief_of(PIPELINE, run).briefing


def test_a_manual_check_names_its_criterion_the_branch_the_folder_and_how_to_run_it() -> None:
    check = "manual: the total is right"
    data = replace(
        FULL, criteria=(Criterion("AC-002", "it adds", (check,)),), branch="refs/heads/detent/s", report_notes=("done", "run it: till 1 2")
    )
    run = after(session("INTEGRATED", data, worktree="/home/ada/till"), DUE)
    for text in (asked(run), brief_of(PIPELINE, run).briefing):
        assert all(words in text for words in ("AC-002 it adds", "detent/s", "/home/ada/till", "till 1 2", "the total is right")), text


def checked_by_hand(**more: Any) -> Run[Any]:
    """A session that asks a person about the one check that only they can make."""
    data = replace(FULL, criteria=(Criterion("AC-002", "it adds", ("manual: the total is right",)),), branch="refs/heads/detent/s", **more)
    return after(session("INTEGRATED", data), DUE)


def test_a_check_that_failed_shows_what_was_seen_when_it_is_asked_about_again() -> None:
    first = checked_by_hand()
    assert "last time" not in asked(first)
    failed = after(first, says("failed", "UD-1", note="a cent is missing"))
    again = checked_by_hand(decisions=failed.data.decisions)
    assert "### What you saw last time\n\na cent is missing" in asked(again) and "git log -p -1 detent/s" in asked(again)


def test_a_question_says_who_asks_and_about_which_task() -> None:
    run = after(task("CODE"), as_role("Coder", "NEEDS_DECISION", summary="in cents?"))
    assert asked(run).startswith("The Coder of T-001 (title of T-001) asks: in cents?"), asked(run)
    run = after(session("PLAN"), reply("BLOCKED", summary="there is no till"))
    assert asked(run) == "The Planner cannot continue: there is no till"


def test_notes_say_how_only_some_are_picked() -> None:
    run = after(task("REVIEW"), as_role("Reviewer", "PASS_WITH_NOTES", review_comments=[comment("minor", "off by one")]))
    assert "The Reviewer of T-001 (title of T-001) passes the work with notes" in asked(run) and "name their codes in the note" in asked(
        run
    )


def test_a_text_is_wrapped_to_the_screen_and_a_diff_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = paper("### The tasks\n\n- **T-001** " + "word " * 40 + "\n\n```diff\n+" + "x" * 90 + "\n```")
    assert lines[0] == "  THE TASKS" and lines[2].startswith("  - T-001 word") and lines[3].startswith("    word")
    assert max(map(len, lines[:-1])) < 80 and lines[-1] == "    +" + "x" * 90


def test_prose_is_broken_between_words_on_a_terminal_and_commands_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_: os.terminal_size((40, 24)))
    line = "  The question is closed, so continue it with detent resume --run pipeline-1 or `git log -p main`."
    assert fold(line) == line, "a program reads it as it is"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    lines = ["  The question is closed, so continue it", "  with detent resume --run pipeline-1 or", "  `git log -p main`."]
    assert fold(line).splitlines() == lines


# -- how answers are taken -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["Approved", "APPROVED", " approved. ", "'approved'", "approved"])
def test_a_capital_letter_is_no_reason_to_ask_again(value: str) -> None:
    run = after(at_approval(), says(value, APPROVE))
    assert run.state == "PLAN" and run.data.decisions[0].answer == "approved"


@pytest.mark.parametrize("value", ["Per batch", "per_batch", "PER-BATCH"])
def test_a_strategy_is_understood_however_it_is_spelled(value: str) -> None:
    run = after(at_strategy(), says(value, STRATEGY))
    assert (run.state, run.data.strategy) == ("IMPLEMENT_LOOP", "per-batch")


@pytest.mark.parametrize(
    ("run", "sent", "why"),
    [
        (at_approval(), says("changes-requested:", APPROVE), "say what must change"),
        (at_approval(), says("Changes requested: cents", APPROVE, to="boss"), "--to takes: spec, research, architecture, design"),
        (at_strategy(), says("changes-requested:  ", STRATEGY), "say what must change"),
        (at_strategy(), says("Changes requested", STRATEGY), "say what must change"),
        (at_approval(), says("changes-requested", APPROVE), "say what must change"),
        (at_approval(), says("approve", APPROVE), "did you mean: detent answer UD-APPROVE-DESIGN approved"),
        (at_approval(), says("aproved", APPROVE), "did you mean: detent answer UD-APPROVE-DESIGN approved"),
        (
            at_approval(),
            says("changes-requested prices are in cents", APPROVE),
            "did you mean: detent answer UD-APPROVE-DESIGN 'changes-requested: TEXT' (a colon before what must change)",
        ),
        (at_strategy(), says("single", STRATEGY), "did you mean: detent answer UD-REVIEW-STRATEGY single-final"),
        (checked_by_hand(), says("pass", "UD-1"), "did you mean: detent answer UD-1 passed"),
        (checked_by_hand(), says("fail", "UD-1", note="too small"), "did you mean: detent answer UD-1 failed"),
        (checked_by_hand(), says("failed", "UD-1"), "say what you saw, for whoever fixes it: detent answer UD-1 failed --note TEXT"),
    ],
)
def test_an_answer_that_is_understood_and_lacks_something_is_refused_and_counts_nothing(run: Run[Any], sent: Sent, why: str) -> None:
    told = take(run, sent)
    assert told.status == "REFUSED" and why in told.reasons[0] and not told.run.counts


@pytest.mark.parametrize("value", ["not approved", "disapproved", "unapproved", "no", "a"])
def test_nobody_is_led_to_the_opposite_of_what_they_said(value: str) -> None:
    told = take(at_approval(), says(value, APPROVE))
    assert told.status == "FAILURE" and "did you mean" not in str(told.reasons) + told.run.last_error


def test_an_answer_that_nobody_understands_counts_and_says_what_is_possible() -> None:
    told = take(at_approval(), says("fine by me", APPROVE))
    assert told.status == "FAILURE" and told.run.counts == {"answers": 1}
    assert told.run.last_error == (
        "'fine by me' is not an answer to UD-APPROVE-DESIGN. It takes: approved, changes-requested: TEXT."
        " 2 more answers like that, and the run waits for `detent resume`."
    )


def test_what_must_change_may_be_said_in_the_note() -> None:
    run = after(at_approval(), says("changes-requested", APPROVE, note="prices are in cents"))
    assert run.state == "INTAKE" and run.data.correction_note == "prices are in cents"
    run = after(at_strategy(), says("changes-requested", STRATEGY, note="one task for each module"))
    assert run.state == "PLAN" and run.guidance.endswith("sends the plan back: one task for each module")


def spent_security() -> Run[Any]:
    run = task("SECURITY", counts={"FIX_SECURITY": 3})
    return after(run, as_role("Security", "BLOCKED", findings=[finding("high")]))


def test_an_answer_that_other_questions_take_is_refused_with_what_this_one_takes() -> None:
    told = take(spent_security(), says("change-acceptance", "UD-1"))
    takes = "UD-1 takes: different-approach, guidance, accept-known-issues, simplify-scope"
    assert (told.status, told.reasons, told.run.counts.get("answers", 0)) == (
        "REFUSED",
        (f"'change-acceptance' does not answer this question. {takes}",),
        0,
    )


@pytest.mark.parametrize(
    ("run", "sent", "said"),
    [
        (at_approval(), says("approved", APPROVE), None),
        (at_approval(), replace(says("approved", APPROVE), by="agent"), "only a person can make this decision"),
        (at_approval(), says("per-batch", STRATEGY), f"the open question is {APPROVE}, not '{STRATEGY}'"),
        (session("INTAKE"), says("approved", APPROVE), "no question is open"),
    ],
    ids=["a person answers it", "an agent does", "another one is answered", "none is open"],
)
def test_an_answer_is_a_persons_and_names_the_question_that_is_open(run: Run[Any], sent: Sent, said: str | None) -> None:
    assert answers_the_question(LiteralLook(run, sent)) == said


@pytest.mark.parametrize("change", [resolve, cancel, ask_again])
def test_words_about_a_question_that_is_not_open_change_nothing(change: Change[Any]) -> None:
    run, sent = session("INTAKE", FULL), says("approve", APPROVE, note="fine")
    assert pending(run.data) is None and change(run, sent, Found()) == run
    assert not_understood(LiteralLook(run, sent)) is None, "and nobody guesses what was meant"
    assert change(at_approval(), sent, Found()) != at_approval()


def test_a_finding_about_security_is_accepted_only_on_purpose() -> None:
    run = spent_security()
    id = pending(run.data).decision_id  # type: ignore[union-attr]
    for sent in (
        says("accept-known-issues", id),
        Sent("answer", by="human", decision=id, value="accept-known-issues", channel="client dialog", note="fine"),
        Sent("answer", by="human", decision=id, value="accept-known-issues", channel="policy", note="fine"),
    ):
        assert take(run, sent).status == "REFUSED"
    assert after(run, says("accept-known-issues", id, note="behind a login")).state == "SECURITY"


def test_a_person_picks_the_notes_that_are_fixed_and_the_others_are_known() -> None:
    two = [comment("minor", "off by one"), comment("nit", "a name")]
    sent = as_role("Reviewer", "PASS_WITH_NOTES", review_comments=two)
    first, second = points(read_reply(sent.reply, "Reviewer")[0])  # type: ignore[arg-type]
    run = after(task("REVIEW"), sent)
    id = pending(run.data).decision_id  # type: ignore[union-attr]
    picked = after(run, says("fix", id, note=f"only {first.id}"))
    assert picked.state == "FIX_REVIEW" and picked.data.points == (first,)
    assert [issue.finding for issue in picked.data.known_issues] == [second.id]
    assert len(after(run, says("fix", id)).data.points) == 2


def test_what_a_person_found_by_hand_is_committed_as_a_fix() -> None:
    check = "manual: the total is right"
    data = replace(FULL, criteria=(Criterion("AC-002", "it adds", (check,)),))
    run = after(session("INTEGRATED", data), DUE)
    run = after(run, says("failed", pending(run.data).decision_id, note="off by one"))  # type: ignore[union-attr]
    assert run.state == "FIX_BUILD_CODE"
    run = after(run, reply(), outcome("green", tree="t1"), changes=NEW_TEST)
    assert run.data.commit_subject == "fix: the total is right" and run.data.fixing == ""
    assert after(session("INTEGRATE_CHECKS", FULL), outcome("green", tree="t1")).data.commit_subject.startswith("release:")


# -- what roles are given ------------------------------------------------------------------------------------------------------


def test_the_report_has_every_round_of_changes_that_a_person_asked_for_or_made() -> None:
    run, by = at_approval(), {"who": "ann"}
    said: tuple[tuple[str, Sent], ...] = (
        ("correct-architecture", says("changes-requested: name the rounding", APPROVE, facts=by)),
        ("edited-design", Sent("revise", by="human", documents={f"{S}/spec.md": "# Goals"}, facts=by)),
        ("correct-plan", says("changes-requested: one task for each module", STRATEGY, facts=by)),
        ("manual-failed", says("failed", "UD-1", note="the sum is cut off", facts=by)),
        ("began", Sent("rollback", by="human", note="from event 9 of pipeline-1", facts=by)),
    )
    events = [Event(run, on, "", "2026-11-18T08:00:00Z", sent, Found(), "SUCCESS", Verdict("SUCCESS", run.state)) for on, sent in said]
    told = report_of(run, events, ()).partition("## Rounds of changes\n\n")[2].partition("\n\n")[0].splitlines()
    assert [line.partition(" ann ")[2] for line in told] == [
        "requested changes (architecture): name the rounding",
        "changed spec.md",
        "requested changes (plan): one task for each module",
        "reported that a manual check fails: the sum is cut off",
        "went back: from event 9 of pipeline-1",
    ]


def test_the_report_has_what_people_decided_about_tasks_before_they_went_back_and_no_cost_that_nobody_said() -> None:
    run = at_approval()
    task_run = replace(task("REVIEW"), id="pipeline-1.T-001", parent="pipeline-1")
    asked = after(task_run, as_role("Reviewer", "PASS_WITH_NOTES", review_comments=[comment("minor")]))
    child = after(asked, says("fix", "UD-1", note="all of it"))
    event = Event(child, "fix", "", "2026-11-18T08:00:00Z", Sent("answer"), Found(), "SUCCESS", Verdict("SUCCESS", child.state))
    now = Event(run, "designed", "DESIGN", "2026-11-18T08:00:00Z", Sent("submit"), Found(), "SUCCESS", Verdict("SUCCESS", run.state))
    told = report_of(run, [now], (), [event])
    assert "passes the work with notes" in told and "fix (all of it)" in told.partition("## Decisions")[2]
    assert "| Architect | 1 | 0 s | not said | not said |" in told


def test_records_of_decisions_reach_whoever_plans_codes_and_judges() -> None:
    data = replace(FULL, records=(f"{S}/adr/ADR-001.md",))
    for role in ("Planner", "Coder", "Reviewer", "Security", "Docs"):
        assert f"{S}/adr/ADR-001.md" in context_files(data, role), role


def test_a_role_that_runs_again_gets_its_own_former_document() -> None:
    data = replace(FULL, roles=("SpecAgent", "Architect", "Planner"))
    assert f"{S}/spec.md" in context_files(data, "SpecAgent") and f"{S}/architecture.md" in context_files(data, "Architect")
    assert f"{S}/tasks.yaml" in context_files(data, "Planner")
    assert context_files(PipelineData(session=S), "SpecAgent") == ()


def test_whoever_judges_gets_the_diff() -> None:
    run = task("REVIEW")
    assert context_files(run.data, "Reviewer")[0] == f"{S}/diffs/T-001.diff"
    assert f"{S}/diffs/T-001.diff" in brief_of(TASK, run).briefing


# -- questions before it is specified ------------------------------------------------------------------------------------------


def test_the_spec_agent_asks_at_most_five_questions_and_once() -> None:
    many = {"files": [], "notes": [f"question {n}?" for n in range(1, 8)]}
    run = after(session("INTAKE"), reply("NEEDS_INFO", artifacts=many))
    made = pending(run.data)
    assert run.state == "ASK_USER" and made is not None and made.kind == "clarify"
    assert "5. question 5?" in made.question and "question 6?" not in made.question and "2 more were left out" in made.question
    run = after(run, says("in cents, and no taxes", made.decision_id))
    assert run.state == "INTAKE" and "in cents" in run.guidance
    again = take(run, reply("NEEDS_INFO", artifacts=many))
    assert (again.status, again.run.state) == ("FAILURE", "INTAKE") and "asked once" in again.run.last_error
    assert after(again.run, reply()).state == "DESIGN"


def test_questions_before_it_is_specified_can_be_skipped() -> None:
    run = after(session("INTAKE"), reply("NEEDS_INFO"))
    run = after(run, says("Skip", pending(run.data).decision_id))  # type: ignore[union-attr]
    assert run.state == "INTAKE" and run.data.decisions[0].answer == "skip"


# -- on a real repository ------------------------------------------------------------------------------------------------------


@pytest.fixture
def p(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return till(tmp_path / "p", "[git]\nremote = ''\n[pipeline]\nkeep_documents = true\n")


@pytest.mark.slow
def test_the_project_has_a_say_reviewers_see_the_diff_and_documents_stay_in_git(p: Project) -> None:
    p.write({".detent/constitution.md": "# No floats\n", ".detent/templates/spec.md": "# Our goals\n"})
    p.git("add", "-f", ".detent")
    p.git("commit", "-q", "-m", "constitution")
    major = {"severity": "major", "category": "bug", "file": "calc.py", "line": 1, "message": "no types"}
    blocked = plays("REVIEW", again=False, step=ADD, reply=said("Reviewer", "BLOCKED", review_comments=[major]))
    fix = plays("FIX_REVIEW", step=ADD, write={"calc.py": "def add(a, b):\n    return a + b  # ints\n"})
    with driven(p, blocked, fix, *TEAM, policies=YES) as s:
        assert s.go()["state"] == "DONE", s.run.last_error
        briefs = {seen.run.state: seen.briefing.briefing for seen in reversed(s.seen) if seen.kind == "turn"}
        assert all(
            f"The project's constitution is `{TILL}/instructions/constitution.md`. Every role keeps to it" in briefs[state]
            for state in ("INTAKE", "PLAN", "CODE", "REVIEW", "RELEASE")
        )
        assert "at least `major`" in briefs["REVIEW"]
        kept = s.app.world.git.run("ls-tree", "-r", "--name-only", f"refs/detent/{s.id}/documents").text
        assert f"{TILL}/diffs/T-001.diff" in kept and f"{TILL}/instructions/project.md" in kept
        shown = s.app.world.git.run("show", f"refs/detent/{s.id}/documents:{TILL}/instructions/template-spec.md").text
        assert shown == "# Our goals"
        diff = s.app.world.git.run("show", f"refs/detent/{s.id}/documents:{TILL}/diffs/T-001.diff").text
        assert "+def add(a, b):" in diff
        page = s.app.world.git.run("show", f"refs/detent/{s.id}/documents:{TILL}/instructions/project.md").text
        assert "- 1 test file\n" in page and "files (.py, .toml, .ini), such as .gitignore" in page, page
        events = [e for each in s.app.worlds.runs.family(s.id) for e in s.app.worlds.runs.history(each.id)]
        assert "## Rounds of changes\n\n- none" in report_of(s.run, events, ())
    status = p.run("status", "--json", "--run", s.id).json
    assert status["roles"]["Coder"]["turns"] == 3
    assert "# Goals" in p.git("show", f"main:docs/sessions/{TILL.rpartition('/')[2]}/spec.md")
