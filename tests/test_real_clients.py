"""Detent's hooks and server in the real clients, offline, with a scripted model: what the agent is refused, and a step from RED to GREEN."""

import json
import sys
from pathlib import Path

import pytest

from tests.clients.pull import Copilot, Gemini, Opencode, Qwen
from tests.clients.real import Claude, Codex, Real, Turn
from tests.project import GREEN, PLAN, RED, START, Project

STEPS = [{"type": t, "description": f"{t} of add", "status": "TODO"} for t in ("RED", "GREEN")]
ACTIVE_PR = json.dumps(
    {
        "masterPlanPath": PLAN,
        "prTitle": "feat: add numbers",
        "summary": "s",
        "verificationPlan": "v",
        "tasks": [{"taskName": "add", "status": "TODO", "tdd_steps": STEPS}],
    }
)
CLIENTS: dict[str, Real] = {
    "claude": Claude(), "codex": Codex(), "gemini": Gemini(), "qwen": Qwen(), "copilot": Copilot(), "opencode": Opencode(),
}  # fmt: skip
LONG_ONES = ("qwen", "copilot", "opencode")
NO_STOP = ("opencode",)  # it has no event for an agent that stops


def registered(folder: Path, client: str) -> Project:
    project = Project(folder / "p", {name: text for name, text in START.items() if name != "calc.py"})
    assert project.run("init", "--client", client).code == 0
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "register")
    assert project.run("start").code == 0
    return project


def story(client: Real, root: Path) -> dict[str, Turn]:
    """Every call of the agent, by what it is for."""
    selected = {"summary": "s", "test_command": "pytest tests/test_add.py"}
    return {
        "begin": client.mcp("get_task"),
        "tests by hand": client.shell("python3 -m pytest -q > ran.txt 2>&1"),
        "a look": client.shell("ls"),
        "plan": client.write(root / "ACTIVE_PR.json", ACTIVE_PR),
        "planned": client.mcp("submit_work", summary="s"),
        "red": client.mcp("get_task"),
        "code too early": client.write(root / "calc.py", GREEN),
        "test": client.write(root / "tests" / "test_add.py", RED),
        "test handed in": client.mcp("submit_work", **selected, expectation="FAIL"),
        "analysed": client.mcp("submit_work", summary="s", analysis_decision="SUCCESS"),
        "frozen": client.write(root / "tests" / "test_add.py", "def test_add():\n    assert True\n"),
        "frozen, by the shell": client.shell("echo > tests/test_add.py"),
        "a person's word": client.shell("detent abort"),
        "code": client.write(root / "calc.py", GREEN),
        "code handed in": client.mcp("submit_work", **selected, expectation="PASS"),
    }


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG_ONES else []) for name in CLIENTS])
def test_an_agent_in_a_real_client_is_held_to_its_step_and_gets_from_red_to_green(tmp_path: Path, name: str) -> None:
    client, project = CLIENTS[name], registered(tmp_path, name)
    calls = story(client, project.root)
    played = client.play(project, [*calls.values(), "I am done."])
    assert played.exit == 0 and len(played.results) == len(calls), str(played)
    got = dict(zip(calls, played.results, strict=True))
    refusals = {
        "tests by hand": "The machine runs the tests itself",
        "code too early": "calc.py is not a test; a RED step writes tests only.",
        "frozen": "tests/test_add.py is a test; tests are frozen while the code is written.",
        "frozen, by the shell": "tests/test_add.py is a test; tests are frozen while the code is written.",
        "a person's word": "`detent abort` is for a person, not for an agent.",
    }
    assert {call for call, text in got.items() if "Refused by Detent" in text} == set(refusals), str(played)
    assert all(words in got[call] for call, words in refusals.items()), str(played)
    got = {call: text.replace('\\"', '"') for call, text in got.items()}  # Gemini CLI wraps what it was answered in JSON
    assert "calc.py" not in got["a look"] and "pytest.ini" in got["a look"], "what is not gated goes through"
    assert '"status":"NEEDS_ANALYSIS"' in got["test handed in"] and '"status":"SUCCESS"' in got["code handed in"], str(played)
    assert not (project.root / "ran.txt").exists()
    assert project.run("status", "--json").json["state"] in ("EXECUTING_TDD", "CODE_REVIEW")
    reminders = {text.rpartition("this is reminder ")[2][:6] for text in played.told if "The work is not finished" in text}
    assert reminders == (set() if name in NO_STOP else {"1 of 3", "2 of 3", "3 of 3"}), (
        "an agent that wants to stop is sent back three times, then let go"
    )
    assert not any("none has run since" in text for text in played.results), "the hooks ran, so no verdict says otherwise"


@pytest.mark.slow
def test_codex_skips_hooks_that_are_not_trusted_and_the_verdict_says_so(tmp_path: Path) -> None:
    client, project = Codex(trusted=False), registered(tmp_path, "codex")
    calls = [client.mcp("get_task"), client.shell(f"{sys.executable} -m pytest -q"), client.mcp("submit_work", summary="s")]
    played = client.play(project, [*calls, "I am done."])
    assert len(played.results) == 3 and "1 passed" in played.results[1], str(played)
    assert "hooks of codex are registered here, and none has run since this run began" in played.results[2], str(played)


@pytest.mark.slow
@pytest.mark.parametrize("client", [Gemini(trusted=False), Copilot(trusted=False)], ids=["gemini", "copilot"])
def test_a_client_in_a_folder_that_is_not_trusted_reads_neither_server_nor_hooks(tmp_path: Path, client: Real) -> None:
    project = registered(tmp_path, client.name)
    project.task()
    played = client.play(project, [client.shell(f"{sys.executable} -m pytest -q"), "I am done."])
    assert played.results and "Refused by Detent" not in played.results[0], "nobody asked Detent"
    verdict = project.submit(no_pr_left=True)
    assert f"hooks of {client.name} are registered here, and none has run since this run began" in str(verdict)


@pytest.mark.slow
def test_claude_code_refuses_where_the_hook_cannot_be_run_or_the_journal_cannot_be_read(tmp_path: Path) -> None:
    client, project = Claude(), registered(tmp_path, "claude")
    project.planned()
    (project.root / ".git" / "detent" / "journal.db").write_bytes(b"not a database" * 100)
    for leftover in ("journal.db-wal", "journal.db-shm"):
        (project.root / ".git" / "detent" / leftover).unlink(missing_ok=True)
    settings = project.root / ".claude" / "settings.json"
    watch: Turn = {"tool": "Monitor", "input": {"command": "echo a > a.txt", "description": "x", "timeout_ms": 9000, "persistent": False}}
    played = client.play(project, [client.shell("echo a > a.txt"), watch, "I am done."])
    assert ["so it allows nothing" in text for text in played.results] == [True, True], str(played)
    settings.write_text(settings.read_text().replace("detent hook claude", "no-such-program hook claude"))
    played = client.play(project, [client.shell("echo a > a.txt"), "I am done."])
    assert played.results and not (project.root / "a.txt").exists(), str(played)
