"""The question about open flags through the other doors: the page's inbox and a dialog of the client. The same question, the same answers."""

from pathlib import Path
from typing import Any

import pytest
from mcp_types import ElicitResult

from tests.clients.session import LEGACY, connected, play
from tests.driven import project
from tests.test_flags_landing import CONFTEST, Flagged, events, flagged_tdd
from tests.webbed import QUICKLY, served

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.slow
def test_the_inbox_shows_both_versions_and_an_answer_is_bound_to_them(tmp_path: Path) -> None:
    p = project(tmp_path / "p", QUICKLY)
    run = flagged_tdd(p).json["run"]
    with served(p) as to:
        (row,) = to.get("/api/decisions")["decisions"]
        assert (row["kind"], row["run"], row["workflow"]) == ("flags", run, "tdd") and "1 flag to look at" in row["question"]
        shown = to.get(f"/api/decisions/{row['id']}")
        assert [o["value"] for o in shown["options"]] == ["accept", "fix", "abort"]
        (hunk,) = shown["artifacts"]
        assert hunk["path"] == "judged-by tests/conftest.py" and "+ def one():" in hunk["text"] and "**judged-by**" in shown["text"]
        assert [f["kind"] for f in to.get(f"/api/runs/{run}")["flags"]] == ["judged-by"]
        assert to.ask(f"/api/decisions/{row['id']}", {"shown": "another", "value": "accept"})[0] == 409
        status, verdict = to.ask(f"/api/decisions/{row['id']}", {"shown": shown["shown"], "value": "accept", "note": "meant"})
        assert (status, verdict["status"]) == (200, "SUCCESS")
        (said,) = events(p, "accept-flags", run=run)
        assert (said["channel"], said["note"]) == ("web", "meant")
        rows = to.get(f"/api/runs/{run}/events")["events"]
        assert [f["place"] for e in rows if e["on"] == "flagged" for f in e["flags"]] == ["tests/conftest.py"]


@pytest.mark.slow
def test_the_user_of_a_client_accepts_in_a_dialog_and_no_tool_can(tmp_path: Path) -> None:
    p = Flagged(tmp_path / "p").finished()
    shown: list[Any] = []

    async def user(context: Any, params: Any) -> ElicitResult:
        shown.append(params)
        return ElicitResult(action="accept", content={"choice": "accept", "note": "meant"})

    async def story() -> None:
        async with connected(p, mode=LEGACY, elicitation_callback=user) as agent:
            assert (await agent.task())["state"] == "INITIALIZING"

    play(story)
    assert "+ def one():" in shown[0].message and len(shown) == 1
    assert shown[0].requested_schema["properties"]["choice"]["enum"] == ["accept"]
    (said,) = events(p, "accept-flags")
    assert (said["by"], said["channel"], said["note"]) == ("human", "client dialog", "meant")
    assert p.git("show", "main:tests/conftest.py") == CONFTEST.strip()


@pytest.mark.slow
def test_an_agent_that_calls_by_itself_waits_until_its_user_answers_elsewhere(tmp_path: Path) -> None:
    p = Flagged(tmp_path / "p").finished()

    async def story() -> None:
        async with connected(p, mode=LEGACY) as agent:
            assert (await agent.task())["state"] == "HALTED"
            assert (await agent.submit())["status"] == "REFUSED"
            assert (await agent.task())["state"] == "HALTED"

    play(story)
    assert len(events(p, "flagged")) == 1
