"""What the gateway reads in the answers of services, in each of the four forms: tokens, model, and how the answer ended; and which paths it passes on."""

import contextlib
import http.client
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from detent.agents import AgentFailed, Usage
from detent.agents.clients import Access
from detent.agents.clients.client_faults import is_about_the_key, now, trouble_of
from detent.agents.clients.gateway import Gateway
from detent.agents.clients.service_answers import ModelCall
from detent.agents.clients.wire_formats import ANTHROPIC, CHAT, GEMINI, RESPONSES, Served
from tests.any_service import EACH, KEY, AnyService, Fault, Says, Tool, chat_chunks, denied, gemini_chunks
from tests.patience import LONG

TOKEN = "the token of this turn"
WIRE_FORMATS = {wire_format.name: wire_format for wire_format in (ANTHROPIC, CHAT, RESPONSES, GEMINI)}
Json = dict[str, Any]


def served(form: str, *events: object) -> Served:
    """What a stream of events comes to."""
    call = ModelCall(WIRE_FORMATS[form], "/", b"{}")
    call.is_stream = True
    text = "".join(f"event: x\ndata: {event if isinstance(event, str) else json.dumps(event)}\n\n" for event in events).encode()
    for byte in range(0, len(text), 7):  # in pieces of any size
        call.feed(text[byte : byte + 7])
    call.end()
    return call.served


def whole(form: str, body: object) -> Served:
    call = ModelCall(WIRE_FORMATS[form], "/", b"{}")
    call.feed(json.dumps(body).encode())
    call.end()
    return call.served


def start(**usage: int) -> Json:
    return {"type": "message_start", "message": {"model": "claude-x", "usage": usage}}


def stop(reason: str, **usage: int) -> Json:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def response(status: str = "completed", *items: str, **more: Any) -> Json:
    usage = {"input_tokens": 12, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 2}}
    return {
        "type": f"response.{status}",
        "response": {"model": "m", "status": status, "usage": usage, "output": [{"type": i} for i in items], **more},
    }


def chat(finish: str, **delta: Any) -> Json:
    return {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def gemini(finish: str, **part: Any) -> Json:
    return {"candidates": [{"content": {"parts": [part]}, "finishReason": finish}], "usageMetadata": {"promptTokenCount": 3}}


BEGUN = start(input_tokens=7, output_tokens=1, cache_read_input_tokens=3, cache_creation_input_tokens=4)
CALLED = {"tool_calls": [{"index": 0, "id": "1", "function": {"name": "f", "arguments": "{}"}}]}
STREAMS: list[tuple[str, list[object], Served]] = [
    ("anthropic", [BEGUN, stop("end_turn", output_tokens=9)], Served(Usage(7, 9, 3, 4), "claude-x", stop="end")),
    ("anthropic", [BEGUN, stop("tool_use", output_tokens=9)], Served(Usage(7, 9, 3, 4), "claude-x", stop="tools")),
    ("anthropic", [BEGUN, stop("max_tokens")], Served(Usage(7, 1, 3, 4), "claude-x", stop="length")),
    ("anthropic", [BEGUN, stop("refusal")], Served(Usage(7, 1, 3, 4), "claude-x", stop="refusal")),
    ("anthropic", [BEGUN], Served(Usage(7, 1, 3, 4), "claude-x")),
    ("chat", [*chat_chunks("words", "m", 1), "[DONE]"], Served(EACH, "m", stop="end")),
    ("chat", [*chat_chunks(Tool("f", {}), "m", 1), "[DONE]"], Served(EACH, "m", True, "tools")),
    ("chat", [chat("length")], Served(model="m", stop="length")),
    ("chat", [chat("content_filter")], Served(model="m", stop="refusal")),
    ("chat", [chat("", **CALLED), chat("stop")], Served(model="m", tools=True, stop="tools")),
    ("chat", [chat("", content="wor")], Served(model="m")),
    ("chat", ["{broken", "null", "[]", '{"choices": null, "usage": null}'], Served()),
    ("responses", [{"type": "response.output_item.done", "item": {"type": "message"}}, response()], Served(EACH, "m", stop="end")),
    ("responses", [{"type": "response.output_item.done", "item": {"type": "function_call"}}, response()], Served(EACH, "m", True, "tools")),
    ("responses", [response("completed", "reasoning", "custom_tool_call")], Served(EACH, "m", True, "tools")),
    ("responses", [response("incomplete", incomplete_details={"reason": "max_output_tokens"})], Served(EACH, "m", stop="length")),
    ("responses", [{"type": "response.created", "response": {"model": "m", "status": "in_progress"}}], Served(model="m")),
    ("gemini", [*gemini_chunks("words", "m", 1)], Served(EACH, "m", stop="end")),
    ("gemini", [*gemini_chunks(Tool("f", {"a": [1]}), "m", 1)], Served(EACH, "m", True, "tools")),
    ("gemini", [gemini("MAX_TOKENS")], Served(Usage(3), stop="length")),
    ("gemini", [gemini("SAFETY")], Served(Usage(3), stop="refusal")),
    ("gemini", [{"promptFeedback": {"blockReason": "OTHER"}}], Served(stop="refusal")),
    ("gemini", [gemini("MALFORMED_FUNCTION_CALL")], Served(Usage(3))),
]  # fmt: skip


@pytest.mark.parametrize(("form", "events", "wanted"), STREAMS)
def test_a_stream_is_read_in_its_own_form(form: str, events: list[object], wanted: Served) -> None:
    assert served(form, *events) == wanted


def test_an_answer_in_one_piece_is_read_too() -> None:
    message = {"type": "message", "model": "claude-x", "stop_reason": "end_turn", "usage": {"input_tokens": 7, "output_tokens": 2}}
    assert whole("anthropic", message) == Served(Usage(7, 2), "claude-x", stop="end")
    usage = {"prompt_tokens": 12, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 2}}
    assert whole("chat", {"model": "m", "choices": [{"message": CALLED, "finish_reason": "stop"}], "usage": usage}) == Served(
        EACH, "m", True, "tools"
    )
    assert whole("responses", {"object": "response", **response()["response"]}) == Served(EACH, "m", stop="end")
    assert whole("gemini", gemini_chunks("words", "m", 1)) == Served(EACH, "m", stop="end"), "a list of pieces"


def test_tokens_that_make_no_sense_do_no_harm() -> None:
    assert (
        served(
            "chat", {"usage": {"prompt_tokens": 1, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 9}}}
        ).usage.input_tokens
        == 0
    )
    for odd in ({"usage": {"prompt_tokens": "many"}}, {"usage": [1]}, {"usage": {"prompt_tokens": 1e400}}):
        assert served("chat", json.dumps(odd).replace("Infinity", "1e400")) == Served()


# -- what passes -------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def opened(*script: Says) -> Iterator[tuple[Gateway, AnyService]]:
    with AnyService(script) as service:
        ways = [
            Access("the key in OPENAI_API_KEY", f"{service.url}/v1", {"authorization": f"Bearer {KEY}"}, "OPENAI_API_KEY", CHAT),
            Access("the key in GEMINI_API_KEY", service.url, {"x-goog-api-key": KEY}, "GEMINI_API_KEY", GEMINI),
        ]
        with Gateway(ways, "set a key", TOKEN, lambda: None, lambda: None).at(None) as gate:
            yield gate, service


def post(gate: Gateway, path: str, headers: Mapping[str, str], body: object, method: str = "POST") -> tuple[int, str]:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", gate.port, timeout=LONG)) as way:
        way.request(method, path, json.dumps(body), dict(headers))
        answer = way.getresponse()
        return answer.status, answer.read().decode()


CHATS = {"model": "m", "stream": True, "tools": [{}], "messages": [{"role": "user", "content": "hi"}]}
ASKS = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "tools": [{"functionDeclarations": [{"name": "f"}]}]}
MINE = {"authorization": f"Bearer {TOKEN}"}
GOOGLE = "/v1beta/models/gemini-x:streamGenerateContent"


def test_each_service_gets_what_is_its_own_with_its_own_key() -> None:
    with opened("one", "two", "three") as (gate, service):
        assert post(gate, "/v1/chat/completions", MINE, CHATS)[0] == 200
        assert post(gate, "/chat/completions", MINE, CHATS)[0] == 200
        assert post(gate, f"{GOOGLE}?alt=sse&key=theirs", {"x-goog-api-key": TOKEN}, ASKS)[0] == 200
        assert post(gate, "/v1/models", MINE, None, "GET")[0] == 200
    assert [seen.path for seen in service.seen] == ["/v1/chat/completions", "/v1/chat/completions", f"{GOOGLE}?alt=sse"]
    assert {seen.key for seen in service.seen} == {KEY} and TOKEN not in str(service.seen)
    assert (gate.calls, gate.usage) == (3, EACH + EACH + EACH) and [call.model for call in gate.answers.calls] == ["m", "m", "gemini-x"]


@pytest.mark.parametrize(
    "path",
    [
        "/v1/files", "/v1/responses", "/v1/messages", "/v1/chat/completions/1", "/v1beta/models/x:delete", "/v1beta/files",
        "/v1beta/models/../files:generateContent", "/v1beta/models/a%2Fb:generateContent", "/v1beta/cachedContents",
    ],
)  # fmt: skip
def test_paths_that_ask_no_model_are_not_passed_on(path: str) -> None:
    with opened("one") as (gate, service):
        assert post(gate, path, MINE, CHATS)[0] == 403 and not service.seen


def test_a_wrong_key_in_any_place_is_refused() -> None:
    with opened("one") as (gate, service):
        for headers in ({"x-goog-api-key": KEY}, {"x-goog-api-key": KEY, **MINE}, {"api-key": "no"}, {}):
            assert post(gate, GOOGLE, headers, ASKS)[0] == 403 and not service.seen


def test_the_last_call_with_tools_says_how_a_turn_stands() -> None:
    with opened("words", denied(500, "api_error"), Fault(then="cut")) as (gate, _):
        post(gate, "/v1/chat/completions", MINE, CHATS)
        post(gate, "/v1/chat/completions", MINE, {**CHATS, "tools": None})
        standing = gate.answers.last
        assert standing is not None and standing.fault is None and gate.fault is not None
        with pytest.raises(http.client.IncompleteRead):
            post(gate, "/v1/chat/completions", MINE, CHATS)
        standing = gate.answers.last
        assert standing is not None and standing.fault is not None and standing.fault.fault.sort == "Network"


def test_a_redirect_is_not_followed() -> None:
    with opened(denied(307, "", location="http://192.0.2.1/v1/chat/completions")) as (gate, service):
        assert post(gate, "/v1/chat/completions", MINE, CHATS)[0] == 307 and len(service.seen) == 1
    assert gate.fault is not None and gate.fault.fault.sort == "Crashed"


def test_the_errors_of_gemini_are_understood() -> None:
    def body(status: str, *details: Json) -> bytes:
        return json.dumps({"error": {"code": 1, "message": "no", "status": status, "details": list(details)}}).encode()

    later = trouble_of(429, {}, body("RESOURCE_EXHAUSTED", {"@type": "RetryInfo", "retryDelay": "34.5s"}), now())
    assert later.fault.sort == "RateLimit" and later.wait == 34.5
    assert trouble_of(404, {}, body("NOT_FOUND"), now()).fault.sort == "ModelUnavailable"
    assert trouble_of(503, {}, body("UNAVAILABLE"), now()).fault.sort == "RateLimit"
    assert is_about_the_key(400, body("INVALID_ARGUMENT", {"reason": "API_KEY_INVALID"}))
    assert not is_about_the_key(400, body("INVALID_ARGUMENT")) and not is_about_the_key(400, b"[]") and is_about_the_key(401, b"")


def test_a_key_that_gemini_does_not_know_ends_the_turn_with_a_sentence() -> None:
    said = {"error": {"code": 400, "message": "bad", "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}
    with opened(Fault(400, said)) as (gate, _):
        assert post(gate, GOOGLE, {"x-goog-api-key": TOKEN}, ASKS)[0] == 400
    assert gate.ended is not None and not isinstance(gate.ended, AgentFailed)
    assert gate.ended.message == "the model's service did not accept the key in GEMINI_API_KEY"
