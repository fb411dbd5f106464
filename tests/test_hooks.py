"""The hooks of clients: what each state lets through, by events as the real clients write them; failing closed; and what a call costs."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from detent.app.conversation import PROTECTED
from detent.app.hooks_seen import FOLDER
from detent.evidence.runners import RUNNERS
from detent.interfaces.hooks.forbidden import for_people, runs_tests
from detent.interfaces.hooks.hook_clients import CLIENTS
from detent.interfaces.hooks.light_json import dumps, loads
from detent.interfaces.hooks.quick import reply_to
from detent.interfaces.hooks.shell import simple_commands, written
from detent.interfaces.hooks.words import deserves_a_look
from detent.interfaces.register import PARTS
from detent.kernel.permit import looks_like, simple_match, whole
from detent.tools.globs import matches
from tests.project import Project

Json = dict[str, Any]
Form = Callable[[Project, str], Json]  # an event for a command or a file


# -- events, as the clients write them ---------------------------------------------------------------------------------------


def event(project: Project, name: str, **more: Any) -> Json:
    where = {"session_id": "3356e70e", "transcript_path": "/home/x/t.jsonl", "cwd": str(project.root), "permission_mode": "acceptEdits"}
    return {**where, "hook_event_name": name, **more}


def tool(project: Project, name: str, **fields: str) -> Json:
    return event(project, "PreToolUse", tool_name=name, tool_input=fields, tool_use_id="toolu_1")


def claude_shell(project: Project, command: str) -> Json:
    return tool(project, "Bash", command=command, description="a command")


def claude_write(project: Project, path: str) -> Json:
    return tool(project, "Write", file_path=str(project.root / path), content="x")


def codex_shell(project: Project, command: str) -> Json:
    return tool(project, "Bash", command=command)


def codex_write(project: Project, path: str) -> Json:
    return tool(project, "apply_patch", command=f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch")


def gemini_tool(project: Project, name: str, **fields: str) -> Json:
    return event(project, "BeforeTool", tool_name=name, tool_input=fields)


def copilot_tool(project: Project, name: str, **fields: str) -> Json:
    return {"sessionId": "s", "timestamp": 1, "cwd": str(project.root), "toolName": name, "toolArgs": fields}


def cursor_event(project: Project, name: str, **more: Any) -> Json:
    return {"conversation_id": "c", "cwd": str(project.root), "workspace_roots": [str(project.root)], "hook_event_name": name, **more}


FORMS: dict[str, tuple[Form, Form]] = {
    "claude": (claude_shell, claude_write),
    "codex": (codex_shell, codex_write),
    "gemini": (
        lambda p, command: gemini_tool(p, "run_shell_command", command=command),
        lambda p, path: gemini_tool(p, "write_file", file_path=str(p.root / path), content="x"),
    ),
    "qwen": (
        lambda p, command: tool(p, "run_shell_command", command=command),
        lambda p, path: tool(p, "edit", file_path=str(p.root / path), new_string="x"),
    ),
    "copilot": (
        lambda p, command: copilot_tool(p, "bash", command=command),
        lambda p, path: copilot_tool(p, "create", path=str(p.root / path), file_text="x"),
    ),
    "opencode": (
        lambda p, command: tool(p, "bash", command=command),
        lambda p, path: tool(p, "write", filePath=str(p.root / path), content="x"),
    ),
    "cursor": (
        lambda p, command: cursor_event(p, "beforeShellExecution", command=command),
        lambda p, path: cursor_event(p, "preToolUse", tool_name="Write", tool_input={"file_path": str(p.root / path)}),
    ),
}
STOPS: dict[str, tuple[Json, str]] = {  # what an agent that wants to stop looks like, and where the answer has the reason
    "claude": ({"hook_event_name": "Stop"}, "reason"),
    "codex": ({"hook_event_name": "Stop"}, "reason"),
    "gemini": ({"hook_event_name": "AfterAgent"}, "reason"),
    "qwen": ({"hook_event_name": "Stop"}, "reason"),
    "copilot": ({"stopReason": "end_turn", "transcriptPath": "/home/x/t"}, "reason"),
    "cursor": ({"hook_event_name": "stop", "status": "completed"}, "followup_message"),
}
BEGINS: dict[str, Json] = {
    **{name: {"hook_event_name": "SessionStart", "source": "startup"} for name in ("claude", "codex", "gemini", "qwen")},
    "copilot": {"source": "new", "initialPrompt": "x"},
}


def said(client: str, given: Json) -> str:
    """The reason of a refusal, in the form that the client reads; empty if nothing is said."""
    answer = reply_to(CLIENTS[client], given)
    if answer is None:
        return ""
    if client in ("claude", "codex", "qwen"):
        told = answer["hookSpecificOutput"]
        assert isinstance(told, dict) and told["permissionDecision"] == "deny" and told["hookEventName"] == "PreToolUse"
        return str(told["permissionDecisionReason"])
    forms: dict[str, tuple[Json, str]] = {
        "gemini": ({"decision": "deny"}, "reason"),
        "copilot": ({"permissionDecision": "deny"}, "permissionDecisionReason"),
        "opencode": ({}, "refused"),
        "cursor": ({"permission": "deny"}, "agent_message"),
    }
    fixed, name = forms[client]
    assert fixed.items() <= answer.items(), answer
    return str(answer[name])


# -- what each state lets through --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Project]:
    """One project in each situation that is judged differently."""
    made = {
        name: Project(tmp_path_factory.mktemp(name) / "p") for name in ("PLANNING", "RED", "GREEN", "REFACTOR", "HALTED", "NONE", "ENDED")
    }
    state = str(tmp_path_factory.mktemp("state"))
    for project in made.values():
        project.env["XDG_STATE_HOME"] = state
    made["PLANNING"].task()
    made["RED"].planned()
    made["GREEN"].reddened()
    made["REFACTOR"].reddened("RED", "GREEN", "REFACTOR").green()
    made["HALTED"].task()
    made["HALTED"].submit(no_pr_left=True)
    made["ENDED"].task()
    made["ENDED"].run("abort")
    return made


OPEN = {  # the files that may be written, of all that are tried
    "PLANNING": {"ACTIVE_PR.json"},
    "RED": {"tests/test_add.py", "tests/conftest.py"},
    "GREEN": {"calc.py", "pkg/new.py", "FINDINGS.json", "tests/conftest.py"},
    "REFACTOR": {"calc.py", "pkg/new.py", "FINDINGS.json", "tests/test_add.py", "tests/conftest.py"},
    "HALTED": {"calc.py", "pkg/new.py", "FINDINGS.json", "tests/test_add.py", "tests/conftest.py"},
}
ALWAYS_SHUT = (
    "ORCHESTRATION_STATE.json",
    "error.log",
    ".git/config",
    ".git/hooks/pre-commit",
    ".GIT/config",
    ".git/detent/journal.db",
    "ACTIVE_PR.json.rejected",
)
FILES = ("calc.py", "pkg/new.py", "tests/test_add.py", "tests/conftest.py", "ACTIVE_PR.json", "FINDINGS.json", *ALWAYS_SHUT)


@pytest.mark.sample(12)
@pytest.mark.parametrize(("client", "state"), list(product(FORMS, OPEN)))
def test_a_state_lets_exactly_its_files_be_written(states: dict[str, Project], client: str, state: str) -> None:
    project, (shell, write) = states[state], FORMS[client]
    assert {path for path in FILES if not said(client, write(project, path))} == OPEN[state]
    assert {path for path in FILES if not said(client, shell(project, f"echo x >> {path}"))} == OPEN[state], "and by the shell"
    switches = CLIENTS[client].own_files
    assert all("switches Detent's hooks on" in said(client, write(project, path)) for path in switches)
    assert not said(client, write(project, "/tmp/elsewhere")), "what lies outside is no part of the change"


@pytest.mark.parametrize("client", FORMS)
@pytest.mark.parametrize("state", ["NONE", "ENDED"])
def test_where_there_is_no_run_nothing_is_said(states: dict[str, Project], client: str, state: str) -> None:
    project, (shell, write) = states[state], FORMS[client]
    others = [{"cwd": str(project.root), **given} for given in (STOPS[client][0] if client in STOPS else {}, BEGINS.get(client, {}))]
    for given in (shell(project, "pytest"), write(project, ".git/config"), *others):
        assert reply_to(CLIENTS[client], given) is None


@pytest.mark.parametrize("client", FORMS)
@pytest.mark.parametrize("state", ["PLANNING", "RED", "GREEN", "REFACTOR"])
def test_tests_are_not_run_through_the_shell_and_the_right_way_is_named(states: dict[str, Project], client: str, state: str) -> None:
    shell, _ = FORMS[client]
    reason = said(client, shell(states[state], "cd tests && python -m pytest -q"))
    assert "The machine runs the tests itself" in reason and "submit_work" in reason
    assert not said(client, shell(states[state], "grep -rn pytest . | head; git log --oneline; python -c 'print(1)'"))


@pytest.mark.parametrize("client", FORMS)
@pytest.mark.parametrize("state", OPEN)
def test_what_only_people_say_is_refused_in_every_state(states: dict[str, Project], client: str, state: str) -> None:
    shell, _ = FORMS[client]
    for words in ("resume --guidance x", "answer REVIEW approve", "abort", "rollback 3", "steer x", "doctor --accept", "init --remove"):
        assert "is for a person, not for an agent" in said(client, shell(states[state], f"true && detent {words}")), words
    for words in ("get-task", "status --json", "history", "doctor", "submit-work --summary x"):
        assert not said(client, shell(states[state], f"detent {words}")), words


def test_a_halted_run_lets_a_person_have_things_mended_and_tested(states: dict[str, Project]) -> None:
    assert states["HALTED"].run("status", "--json").json["state"] == "HALTED"
    assert not said("claude", claude_shell(states["HALTED"], "pytest"))
    assert "It is a person's turn" in said("claude", claude_write(states["HALTED"], "error.log"))


def test_a_link_does_not_lead_around_and_a_home_folder_is_understood(states: dict[str, Project], tmp_path: Path) -> None:
    project = states["GREEN"]
    (tmp_path / "link").symlink_to(project.root / "tests" / "test_add.py")
    (tmp_path / "git").symlink_to(project.root / ".git")
    assert "tests are frozen" in said("claude", tool(project, "Edit", file_path=str(tmp_path / "link")))
    assert "in the git dir" in said("claude", tool(project, "Write", file_path=str(tmp_path / "git" / "config")))
    state = os.environ["XDG_STATE_HOME"]
    assert "belongs to Detent" in said("claude", tool(project, "Write", file_path=f"{state}/detent/anchors/x"))


def test_a_folder_below_and_one_outside_are_judged_by_the_project_of_the_session(
    states: dict[str, Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = states["GREEN"]
    below = {**tool(project, "Edit", file_path="test_add.py"), "cwd": str(project.root / "tests")}
    assert "tests/test_add.py is a test" in said("claude", below)
    gone = {**claude_shell(project, "pytest"), "cwd": "/"}
    assert not said("claude", gone)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(project.root))
    assert "The machine runs the tests itself" in said("claude", gone)


def test_a_patch_is_seen_whole_and_also_in_the_shell(states: dict[str, Project]) -> None:
    patch = "*** Begin Patch\n*** Update File: calc.py\n*** Move to: tests/test_add.py\n@@\n+x\n*** Add File: a.py\n+x\n*** End Patch"
    assert "tests/test_add.py is a test" in said("codex", tool(states["GREEN"], "apply_patch", command=patch))
    assert "tests/test_add.py is a test" in said("codex", codex_shell(states["GREEN"], f"apply_patch <<'EOF'\n{patch}\nEOF"))
    assert not said("codex", tool(states["GREEN"], "apply_patch", command=patch.replace("tests/test_add.py", "b.py")))


@pytest.mark.parametrize("name", ["Read", "Grep", "mcp__detent__get_task", "Task", "WebFetch"])
def test_other_tools_and_other_events_are_not_looked_at(states: dict[str, Project], name: str) -> None:
    assert reply_to(CLIENTS["claude"], tool(states["GREEN"], name, file_path="tests/test_add.py", command="pytest")) is None
    assert reply_to(CLIENTS["claude"], event(states["GREEN"], "PostToolUse", tool_name="Bash", tool_input={"command": "pytest"})) is None


def test_between_two_steps_an_agent_is_sent_to_get_task(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    project.task()
    project.write_plan()
    assert project.submit()["state"] == "CREATING_BRANCH"
    assert "call get_task first" in said("claude", claude_write(project, "calc.py"))
    assert project.task()["state"] == "EXECUTING_TDD"
    assert "RED step" in said("claude", claude_write(project, "calc.py"))


@pytest.mark.slow
def test_a_review_by_hand_lets_its_findings_be_written_and_nothing_else(tmp_path: Path) -> None:
    project = Project(tmp_path / "p").reviewing()
    assert {path for path in FILES if not said("claude", claude_write(project, path))} == {"FINDINGS.json"}


@pytest.mark.slow
def test_a_run_that_the_machine_drives_elsewhere_does_not_bind_a_persons_own_session(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    ran = project.run("run", "add numbers", "--workflow", "tdd", "--agent", "command:false", "--json")
    assert ran.json["state"] == "HALTED", ran
    for given in (
        claude_shell(project, "pytest"),
        claude_write(project, "calc.py"),
        event(project, "Stop"),
        event(project, "SessionStart"),
    ):
        assert reply_to(CLIENTS["claude"], given) is None
    assert "is for a person, not for an agent" in said("claude", claude_shell(project, "detent resume"))
    assert "in the git dir" in said("claude", claude_write(project, ".git/config"))


def test_the_phases_of_tdd_are_held_in_the_same_way(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    assert project.run("start", "add numbers", "--workflow", "tdd").code == 0
    assert {path for path in (*FILES, "test-list.md") if not said("codex", codex_write(project, path))} == {"test-list.md"}
    project.write({"test-list.md": "# Test list\n\n- [ ] adds two numbers\n"})
    chosen = {"description": "adds two numbers", "testFile": "tests/test_add.py", "implFile": "calc.py"}
    assert project.submit(reply=json.dumps({"currentTest": chosen}))["state"] == "RED"
    open_ = {"tests/test_add.py", "tests/conftest.py", "test-list.md"}
    assert {path for path in (*FILES, "test-list.md") if not said("codex", codex_write(project, path))} == open_


def test_a_linked_worktree_has_a_run_of_its_own(states: dict[str, Project], tmp_path: Path) -> None:
    states["GREEN"].git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other", "main")
    linked = {**claude_shell(states["GREEN"], "pytest"), "cwd": str(tmp_path / "linked")}
    assert not said("claude", linked)
    done = subprocess.run(states["GREEN"].argv("start"), cwd=tmp_path / "linked", env=states["GREEN"].env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "The machine runs the tests itself" in said("claude", linked)
    assert "in the git dir" in said(
        "claude", {**tool(states["GREEN"], "Write", file_path=str(states["GREEN"].root / ".git/config")), "cwd": str(tmp_path / "linked")}
    )


# -- stopping and beginning --------------------------------------------------------------------------------------------------


@pytest.mark.sample(2)
@pytest.mark.parametrize("client", STOPS)
def test_an_agent_that_stops_early_is_told_what_is_left_three_times_and_anew_after_progress(tmp_path: Path, client: str) -> None:
    project = Project(tmp_path / "p").planned()
    for round_ in range(2):
        for time in (1, 2, 3):
            given, where = {"cwd": str(project.root), **STOPS[client][0], "stop_hook_active": time > 1}, STOPS[client][1]
            answer = reply_to(CLIENTS[client], given)
            assert answer is not None
            reason = str(answer[where])
            assert "RED of add" in reason and "submit_work" in reason and f"reminder {time} of 3" in reason
        assert reply_to(CLIENTS[client], given) is None
        if round_ == 0:
            assert project.submit(test_command="true", expectation="FAIL")["status"] == "REFUSED"


def test_an_agent_may_stop_where_it_is_a_persons_turn_and_where_the_journal_is_broken(states: dict[str, Project], tmp_path: Path) -> None:
    assert reply_to(CLIENTS["claude"], event(states["HALTED"], "Stop")) is None
    project = Project(tmp_path / "p").planned()
    damage(project.root / ".git" / "detent")
    for client, (given, _) in STOPS.items():
        assert reply_to(CLIENTS[client], {"cwd": str(project.root), **given}) is None


@pytest.mark.parametrize("client", BEGINS)
def test_a_session_begins_with_a_word_about_get_task(states: dict[str, Project], client: str) -> None:
    answer = reply_to(CLIENTS[client], {"cwd": str(states["RED"].root), **BEGINS[client]})
    assert answer is not None and "Call get_task" in str(answer.get("hookSpecificOutput", answer))


# -- failing closed ----------------------------------------------------------------------------------------------------------


def damage(folder: Path) -> None:
    lose(folder)  # with the log of newest pages, which would stand in for what is damaged
    (folder / "journal.db").write_bytes(b"not a database, " * 500)


def lose(folder: Path) -> None:
    for file in folder.glob("journal.db*"):
        file.unlink()


def strip(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "journal.db")) as journal:
        journal.execute("DROP TABLE heads")


TROUBLE = {"the journal is damaged": damage, "the journal is gone": lose, "the journal lost a table": strip}


@pytest.mark.parametrize("trouble", TROUBLE)
def test_what_cannot_be_judged_is_refused(tmp_path: Path, trouble: str) -> None:
    project = Project(tmp_path / "p").planned()
    TROUBLE[trouble](project.root / ".git" / "detent")
    reason = said("claude", claude_shell(project, "ls"))
    assert "Detent cannot tell what state its run is in" in reason and "detent doctor" in reason


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "nonsense",
        "{} {}",
        '{"a": "\n"}',
        "[" * 100_000,
        '{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": 5}}',
    ],
)
def test_an_event_that_cannot_be_read_is_refused_while_a_run_is_open(states: dict[str, Project], text: str) -> None:
    refused = states["RED"].run("hook", "claude", stdin=text)
    assert (refused.code == 2 and "so it is refused" in refused.err) or "deny" in refused.out
    allowed = states["NONE"].run("hook", "claude", stdin=text)
    assert (allowed.code, allowed.out) == (0, "")


@pytest.mark.parametrize("text", ['{"a": "\\u00e9\\ud83d\\ude00 \\n", "b": [1, -2.5e3, true, null], "a": {}}', " [] \n", '"\\"x"', "NaN"])
def test_json_is_read_as_the_package_reads_it(text: str) -> None:
    assert repr(loads(text)) == repr(json.loads(text))


def test_json_is_written_so_that_the_package_reads_the_same() -> None:
    value = {"a": {"b": 'quote " line \n back \\ é \ud800 \x00'}, "c": ""}
    assert json.loads(dumps(value)) == value


def test_a_client_that_is_not_known_is_named(states: dict[str, Project]) -> None:
    ran = states["RED"].run("hook", "emacs", stdin="{}")
    assert ran.code == 2 and "'emacs' is not one of" in ran.err


# -- texts -------------------------------------------------------------------------------------------------------------------

RUNS = (
    "pytest", "./.venv/bin/pytest -x", "true; pytest", "python -m pytest", "python3 -W error -m unittest", "bash -c 'pytest -q'",
    "env X=1 pytest", "X=1 pytest", "timeout 60 uv run --frozen pytest",
    "(pytest)", "echo $(pytest)", 'echo "$(pytest)"', "bash <<'EOF'\npytest\nEOF", "if true; then pytest; fi", "npm test",
    "npm run test:unit", "npx jest", "node --test", "go test ./...", "cargo test",
    "mvn -q test", "./gradlew check", "make -C x test", "coverage run -m pytest", "pytest 2>&1 | tail -5", "sh -lc 'cd a && py.test'",
    "eval pytest", "ls &&\npytest", "sudo nice -n 5 pytest", "tox -e py",
)  # fmt: skip
RUNS_NOT = (
    "grep pytest pyproject.toml", "pip install pytest", "git commit -m 'add; pytest'", "pytest --version",
    "cat > a.py <<'EOF'\nimport pytest\npytest.main()\nEOF\nls", "echo \"don't\" # pytest is nice",
    "npm install", "npm run build", "go build", "make", "node x.js", "ls tests", "cargo build", "which pytest", "python x.py --test", "",
)  # fmt: skip


@pytest.mark.parametrize("text", RUNS)
def test_a_call_of_a_test_runner_is_seen(text: str) -> None:
    assert any(runs_tests(words, []) for words, _ in simple_commands(text))
    assert deserves_a_look(text, []), "and the quick look does not miss it"


@pytest.mark.parametrize("text", RUNS_NOT)
def test_a_word_about_a_test_runner_is_no_call(text: str) -> None:
    assert not any(runs_tests(words, []) for words, _ in simple_commands(text))


def test_the_projects_own_test_command_is_seen_whatever_it_is() -> None:
    (words, _), *_ = simple_commands("./scripts/ci fast --all")
    assert runs_tests(words, ["./scripts/ci", "fast"]) and runs_tests(words, ["sh", "-c", "./scripts/ci fast"])
    assert not runs_tests(words, ["./scripts/other"])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("uvx detent-gate abort", "`detent abort`"), ("uvx --from detent-gate detent resume", "`detent resume`"),
        ("uv tool run --from 'git+https://x/y' detent steer x", "`detent steer`"), ("pipx run detent-gate answer A b", "`detent answer`"),
        ("python -m detent abort", "`detent abort`"), ("detent -C x answer A b", "`detent answer`"), ("git notes add -m x", "`git notes`"),
        ("git notes --ref=tdd-handoffs show HEAD", ""),
        ("git -C x notes --ref y remove", "`git notes`"), ("git update-ref refs/detent/a HEAD", "`git update-ref` on Detent's own refs"),
        ("git update-ref refs/heads/a HEAD", ""),
        ("git config core.hooksPath x", "`git config`"), ("git config user.name", ""), ("git config --get a.b", ""),
        ("git config --unset a.b", "`git config`"), ("git commit -m 'detent abort'", ""),
    ],
)  # fmt: skip
def test_what_is_a_persons_to_say_is_named(text: str, named: str) -> None:
    assert for_people(simple_commands(text)[0][0]) == named
    assert deserves_a_look(text, []) or not named


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("a > b 2>&1", ["b"]), ("a >>b", ["b"]), ("a &> b", ["b"]), ("cat < b", []), ("tee -a b c", ["b", "c"]), ("rm -rf b", ["b"]),
        ("mv a b", ["a", "b"]), ("cp a b", ["b"]), ("sed -i s/x/y/ b", ["b"]),
        ("sed s/x/y/ b", []), ("dd if=a of=b", ["b"]), ("chmod +x b", ["b"]), ("cat > 'a b' <<EOF\nx > y\nEOF", ["a b"]), ("sudo rm b", ["b"]),
    ],
)  # fmt: skip
def test_the_files_that_a_command_writes_are_seen(text: str, files: list[str]) -> None:
    assert [path for simple in simple_commands(text) for path in written(simple)] == files
    assert deserves_a_look(text, []) or not files


@pytest.mark.parametrize("text", ["'" * 3001, "<<a\n" * 3000, "$(" * 50_000, "x" * 300_000, "\\" * 99_999, '"$(`' * 20_000], ids=range(6))
def test_no_text_takes_long(text: str) -> None:
    begun = os.times().user
    simple_commands(text)
    assert os.times().user - begun < 3


# -- one rule, two readers ---------------------------------------------------------------------------------------------------

PATHS = (
    "calc.py", "tests/test_a.py", "test_a.py", "a_test.py", "tests.py", "src/test/data.json", "src/tests/deep/er.txt", "atests/x.py",
    "tests", "conftest.py", "tests/conftest.py", "pkg/testing.py", "test_a.txt",
    "pytest/test_a.py", ".github/workflows/test_x.py", "docs/tests.md", "a/b/c_test.py", "_test.py", "test_.py", "pytest.ini",
    "tests/pytest.ini", ".git", ".git/config", "error.log", "a/error.log", "x.rejected", "a\nb.py",
)  # fmt: skip


@pytest.mark.parametrize("name", RUNNERS)
def test_the_quick_look_takes_no_test_for_something_else(name: str) -> None:
    likes = list(RUNNERS[name].tests_like)
    assert [path for path in PATHS if likes and RUNNERS[name].is_test(path) and not looks_like(path, likes)] == []


@pytest.mark.parametrize("glob", [*PROTECTED, "**", "docs/", "./ACTIVE_PR.json", "tests/**", "*.md", "a?.py", "src/*/x", "**/x.py", "*/x"])
def test_the_quick_match_says_what_the_patterns_say_or_leaves_it_to_them(glob: str) -> None:
    for path, any_case in product((*PATHS, "docs/a", "docs", "ACTIVE_PR.json", "TESTS/A", "tests/", "a.md", "a/b.md"), (False, True)):
        quick = simple_match(whole(glob), path, any_case)
        assert quick is None or quick == matches(whole(glob), path, any_case), (glob, path)


# -- that they run, and what they cost ---------------------------------------------------------------------------------------


def test_a_verdict_says_so_if_registered_hooks_have_not_run_in_this_run(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    assert project.run("init", "--client", "claude").code == 0
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "register")
    project.run("hook", "claude", stdin=json.dumps(claude_shell(project, "ls")))
    seen = project.root / ".git" / FOLDER / "claude.seen"
    os.utime(seen, (1, 1))  # long before the run
    project.planned()
    verdict = project.submit(test_command="true", expectation="FAIL")
    assert "hooks of claude are registered here, and none has run since this run began" in verdict["output"]
    project.run("hook", "claude", stdin=json.dumps(claude_shell(project, "ls")))
    assert "none has run" not in project.submit(test_command="true", expectation="FAIL")["output"]
    assert project.run("init", "--client", "claude", "--remove").code == 0
    assert "none has run" not in project.submit(test_command="true", expectation="FAIL")["output"], "and none is registered any more"


def test_without_a_registration_no_mark_is_left_and_nothing_is_said(tmp_path: Path) -> None:
    project = Project(tmp_path / "p").planned()
    project.run("hook", "claude", stdin=json.dumps(claude_shell(project, "ls")))
    assert not (project.root / ".git" / FOLDER).exists()
    assert project.submit(test_command="true", expectation="FAIL")["output"] == ""


HEAVY = {
    "click",
    "msgspec",
    "typing",
    "pathlib",
    "subprocess",
    "sqlite3",
    "tomllib",
    "detent.app",
    "detent.door",
    "detent.tools",
    "detent.evidence",
}


@pytest.mark.parametrize("client", ["claude", "codex", "copilot"])
@pytest.mark.parametrize("what", ["a command", "a refused command", "an edit", "a stop", "no run"])
def test_a_hook_imports_next_to_nothing(states: dict[str, Project], client: str, what: str) -> None:
    project = states["NONE" if what == "no run" else "GREEN"]
    shell, write = FORMS[client]
    given = {
        "a command": shell(project, "ls -l && git status"),
        "a refused command": shell(project, "pytest"),
        "an edit": write(project, "calc.py"),
        "a stop": {"cwd": str(project.root), **STOPS[client][0]},
        "no run": shell(project, "pytest"),
    }[what]
    argv = [sys.executable, "-X", "importtime", "-m", "detent", "hook", client]
    env = {name: value for name, value in project.env.items() if not name.startswith("COV")}
    done = subprocess.run(argv, cwd=project.root, env=env, input=json.dumps(given), capture_output=True, text=True)
    modules = {row.rpartition("|")[2].strip() for row in done.stderr.splitlines() if row.startswith("import time:")}
    assert done.returncode == 0 and "detent.interfaces.hooks.quick" in modules
    assert bool(done.stdout) == (what in ("a refused command", "a stop"))
    assert not modules & HEAVY


def test_both_tables_of_clients_name_the_same() -> None:
    assert set(CLIENTS) == set(PARTS) == set(FORMS)
