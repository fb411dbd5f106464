"""Agents that speak the Agent Client Protocol, as they should and as they should not: a scripted program, with a scripted service of its model."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detent.agents import AgentFailed, Budget, Progress, Turn, Usage, ask
from detent.errors import DetentError
from detent.sandbox.process import Ran, run
from detent.tools import Toolbox
from tests.acp_agent import END, READY, Step, made, permission, update
from tests.agents_rigs import failure, turn
from tests.any_service import EACH, KEY, AnyService, Fault, Tool, denied
from tests.patience import LONG
from tests.project import ROOT

WORDS = "done: it adds"
BIN = os.environ["PATH"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def own(folder: Path, *steps: Step, **answers: Any) -> str:
    """The spec of a program of the user's that does this."""
    return f"acp:{made(folder.parent / 'agent', *steps, **answers)}"


def lines(t: Turn, kind: str = "") -> list[dict[str, Any]]:
    assert t.transcript is not None
    found = [json.loads(line) for line in t.transcript.read_text("utf-8").splitlines()]
    return [line for line in found if kind in ("", line["kind"])]


def held(folder: Path, **changes: Any) -> Turn:
    """A turn in which only `src/` may be written."""

    def may_write(path: str) -> str | None:
        return None if path.startswith("src/") else f"{path} may not be written in this state."

    def shell(command: str) -> Ran:
        return run(["sh", "-c", command], folder, {}, LONG)

    return turn(folder, toolbox=Toolbox(folder, may_write, shell, folder.parent / "spill"), **changes)


def failed(call: Callable[[], object]) -> AgentFailed:
    found = failure(call)
    assert isinstance(found, AgentFailed), found
    return found


# -- as it should be ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_turn_is_a_session_and_its_tokens_are_those_that_the_service_counted(folder: Path) -> None:
    steps: list[Step] = [["model"], ["send", update("tool_call", toolCallId="1", title="ls", kind="execute")], ["model"], END]
    with AnyService([Tool("shell", {"command": "ls"}), WORDS]) as service:
        t = turn(folder)
        reply = ask(own(folder, *steps), t, service.outer)
    assert (reply.text, reply.turns, reply.usage) == (WORDS, 2, service.usage), "the words before a tool call are not the last ones"
    assert service.usage == EACH + EACH
    assert {seen.key for seen in service.seen} == {KEY}, "the key is added outside"
    sent = [line["line"] for line in lines(t, "sent")]
    assert [message.get("method") for message in sent] == ["initialize", "session/new", "session/prompt"]
    assert sent[0]["params"]["clientCapabilities"] == {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
    assert sent[1]["params"] == {"cwd": str(folder), "mcpServers": []}
    assert sent[2]["params"]["prompt"][0]["text"].startswith("you test\n\n"), "the role is told, then the briefing"


def test_plan_words_and_tool_calls_are_in_the_live_view_and_in_the_transcript(folder: Path) -> None:
    steps: list[Step] = [
        ["send", update("plan", entries=[{"content": "look", "status": "completed"}, {"content": "write", "status": "pending"}])],
        ["say", f"I use {KEY[:20]}"], ["send", update("usage_update", used=1)], ["say", f"{KEY[20:]} now\n"],
        ["send", update("tool_call", toolCallId="1", title="ls -l", kind="execute", status="pending")],
        ["send", update("tool_call_update", toolCallId="1", status="failed")],
        ["send", update("tool_call_update", toolCallId="2", title="never announced", status="completed")],
        ["send", update("agent_thought_chunk", content={"type": "text", "text": "hm"})],
        ["model"], END,
    ]  # fmt: skip
    seen: list[Progress] = []
    with AnyService([WORDS]) as service:
        t = turn(folder, watch=seen.append)
        assert ask(own(folder, *steps), t, service.outer).text == WORDS
    shown = [(p.kind, p.text) for p in seen]
    assert shown == [
        ("text", "[x] look"), ("text", "[ ] write"), ("text", "I use [redacted] now"), ("tool", "ls -l"), ("result", "ls -l failed"),
        ("tool", "never announced"), ("text", WORDS),
    ], shown  # fmt: skip
    assert t.transcript is not None and KEY[:20] not in t.transcript.read_text(), "a key in two pieces is seen as one"
    assert [line["text"] for line in lines(t, "thought")] == ["hm"] and len(lines(t, "text")) == 2
    assert sum("tool_call" in json.dumps(line) for line in lines(t, "line")) == 3


def test_noise_between_the_messages_is_kept_and_means_nothing(folder: Path) -> None:
    noise: list[Step] = [
        ["raw", "starting up ..."], ["raw", "[1, 2]"], ["raw", '"text"'], ["raw", '{"id": {}, "method": 3}'], ["raw", "{" * 5000],
        ["raw", '{"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "other"}}'], ["raw", '{"jsonrpc": "2.0", "id": 99, "result": {}}'],
        ["raw", '{"jsonrpc": "2.0", "method": "auth/status_update", "params": []}'],
        ["send", update("available_commands_update", availableCommands=[{"name": "x" * 600_000}])],
        ["send", update("tool_call", toolCallId=7, locations="nowhere")],
        ["send", {"method": "session/update", "params": {"update": None}}],
    ]  # fmt: skip
    with AnyService([WORDS]) as service:
        t = turn(folder)
        assert ask(own(folder, *noise, ["model"], END), t, service.outer).text == WORDS
    assert len(lines(t, "line")) >= len(noise) + 2


def test_without_a_key_an_agent_of_ones_own_is_believed_since_it_may_have_another_model(folder: Path) -> None:
    reply = ask(own(folder, ["say", WORDS], END), turn(folder), {"PATH": BIN})
    assert (reply.text, reply.usage, reply.turns) == (WORDS, Usage(), 0)


@pytest.mark.parametrize(("path", "says"), [("src/a.py", "once, and -32601"), ("tests/a.py", "no, and -32601")])
def test_an_agent_of_the_protocols_own_package_understands_us(folder: Path, path: str, says: str) -> None:
    seen: list[Progress] = []
    t = held(folder, prompt=f"write {path}", watch=seen.append)
    reply = ask(f"acp:{sys.executable} {ROOT / 'tests' / 'acp_sdk_agent.py'}", t, {"PATH": BIN})
    assert reply.text == says
    assert [(p.kind, p.text) for p in seen][:2] == [("text", "[…] write it"), ("tool", f"write {path}")]


# -- what it may do ----------------------------------------------------------------------------------------------------------

OUTCOMES = {"yes": {"outcome": {"outcome": "selected", "optionId": "yes"}}, "no": {"outcome": {"outcome": "selected", "optionId": "no"}}}
ASKED = [
    (permission("edit", "src/a.py"), "yes"),
    (permission("edit", "tests/test_a.py"), "no"),
    (permission("delete", "tests/test_a.py"), "no"),
    (permission("edit", "../beside.py"), "no"),
    (permission("edit", "/etc/passwd"), "no"),
    (permission("edit", "src/../tests/test_a.py"), "no"),
    (permission("edit", "src/link/a.py"), "no"),
    (permission("edit"), "no"),
    (permission("edit", content=[{"type": "diff", "path": "tests/test_a.py", "newText": "x"}]), "no"),
    (permission("edit", content=[{"type": "diff", "path": "src/b.py", "newText": "x"}]), "yes"),
    (permission("edit", rawInput={"file_path": "tests/test_b.py"}), "no"),
    (permission("move", "src/c.py", rawInput={"path": "tests/c.py"}), "no"),
    (permission("other", rawInput={"path": "tests/test_b.py"}), "yes"),
    (permission("other", rawInput={"path": "tests/test_b.py", "content": "x"}), "no"),
    (permission("other", rawInput={"path": "src/d.py", "before": "x", "after": "y"}), "yes"),
    (permission("other", rawInput={"input": "*** Begin Patch\n*** Update File: src/d.py\n*** Move to: tests/d.py\n*** End Patch"}), "no"),
    (permission("other", rawInput={"input": "*** Begin Patch\n*** Add File: src/d.py\n+x\n*** End Patch"}), "yes"),
    (permission("edit", rawInput="*** Begin Patch\n*** Delete File: tests/e.py\n*** End Patch"), "no"),
    (permission("other", rawInput={"input": "whatever"}), "no"),
    (permission("other", rawInput={"command": "ls"}), "yes"),
    (permission("read", "tests/test_a.py"), "yes"),
    (permission("execute"), "yes"),
    (permission("fetch"), "no"),
    (permission("switch_mode"), "no"),
]  # fmt: skip


def test_permission_is_given_by_kind_and_by_what_the_state_lets_be_written(folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "src" / "link").symlink_to(folder.parent)
    steps: list[Step] = [["ask", asked] for asked, _ in ASKED]
    with AnyService([WORDS]) as service:
        t = held(folder)
        ask(own(folder, *steps, ["model"], END), t, service.outer)
    answers = [line["line"]["result"] for line in lines(t, "sent") if "result" in line["line"]]
    got = {json.dumps(asked["params"]["toolCall"]): answer for (asked, _), answer in zip(ASKED, answers, strict=True)}
    assert got == {json.dumps(asked["params"]["toolCall"]): OUTCOMES[wanted] for asked, wanted in ASKED}
    why = [line["why"] for line in lines(t, "refused")]
    assert "/etc/passwd is outside of the workspace." in why and "tests/test_a.py may not be written in this state." in why


def test_what_a_tool_call_said_before_counts_when_permission_is_asked(folder: Path) -> None:
    bare = permission("edit")
    bare["params"]["toolCall"] = {"toolCallId": "7"}
    announced = update("tool_call", toolCallId="7", title="write it", kind="edit", locations=[{"path": "tests/a.py"}])
    with AnyService([WORDS]) as service:
        t = held(folder)
        ask(own(folder, ["send", announced], ["ask", bare], ["model"], END), t, service.outer)
    assert [line["why"] for line in lines(t, "refused")] == ["tests/a.py may not be written in this state."]


def test_options_without_the_right_kind_are_answered_with_cancelled(folder: Path) -> None:
    odd = permission("execute")
    odd["params"]["options"] = [{"optionId": "yes", "name": "allow_once", "kind": "whatever"}]
    with AnyService([WORDS]) as service:
        t = held(folder)
        ask(own(folder, ["ask", odd], ["model"], END), t, service.outer)
    assert [m["line"]["result"] for m in lines(t, "sent") if "result" in m["line"]] == [{"outcome": {"outcome": "cancelled"}}]


def test_without_a_permit_nothing_is_written(folder: Path) -> None:
    with AnyService([WORDS]) as service:
        t = turn(folder)
        ask(own(folder, ["ask", permission("edit", "src/a.py")], ["model"], END), t, service.outer)
    assert [line["why"] for line in lines(t, "refused")] == ["src/a.py may not be written: nothing may be in this turn."]


def test_an_agent_that_stops_at_a_refusal_is_told_why_and_goes_on(folder: Path) -> None:
    stops: list[Step] = [["model"], ["ask", permission("edit", "tests/a.py")], END]
    with AnyService([Tool("edit", {}), WORDS]) as service:
        reply = ask(own(folder, *stops, ["model"], END), held(folder), service.outer)
    assert reply.text == WORDS
    assert (
        "tests/a.py may not be written in this state." in service.seen[-1].users[0] and "Continue without it" in service.seen[-1].users[0]
    )


def test_files_and_terminals_are_not_offered_whoever_asks(folder: Path) -> None:
    (folder.parent / "secret").write_text("of the user")
    asks: list[Step] = [
        ["ask", {"method": "fs/read_text_file", "params": {"sessionId": "s1", "path": str(folder.parent / "secret")}}],
        ["ask", {"method": "fs/write_text_file", "params": {"sessionId": "s1", "path": "/etc/passwd", "content": "x"}}],
        ["ask", {"method": "terminal/create", "params": {"sessionId": "s1", "command": "id"}}],
        ["ask", {"method": "whatever/else", "params": {}}],
    ]
    with AnyService([WORDS]) as service:
        t = held(folder)
        assert ask(own(folder, *asks, ["model"], END), t, service.outer).text == WORDS
    errors = [line["line"]["error"]["code"] for line in lines(t, "sent") if "error" in line["line"]]
    assert errors == [-32601] * 4 and t.transcript is not None and "of the user" not in t.transcript.read_text()


# -- as it should not be -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_agent_that_never_answers_is_stuck(folder: Path) -> None:
    for answers in ({"ready": None}, {"new": None}):
        found = failed(lambda a=answers: ask(own(folder, **a), turn(folder, silence=2.0), {"PATH": BIN}))  # type: ignore[misc]
        assert found.sort == "Stuck" and "did not begin a session in time" in found.message, found


@pytest.mark.sample(2)
@pytest.mark.parametrize("version", [2, 0, "1", None])
def test_another_version_of_the_protocol_ends_the_command_with_what_to_do(folder: Path, version: object) -> None:
    found = failure(lambda: ask(own(folder, ready={**READY, "protocolVersion": version}), turn(folder), {"PATH": BIN}))
    assert type(found) is DetentError and f"speaks version {version}, Detent speaks version 1" in found.message
    assert "ACP version 1" in (found.hint or "")


def test_a_missing_login_ends_the_command_with_what_to_do(folder: Path) -> None:
    refused = {"error": {"code": -32000, "message": "Authentication required"}}
    found = failure(lambda: ask(own(folder, new=refused), turn(folder), {"PATH": BIN}))
    assert type(found) is DetentError and "Authentication required" in found.message and "_API_KEY" in (found.hint or "")


@pytest.mark.slow
def test_a_session_that_cannot_be_had_is_a_failed_turn(folder: Path) -> None:
    for answer in ({"error": {"code": -32603, "message": "Internal error", "data": "no provider"}}, {"sessionId": ""}, {}):
        found = failed(lambda a=answer: ask(own(folder, new=a), turn(folder), {"PATH": BIN}))  # type: ignore[misc]
        assert found.sort == "Crashed" and "does not begin a session" in found.message, found


@pytest.mark.slow
def test_an_agent_that_floods_is_ended(folder: Path) -> None:
    big = update("tool_call_update", toolCallId="1", rawOutput="x" * 4_000_000)
    t = turn(folder, transcript=None)
    found = failed(lambda: ask(own(folder, ["flood", big]), t, {"PATH": BIN}))
    assert found.sort == "Crashed" and "wrote more than 128 MB" in found.message


def test_a_program_that_outlives_the_agent_ends_with_the_turn(folder: Path) -> None:
    number = folder.parent / "pid"
    with AnyService([WORDS]) as service:
        assert ask(own(folder, ["daemon", str(number)], ["model"], END), turn(folder), service.outer).text == WORDS
    with pytest.raises(ProcessLookupError):
        os.kill(int(number.read_text()), 0)


def test_an_agent_that_dies_in_the_middle_has_crashed_and_what_it_took_is_counted(folder: Path) -> None:
    with AnyService([Tool("shell", {})]) as service:
        found = failed(lambda: ask(own(folder, ["model"], ["exit", 3]), turn(folder), service.outer))
    assert found.sort == "Crashed" and "(exit code 3)" in found.message and "without a result" in found.message
    assert found.usage == service.usage == EACH


@pytest.mark.slow
def test_an_agent_that_asks_for_ever_is_stuck(folder: Path) -> None:
    for asked in (permission("execute"), permission("edit", "tests/a.py")):
        found = failed(lambda a=asked: ask(own(folder, ["asks", a]), held(folder), {"PATH": BIN}))  # type: ignore[misc]
        assert found.sort == "Stuck" and "asked for permission" in found.message


@pytest.mark.slow
def test_an_answer_without_a_stop_reason_is_judged_by_the_model_alone(folder: Path) -> None:
    for result in ({}, {"stopReason": None}, {"stopReason": "whatever"}):
        with AnyService([WORDS]) as service:
            assert ask(own(folder, ["model"], ["end", result]), turn(folder), service.outer).text == WORDS


STOPS = {"refusal": "Refused", "max_tokens": "Truncated", "max_turn_requests": "Budget", "cancelled": "Stopped"}


@pytest.mark.sample(2)
@pytest.mark.parametrize("stop", STOPS)
def test_an_agent_that_says_that_it_failed_is_believed(folder: Path, stop: str) -> None:
    with AnyService([WORDS]) as service:
        found = failed(lambda: ask(own(folder, ["model"], ["end", {"stopReason": stop}]), turn(folder), service.outer))
    assert found.sort == STOPS[stop] and found.usage == EACH


FAULTS: list[tuple[Fault, str]] = [
    (denied(429, "rate_limit_error"), "RateLimit"),
    (denied(500, "api_error"), "Network"),
    (denied(403, "permission_error"), "ModelUnavailable"),
    (denied(404, "model_not_found"), "ModelUnavailable"),
    (denied(400, "invalid_request_error"), "Crashed"),
    (denied(302, "", location="http://192.0.2.1/"), "Crashed"),
    (Fault(then="cut"), "Network"),
]


@pytest.mark.sample(3)
@pytest.mark.parametrize(("fault", "sort"), FAULTS)
def test_an_agent_that_ends_its_turn_well_after_a_failure_of_the_service_is_not_believed(folder: Path, fault: Fault, sort: str) -> None:
    with AnyService([fault]) as service:
        found = failed(lambda: ask(own(folder), turn(folder), service.outer))
    assert found.sort == sort, found


def test_a_key_that_is_not_accepted_ends_the_command_whatever_the_agent_makes_of_it(folder: Path) -> None:
    with AnyService([denied(401, "authentication_error")]) as service:
        found = failure(lambda: ask(own(folder), turn(folder), service.outer))
    assert type(found) is DetentError and found.message == "the model's service did not accept the key in OPENAI_API_KEY"


def test_an_agent_that_stops_before_it_did_what_its_model_asked_for_has_not_finished(folder: Path) -> None:
    with AnyService([Tool("shell", {})]) as service:
        found = failed(lambda: ask(own(folder, ["model"], ["say", WORDS], END), turn(folder), service.outer))
    assert found.sort == "Crashed" and "before it did what its model last asked for" in found.message


def test_an_agent_without_a_word_is_stuck(folder: Path) -> None:
    with AnyService([""]) as service:
        assert failed(lambda: ask(own(folder), turn(folder), service.outer)).sort == "Stuck"


@pytest.mark.slow
def test_no_call_is_passed_on_once_the_budget_is_used_up(folder: Path) -> None:
    for budget, word in ((Budget(turns=1), "turns"), (Budget(tokens=EACH.tokens), "tokens")):
        with AnyService([Tool("shell", {}), WORDS]) as service:
            found = failed(lambda b=budget: ask(own(folder, ["model"], ["model"], END), turn(folder, budget=b), service.outer))  # type: ignore[misc]
            assert (found.sort, len(service.seen)) == ("Budget", 1) and word in found.message
            assert found.usage == EACH


# -- the rows ----------------------------------------------------------------------------------------------------------------


def row(folder: Path, service: AnyService, *steps: Step) -> dict[str, str]:
    """The environment in which a scripted program is what `acp:qwen` finds."""
    return {"PATH": f"{made(folder.parent / 'bin' / 'qwen', *steps).parent}:{BIN}", **service.outer}


def test_the_model_of_the_spec_is_asked_and_the_mode_is_set(folder: Path) -> None:
    with AnyService([WORDS]) as service:
        t = turn(folder)
        assert ask("acp:qwen:vendor/m-2", t, row(folder, service)).text == WORDS
    assert [seen.model for seen in service.seen] == ["vendor/m-2"]
    modes = [line["line"]["params"]["modeId"] for line in lines(t, "sent") if line["line"].get("method") == "session/set_mode"]
    assert modes == ["default"]


def test_an_agent_that_asks_another_model_than_it_was_told_is_not_believed(folder: Path) -> None:
    with AnyService([WORDS]) as service:
        found = failed(lambda: ask("acp:qwen:m-2", turn(folder), row(folder, service, ["model", "m-cheap"], END)))
    assert found.sort == "ModelUnavailable" and "m-2 should have been asked, but m-cheap was" in found.message


def test_an_agent_that_only_reports_another_model_is_judged_by_what_was_asked(folder: Path) -> None:
    reported = update("config_option_update", configOptions=[{"id": "model", "currentValue": "m-cheap"}])
    with AnyService([WORDS]) as service:
        assert ask("acp:qwen:m-2", turn(folder), row(folder, service, ["send", reported], ["model"], END)).text == WORDS


def test_a_known_agent_that_does_not_ask_its_model_is_not_believed(folder: Path) -> None:
    with AnyService([WORDS]) as service:
        found = failed(lambda: ask("acp:qwen:m-2", turn(folder), row(folder, service, ["say", WORDS], END)))
    assert found.sort == "Crashed" and "without asking its model" in found.message


def test_what_is_missing_is_said_with_what_to_do(folder: Path) -> None:
    with AnyService([WORDS]) as service:
        env = row(folder, service)
        bare = failure(lambda: ask("acp:qwen:m", turn(folder), {**service.outer, "PATH": "/nonexistent"}))
        unpaid = failure(lambda: ask("acp:qwen:m", turn(folder), {"PATH": env["PATH"]}))
        unnamed = failure(lambda: ask("acp:qwen", turn(folder), env))
        dollars = failure(lambda: ask("acp:qwen:m", turn(folder, budget=Budget(usd=1.0)), env))
        gone = failure(lambda: ask("acp:no-such-program --acp", turn(folder), env))
        empty = failure(lambda: ask("acp:", turn(folder), env))
    assert not service.seen
    assert bare.message == "qwen is not installed (npm install -g @qwen-code/qwen-code)"
    assert (unpaid.message, unpaid.hint) == (
        "qwen has neither a login nor a key", "set OPENAI_API_KEY in the environment that starts detent",
    )  # fmt: skip
    assert unnamed.hint == "name it: --agent acp:qwen:MODEL"
    assert "a limit in dollars cannot be kept" in dollars.message
    assert gone.message == "there is no program 'no-such-program' that could be started"
    assert empty.message == "the agent's command is empty"


def test_a_service_on_ones_own_machine_needs_no_key(folder: Path) -> None:
    with AnyService([WORDS]) as service:
        env = {**row(folder, service), "OPENAI_API_KEY": ""}
        assert ask("acp:qwen:m", turn(folder), env).text == WORDS
    assert {seen.key for seen in service.seen} == {""}
