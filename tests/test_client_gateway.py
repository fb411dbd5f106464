"""The one way out of a client, by itself: what passes, what does not, and what the service is told."""

import contextlib
import http.client
import json
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from detent.agents import AgentFailed
from detent.agents.clients import Access
from detent.agents.clients.gateway import MOST, Gateway
from detent.agents.clients.wire_formats import ANTHROPIC
from detent.errors import DetentError
from tests.model_server import KEY, MODELS, ModelServer, Reply, cut, error, say
from tests.patience import LONG

TOKEN = "the token of this turn"
BODY = {"model": MODELS[0], "stream": True, "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
MINE: Mapping[str, str] = {"x-api-key": TOKEN}


def nobody_minds() -> None: ...


def gateway(url: str, **more: Any) -> Gateway:
    access = Access("the key in ANTHROPIC_API_KEY", url, {"x-api-key": KEY}, "ANTHROPIC_API_KEY", ANTHROPIC)
    return Gateway([access], "log in", TOKEN, more.get("before", nobody_minds), nobody_minds)


@contextlib.contextmanager
def opened(*script: Reply, **more: Any) -> Iterator[tuple[Gateway, ModelServer]]:
    with ModelServer(script) as server, gateway(server.url, **more).at(None) as gate:
        yield gate, server


def send(
    gate: Gateway, path: str = "/v1/messages", headers: Mapping[str, str] = MINE, body: object = BODY, method: str = "POST"
) -> tuple[int, str]:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", gate.port, timeout=LONG)) as way:
        way.request(method, path, json.dumps(body), dict(headers))
        answer = way.getresponse()
        return answer.status, answer.read().decode()


def ended(gate: Gateway) -> DetentError | None:
    return gate.ended


def test_a_call_is_passed_on_with_our_key_and_none_of_the_callers() -> None:
    with opened(say("hello")) as (gate, server):
        status, text = send(gate, "/v1/messages?beta=true", {**MINE, "cookie": "c", "anthropic-beta": "b", "host": "evil.example"})
    assert status == 200 and '"llo"' in text, "its words, in two pieces"
    (seen,) = server.seen
    assert seen.headers["x-api-key"] == KEY and seen.headers["anthropic-beta"] == "b"
    assert "cookie" not in seen.headers and seen.headers["host"].startswith("127.0.0.1") and TOKEN not in str(seen.headers)
    assert (gate.calls, gate.fault, gate.ended) == (1, None, None)


REFUSED = [
    ("/v1/messages", {}, "POST", "not the token"),
    ("/v1/messages", {"x-api-key": KEY}, "POST", "not the token"),
    ("/v1/messages", {"authorization": "Bearer nothing"}, "POST", "not the token"),
    ("/v1/files", MINE, "POST", "not something a turn needs"),
    ("/v1/messages/../files", MINE, "POST", "not something a turn needs"),
    ("/v1/messages/batches", MINE, "POST", "not something a turn needs"),
    ("http://192.0.2.1/v1/messages", MINE, "POST", "not something a turn needs"),
]


@pytest.mark.parametrize(("path", "headers", "method", "why"), REFUSED)
def test_nothing_else_is_passed_on(path: str, headers: Mapping[str, str], method: str, why: str) -> None:
    with opened(say("hello")) as (gate, server):
        status, text = send(gate, path, headers, method=method)
        assert status == 403 and why in text and server.seen == [] and gate.calls == 0


def test_a_request_without_its_length_and_one_that_is_too_long_are_refused() -> None:
    for headers in ({**MINE, "transfer-encoding": "chunked"}, {**MINE, "content-length": str(1 << 40)}):
        with (
            opened(say("hello")) as (gate, server),
            contextlib.closing(http.client.HTTPConnection("127.0.0.1", gate.port, timeout=LONG)) as way,
        ):
            way.putrequest("POST", "/v1/messages")
            for name, value in headers.items():
                way.putheader(name, value)
            way.endheaders()
            assert way.getresponse().status == 411 and server.seen == []


def test_a_stream_that_is_cut_there_is_cut_here_and_the_next_whole_one_mends_it() -> None:
    with opened(cut(say("The test is wri")), say("whole")) as (gate, _):
        with pytest.raises(http.client.IncompleteRead):
            send(gate)
        assert gate.fault is not None and gate.fault.fault.sort == "Network"
        assert send(gate)[0] == 200 and gate.fault is None


def test_an_error_is_passed_on_and_remembered_and_one_that_takes_long_ends_the_turn() -> None:
    with opened(error(529, "overloaded_error"), error(429, "rate_limit_error", retry_after="3600")) as (gate, server):
        status, text = send(gate)
        assert (status, json.loads(text)["error"]["type"]) == (529, "overloaded_error")
        assert ended(gate) is None and gate.fault is not None and gate.fault.fault.sort == "RateLimit"
        assert send(gate)[0] == 429
        found = ended(gate)
        assert isinstance(found, AgentFailed) and found.sort == "RateLimit" and found.not_before.startswith("20")
        assert send(gate)[0] == 403 and len(server.seen) == 2, "nothing is asked after that"


def test_a_key_that_is_not_accepted_ends_the_turn_with_a_sentence() -> None:
    with opened(error(401, "authentication_error")) as (gate, _):
        assert send(gate)[0] == 401
    assert gate.ended is not None and not isinstance(gate.ended, AgentFailed)
    assert gate.ended.message == "the model's service did not accept the key in ANTHROPIC_API_KEY"


def test_a_service_that_is_not_there_is_trouble_with_the_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with gateway(f"http://127.0.0.1:{port}").at(None) as gate:
        assert send(gate)[0] == 502
    assert gate.fault is not None and gate.fault.fault.sort == "Network"


def test_headers_that_cannot_be_sent_on_are_not(capfd: pytest.CaptureFixture[str]) -> None:
    with opened(say("hello")) as (gate, server):
        raw = f"POST /v1/messages HTTP/1.1\r\nx-api-key: {TOKEN}\r\nx-odd: a\r\n b\x01\r\ncontent-length: 2\r\n\r\n{{}}"
        with socket.create_connection(("127.0.0.1", gate.port), 10) as way:
            way.sendall(raw.encode())
            assert way.recv(100).startswith(b"HTTP/1.1 ")
        assert not any("x-injected" in s.headers for s in server.seen)
    assert "Traceback" not in capfd.readouterr().err


def test_a_limit_is_asked_before_each_call_and_what_it_says_ends_the_turn() -> None:
    def used_up() -> None:
        raise AgentFailed("Budget", "the limit on turns is used up")

    with opened(say("hello"), before=used_up) as (gate, server):
        assert "the limit on turns is used up" in send(gate)[1] and server.seen == []
    assert isinstance(gate.ended, AgentFailed) and gate.ended.sort == "Budget"


def test_more_connections_than_a_client_needs_are_closed() -> None:
    with opened(say("hello")) as (gate, _), contextlib.ExitStack() as stack:
        ways = [stack.enter_context(socket.create_connection(("127.0.0.1", gate.port), 10)) for _ in range(MOST + 1)]
        assert ways[-1].recv(1) == b"", "closed at once"
        for way in ways[:-1]:
            way.close()


def test_the_socket_may_lie_in_a_folder_whose_path_is_too_long_for_one(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 40)
    folder.mkdir()
    with ModelServer([say("hello")]) as server, gateway(server.url).at(folder):
        assert (folder / "model").is_socket()
