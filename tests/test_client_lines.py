"""What the lines of headless clients mean, on lines that the real programs wrote; and what an answer of their services means."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path

import pytest

from detent.agents import AgentFailed, ask
from detent.agents.clients import CLIENTS, ClientReport, Wants
from detent.agents.clients.client_faults import trouble_of
from detent.agents.clients.codex import files
from detent.errors import DetentError
from tests.agents_rigs import turn
from tests.model_server import KEY

LINES = Path(__file__).parent / "clients" / "lines"
NOW = datetime(2026, 11, 16, 12, 0, 0, tzinfo=UTC)


def lines(name: str) -> list[bytes]:
    return (LINES / f"{name}.jsonl").read_bytes().splitlines()


def read(client: str, data: list[bytes]) -> ClientReport:
    return reduce(CLIENTS[client].read, data, ClientReport())


# name: last words, ended, what the failure's words begin with, the kind, the sort
TURNS: Mapping[str, tuple[str, str, str, str | None]] = {
    "claude-ok": ("hello", "", "", None),
    "claude-tool": ("done", "", "", None),
    "claude-empty": ("", "", "", None),
    "claude-529": ("API Error: Repeated 529", "API Error: Repeated 529", "overloaded_error", None),
    "claude-401": ("Invalid API key", "Invalid API key", "authentication_error", None),
    "claude-404": ("There's an issue with the selected model", "There's an issue", "not_found_error", None),
    "claude-429": ("API Error: Request rejected (429)", "API Error", "rate_limit_error", None),
    "claude-cut": ("API Error: Connection to the API was lost", "API Error: Connection", "api_error", None),
    "claude-max": ("API Error: Claude's response exceeded", "API Error", "api_error", "Truncated"),
    "claude-refusal": ("API Error: Opus 4.5 can't help", "API Error", "api_error", "Refused"),
    "claude-budget": ("", "Reached maximum budget", "", "Budget"),
    "codex-ok": ("hello", "", "", None),
    "codex-tool": ("done", "", "", None),
    "codex-empty": ("", "", "", None),
    "codex-529": ("", "unexpected status 529", "", None),
    "codex-401": ("", "unexpected status 401", "", None),
    "codex-404": ("", "no model", "", None),
    "codex-limit": ("", "You’ve hit your usage limit", "", None),
    "codex-cut": ("The test is", "stream disconnected before completion", "", None),
}  # fmt: skip


def test_every_recorded_turn_is_read() -> None:
    assert {file.stem for file in LINES.glob("*.jsonl")} == set(TURNS)


@pytest.mark.parametrize("name", TURNS)
def test_a_turn_is_what_its_lines_say(name: str) -> None:
    text, failed, kind, sort = TURNS[name]
    said = read(name.partition("-")[0], lines(name))
    assert said.ended and said.text.startswith(text) and said.failed.startswith(failed)
    assert (bool(said.failed), said.kind, said.sort) == (bool(failed), kind, sort)


@pytest.mark.parametrize("name", TURNS)
def test_a_turn_without_its_last_line_has_not_ended(name: str) -> None:
    said = read(name.partition("-")[0], lines(name)[:-1])
    assert not said.ended


def test_dollars_are_those_that_claude_code_names() -> None:
    result = json.loads(lines("claude-tool")[-1])
    assert read("claude", lines("claude-tool")).usd == result["total_cost_usd"] > 0


NOISE = [b"", b"a banner", b"{", b"[]", b"null", b'"result"', b'{"type":"result","result":{}}', b'{"type":7}', b"\xff\xfe", b'{"a":' * 9000]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_line_that_is_not_known_changes_nothing(client: str) -> None:
    for noise in NOISE:
        assert CLIENTS[client].read(ClientReport(), noise) == ClientReport() and list(CLIENTS[client].show(noise)) == []


@pytest.mark.parametrize(("client", "shows"), [("claude", ["Bash", "Write", "done"]), ("codex", ["/bin/bash -lc ls", "done"])])
def test_words_and_calls_are_shown_as_they_come(client: str, shows: list[str]) -> None:
    found = [progress.text for line in lines(f"{client}-tool") for progress in CLIENTS[client].show(line)]
    assert found == shows


# -- the services' answers ---------------------------------------------------------------------------------------------------


def body(kind: str, **more: object) -> bytes:
    return json.dumps({"error": {"type": kind, "message": "no", **more}}).encode()


ANSWERS: tuple[tuple[int, dict[str, str], bytes, str, float | None], ...] = (
    (529, {}, body("overloaded_error"), "RateLimit", None),
    (529, {}, b"<html>", "RateLimit", None),
    (429, {"retry-after": "5"}, body("rate_limit_error"), "RateLimit", 5),
    (429, {}, body("something_new"), "RateLimit", None),
    (429, {}, body("usage_limit_reached", resets_in_seconds=90), "RateLimit", 90),
    (429, {}, body("usage_limit_reached", resets_at=NOW.timestamp() + 600), "RateLimit", 600),
    (429, {}, body("insufficient_quota"), "ModelUnavailable", None),
    (429, {"anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": str(int(NOW.timestamp()) + 7200)}, body("rate_limit_error"), "RateLimit", 7200),
    (429, {"retry-after": "1e300"}, b"", "RateLimit", 30 * 24 * 3600),
    (403, {}, body("permission_error"), "ModelUnavailable", None),
    (404, {}, body("invalid_request_error", code="model_not_found"), "ModelUnavailable", None),
    (500, {}, b"", "Network", None),
    (503, {}, body("server_error"), "Network", None),
    (400, {}, body("invalid_request_error"), "Crashed", None),
)  # fmt: skip


@pytest.mark.parametrize(("status", "headers", "data", "sort", "wait"), ANSWERS)
def test_an_answer_is_sorted_by_its_status_its_headers_and_its_kind(
    status: int, headers: dict[str, str], data: bytes, sort: str, wait: float | None
) -> None:
    trouble = trouble_of(status, headers, data, NOW)
    assert (trouble.fault.sort, trouble.wait) == (sort, wait)
    assert bool(trouble.failed().not_before) == bool(wait)


# -- what pays ---------------------------------------------------------------------------------------------------------------


def test_what_pays_is_looked_for_where_each_client_looks(tmp_path: Path) -> None:
    claude, codex = CLIENTS["claude"].access, CLIENTS["codex"].access
    home = {"HOME": str(tmp_path)}
    assert claude(home) is None and codex(home) is None and claude({}) is None and codex({}) is None
    for folder, name, text in (
        (".claude", ".credentials.json", {"claudeAiOauth": {"accessToken": "one", "refreshToken": "r", "expiresAt": 4102444800000}}),
        (".codex", "auth.json", {"OPENAI_API_KEY": None, "tokens": {"id_token": "i", "access_token": "two", "account_id": "a"}}),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(json.dumps(text))
    login, chat = claude(home), codex({**home, "OPENAI_API_KEY": "k"})
    assert login and (login.headers, login.variable) == ({"authorization": "Bearer one"}, "CLAUDE_CODE_OAUTH_TOKEN")
    assert chat and chat.url.startswith("https://chatgpt.com/") and chat.headers["chatgpt-account-id"] == "a"
    key = claude({**home, "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1"})
    assert key and (key.url, key.headers, key.how) == ("http://127.0.0.1:1", {"x-api-key": "k"}, "the key in ANTHROPIC_API_KEY")
    own = codex({**home, "CODEX_API_KEY": "c", "OPENAI_API_KEY": "k"})
    assert own and own.headers == {"authorization": "Bearer c"}
    (tmp_path / ".claude" / ".credentials.json").write_text(json.dumps({"claudeAiOauth": {"accessToken": "one", "expiresAt": 1}}))
    with pytest.raises(DetentError, match="has expired"):
        claude(home)
    (tmp_path / ".claude" / ".credentials.json").write_text("no json")
    assert claude(home) is None


def test_a_system_prompt_of_any_text_is_sound_toml() -> None:
    import tomllib

    odd = 'a "b" \\ \n\t\x00\x7f é 🜁 \ud800'
    wants = Wants(odd, "", Path("/w"), Path("/h"), "http://127.0.0.1:1", "V", "t", None)
    config = tomllib.loads(files(wants)[".codex/config.toml"])
    assert config["developer_instructions"] == odd.replace("\ud800", "?")
    assert (config["sandbox_mode"], config["approval_policy"]) == ("danger-full-access", "never")
    assert config["model_providers"]["detent"]["base_url"] == "http://127.0.0.1:1"


# -- lines against the exit code ---------------------------------------------------------------------------------------------

# The lines of a turn that a program plays, how many of them, its exit code, and what that is.
PLAYED = [
    ("claude-ok", 99, 0, ""),
    ("codex-ok", 99, 0, ""),
    ("claude-529", 99, 0, "RateLimit"),
    ("claude-cut", 99, 0, "Network"),
    ("codex-cut", 99, 0, "Crashed"),
    ("claude-ok", 99, 3, "Crashed"),
    ("codex-ok", 99, 3, "Crashed"),
    ("claude-ok", 1, 0, "Crashed"),
    ("codex-ok", 3, 0, "Crashed"),
    ("claude-empty", 99, 0, "Stuck"),
]


@pytest.mark.parametrize(("name", "most", "code", "sort"), PLAYED)
def test_neither_the_exit_code_nor_the_lines_alone_make_a_turn_good(tmp_path: Path, name: str, most: int, code: int, sort: str) -> None:
    client = name.partition("-")[0]
    (tmp_path / "work").mkdir()
    program = tmp_path / client
    program.write_text(f"#!/bin/sh\nhead -n {most} '{LINES / name}.jsonl'\nexit {code}\n")
    program.chmod(0o755)
    outer = {"PATH": f"{tmp_path}:/usr/bin:/bin", "ANTHROPIC_API_KEY": KEY, "CODEX_API_KEY": KEY}
    if not sort:
        assert ask(client, turn(tmp_path / "work"), outer).text == "hello"
        return
    with pytest.raises(AgentFailed) as failed:
        ask(client, turn(tmp_path / "work"), outer)
    assert failed.value.sort == sort
