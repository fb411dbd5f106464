"""What a person approves: shown in its own words, bound to what was shown, and sound as it stands when they say yes."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from detent.app import open_app
from detent.app.registry import brief_of as brief
from detent.gates.human import APPROVE, PersonDecision, pending
from detent.gates.summary import WHOLE, design_summary
from detent.kernel.model import Run
from detent.workflows.pipeline.pipeline_data import PipelineData
from detent.workflows.pipeline.pipeline_table import PIPELINE
from tests.project import Project
from tests.sessions import till
from tests.test_pipeline_tables import ACCEPTANCE, ARCHITECTURE, FILES, SPEC, S, after, at_approval, reply, says, session, take

ADR = f"{S}/adr/ADR-001.md"
YES = says("approved", APPROVE)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("acceptance.json", ACCEPTANCE.replace("pytest -q", "true"), "proves nothing"),
        ("acceptance.json", "{}", "acceptance_criteria"),
        ("architecture.md", "{}", "architecture.md: needs a heading"),
        ("spec.md", "# Goals\nsums\n", "spec.md: needs a heading"),
    ],
)
def test_a_design_that_is_unsound_when_it_is_approved_is_not_approved_however_often_it_is_said(name: str, text: str, said: str) -> None:
    files = {**FILES, f"{S}/{name}": text}
    first = take(at_approval(), YES, files=files)
    assert (first.status, first.run.state) == ("FAILURE", "APPROVE_DESIGN")
    second = take(first.run, YES, files=files)
    assert (second.status, second.run.state) == ("FAILURE", "APPROVE_DESIGN") and said in second.run.last_error
    mended = after(second.run, YES)  # another change: shown again first
    assert (mended.state, after(mended, YES).state) == ("APPROVE_DESIGN", "PLAN")


def test_criteria_and_assumptions_are_those_of_the_documents_that_were_approved() -> None:
    files = {
        **FILES,
        f"{S}/acceptance.json": ACCEPTANCE.replace("it works", "it works twice"),
        f"{S}/spec.md": SPEC + "# Assumptions\n- cents\n",
    }
    run = after(at_approval(criteria=()), YES, YES, files=files)
    assert run.state == "PLAN"
    assert [c.description for c in run.data.criteria] == ["it works twice"] and run.data.assumptions == ("cents",)


def designed_with_a_record() -> Run[PipelineData]:
    named = reply(artifacts={"files": [ADR], "notes": []})
    run: Run[PipelineData] = after(session("DESIGN"), named, files={**FILES, ADR: "# Cents, not floats\nsince sums\n"})
    assert run.state == "APPROVE_DESIGN", run.last_error
    return run


def test_a_decision_record_is_listed_shown_and_bound() -> None:
    run = designed_with_a_record()
    text = brief(PIPELINE, run).briefing
    assert f"- {ADR}" in text and "**adr/ADR-001.md**: Cents, not floats" in text
    for changed in ("# Floats\n", ""):
        void = take(run, YES, files={**FILES, ADR: changed})
        assert (void.status, void.run.state) == ("FAILURE", "APPROVE_DESIGN") and "ADR-001.md changed" in void.run.last_error
    assert after(run, YES, files={**FILES, ADR: "# Cents, not floats\nsince sums\n"}).state == "PLAN"


def test_a_record_that_is_named_must_be_there_and_one_of_an_earlier_round_may_be_gone() -> None:
    missing = take(session("DESIGN"), reply(artifacts={"files": [ADR], "notes": []}))
    assert (missing.status, missing.run.last_error) == ("FAILURE", f"{ADR} is named but does not exist")
    again = after(designed_with_a_record(), says("changes-requested: floats", APPROVE, to="architecture"))
    kept = after(again, reply(), files={**FILES, ADR: "# Floats\n"})
    assert (kept.state, kept.data.records) == ("APPROVE_DESIGN", (ADR,))
    gone = after(again, reply())
    assert (gone.state, gone.data.records) == ("APPROVE_DESIGN", ())


def test_who_approves_reads_the_design_in_its_own_words_without_opening_a_file() -> None:
    spec = SPEC.replace("sums", "prices add up") + "# Scope\none till, no taxes\n"
    files = {**FILES, f"{S}/spec.md": spec, f"{S}/architecture.md": ARCHITECTURE.replace("none known", "rounding")}
    data = PipelineData(session=S, design_specs=(f"{S}/design-specs/d.md",))
    run = after(session("DESIGN", data), reply(), files={**files, f"{S}/design-specs/d.md": "# The page\n## Layout\n"})
    text = brief(PIPELINE, run).briefing
    for words in ("prices add up", "one till, no taxes", "one module", "rounding", "**design-specs/d.md**: The page; Layout"):
        assert words in text, words
    assert text.index("prices add up") < 6000  # what a dialog shows of it
    changed = after(run, YES, files={**files, f"{S}/design-specs/d.md": "# Another page\n"})
    assert "Another page" in brief(PIPELINE, changed).briefing


def test_a_long_design_is_cut_and_says_so() -> None:
    long = {f"{S}/spec.md": "# Goals\n" + "x" * 9000, f"{S}/architecture.md": "# Modules\n" + "y\n" * 9000}
    said = design_summary(PipelineData(session=S, design_specs=tuple(f"{S}/design-specs/{i}.md" for i in range(999))), long)
    assert len(said) < WHOLE + 10 and said.count("[…]") == 3


def test_a_decision_of_an_older_journal_has_no_summary_and_can_be_read() -> None:
    raw: dict[str, Any] = msgspec.to_builtins(pending(at_approval().data))
    del raw["summary"]
    assert msgspec.convert(raw, PersonDecision).summary == ""


# -- research and design that a person wants -----------------------------------------------------------------------------------


def test_a_person_sends_the_design_back_to_research() -> None:
    run = after(at_approval(), says("changes-requested: compare two stores", APPROVE, to="research"))
    assert (run.state, run.data.wants_research) == ("DESIGN_RESEARCH", True)
    assert "compare two stores" in brief(PIPELINE, run).briefing


def test_a_person_asks_for_research_and_design_when_the_session_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    p: Project = till(tmp_path / "p")
    assert "leave out --lean" in p.run("start", "a till", "--workflow", "pipeline", "--lean", "--ui").err
    assert p.run("start", "a till", "--workflow", "tdd", "--research").code == 2
    assert p.run("start", "a till", "--workflow", "pipeline", "--research", "--ui").code == 0
    assert p.run("steer", "cents", "--to", "Coder").code == 0
    assert "there is no role" in p.run("steer", "cents", "--to", "Boss").out
    app = open_app(p.root, env=p.env)
    head = app.current()
    assert head is not None
    data = app.door.load(head.run).run.data
    app.journal.close()
    assert (data.wants_research, data.wants_ui) == (True, True)
    assert [(aside.role, aside.text) for aside in data.asides] == [("Coder", "cents")]
