"""`detent run --agent anthropic`: a whole cycle over the real SDK, with real tool calls, against a scripted model service on loopback."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.driven import GREEN, NAMED, NONE, RED, project
from tests.model_server import KEY, Json, ModelServer, Reply, call, cut, error, say, tool


class Model:
    """A model that does its work by tool calls. What it says next follows from the conversation; faults come once, where they are planned."""

    def __init__(self, **faults: list[Reply]) -> None:
        self.faults = faults
        self.tools: list[str] = []
        self.results: list[str] = []

    def __call__(self, body: Json, number: int) -> Reply:
        state = self.state_of(body)
        if self.faults.get(state):
            first: Reply = self.faults[state].pop(0)
            return first
        done = sum(message["role"] == "assistant" for message in body["messages"])
        if done:
            self.results += [str(block["content"]) for block in body["messages"][-1]["content"]]
        says: Reply = self.turns(state, self.folder_of(body))[done]
        self.tools += [block["name"] for block in says.blocks if block["type"] == "tool_use"]
        return says

    def state_of(self, body: Json) -> str:
        text: str = body["messages"][0]["content"][0]["text"]
        state: str = re.findall(r"# (\w+):", text)[0].upper()
        return "END" if "- [x] adds" in text and state == "PLAN" else state

    def folder_of(self, body: Json) -> str:
        found: list[str] = re.findall(r"workspace is the folder `(.*?)`", body["system"][0]["text"])
        return found[0]

    def turns(self, state: str, folder: str) -> list[Reply]:
        def write(name: str, text: str) -> Reply:
            return call(tool("Write", {"file_path": f"{folder}/{name}", "content": text}))

        return {
            "PLAN": [
                call(tool("Read", {"file_path": f"{folder}/tests/test_start.py"}), tool("Bash", {"command": "ls; env"})),
                write("test-list.md", "- [ ] adds\n"),
                say(f"The list is written.\n{json.dumps(NAMED)}"),
            ],
            "RED": [write("tests/test_add.py", RED), say("The test is written.")],
            "GREEN": [
                call(
                    tool("Bash", {"command": "cat tests/test_add.py"}),
                    tool("Write", {"file_path": f"{folder}/tests/test_add.py", "content": ""}),
                ),
                write("calc.py", GREEN),
                say("The code is written."),
            ],
            "REFACTOR": [say("There is nothing to refactor.")],
            "END": [say(json.dumps(NONE))],
        }[state]


@pytest.mark.slow
def test_a_whole_cycle_over_the_real_sdk_with_a_busy_service_a_cut_stream_and_a_truncated_message(tmp_path: Path) -> None:
    busy = error(529, "overloaded_error", retry_after_ms="10")
    truncated = Reply(blocks=({"type": "text", "text": "I was about to"},), stop="max_tokens")
    model = Model(PLAN=[busy, busy], RED=[cut(say("The test is wri"))], GREEN=[truncated])
    p = project(tmp_path / "p")
    with ModelServer(model) as server:
        ran = p.run("run", "add numbers", "--agent", "anthropic", "--json", **server.outer)
    assert ran.code == 0, ran
    done = ran.json
    assert [c["subject"] for c in done["commits"]][:3] == ["plan: adds", "test: adds", "feat: adds"]
    events = p.run("history", "--json").json["events"]
    moves = [(e["on"], e["status"]) for e in events]
    assert moves == [
        ("start", "SUCCESS"), ("planned", "SUCCESS"), ("red", "SUCCESS"), ("agent-failed", "FAILURE"), ("green", "SUCCESS"),
        ("refactor", "SUCCESS"), ("complete", "SUCCESS"), ("offered", "SUCCESS"),
    ]  # fmt: skip
    assert model.tools == ["Read", "Bash", "Write", "Write", "Bash", "Write", "Write"]
    results = "\n".join(model.results)
    assert "def test_start" in results and "DETENT_ROLE=test-list" in results and "assert add(1, 2) == 3" in results
    assert "tests are frozen while the code is written" in results  # the tools keep to what the state lets an agent write
    assert p.git("show", "detent/add-numbers:calc.py") + "\n" == GREEN
    assert done["usage"]["input_tokens"] > 0 and done["usage"]["output_tokens"] > 0 and done["usage"]["usd"] > 0
    assert {body["model"] for body in server.bodies} == {"claude-opus-4-5-20251101"}
    assert all([t["name"] for t in body["tools"]] == ["Read", "Write", "Edit", "Bash", "Glob", "Grep"] for body in server.bodies)
    assert fresh_contexts(server.bodies) == 7  # five phases; the cut and the truncated message are asked for anew
    assert KEY not in "".join(Path(e["transcript"]).read_text() for e in events if e["transcript"]) + results


def fresh_contexts(bodies: list[Any]) -> int:
    """How often a conversation began, not counting the tries that the service turned away."""
    return sum(len(body["messages"]) == 1 for body in bodies) - 2


def test_without_a_key_the_model_is_never_asked_and_the_way_out_is_told(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    ran = p.run("run", "add numbers", "--agent", "anthropic", "--json", ANTHROPIC_API_KEY="")
    assert ran.code == 2 and "needs a key" in ran.json["error"] and "ANTHROPIC_API_KEY" in ran.json["hint"], ran


@pytest.mark.slow
def test_a_model_that_is_not_there_halts_the_run_at_once_and_no_other_is_tried(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    with ModelServer([]) as server:
        ran = p.run("run", "add numbers", "--agent", "anthropic:claude-nobody-1", "--json", **server.outer)
    assert (ran.code, ran.json["outcome"]) == (10, "halted"), ran
    assert "claude-nobody-1" in ran.json["error"]
    assert [body["model"] for body in server.bodies] == ["claude-nobody-1"]
