"""The MCP server on standard input and output: a real client, a real child process, a real repository."""

import json
import os
import signal
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequestFormParams, ElicitResult
from pydantic import BaseModel

from detent.blocks.check_card import object_of
from detent.errors import DetentError
from detent.evidence.outcomes.card import Card, Change, Checked
from detent.interfaces.mcp.dialog import Answer
from detent.interfaces.mcp.mcp_answers import LARGEST_TEXT, cut_answer
from detent.interfaces.mcp.mcp_work import answer, get_task, handed_in
from detent.interfaces.mcp.resources import OF_A_RUN, OF_THIS_CHECKOUT
from detent.interfaces.mcp.tools import TOOLS, GetTask
from detent.kernel.model import Briefing, Verdict
from tests.clients.session import LEGACY, MODERN, Agent, Waiting, by_hand, connected, gone, held, play
from tests.patience import LONG
from tests.project import GREEN, PLAN, RED, START, Project

ROOT = Path(__file__).parent.parent
GOLDEN = Path(__file__).parent / "golden" / "mcp.json"
META = "io.modelcontextprotocol"
CHANGE = Change("main…feat", "", "", "", (), "", ())
ERAS = pytest.mark.parametrize("mode", [LEGACY, MODERN])


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "p")


# -- what is offered ---------------------------------------------------------------------------------------------------------


async def offered(client: Client) -> dict[str, Any]:
    """Everything a client is told about, without what differs between the eras."""
    lists: dict[str, Sequence[BaseModel]] = {
        "tools": (await client.list_tools()).tools,
        "resources": (await client.list_resources()).resources,
        "templates": (await client.list_resource_templates()).resource_templates,
    }
    return {name: [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in found] for name, found in lists.items()}


@pytest.mark.slow
@ERAS
def test_both_eras_are_offered_the_tools_and_resources_that_are_kept(project: Project, mode: str) -> None:
    async def story() -> None:
        async with connected(project, mode=mode) as agent:
            assert agent.client.protocol_version == ("2025-11-25" if mode == LEGACY else mode)
            assert "get_task" in (agent.client.instructions or "") or mode == MODERN
            text = json.dumps(await offered(agent.client), indent=2, sort_keys=True) + "\n"
            assert text == GOLDEN.read_text("utf-8"), f"if this is meant, write it to {GOLDEN}:\n{text}"

    play(story)


def test_a_tool_that_says_what_a_person_has_to_say_is_not_offered() -> None:
    kept = json.loads(GOLDEN.read_text("utf-8"))
    assert [tool["name"] for tool in kept["tools"]] == list(TOOLS)
    assert list(TOOLS) == ["get_task", "submit_work", "request_scope_reduction", "escalate_for_external_help", "check"]
    said = {field for tool in kept["tools"] for field in tool["inputSchema"]["properties"]}
    assert not said & {"decision", "value", "answer", "guidance", "resume", "by", "channel"}


def test_the_structure_of_an_answer_is_the_one_of_the_command_line() -> None:
    kept = {tool["name"]: tool["outputSchema"]["properties"] for tool in json.loads(GOLDEN.read_text("utf-8"))["tools"]}
    assert set(kept.pop("get_task")) == set(Briefing.__struct_fields__)
    card = {"instruction", "left_out", "beside", *object_of(Checked(CHANGE, Card("", ""), "", ""))} - {"schema", "exit_code", "trees"}
    card -= {"places", "installed", "projects"}  # tests and flags name their files from the root, and nothing is installed for an agent
    assert set(kept.pop("check")) == card, "what `check --json` says, with what an agent needs beside it"
    assert len(kept) == 3 and all(set(fields) == set(Verdict.__struct_fields__) for fields in kept.values())


def test_every_tool_field_and_resource_has_its_row_in_the_docs() -> None:
    text = (ROOT / "docs" / "mcp.md").read_text("utf-8")
    fields = {field for tool in TOOLS.values() for field in tool.takes.__struct_fields__}
    named = [*(f"| `{name}" for name in (*TOOLS, *OF_THIS_CHECKOUT, *OF_A_RUN)), *(f"`{field}`" for field in fields)]
    assert not [name for name in named if name not in text]


def test_hello_and_the_list_of_tools_load_nothing_of_the_app(project: Project) -> None:
    project.env = {name: value for name, value in project.env.items() if not name.startswith("COV")}
    with by_hand(project, "-X", "importtime") as raw:
        raw.hello()
        raw.send("tools/list", 2)
        assert len(raw.answer()["result"]["tools"]) == len(TOOLS)
        assert raw.child.stdin is not None and raw.child.stderr is not None
        raw.child.stdin.close()
        loaded = {line.rpartition("|")[2].strip() for line in raw.child.stderr if line.startswith("import time:")}
    ours = {name.split(".")[1] for name in loaded if name.startswith("detent.")}
    assert "mcp.server.stdio" in loaded and "kernel" in ours
    assert not ours & {"app", "config", "world", "door", "workflows", "gates", "effects", "agents", "evidence", "git", "sandbox"}
    assert "detent.journal.journal" not in loaded


# -- one step after another --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [pytest.param(LEGACY, marks=pytest.mark.slow), MODERN])
def test_red_and_green_through_mcp_alone_with_every_kind_of_no(tmp_path: Path, mode: str) -> None:
    lint = tmp_path / "lint"
    project = Project(tmp_path / "p", {**START, "detent.toml": f'[preflight]\ncommands = ["{lint}"]\n'})

    async def story() -> None:
        async with connected(project, mode=mode) as agent:
            first = await agent.task()
            assert (first["state"], first["actor"]) == ("INITIALIZING", "agent") and PLAN in first["briefing"]
            project.write_plan()
            assert (await agent.submit())["state"] == "CREATING_BRANCH"
            assert (await agent.task())["step"]["type"] == "RED"
            project.write({"tests/test_add.py": RED})
            refused = await agent.submit(test_command="pytest tests/test_add.py", expectation="PASS")
            assert refused["status"] == "REFUSED" and "FAIL" in refused["reasons"][0]
            red = await agent.submit(test_command="pytest tests/test_add.py", expectation="FAIL")
            assert red["status"] == "NEEDS_ANALYSIS" and red["evidence"]["counts"]["errors"] + red["evidence"]["counts"]["failed"] == 1
            assert (await agent.submit(analysis_decision="SUCCESS"))["status"] == "SUCCESS"
            briefing = await agent.task()
            project.write({"calc.py": "def add(a, b):\n    return 0\n"})
            green = {"test_command": "pytest tests/test_add.py", "expectation": "PASS", "attempt_id": briefing["attempt_id"]}
            failed = await agent.submit(**green)
            assert failed["status"] == "FAILURE" and "assert 0 == 3" in failed["output"]
            assert await agent.submit(**green) == failed, "the same attempt gets the same verdict"
            assert (await agent.get("request_scope_reduction"))["status"] == "LOCKED"
            assert (await agent.get("escalate_for_external_help", markdown_report="# Help"))["status"] == "LOCKED"
            project.write({"calc.py": GREEN})
            unclear = await agent.submit(**{**green, "attempt_id": ""})
            assert unclear["status"] == "ERROR" and f"'{lint}' could not be started" in unclear["reasons"][0]
            lint.symlink_to("/bin/true")
            assert (await agent.submit(**{**green, "attempt_id": ""}))["status"] == "SUCCESS"
            assert (await agent.task())["state"] == "CODE_REVIEW"
            outside = await agent.error("submit_work", summary="s", findings="/etc/passwd")
            assert "not a file of this checkout" in outside
            assert (await agent.submit(findings="[]"))["state"] == "AWAITING_FINALIZATION"

    play(story)
    events = project.run("history", "--json", "-n", "100").json["events"]
    assert {e["channel"] for e in events if e["by"] == "agent"} == {"mcp"}


WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "a name that is nearly right": ("submit_work", {"summary": "s", "testCommand": "pytest"}, "did you mean 'test_command'?"),
    "a name that is not": ("submit_work", {"summary": "s", "answer": "approve"}, "takes no 'answer'"),
    "nothing said": ("submit_work", {}, "missing required field `summary`"),
    "an empty word": ("submit_work", {"summary": ""}, "missing required field `summary`"),
    "a word that is none of them": ("submit_work", {"summary": "s", "expectation": "MAYBE"}, "expectation (FAIL or PASS)"),
    "a list instead of text": ("submit_work", {"summary": "s", "findings": []}, "Expected `str`, got `array` - at `$.findings`"),
    "no report": ("escalate_for_external_help", {}, "markdown_report (needed)"),
    "a blank report": ("escalate_for_external_help", {"markdown_report": " \n"}, "the report is empty"),
    "a run that is not there": ("get_task", {"run": "pr-0"}, "there is no run pr-0"),
    "a tool that is not there": ("resume", {"guidance": "go on"}, "there is no tool 'resume'"),
}


@pytest.mark.slow
def test_a_call_that_cannot_be_made_is_told_why_and_how(project: Project, tmp_path: Path) -> None:
    folder = tmp_path / "later"
    folder.mkdir()

    async def story() -> None:
        async with connected(project, cwd=folder) as agent:
            assert "is not in a git repository" in await agent.error("get_task")
            later = Project(folder, {"a.py": ""})
            assert "there is no run in this repository yet" in await agent.error("get_task")
            assert "there is no run in this repository yet" in await agent.error("submit_work", summary="s")
            later.write(START)
            later.git("add", "-A"), later.git("commit", "-q", "-m", "a plan")
            assert (await agent.task())["state"] == "INITIALIZING"
            for what, (tool, arguments, sentence) in WRONG.items():
                assert sentence in await agent.error(tool, **arguments), what
            assert [e["on"] for e in (await read(agent, "detent://journal"))["events"]] == ["start"], "nothing was recorded"

    play(story)


# -- calls that are taken back, clients that go away ---------------------------------------------------------------------------


def stands(project: Project) -> dict[str, Any]:
    return project.run("status", "--json").json


@pytest.mark.slow
@pytest.mark.parametrize("mode", [LEGACY, pytest.param(MODERN, marks=pytest.mark.slow)])
def test_a_call_that_is_taken_back_ends_the_test_run_and_leaves_the_run_as_it_was(project: Project, mode: str) -> None:
    project.planned()
    waiting = Waiting(project)
    before = stands(project)

    async def story() -> None:
        seen: list[str] = []
        shown = anyio.Event()

        async def report(progress: float, total: float | None, message: str | None) -> None:
            seen.append(f"{progress:.0f} {message}")
            shown.set()

        async with connected(project, mode=mode) as agent:
            async with anyio.create_task_group() as group:
                group.start_soon(partial(agent.client.call_tool, "submit_work", waiting.call, progress_callback=report))
                processes = await waiting.processes()
                await shown.wait()
                busy = await agent.submit(test_command="pytest", expectation="FAIL")
                assert busy["status"] == "BUSY" and "is being worked on by process" in busy["reasons"][0]
                assert (await agent.task())["state"] == "EXECUTING_TDD", "a briefing is given meanwhile"
                group.cancel_scope.cancel()
            assert seen[0] == "1 submit_work: at work for 1 s"
            assert len(processes) == 2 and gone(processes)
            while held(project):
                await anyio.lowlevel.checkpoint()
            assert stands(project) == before
            (project.root / "tests" / "test_waits.py").unlink()
            project.write({"tests/test_add.py": RED})
            red = await agent.submit(test_command="pytest tests/test_add.py", expectation="FAIL")
            assert red["status"] == "NEEDS_ANALYSIS", "the next call is judged"

    play(story)


@pytest.mark.slow
def test_a_briefing_that_is_no_longer_wanted_ends_the_reviewer_and_counts_no_error(tmp_path: Path) -> None:
    reviewer, pipe = tmp_path / "reviewer", tmp_path / "told"
    os.mkfifo(pipe)
    reviewer.write_text(f"sleep 1000 & echo $$ $! > {pipe}; wait\n")
    settings = f'[review]\nagent = "command:sh {reviewer}"\n'
    project = Project(tmp_path / "p", {**START, "detent.toml": settings}).reddened()
    assert project.green()["status"] == "SUCCESS"

    async def story() -> None:
        async with connected(project) as agent:
            async with anyio.create_task_group() as group:
                group.start_soon(agent.client.call_tool, "get_task", {})
                told = await anyio.to_thread.run_sync(pipe.read_text, abandon_on_cancel=True)
                processes = [os.pidfd_open(int(pid)) for pid in told.split()]
                group.cancel_scope.cancel()
            assert len(processes) == 2 and gone(processes)
            while held(project):
                await anyio.lowlevel.checkpoint()
            now = stands(project)
            assert (now["state"], now["last"]["on"], now["counts"]) == ("CODE_REVIEW", "none-left", {})
            reviewer.write_text("echo []\n")
            assert (await agent.task())["state"] == "AWAITING_FINALIZATION"

    play(story)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "code"),
    [("end of input", 0), *(pytest.param(name, code, marks=pytest.mark.slow) for name, code in (("SIGTERM", 143), ("SIGINT", 130)))],
)
def test_the_end_of_the_client_or_a_signal_leaves_nothing_behind(project: Project, how: str, code: int) -> None:
    project.planned()
    waiting = Waiting(project)
    before = stands(project)
    with by_hand(project) as raw:
        raw.hello()
        raw.send("tools/call", 2, name="submit_work", arguments=waiting.call)
        handles: list[int] = []

        async def story() -> None:
            handles.extend(await waiting.processes())

        play(story)
        assert raw.child.stdin is not None and raw.child.stderr is not None
        if how == "end of input":
            raw.child.stdin.close()
        else:
            raw.child.send_signal(signal.Signals[how])
        assert raw.child.wait(LONG) == code
        assert raw.child.stderr.read() == ""
    assert gone(handles)
    assert stands(project) == before and not held(project)


@pytest.mark.slow
def test_nothing_but_the_protocol_goes_out_and_an_old_client_is_understood(project: Project) -> None:
    assert project.run("start").code == 0
    with by_hand(project) as raw:
        assert raw.hello("2025-06-18")["result"]["protocolVersion"] == "2025-06-18"
        assert raw.child.stdin is not None
        raw.child.stdin.write("this is no JSON\n" + "[" * 100_000 + "\n")
        raw.send("tools/call", 7, name="get_task", arguments={})
        answer = raw.answer()
        assert answer["id"] == 7 and answer["result"]["structuredContent"]["state"] == "INITIALIZING"
        out, err = raw.child.communicate(timeout=LONG)
    assert (out, raw.child.returncode) == ("", 0)
    assert "Traceback" not in err


# -- several at once, and from anywhere ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_clients_at_once_are_told_the_truth(project: Project) -> None:
    project.planned()
    waiting = Waiting(project)

    async def story() -> None:
        said: list[dict[str, Any]] = []

        async def submit(agent: Agent) -> None:
            said.append(await agent.get("submit_work", **waiting.call))

        async with connected(project) as one, connected(project, mode=LEGACY) as other, anyio.create_task_group() as group:
            group.start_soon(submit, one)
            processes = await waiting.processes()
            busy = await other.submit(test_command="pytest", expectation="FAIL")
            assert busy["status"] == "BUSY" and busy["state"] == "EXECUTING_TDD" and busy["instruction"] == "Wait, then call get_task."
            await anyio.to_thread.run_sync(project.run, "abort")
            assert gone(processes)
        assert said[0]["status"] == "STALE" and said[0]["state"] == "ABORTED"

    play(story)


async def read(agent: Agent, uri: str) -> Any:
    (content,) = (await agent.client.read_resource(uri)).contents
    return json.loads(getattr(content, "text", ""))


@pytest.mark.slow
def test_calls_and_resources_from_a_folder_below_and_from_a_linked_worktree(project: Project) -> None:
    project.planned()
    linked = project.root.parent / "linked"
    project.git("worktree", "add", "-q", "-b", "other", str(linked), "main")

    async def story() -> None:
        async with connected(project, cwd=project.root / "tests") as below, connected(project, cwd=linked) as beside:
            here, there = await below.task(), await beside.task()
            assert here["run"] == project.task()["run"] and here["state"] == "EXECUTING_TDD"
            assert there["run"] != here["run"] and there["state"] == "INITIALIZING"
            assert (linked / "ORCHESTRATION_STATE.json").exists()
            await can_be_read(below, here["run"])
            assert (await read(below, f"detent://runs/{there['run']}"))["state"] == "INITIALIZING"

    async def can_be_read(agent: Agent, run: str) -> None:
        assert await read(agent, "detent://run") == stands(project) == await read(agent, f"detent://runs/{run}")
        assert await read(agent, "detent://plan") == project.plan == await read(agent, f"detent://runs/{run}/plan")
        events = project.run("history", "--json", "-n", "200").json
        assert await read(agent, "detent://journal") == events == await read(agent, f"detent://runs/{run}/journal")
        for uri in ("detent://else", "detent://runs/", "detent://runs/x/y", "file:///etc/passwd", "detent://runs/pr-0"):
            with pytest.raises(MCPError, match="there is n"):
                await read(agent, uri)

    play(story)


# -- what a person is asked ----------------------------------------------------------------------------------------------------


class User:
    """The person before the client's dialogs."""

    def __init__(self, action: str, meanwhile: Project | None = None, **content: Any) -> None:
        self.action, self.content, self.meanwhile = action, content, meanwhile
        self.shown: list[ElicitRequestFormParams] = []

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        self.shown.append(params)
        if self.meanwhile is not None:
            await anyio.to_thread.run_sync(self.meanwhile.run, "resume")
        return ElicitResult(action=self.action, content=self.content or None)  # type: ignore[arg-type]


def halted(project: Project, settings: str = "") -> Project:
    """A run that waits for a person: the agent says that nothing is left to do, and the plan says otherwise."""
    if settings:
        project.write({"detent.toml": settings})
        project.git("add", "-A"), project.git("commit", "-q", "-m", "settings")
    project.task()
    assert project.submit(no_pr_left=True)["status"] == "HALTED"
    return project


def people(project: Project) -> list[tuple[str, str]]:
    return [(e["on"], e["channel"]) for e in project.run("history", "--json").json["events"] if e["by"] == "human" and e["on"] != "start"]


@pytest.mark.slow
@ERAS
def test_the_user_can_answer_in_a_dialog_of_the_client(project: Project, mode: str) -> None:
    halted(project)
    user = User("accept", choice="resume", note="look at entry two")

    async def story() -> None:
        async with connected(project, mode=mode, elicitation_callback=user) as agent:
            briefing = await agent.task()
            assert briefing["state"] == "INITIALIZING" and briefing["guidance"] == "look at entry two"
            assert (await agent.submit(no_pr_left=True))["status"] == "HALTED"
            user.content = {"choice": "finish"}
            assert (await agent.task())["state"] == "DONE"

    play(story)
    assert people(project) == [("resume", "client dialog"), ("finish", "client dialog")]
    assert len(user.shown) == 2 and "the plan has an open entry" in user.shown[0].message
    assert user.shown[0].requested_schema["properties"]["choice"]["enum"] == ["resume", "finish"]


SILENT = {
    "declined": User("decline"),
    "cancelled": User("cancel"),
    "filled in with something else": User("accept", choice="approve"),
    "filled in with nothing": User("accept"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "what"), [(LEGACY, "declined"), *(pytest.param(MODERN, what, marks=pytest.mark.slow) for what in SILENT)])
def test_any_other_answer_is_silence(project: Project, mode: str, what: str) -> None:
    halted(project)
    user = SILENT[what]
    user.shown.clear()

    async def story() -> None:
        async with connected(project, mode=mode, elicitation_callback=user) as agent:
            assert (await agent.task())["state"] == "HALTED"
            assert (await agent.task())["state"] == "HALTED"

    play(story)
    assert people(project) == [] and len(user.shown) == 1, "asked once"


@pytest.mark.slow
@pytest.mark.needs("terminals")
@pytest.mark.parametrize("mode", [pytest.param(LEGACY, marks=pytest.mark.slow), MODERN])
def test_an_answer_to_a_question_that_no_longer_stands_lapses(project: Project, mode: str) -> None:
    halted(project)
    user = User("accept", meanwhile=project, choice="finish")

    async def story() -> None:
        async with connected(project, mode=mode, elicitation_callback=user) as agent:
            assert (await agent.task())["state"] == "INITIALIZING"

    play(story)
    assert people(project) == [("resume", "terminal")]


def test_an_answer_counts_only_for_the_text_that_was_shown(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    halted(project)
    monkeypatch.chdir(project.root)
    asked = get_task(GetTask(), lambda: True)[1]
    assert asked is not None
    assert answer(Answer(asked.run, "0" * 64, "finish", ""), None, lambda: True) is None
    assert answer(Answer(asked.run, asked.digest, "approve", ""), None, lambda: True) is None
    assert people(project) == []
    verdict = answer(Answer(asked.run, asked.digest, "finish", ""), None, lambda: True)
    assert verdict is not None and verdict.state == "DONE"


@pytest.mark.slow
@ERAS
def test_an_answer_that_no_dialog_asked_for_is_turned_away(project: Project, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    halted(project)
    monkeypatch.chdir(project.root)
    asked = get_task(GetTask(), lambda: True)[1]
    assert asked is not None
    made_up: dict[str, Any] = {"action": "accept", "content": {"choice": "finish"}}
    params = {"name": "get_task", "arguments": {}, "inputResponses": {"decision": made_up}, "requestState": f"{asked.run} {asked.digest}"}
    if mode == MODERN:
        capable: dict[str, Any] = {"elicitation": {"form": {}}}
        params["_meta"] = {
            f"{META}/protocolVersion": MODERN,
            f"{META}/clientCapabilities": capable,
            f"{META}/clientInfo": {"name": "x", "version": "1"},
        }
    with by_hand(project) as raw:
        if mode == LEGACY:
            raw.hello()
        raw.send("tools/call", 2, **params)
        turned_away = raw.answer()
    assert turned_away.get("error", {}).get("code") == -32602 or turned_away["result"]["structuredContent"]["state"] == "HALTED"
    assert people(project) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "why",
    [
        "the client has no dialogs",
        *(pytest.param(why, marks=pytest.mark.slow) for why in ("they are switched off", "only a terminal will do")),
    ],
)
def test_no_dialog_is_shown_where_there_can_be_none(project: Project, why: str) -> None:
    halted(project, '[decisions]\nrequire = "terminal"\n' if why == "only a terminal will do" else "")
    user = User("accept", choice="finish")
    flags = ("--no-dialogs",) if why == "they are switched off" else ()

    async def story() -> None:
        able: dict[str, Any] = {} if why == "the client has no dialogs" else {"elicitation_callback": user}
        async with connected(project, *flags, **able) as agent:
            briefing = await agent.task()
            assert (briefing["state"], briefing["actor"]) == ("HALTED", "human") and "detent answer PLAN finish" in briefing["briefing"]

    play(story)
    assert user.shown == [] and people(project) == []


# -- what is handed in and given back ------------------------------------------------------------------------------------------


def test_findings_and_replies_are_json_or_files_of_the_checkout(tmp_path: Path) -> None:
    root = tmp_path / "p"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "f.json").write_text("[1]")
    (root / "empty").touch()
    (root / "out").symlink_to("/etc/passwd")
    assert handed_in(root, "findings", ' {"findings": []}') == ' {"findings": []}'
    assert handed_in(root, "findings", "sub/f.json") == handed_in(root, "findings", str(root / "sub" / "f.json")) == "[1]"
    assert handed_in(root, "findings", "empty") == "\n"
    assert handed_in(root, "reply", "ALREADY_SATISFIED") == "ALREADY_SATISFIED"
    for name in ("ALREADY_SATISFIED", "out", "../x", "/etc/passwd", "sub", "a\0b"):
        with pytest.raises(DetentError, match=r"not a file of this checkout|cannot be read|cannot contain NUL"):
            handed_in(root, "findings", name)


def test_a_long_text_is_cut_in_the_middle_so_that_the_end_gets_through() -> None:
    long = "begin" + "x" * 500_000 + "end"
    verdict = cut_answer(Verdict("FAILURE", "DEBUGGING", output=long, instruction="Call get_task."))
    briefing = cut_answer(Briefing("r", "pr", "S", "agent", "", "g", long, "i", last_error=long))
    for value in (verdict, briefing):
        assert len(msgspec.json.encode(value)) < 2 * LARGEST_TEXT + 2_000
    assert isinstance(verdict, Verdict) and verdict.output.startswith("begin") and verdict.output.endswith("end")
    assert "characters left out" in verdict.output
