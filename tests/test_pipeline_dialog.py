"""The questions of a session in a dialog of the client: asked there where it has one, answered by its user, recorded as such. No tool answers."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mcp_types import ElicitRequestFormParams, ElicitResult

from detent.app import open_app
from detent.interfaces.mcp.dialog import Answer, Question
from detent.interfaces.mcp.mcp_work import answer, get_task
from detent.interfaces.mcp.tools import GetTask
from detent.kernel.model import Sent
from tests.clients.session import LEGACY, connected, play
from tests.project import Project
from tests.sessions import DESIGN, INTAKE, REQUEST, reply, till

TO_SPEC = "changes-requested, to spec"
pytestmark = pytest.mark.timeout(600)  # whole sessions, also on a busy machine


@pytest.fixture
def p(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A session in a person's own checkout."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = till(tmp_path / "p")
    assert made.run("start", "--workflow", "pipeline", REQUEST).code == 0
    monkeypatch.chdir(made.root)
    return made


def hand_in(p: Project, entry: dict[str, Any], **more: Any) -> str:
    p.write(entry["write"])
    with closing((app := open_app(p.root, env=p.env)).journal):
        app.door.next(app.chosen(None))
        return app.door.submit(app.chosen(None), Sent("submit", summary="s", reply=json.dumps(reply(**more)))).state


def asked() -> Question:
    question = get_task(GetTask(), lambda: True)[1]
    assert question is not None
    return question


def choose(question: Question, choice: str, note: str = "") -> str:
    verdict = answer(Answer(question.run, question.digest, choice, note), None, lambda: True)
    return verdict.state if verdict else ""


def decided(p: Project) -> list[tuple[str, str, str, bool]]:
    found = p.run("decisions", "--all", "--json").json["decisions"]
    return [(d["status"], d["answer"], d["channel"], bool(d["resolved_by"])) for d in found]


@pytest.mark.slow
def test_the_user_of_a_client_approves_the_design_in_a_dialog(p: Project) -> None:
    shown: list[ElicitRequestFormParams] = []
    said = [{"choice": TO_SPEC, "note": "in cents"}, {"choice": "approved", "note": ""}]

    async def user(context: Any, params: Any) -> ElicitResult:
        shown.append(params)
        return ElicitResult(action="accept", content=said[len(shown) - 1])  # type: ignore[arg-type]

    async def story() -> None:
        async with connected(p, mode=LEGACY, elicitation_callback=user) as agent:
            p.write({**INTAKE["write"], **DESIGN["write"]})
            for state in ("INTAKE", "DESIGN", "INTAKE", "DESIGN"):
                assert (await agent.task())["state"] == state
                await agent.submit(reply=json.dumps(reply()))
            assert (await agent.task())["state"] == "PLAN"

    play(story)
    assert [f.requested_schema["properties"]["choice"]["enum"][:2] for f in shown] == [["approved", TO_SPEC]] * 2
    assert decided(p) == [("answered", "approved", "client dialog", True)]
    history = p.root / json.loads(p.run("decisions", "--all", "--json").out)["decisions"][0]["shown"][0]
    line = json.loads((history.parent / "approve-design-history.jsonl").read_text())
    assert (line["answer"], line["to"], line["channel"]) == ("changes-requested: in cents", "spec", "client dialog")


@pytest.mark.slow
def test_a_dialog_that_a_headless_client_cancels_or_declines_is_silence(p: Project) -> None:
    asked_for: list[str] = []

    async def nobody(context: Any, params: Any) -> ElicitResult:
        asked_for.append(params.message)
        return ElicitResult(action="cancel" if len(asked_for) % 2 else "decline")

    async def story() -> None:
        async with connected(p, mode=LEGACY, elicitation_callback=nobody) as agent:
            p.write({**INTAKE["write"], **DESIGN["write"]})
            for state in ("INTAKE", "DESIGN"):
                assert (await agent.task())["state"] == state
                await agent.submit(reply=json.dumps(reply()))
            for _ in range(4):
                assert (await agent.task())["state"] == "APPROVE_DESIGN"

    play(story)
    assert asked_for and "one module" in asked_for[0]  # the design in its own words
    assert [(status, bool(said), bool(channel), by) for status, said, channel, by in decided(p)] == [("pending", False, False, False)]
    with closing((app := open_app(p.root, env=p.env)).journal):
        assert app.door.load(app.chosen(None)).run.counts == {}


def test_a_choice_that_needs_words_and_has_none_is_silence_and_a_question_takes_the_note_for_its_answer(p: Project) -> None:
    assert hand_in(p, INTAKE, status="NEEDS_INFO", summary="in cents?") == "ASK_USER"
    question = asked()
    assert list(question.choices) == ["skip", "answer with the note"] and "in cents?" in question.message
    assert choose(question, "answer with the note") == "" and choose(question, "approved") == ""
    assert [status for status, *_ in decided(p)] == ["pending"]
    assert choose(question, "answer with the note", "yes, in cents") == "INTAKE"
    assert decided(p)[0][:3] == ("answered", "yes, in cents", "client dialog")
    assert choose(question, "answer with the note", "no") == ""  # it no longer stands
    assert hand_in(p, INTAKE) == "DESIGN" and hand_in(p, DESIGN) == "APPROVE_DESIGN"
    assert choose(asked(), TO_SPEC) == ""
    assert choose(asked(), "approved") == "PLAN"
