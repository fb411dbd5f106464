"""The tool `check` over MCP: an agent looks at its own work. A real client and server; no run is changed by it, open or not."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from detent.app import open_app
from detent.evidence.outcomes.card import Card, Change, Checked
from detent.git.commits import Commit
from detent.interfaces.mcp.mcp_answers import INSTRUCTIONS, looked
from detent.interfaces.mcp.tools import TOOLS
from detent.journal.holder import this_process
from detent.kernel.model import Flag
from tests.clients.session import Waiting, connected, gone, play
from tests.project import GREEN, Project

MAKES = "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n\n\ndef test_made():\n    open('made.txt', 'w').close()\n"
pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def p(tmp_path: Path) -> Project:
    return Project(tmp_path / "p")


def kept(p: Project) -> dict[str, object]:
    """Everything that a run is: its events, its published files, its refs, and the reports that its journal knows."""
    detent = p.root / ".git" / "detent"
    reports = {file.name: file.read_bytes() for file in (detent / "evidence").glob("*.json") if len(file.stem) == 40}
    files = {name: (p.root / name).read_text() for name in ("ACTIVE_PR.json", "ORCHESTRATION_STATE.json")}
    refs = p.git("for-each-ref", "refs/heads", "refs/notes")
    return {"history": p.run("history", "--json").json, "reports": reports, "refs": refs, "status": p.git("status", "--porcelain"), **files}


@pytest.mark.slow
def test_an_agent_looks_at_its_work_while_its_run_is_open_and_the_run_stays_as_it_is(p: Project) -> None:
    p.planned()
    assert p.red(MAKES)["status"] == "NEEDS_ANALYSIS"
    assert p.submit(analysis_decision="SUCCESS")["status"] == "SUCCESS"
    p.write({"calc.py": GREEN})
    assert (p.root / "made.txt").exists(), "a test run of the machine's made it"
    before = kept(p)

    async def story() -> None:
        seen: list[str] = []

        async def report(progress: float, total: float | None, message: str | None) -> None:
            seen.append(str(message))

        async with connected(p) as agent:
            told = await agent.client.call_tool("check", {"worktree": True, "budget": 1}, progress_callback=report)
            found = told.structured_content
            assert isinstance(found, dict) and not told.is_error
            assert (found["answer"], found["proved"], found["kept"]) == ("clean", ["tests/test_add.py::test_add"], 1), found
            assert (found["range"], found["files"], found["commits"]) == ("the checkout", 2, 0), (
                "what the machine itself wrote is no part of it"
            )
            assert found["instruction"] == INSTRUCTIONS["clean"] and found["beside"] == found["left_out"] == ""
            assert any(re.fullmatch(r"check: \d of 5: .+, \d+ s so far", said) for said in seen), seen
            again = await agent.get("check", worktree=True, budget=1)
            assert again["known_before"] and again["proved"] == found["proved"]
        assert kept(p) == before

    play(story)
    assert p.submit(test_command="pytest", expectation="PASS")["status"] == "SUCCESS", "and the run goes on as if nothing had been"


@pytest.mark.slow
def test_what_works_on_a_run_at_the_same_time_is_said(p: Project) -> None:
    p.reddened()
    run = p.task()["run"]
    p.write({"calc.py": GREEN})
    app = open_app(p.root)
    claim = app.journal.claim(run, this_process("now", "submit"))

    async def story() -> None:
        async with connected(p) as agent:
            found = await agent.get("check", worktree=True, budget=1)
            assert found["answer"] == "clean" and f"{run} (submit, since now)" in found["beside"], found

    try:
        play(story)
    finally:
        app.journal.release(claim)
        app.journal.close()


@pytest.mark.slow
def test_where_no_run_is_open_a_range_is_looked_at_and_none_is_started(p: Project) -> None:
    p.write({"calc.py": "def add(a, b):\n    return a + b\n"})
    p.git("commit", "-qam", "add")

    async def story() -> None:
        async with connected(p) as agent:
            found = await agent.get("check", range="HEAD~1..HEAD", budget=1)
            assert (found["answer"], found["commits"], [f["kind"] for f in found["flags"]]) == ("flagged", 1, ["no-proof"]), found
            assert "add the tests that are missing" in found["instruction"]
        assert not (p.root / ".git" / "detent" / "journal.db").exists()

    play(story)


def test_a_call_that_cannot_be_made_says_how_it_can(p: Project) -> None:
    wrong: dict[str, dict[str, Any]] = {
        "give range or worktree, not both": {"range": "HEAD~1..HEAD", "worktree": True},
        "there is no commit 'nonsense' here": {"range": "nonsense"},
        "there is no commit '--all' here": {"range": "--all"},
        "there is nothing to check: HEAD has no commit that main does not have": {},
        "there is nothing to check: the checkout is as HEAD has it": {"worktree": True},
        "HEAD..HEAD is empty": {"range": "HEAD..HEAD"},
        "Expected `float` >= 1": {"budget": 0},
        "Expected `float` <= 600": {"budget": 601},
        "Expected `float`, got `str`": {"budget": "long"},
        "Expected `bool`, got `str`": {"worktree": "yes"},
        "check takes no 'rnage'": {"rnage": "A..B"},
    }

    async def story() -> None:
        async with connected(p) as agent:
            for said, arguments in wrong.items():
                assert said in await agent.error("check", **arguments)

    play(story)


@pytest.mark.slow
def test_a_look_that_is_taken_back_ends_its_tests(p: Project) -> None:
    waiting = Waiting(p)

    async def story() -> None:
        async with connected(p) as agent:
            async with anyio.create_task_group() as group:
                group.start_soon(partial(agent.client.call_tool, "check", {"worktree": True}))
                processes = await waiting.processes()
                group.cancel_scope.cancel()
            assert len(processes) == 2 and gone(processes)

    play(story)


# -- what is told of a card ------------------------------------------------------------------------------------------------------


def test_however_much_was_found_an_answer_has_a_bound_and_says_what_it_leaves_out() -> None:
    name = "tests/test_x.py::test_" + "x" * 5000
    flag = Flag("no-proof", name, name, before=name * 9, after=name * 9)
    note = Flag("weak-evidence", "a note", level="note")
    card = Card("b", "t", proved=(name,) * 500, pins=(name,) * 21, failed=(name,) * 11, flags=(note, *[flag] * 30), unclear=name * 9)
    commits = tuple(Commit(f"{n}", "", (), "s") for n in range(3))
    found = looked(Checked(Change(name, "c", "b", "t", commits, "", ("a",) * 9), card, name, name), "")
    assert len(msgspec.json.encode(found)) < 48_000
    assert found.left_out == "480 of proved, 11 of pins, 1 of failed, 21 of flags" and len(found.flags) == 10
    assert all(flag.level == "ask" for flag in found.flags), "what is asked about comes first"
    assert (found.commits, found.files, found.answer) == (3, 9, "failed")


def test_it_is_marked_as_a_tool_that_changes_nothing() -> None:
    assert [name for name, tool in TOOLS.items() if tool.read_only] == ["check"] and not TOOLS["check"].destructive
