"""The adapters of other orchestrators: their table, what an agent hands in, how an answer is read. Only the slow test installs one."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.orchestrators import ROWS, aider, backlog, mini, shrimp, taskmaster
from bench.orchestrators.__main__ import CHOSEN, main, pairs
from bench.orchestrators.install import Package, commands, install
from bench.orchestrators.report import Found, in_json, table
from bench.orchestrators.scene import LEFT_OUT, Scene, left_out
from detent.errors import DetentError
from detent.interfaces.gatebench import BenchAgent, BenchLanguage, languages
from detent.interfaces.gatebench.play import BenchResult

ROOT = Path(__file__).parent.parent


def python() -> tuple[BenchLanguage, dict[str, BenchAgent]]:
    (language,) = languages(("python",))
    return language, {agent.name: agent for agent in language.agents}


def scene(folder: Path, name: str) -> Scene:
    language, agents = python()
    return Scene(language, agents[name], folder)


# -- the table -----------------------------------------------------------------------------------------------------------------


def test_every_orchestrator_has_an_exact_version_and_says_what_it_claims() -> None:
    for row in ROWS.values():
        assert re.fullmatch(r"\d+\.\d+\.\d+", row.version), row.package
        assert row.claims and row.goes_by and row.handed_in and row.accepted


def test_what_is_installed_is_exactly_the_version_of_the_table(tmp_path: Path) -> None:
    for row in ROWS.values():
        *_, last = commands(Package(row.package, row.version, row.source), tmp_path)
        assert last[-1] in (f"{row.package}@{row.version}", f"{row.package}=={row.version}")
        assert str(tmp_path) in " ".join(last)


def test_no_orchestrator_is_a_dependency() -> None:
    named = (ROOT / "pyproject.toml").read_text("utf-8") + (ROOT / "uv.lock").read_text("utf-8")
    assert not [row.package for row in ROWS.values() if f'"{row.package}' in named]


def test_every_orchestrator_stands_in_the_docs_with_its_version() -> None:
    page = (ROOT / "docs" / "gate-bench.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    for row in ROWS.values():
        assert [line for line in rows if f"| {row.title} " in line and f" {row.version} " in line], row.title


def test_a_package_that_cannot_be_installed_is_a_sentence_and_leaves_nothing_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    with pytest.raises(DetentError) as raised:
        install(Package("backlog.md", "1.52.0", "npm"), tmp_path / "there")
    assert raised.value.message.startswith("backlog.md ") and not (tmp_path / "there" / ".installed").exists()


# -- the agents ----------------------------------------------------------------------------------------------------------------


def test_the_chosen_agents_are_there_and_are_of_each_sort() -> None:
    chosen = pairs(["python"], [], False)
    assert {agent.name for _, agent in chosen} == set(CHOSEN)
    assert {agent.sort for _, agent in chosen} == {"honest", "lazy", "cheat"}


def test_what_only_concerns_detent_is_left_out() -> None:
    _, agents = python()
    assert set(LEFT_OUT) <= set(agents)
    assert left_out(agents["true-as-test-command"]) and left_out(agents["loses-the-code"]) and left_out(agents["fits-a-curve"])
    assert not left_out(agents["plain"]) and not left_out(agents["deletes-the-test"])
    assert main(["aider", "--agent", "edits-the-journal"]) == 2


@pytest.mark.slow
def test_an_honest_agent_leaves_what_it_promised(tmp_path: Path) -> None:
    for name in ("plain", "mends-its-mistake", "helper-and-fixture"):
        played = scene(tmp_path / name, name)
        assert not played.sound()
        played.work()
        assert played.sound(), name


def test_another_agent_does_not_set_things_right_after_its_own_step(tmp_path: Path) -> None:
    played = scene(tmp_path, "no-code")
    assert played.steps() == ("RED", "GREEN")
    played.work()
    assert not played.sound() and (played.repo / "tests/test_clamp.py").exists()


def test_an_agent_that_only_skips_the_test_still_writes_its_code(tmp_path: Path) -> None:
    played = scene(tmp_path, "no-test")
    assert played.steps() == ("RED", "GREEN", "REFACTOR")
    played.work()
    assert "def clamp" in (played.repo / "shapes.py").read_text("utf-8") and not (played.repo / "tests/test_clamp.py").exists()


def test_aider_is_handed_every_text_file_that_differs(tmp_path: Path) -> None:
    played = scene(tmp_path, "plain")
    assert aider.answer(played, "shapes.py").startswith("shapes.py\n```\n")
    played.work()
    words = aider.answer(played, "shapes.py")
    assert "\ntests/test_clamp.py\n```\nfrom shapes import clamp\n" in words and "max(low, min(value, high))" in words


# -- the answers ---------------------------------------------------------------------------------------------------------------


def test_done_is_read_from_what_the_tool_itself_recorded() -> None:
    assert backlog.read("Task TASK-1\nStatus: ✔ Done\n").accepted and not backlog.read("Status: ◒ In Progress\n").accepted
    assert (
        shrimp.read('{"tasks": [{"status": "completed"}]}').accepted and not shrimp.read('{"tasks": [{"status": "in_progress"}]}').accepted
    )
    stored = json.dumps(taskmaster.TASKS)
    assert taskmaster.read(stored.replace("pending", "done")).accepted and not taskmaster.read(stored).accepted
    assert (
        mini.read('{"info": {"exit_status": "Submitted"}}').accepted
        and not mini.read('{"info": {"exit_status": "LimitsExceeded"}}').accepted
    )
    assert aider.read(1).accepted and not aider.read(aider.MOST).accepted


def test_a_tool_that_was_never_asked_is_no_answer() -> None:
    with pytest.raises(RuntimeError):
        aider.read(0)


def test_what_does_not_claim_to_judge_is_not_said_to_have_failed() -> None:
    outcomes = [BenchResult("plain", "python", "honest", True, "", "", 1.0), BenchResult("no-code", "python", "lazy", True, "", "", 1.0)]
    found = {name: Found("1.0.0", outcomes, ["odd (it crashed)"]) for name in ("shrimp", "backlog")}
    judged, not_judged = [line for line in table(found).splitlines() if line.startswith("| ")][1:]
    assert "| 1 of 1 (100.0 %)" in judged and "not its claim; takes 1 of 1" in not_judged
    assert "backlog could not be told: odd (it crashed)" in table(found)
    assert in_json(found)["shrimp"]["false_accepts"] == {"wrong": 1, "of": 1} and not in_json(found)["backlog"]["judges"]


@pytest.mark.slow
def test_one_orchestrator_for_real(tmp_path: Path) -> None:
    """Needs npm's registry, once; the tool itself runs without a network."""
    written = tmp_path / "found.json"
    agents = [word for name in ("plain", "no-code") for word in ("--agent", name)]
    argv = [sys.executable, "-m", "bench", "orchestrators", "shrimp", *agents, "--folder", str(tmp_path / "there"), "--json", str(written)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=600)
    if "could not be installed" in done.stderr:
        pytest.skip("npm's registry cannot be reached")
    assert done.returncode == 0, done.stderr
    found = json.loads(written.read_text("utf-8"))["shrimp"]
    assert not found["not_run"] and {each["name"]: each["accepted"] for each in found["agents"]} == {"plain": True, "no-code": True}
