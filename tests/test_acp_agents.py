"""`detent run --agent acp:NAME`: the real programs at their pinned versions, in the sandbox, with a scripted model behind the one address they reach."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from detent.agents import AgentFailed, Turn, Usage, ask
from detent.agents.acp import AGENTS
from detent.app.run_configs import sandbox_of
from detent.config import Settings
from detent.config.settings import SandboxSettings
from detent.interfaces.cli.doctor_clients import version_of
from detent.tools import Toolbox
from tests.agents_rigs import failure, turn
from tests.any_service import KEY, denied
from tests.clients.acp import NAMES, REAL, Model, Served, serving, spec
from tests.clients.driven import Do
from tests.driven import GREEN, project
from tests.machine import no_walls
from tests.model_server import KEY as CLAUDE_KEY
from tests.model_server import ModelServer, say
from tests.project import Project

QUICK = ("gemini", "goose")  # always; the others where there is time
LOCK = Path(__file__).parent / "clients" / "package-lock.json"
every = pytest.mark.parametrize("name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in NAMES])


def history(p: Project) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = p.run("history", "--json").json["events"]
    return events


def spent(events: list[dict[str, Any]]) -> Usage:
    found = [event["usage"] for event in events if event.get("usage")]
    return sum((Usage(**{name: each.get(name, 0) for name in Usage._fields}) for each in found), Usage())


def test_every_row_has_its_real_program_in_these_tests() -> None:
    assert set(REAL) == set(AGENTS)
    kept = json.loads(LOCK.read_text())["packages"]
    for name, real in REAL.items():
        inside = str(real.program).partition("tests/clients/")[2].split("/")
        package = "/".join(inside[: 3 if inside[1].startswith("@") else 2])
        assert kept[package]["version"] == real.version, name
    docs = (Path(__file__).parent.parent / "docs" / "agents.md").read_text("utf-8").splitlines()
    for name, package in (("claude", "@anthropic-ai/claude-code"), ("codex", "@openai/codex")):
        version = kept[f"node_modules/{package}"]["version"]
        assert [line for line in docs if line.startswith(f"| `{name}` |") and line.endswith(f" {version} |")], (
            "as the table of the docs says"
        )


@pytest.mark.slow
@every
def test_a_whole_cycle_is_driven_and_the_tokens_are_those_that_were_served(tmp_path: Path, name: str) -> None:
    p, model = project(tmp_path / "p"), Model(name)
    with serving(name, model, tmp_path) as served:
        ran = p.run("run", "add numbers", "--agent", spec(name), "--json", **served.env)
        keys, usage = {seen.key for seen in served.service.seen}, served.service.usage
    assert ran.code == 0, ran
    assert [c["subject"] for c in ran.json["commits"]][:3] == ["plan: adds", "test: adds", "feat: adds"], ran
    assert [e["on"] for e in history(p)] == ["start", "planned", "red", "green", "refactor", "complete", "offered"]
    assert p.git("show", "detent/add-numbers:calc.py") + "\n" == GREEN
    counted = ran.json["usage"]
    assert {field: counted[field] for field in ("input_tokens", "output_tokens", "cached_tokens")} == {
        "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "cached_tokens": usage.cached_tokens,
    }  # fmt: skip
    assert keys == {KEY}, "the key is added outside, to every call"
    kept = "".join(Path(e["transcript"]).read_text() for e in history(p) if e["transcript"])
    assert KEY not in kept + ran.out + ran.err and '"session/prompt"' in kept and "tool_call" in kept


# -- single turns ------------------------------------------------------------------------------------------------------------


def inside(folder: Path, served: Served, **changes: Any) -> Turn:
    """A turn in the sandbox, as a run has it, in which tests are frozen; without one where there can be none."""
    cell = sandbox_of(Settings(sandbox=SandboxSettings(level="none" if no_walls() else "auto")), True, served.env, folder)
    env = {"PATH": served.env["PATH"], "LANG": "C.UTF-8"}

    def may_write(path: str) -> str | None:
        return f"{path} is a test; tests are frozen while the code is written." if path.startswith("tests/") else None

    tools = Toolbox(folder, may_write, cell.shell(folder, env, 60.0, lambda: True), folder.parent / "spill")
    return turn(
        folder, env=env, start=cell.agent, apart=cell.apart, toolbox=tools, system=f"Your workspace is the folder `{folder}`.", **changes
    )


@pytest.mark.slow
@every
def test_an_agent_is_held_to_the_permit_of_its_state_and_goes_on(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "work"
    (folder / "tests").mkdir(parents=True)
    does: list[str | Do] = [
        Do(command="echo seen > shell.txt"), Do(file="tests/test_a.py", text="x = 1\n"), Do(file="b.py", text="b = 1\n"), "It is done.",
    ]  # fmt: skip
    with serving(name, Model(name, {"ANY": does}), tmp_path) as served:
        t = inside(folder, served)
        reply = ask(spec(name), t, served.env)
        usage = served.service.usage
    written = sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
    assert written == ["b.py", "shell.txt"], written
    assert reply.text.strip().endswith("It is done.") and reply.usage == usage
    assert t.transcript is not None
    refused = [line for line in map(json.loads, t.transcript.read_text().splitlines()) if line["kind"] == "refused"]
    assert [line["why"] for line in refused] == ["tests/test_a.py is a test; tests are frozen while the code is written."]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["goose", pytest.param("copilot", marks=pytest.mark.slow)])
def test_an_agent_that_says_all_is_well_after_a_limit_is_a_failed_turn(tmp_path: Path, name: str) -> None:
    (tmp_path / "work").mkdir()
    with serving(name, Model(name, {}, ANY=[denied(429, "rate_limit_exceeded")] * 40), tmp_path) as served:
        t = inside(tmp_path / "work", served)
        found = failure(lambda: ask(spec(name), t, served.env))
    assert isinstance(found, AgentFailed) and found.sort == "RateLimit", found
    assert t.transcript is not None and '"stopReason": "end_turn"' in t.transcript.read_text(), "it says so itself"


@pytest.mark.slow
@every
def test_the_programs_say_the_version_that_the_table_of_the_docs_names(tmp_path: Path, name: str) -> None:
    with serving(name, Model(name), tmp_path) as served:
        env = {"PATH": served.env["PATH"], "HOME": str(tmp_path)}
        said = subprocess.run([name, "--version"], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert REAL[name].version in said.stdout + said.stderr
    docs = (Path(__file__).parent.parent / "docs" / "agents.md").read_text("utf-8")
    assert [line for line in docs.splitlines() if line.startswith(f"| `acp:{name}`") and REAL[name].version in line]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["copilot", "opencode", "goose"])
def test_a_model_of_claude_is_asked_in_its_own_form(tmp_path: Path, name: str) -> None:
    (tmp_path / "work").mkdir()
    with serving(name, Model(name), tmp_path) as served, ModelServer(lambda body, number: say("It is done.")) as claude:
        env = {**served.env, **claude.outer}  # both are paid for, and the name of the model decides
        reply = ask(f"acp:{name}:claude-haiku-4-5", inside(tmp_path / "work", served._replace(env=env)), env)
        assert not served.service.seen and {seen.headers["x-api-key"] for seen in claude.seen} == {CLAUDE_KEY}
        assert reply.text.strip().endswith("It is done.")
        assert reply.usage.tokens - reply.usage.output_tokens == sum(seen.plain for seen in claude.seen)


def test_doctor_says_of_each_agent_whether_it_is_there_how_it_is_driven_and_what_pays(tmp_path: Path) -> None:
    p = project(tmp_path / "p")

    def rows(**env: str) -> dict[str, dict[str, Any]]:
        found = p.run("doctor", "--json", **env).json["checks"]
        return {check["name"]: check for check in found if check["name"].startswith("acp:")}

    with serving("goose", Model("goose"), tmp_path) as served:
        unpaid = {name: "" for name in served.env if name.startswith("OPENAI_")}
        fit, bare = rows(**served.env), rows(**{**served.env, **unpaid})["acp:goose"]
    assert set(fit) == {f"acp:{name}" for name in NAMES}
    goose, qwen = fit["acp:goose"], fit["acp:qwen"]
    assert goose["says"].startswith(f"{REAL['goose'].version} at ") and goose["says"].endswith("paid by the key in OPENAI_API_KEY")
    assert "driven over ACP, its writes asked for and judged at submit" in goose["says"] and goose["fix"] == ""
    assert (qwen["ok"], qwen["needed"], qwen["says"]) == (False, False, "not installed") and "npm install -g" in qwen["fix"]
    assert "neither login nor key" in bare["says"] and bare["fix"].startswith("to drive it: set OPENAI_API_KEY or ANTHROPIC_API_KEY")


def test_a_program_that_fails_says_no_version_and_one_that_writes_to_its_home_leaves_nothing(tmp_path: Path) -> None:
    def saying(name: str, script: str) -> str:
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return version_of(program, {"PATH": os.environ["PATH"]})

    assert saying("panics", "echo 'thread main panicked at tracing-0.2.5/src/rolling.rs'; exit 101") == "reports no version"
    assert saying("writes", f'mkdir -p "$HOME/.state" && echo "$HOME" > {tmp_path}/home && echo tool 1.2.3') == "1.2.3"
    assert not Path((tmp_path / "home").read_text().strip()).exists()
