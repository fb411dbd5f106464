"""The texts that roles of a session hand in: whatever stands in them, they are read, or refused with the place of the fault. No processes."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from detent.app.registry import brief_of as brief
from detent.blocks.briefs import hand_in, read_status
from detent.gates.documents import read_acceptance, read_tasks
from detent.gates.reply import read_reply
from detent.journal.journal_rows import to_entry
from detent.kernel.model import Event, Found, Verdict
from detent.workflows.pipeline.pipeline_table import PIPELINE
from tests.test_pipeline_tables import ACCEPTANCE, ARCHITECTURE, FILES, SPEC, TASKS, S, as_role, reply, session, take

HALF = "\\ud800"  # as it is written in JSON and YAML: half of a character
POISON = ("!!bool x", '!!int ""', '!!float ""', "!!timestamp x", "!!python/name:os.system x", "!!binary x", "!own x", "! x", "!!str x")


@pytest.mark.parametrize("value", POISON)
def test_a_tag_in_tasks_yaml_is_a_fault_with_its_line_and_never_a_crash(value: str) -> None:
    found, said = read_tasks(TASKS.replace("title: sums", f"title: {value}"))
    assert found is None
    assert said[0].startswith("tasks.yaml: line 4: the tag ") and "write the value without it" in said[0]


@pytest.mark.parametrize(
    "value", ["2026-99-99", "2001-12-14t21:59:43.10-99:30", "0x_", "0b_", "9" * 5000, "1_:99", "<<", "=", "{[]: 1}", "? a"]
)
def test_a_value_that_yaml_cannot_make_anything_of_is_a_fault(value: str) -> None:
    found, said = read_tasks(TASKS.replace("title: sums", f"title: {value}"))
    assert (found is None) == bool(said) and all(line.startswith("tasks.yaml: ") for line in said)


@pytest.mark.parametrize("read", [read_acceptance, read_tasks])
def test_a_text_that_is_nested_too_deeply_is_a_fault_and_never_a_crash(read: Callable[[str], tuple[object, tuple[str, ...]]]) -> None:
    found, said = read("[" * 3000 + "]" * 3000)
    assert found is None and len(said) == 1 and said[0].endswith(": it is nested too deeply")


@pytest.mark.parametrize(
    ("found", "place"),
    [
        (read_acceptance(ACCEPTANCE.replace("it works", f"it {HALF} works")), "acceptance.json: acceptance_criteria[0].description"),
        (read_acceptance(ACCEPTANCE.replace('"id"', f'"{HALF}": 1, "id"')), "acceptance.json: acceptance_criteria[0].\\ud800"),
        (read_tasks(TASKS.replace("goal: add", f'goal: "{HALF}"')), "tasks.yaml: tasks[0].goal"),
        (read_reply(reply(summary="\ud800").reply, "Coder"), "the reply cannot be read: summary"),
        (
            read_reply(reply(artifacts={"files": [], "notes": ["", "\ud800"]}).reply, "Coder"),
            "the reply cannot be read: artifacts.notes[1]",
        ),
    ],
)
def test_half_a_character_is_refused_with_its_place(found: tuple[object, str | tuple[str, ...]], place: str) -> None:
    said = found[1] if isinstance(found[1], str) else found[1][0]
    assert found[0] is None
    assert said.startswith(f"{place}: contains half a character")


@pytest.mark.parametrize(
    ("state", "path", "text"),
    [
        ("INTAKE", "acceptance.json", ACCEPTANCE.replace("it works", HALF)),
        ("PLAN", "tasks.yaml", TASKS.replace("goal: add", f'goal: "{HALF}"')),
        ("PLAN", "tasks.yaml", TASKS.replace("title: sums", "title: !!bool x")),
    ],
)
def test_a_poisoned_document_fails_its_role_and_the_event_can_be_written_down(state: str, path: str, text: str) -> None:
    sent = as_role("")
    decided = take(session(state), sent, files={**FILES, f"{S}/{path}": text})
    assert (decided.status, decided.run.state) == ("FAILURE", state)
    event: Event[Any] = Event(decided.run, "x", "", "", sent, Found(documents={path: text}), "FAILURE", Verdict("FAILURE", state))
    assert to_entry(PIPELINE, event).body


@pytest.mark.parametrize(
    ("found", "place"),
    [
        (read_acceptance(ACCEPTANCE.replace('"id"', '"id": "AC-001", "id"')), "acceptance.json: acceptance_criteria[0].id"),
        (read_tasks(TASKS.replace("goal: add", "goal: add, goal: more")), "tasks.yaml: tasks[0].goal"),
        (read_reply(reply().reply.replace('"files"', '"files": [], "files"'), "Coder"), "the reply cannot be read: artifacts.files"),
    ],
)
def test_a_key_that_stands_twice_is_named_with_its_path(found: tuple[object, str | tuple[str, ...]], place: str) -> None:
    said = found[1] if isinstance(found[1], str) else found[1][0]
    assert found[0] is None
    assert f"{place}: appears twice" in said


def test_a_text_with_very_many_keys_is_read_in_no_time() -> None:
    many = json.dumps({f"k{i}": i for i in range(40_000)})
    begun = time.process_time()
    assert read_acceptance(many)[0] is None
    assert read_reply(many, "Coder")[0] is None
    assert time.process_time() - begun < 10  # looking for each key among all others took minutes


# -- what each document must have ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "path", "text", "lacking"),
    [
        *(("INTAKE", "spec.md", SPEC.replace(head, "# Other"), name) for head, name in (
            ("# Goals", "goals"), ("# Acceptance criteria", "acceptance criteria"), ("# Definition of done", "definition of done"))),
        *(("INTAKE", "spec.md", SPEC.replace(below, ""), name) for below, name in (
            ("sums\n", "goals"), ("- AC-001\n", "acceptance criteria"), ("tests pass\n", "definition of done"))),
        ("INTAKE_LEAN", "spec.md", SPEC.replace("# Goals", "# Other"), "goal"),
        ("INTAKE_LEAN", "spec.md", SPEC.replace("# Acceptance criteria", "# Other"), "acceptance criteria"),
        *(("DESIGN", "architecture.md", ARCHITECTURE.replace(head, "# Other"), name) for head, name in (
            ("# Overview", "overview"), ("# Modules", "modules"), ("# Risks", "risks"))),
    ],
)  # fmt: skip
def test_each_part_of_a_document_is_asked_for_by_its_name(state: str, path: str, text: str, lacking: str) -> None:
    decided = take(session(state), as_role(""), files={**FILES, f"{S}/{path}": text})
    assert (decided.status, decided.run.state) == ("FAILURE", state)
    assert decided.run.last_error == f"{path}: needs a heading with text below it for: {lacking}"


@pytest.mark.parametrize("missing", ["spec.md", "acceptance.json", "tasks.yaml"])
def test_a_lean_intake_passes_only_with_all_three_documents_and_a_lean_spec_is_short(missing: str) -> None:
    short = {**FILES, f"{S}/spec.md": "# Goal\nsums\n# Acceptance criteria\n- AC-001\n"}
    assert take(session("INTAKE_LEAN"), as_role(""), files=short).run.state == "IMPLEMENT_LOOP"
    decided = take(session("INTAKE_LEAN"), as_role(""), files={path: text for path, text in short.items() if not path.endswith(missing)})
    assert (decided.status, decided.run.state) == ("FAILURE", "INTAKE_LEAN") and f"{missing} is missing" in decided.run.last_error


# -- what the reply of each role must have -------------------------------------------------------------------------------------

OWN: dict[str, dict[str, Any]] = {
    "QA": {"test_results": {"passed": 1, "failed": 0, "summary": ""}, "coverage_gaps": ["zero"]},
    "Security": {"findings": [{"severity": "low", "category": "c", "file": "f", "description": "d", "recommended_fix": "r"}]},
    "Researcher": {"options": ["this"], "confidence": "high"},
    "Reviewer": {"review_comments": [{"severity": "nit", "category": "c", "file": "f", "line": 1, "message": "m", "suggested_fix": "s"}]},
}


@pytest.mark.parametrize(("role", "field"), [(role, name) for role, own in OWN.items() for name in own])
def test_each_field_of_a_role_is_needed_and_taken_from_that_role_alone(role: str, field: str) -> None:
    assert read_reply(reply(**OWN[role]).reply, role)[0] is not None
    lacking = {name: value for name, value in OWN[role].items() if name != field}
    assert read_reply(reply(**lacking).reply, role)[1] == f"the reply cannot be taken: {field} is missing"
    others = next(other for other in OWN if other != role)
    assert read_reply(reply(**{**OWN[others], field: OWN[role][field]}).reply, others)[1].endswith(f"{field} is not for {others}")


@pytest.mark.parametrize("field", ["severity", "category", "file", "description"])
def test_a_finding_of_security_has_all_its_fields_and_no_others(field: str) -> None:
    (whole,) = OWN["Security"]["findings"]
    lacking = {name: value for name, value in whole.items() if name != field}
    assert field in read_reply(reply(findings=[lacking]).reply, "Security")[1]
    assert "colour" in read_reply(reply(findings=[{**whole, "colour": "red"}]).reply, "Security")[1]
    assert "huge" in read_reply(reply(findings=[{**whole, "severity": "huge"}]).reply, "Security")[1]


@pytest.mark.parametrize(
    ("role", "more", "fault"),
    [
        ("QA", {"test_results": {"passed": "all"}, "coverage_gaps": []}, "passed"),
        ("QA", {"test_results": {"skipped": 1}, "coverage_gaps": []}, "skipped"),
        ("QA", {"test_results": {}, "coverage_gaps": "none"}, "coverage_gaps"),
        ("Researcher", {"options": "this", "confidence": "high"}, "options"),
        ("Researcher", {"options": [], "confidence": "sure"}, "sure"),
    ],
)
def test_the_fields_of_a_role_have_their_own_form(role: str, more: dict[str, Any], fault: str) -> None:
    assert fault in read_reply(reply(**more).reply, role)[1]


def test_a_reply_with_half_a_character_is_no_reply_and_the_event_can_be_written_down() -> None:
    sent = hand_in(read_status, brief(PIPELINE, session("INTAKE")), reply(summary="\ud800").reply, {})
    decided = take(session("INTAKE"), sent)
    assert (decided.status, decided.run.counts) == ("FAILURE", {"dispatch": 1})
    event: Event[Any] = Event(decided.run, "x", "", "", sent, Found(), "FAILURE", Verdict("FAILURE", "INTAKE"))
    assert to_entry(PIPELINE, event).body
