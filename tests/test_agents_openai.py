"""The openai backend: the real SDK against the scripted service on loopback, in its chat dialect."""

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import openai
import pytest

from detent.agents import Budget, Progress, Turn, Usage, ask, must_be_ready
from detent.agents.catalog import SERVICES, Address, Catalog, Price
from detent.agents.openai import ask_openai, elsewhere, make_client, read_spec
from detent.agents.prices import price_of, priced, same_model
from detent.agents.stream_reading import READER
from detent.errors import DetentError
from tests.agents_asking import QUICK, READ
from tests.agents_asking import Asking as AnyAsking
from tests.agents_rigs import failure, turn
from tests.model_server import KEY, Json, ModelServer, broken, call, cut, error, say, text, tool
from tests.model_server import Reply as Said

MODEL = "gpt-5.4"
MODELS = (MODEL, "my-model")


class Server(ModelServer):
    def __init__(self, script: Any, **more: Any) -> None:
        super().__init__(script, **{"models": MODELS, **more})


class Asking(AnyAsking):
    def __init__(self, folder: Path, server: ModelServer, **changes: Any) -> None:
        super().__init__(folder, server, **{"by": ask_openai, "model": MODEL, **changes})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def messages(server: ModelServer, number: int) -> list[Json]:
    found: list[Json] = server.bodies[number]["messages"]
    return found


# -- the conversation --------------------------------------------------------------------------------------------------------


def test_a_turn_is_sent_with_model_system_prompt_tools_and_briefing_and_the_last_words_come_back(folder: Path) -> None:
    with Server([say("one\ntwo", "\nthree")]) as server:
        asking = Asking(folder, server)
        assert asking.reply().text == "one\ntwo\nthree"
    body = server.bodies[0]
    assert (body["model"], body["stream"], server.seen[0].path) == (MODEL, True, "/v1/chat/completions")
    assert messages(server, 0) == [{"role": "system", "content": "you test"}, {"role": "user", "content": asking.turn.prompt}]
    assert body["tools"][0] == {
        "type": "function",
        "function": {"name": "Read", "description": "Read a file", "parameters": {"type": "object"}},
    }
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert [p.text for p in asking.shown if p.kind == "text"] == ["one", "two", "three"]


def test_every_call_of_a_message_is_run_in_order_and_answered_by_its_id(folder: Path) -> None:
    calls = [tool("Read", {"file_path": name}) for name in "abc"]
    with Server([call(*calls, words="let me look"), call(tool("Format", {"disk": 1})), say("done")]) as server:
        asking = Asking(folder, server)
        reply = asking.reply()
    assert (reply.text, reply.turns) == ("done", 3)
    assert [a for _, a in asking.box.calls] == [*({"file_path": name} for name in "abc"), {"disk": 1}]
    said, *results = messages(server, 1)[2:]
    assert said["content"] == "let me look"
    assert [c["function"] for c in said["tool_calls"]] == [{"name": "Read", "arguments": json.dumps({"file_path": n})} for n in "abc"]
    assert [(r["role"], r["tool_call_id"]) for r in results] == [("tool", c["id"]) for c in said["tool_calls"]]
    assert [r["content"] for r in results] == ["content 1", "content 2", "content 3"]
    assert messages(server, 2)[-1]["content"] == "Error: there is no tool Format"


def test_words_are_shown_while_the_message_still_comes(folder: Path) -> None:
    with Server([Said(blocks=(text("first\nsecond\nthird\nfourth"),), then="hang")]) as server:
        shown: list[Progress] = []
        asking = Asking(folder, server, watch=shown.append, wanted=lambda: "third" not in [p.text for p in shown])
        assert asking.failed().sort == "Stopped"
        assert READER not in [thread.name for thread in threading.enumerate()]  # the stream was hung up, not left
    assert [p.text for p in shown if p.kind == "text"] == ["first", "second", "third"]


# -- what services leave out -------------------------------------------------------------------------------------------------


def odd(*arguments: object, **fields: object) -> Said:
    """A message with a call for each of the arguments, whose pieces have these fields instead of their own; None: not at all."""
    blocks = tuple({**tool("Read", each, id=f"call_{n}"), "odd": fields} for n, each in enumerate(arguments))
    return Said(blocks=blocks, stop="tool_use")


TWO = ({"n": 1}, {"n": 2})
ODD: Mapping[str, Said] = {
    "no ids": odd(*TWO, id=None),
    "empty ids": odd(*TWO, id=""),
    "the same id for all": odd(*TWO, id="call_7"),
    "no numbers": odd(*TWO, index=None),
    "no numbers and no ids": odd(*TWO, index=None, id=None),
    "the same number for all": odd(*TWO, index=0),
    "the same number for all and no ids": odd(*TWO, index=0, id=None),
    "stop instead of tool_calls": odd(*TWO)._replace(stop="stop"),
}


@pytest.mark.parametrize("name", ODD)
def test_calls_are_told_apart_whatever_a_service_leaves_out(folder: Path, name: str) -> None:
    with Server([ODD[name], ODD[name], say("done")]) as server:
        asking = Asking(folder, server)
        assert asking.reply().text == "done"  # the service refuses ids that are not there, or there twice
    assert [a for _, a in asking.box.calls] == [*TWO, *TWO]
    ids = [m["tool_call_id"] for m in messages(server, 2) if m["role"] == "tool"]
    assert len(set(ids)) == 4 and all(ids)


def test_a_call_without_a_name_is_no_tool_and_the_model_is_told(folder: Path) -> None:
    calls: Json = {"tool_calls": [{"index": 0, "id": "call_1", "function": {"arguments": "{}"}}]}
    with Server([Said(raw=stream(calls, stop="tool_calls")), say("done")]) as server:
        assert Asking(folder, server).reply().text == "done"
    assert messages(server, 1)[-1]["content"] == "Error: there is no tool nameless"


def test_what_a_service_wants_back_with_a_call_is_sent_back(folder: Path) -> None:
    signed = {"google": {"thought_signature": "c2lnbmVk"}}
    deltas: tuple[Json, ...] = (
        {"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "Read", "arguments": "{}"}, "extra_content": signed}]},
        {},
    )
    with Server([Said(raw=stream(*deltas, stop="tool_calls")), say("done")]) as server:
        assert Asking(folder, server).reply().text == "done"
    assert messages(server, 1)[2]["tool_calls"][0]["extra_content"] == signed


def stream(*deltas: Json, stop: str | None = "stop") -> bytes:
    last = [{"index": 0, "delta": {}, "finish_reason": stop}] if stop else []
    choices = [*({"index": 0, "delta": delta, "finish_reason": None} for delta in deltas), *last]
    lines = [json.dumps({"id": "1", "model": MODEL, "choices": [choice]}) for choice in choices]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()


def test_arguments_that_are_no_whole_json_are_never_run(folder: Path) -> None:
    for wrong in ('{"file_path": "a"', '{"a": 1, "a": 2}', '{"n": NaN}', '{"a": ' + "[" * 100_000):
        with Server([call(tool("Write", wrong)), say("I see")]) as server:
            asking = Asking(folder, server)
            assert asking.reply().text == "I see"
        assert asking.box.calls == []
        assert "not valid JSON" in messages(server, 1)[-1]["content"]


WILD = {
    "no JSON at all": b"data: {no\n\n",
    "half a chunk": b'data: {"id": "1", "choices": [{"index": 0, "del\n\n',
    "a list": b"data: []\n\n",
    "choices of nothing": b'data: {"choices": [null]}\n\n',
    "choices of text": b'data: {"choices": "all"}\n\n',
    "calls of text": stream({"tool_calls": "Read"}),
    "nothing but the end": b"data: [DONE]\n\n",
    "an end before the end": stream({"content": "half"}, stop=None),
}


@pytest.mark.parametrize("name", WILD)
def test_a_message_that_cannot_be_read_is_asked_for_again_and_nothing_of_it_is_carried_out(folder: Path, name: str) -> None:
    with Server([Said(raw=WILD[name]), say("better")]) as server:
        asking = Asking(folder, server)
        assert asking.reply().text == "better"
    assert asking.box.calls == [] and len(server.seen) == 2


def test_a_service_that_only_talks_nonsense_is_a_crash(folder: Path) -> None:
    with Server([Said(raw=WILD["no JSON at all"])] * 4) as server:
        assert Asking(folder, server).failed().sort == "Crashed"
    assert len(server.seen) == 4


# -- endings and faults ------------------------------------------------------------------------------------------------------

ENDINGS: Mapping[str, tuple[Said, str]] = {
    "cut at the limit": (say("half a sent")._replace(stop="length"), "Truncated"),
    "cut inside a call": (call(READ)._replace(stop="length"), "Truncated"),
    "filtered": (say("I cannot")._replace(stop="content_filter"), "Refused"),
    "refused in its own field": (Said(raw=stream({"refusal": "I cannot"})), "Refused"),
    "nothing said": (Said(), "Stuck"),
    "no call to stop for": (say("well")._replace(stop="tool_calls"), "Crashed"),
    "a word that nobody knows": (say("well")._replace(stop="aliens"), "Crashed"),
    "another model": (say("hello")._replace(model="gpt-5.4-mini"), "ModelUnavailable"),
    "wrong": (error(400, "invalid_request_error"), "Crashed"),
    "too long": (Said(400, body={"error": {"code": "context_length_exceeded", "type": "invalid_request_error"}}), "Truncated"),
    "no money": (error(402, "billing"), "ModelUnavailable"),
    "403": (error(403, "forbidden"), "ModelUnavailable"),
    "404": (error(404, "invalid_request_error"), "ModelUnavailable"),
    "413": (error(413, "too_large"), "Crashed"),
    "422": (error(422, "unprocessable"), "Crashed"),
    "no quota left": (Said(429, body={"error": {"code": "insufficient_quota", "message": "pay"}}), "ModelUnavailable"),
    "an error that is no object": (Said(404, body={"error": "model is gone"}), "ModelUnavailable"),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_an_ending_that_is_no_success_has_its_sort_and_is_asked_once(folder: Path, name: str) -> None:
    said, sort = ENDINGS[name]
    with Server([said, say("never asked")]) as server:
        Asking(folder, server).fails_at_once(sort)


def test_a_model_that_is_not_there_names_the_option_and_the_setting(folder: Path) -> None:
    with Server([ENDINGS["404"][0]]) as server:
        said = Asking(folder, server).failed().message
    assert "`--agent SPEC` (`detent resume --agent SPEC`)" in said and "`[agents] model` in detent.toml" in said


PASSING = {
    "408": [error(408, "timeout")],
    "409": [error(409, "conflict")],
    "429 with a time": [error(429, "requests", retry_after="0.02")],
    "429 without one": [error(429, "invalid_request_error")],
    "500 twice": [error(500, "server_error")] * 2,
    "502 from a proxy": [Said(502, body={})],
    "503": [error(503, "unavailable")],
    "529": [error(529, "overloaded")],
    "cut in the words": [cut(say("half"))],
    "cut in a call": [cut(call(READ))],
    "an error in the stream": [broken(call(READ))],
    "silence": [Said(then="hang")],
    "silence before the answer": [Said(0)],
}


@pytest.mark.parametrize("name", PASSING)
def test_a_passing_fault_is_tried_again_and_nothing_of_it_is_carried_out(folder: Path, name: str) -> None:
    limits = QUICK._replace(read=0.5) if name.startswith("silence") else QUICK
    with Server([*PASSING[name], say("fine")]) as server:
        Asking(folder, server, limits=limits).passes_over(len(PASSING[name]))


def test_a_fault_that_lasts_is_named_by_its_sort(folder: Path) -> None:
    limits = QUICK._replace(retries=0, read=0.3)
    for fault, sort in (
        ("429 without one", "RateLimit"),
        ("500 twice", "Network"),
        ("cut in the words", "Network"),
        ("silence", "Timeout"),
    ):
        with Server(PASSING[fault]) as server:
            assert Asking(folder, server, limits=limits).failed().sort == sort


def test_a_limit_that_names_a_far_time_parks_the_run_at_once(folder: Path) -> None:
    with Server([error(429, "requests", retry_after="7200")]) as server:
        failed = Asking(folder, server).failed()
    assert (failed.sort, bool(failed.not_before), len(server.seen)) == ("RateLimit", True, 1)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("spec", ["openai", "anthropic"])
def test_a_redirect_to_another_host_is_not_followed_so_that_no_key_and_no_line_goes_there(folder: Path, spec: str, status: int) -> None:
    with Server([say("hello")]) as other, Server([Said(status, {"location": f"{other.url}/v1/chat/completions"}, body={})]) as server:
        failed = failure(lambda: ask(f"{spec}:{MODEL}", turn(folder), server.outer))
    assert (getattr(failed, "sort", ""), len(server.seen), other.seen) == ("ModelUnavailable", 1, [])
    assert other.url in failed.message and "Nothing was sent there" in failed.message


def test_comments_that_keep_the_line_open_are_no_progress(folder: Path) -> None:
    with Server([Said(then="ping")]) as server:
        failed = Asking(folder, server, limits=QUICK._replace(read=5), silence=0.5).failed()
    assert (failed.sort, len(server.seen)) == ("Stuck", 1)


# -- what it costs -----------------------------------------------------------------------------------------------------------


def test_usage_is_the_services_own_count_with_its_cache_and_its_price(folder: Path) -> None:
    with Server([call(READ), say("done")], least=1) as server:
        usage = Asking(folder, server).reply().usage
    assert usage.input_tokens == sum(s.input for s in server.seen) > 0
    assert usage.cached_tokens == sum(s.read for s in server.seen) > 0
    assert usage.output_tokens == sum(s.output for s in server.seen)
    assert usage.usd == pytest.approx((2.5 * (usage.input_tokens + 0.1 * usage.cached_tokens) + 15 * usage.output_tokens) / 1e6)


def test_a_message_that_broke_off_is_counted_by_its_length(folder: Path) -> None:
    with Server([cut(say("half " * 400))] * 2) as server:
        usage = Asking(folder, server, limits=QUICK._replace(retries=1), prompt="all of it " * 400).failed().usage
    served = sum(s.input + s.read for s in server.seen), sum(s.output for s in server.seen)
    assert usage.input_tokens == pytest.approx(served[0], rel=0.1)
    assert usage.output_tokens == pytest.approx(served[1], rel=0.1)
    assert usage.usd > 0


def test_the_budget_is_looked_at_before_each_call(folder: Path) -> None:
    for budget, calls in ((Budget(turns=2), 2), (Budget(tokens=1), 1), (Budget(usd=0.000001), 1)):
        with Server(lambda body, n: call(tool("Read", {"n": n}))) as server:
            failed = Asking(folder, server, budget=budget).failed()
        assert (failed.sort, len(server.seen)) == ("Budget", calls)
        assert failed.usage.tokens == sum(s.plain + s.output for s in server.seen)


def test_without_a_price_a_limit_in_dollars_is_refused_and_the_line_to_add_is_told(folder: Path) -> None:
    with Server([say("done")]) as server:
        failed = failure(Asking(folder, server, model="my-model", budget=Budget(usd=1.0)).reply)
        assert "the price of my-model is not known, so a limit in dollars cannot be kept" in failed.message and not server.seen
        assert (
            failed.hint == 'add it to [prices] in detent.toml: "my-model" = { input = 0.5, output = 2.0 }; or limit tokens: [limits] tokens'
        )
        asking = Asking(folder, server, model="my-model")
        assert asking.reply().usage.usd == 0
    assert "price unknown: my-model is counted as free" in [p.text for p in asking.shown]


def test_a_price_that_the_project_adds_is_counted_with(folder: Path) -> None:
    catalog = Catalog(prices={"my-model": Price(1, 2, 0.5, 1)})
    with Server([say("done")]) as server:
        usage = Asking(folder, server, model="my-model", catalog=catalog, budget=Budget(usd=1.0)).reply().usage
    assert usage.usd == pytest.approx((usage.input_tokens + 2 * usage.output_tokens) / 1e6) and usage.usd > 0


def test_prices_of_the_project_go_before_the_table_and_free_is_a_price() -> None:
    assert price_of("gpt-5.4-2026-03-05") == price_of("gpt-5.4") == Price(2.5, 15, 0.1, 1.0)
    mine = {"gpt-5.4": Price(1, 1), "qwen3": Price(0, 0)}
    assert (price_of("gpt-5.4-2026-03-05", mine), price_of("qwen3", mine)) == (Price(1, 1), Price(0, 0))
    assert priced(Usage(10, 10), price_of("qwen3", mine)).usd == 0


def test_a_service_that_counts_no_tokens_is_asked_without_limits_only(folder: Path) -> None:
    silent = Said(raw=stream({"content": "done"}))
    with Server([silent, silent]) as server:
        asking = Asking(folder, server)
        assert asking.reply().usage.tokens > 0
        assert any("the service did not count them" in p.text for p in asking.shown)
        failed = failure(Asking(folder, server, budget=Budget(tokens=1000)).reply)
    assert type(failed) is DetentError and "does not count tokens" in failed.message


def test_a_service_that_counts_unasked_is_not_asked_for_it(folder: Path) -> None:
    with Server([say("done")._replace(counts=True)]) as server:
        catalog = Catalog(services={"mine": Address(f"{server.url}/v1", "OPENAI_API_KEY", usage=False)})
        reply = Asking(folder, server, model=f"{MODEL}@mine", catalog=catalog).reply()
    assert "stream_options" not in server.bodies[0]
    assert reply.usage.output_tokens == server.seen[0].output


def test_requests_of_one_turn_name_the_same_cache_where_the_service_takes_that(folder: Path) -> None:
    with Server([call(READ), say("done"), say("other")], fields=["prompt_cache_key"]) as server:
        catalog = Catalog(services={"mine": Address(f"{server.url}/v1", "OPENAI_API_KEY", cache_key=True)})
        Asking(folder, server, model=f"{MODEL}@mine", catalog=catalog).reply()
        Asking(folder, server, model=f"{MODEL}@mine", catalog=catalog, prompt="something else").reply()
    one, two, three = (body["prompt_cache_key"] for body in server.bodies)
    assert one == two != three


SAME = (
    *((MODEL, MODEL), (MODEL, "gpt-5.4-2026-03-05"), ("gpt-5.4-2026-03-05", MODEL), (MODEL, ""), ("openai/gpt-5.4", MODEL)),
    *(
        ("qwen3-coder", "qwen3-coder:latest"),
        ("qwen/qwen3-coder:free", "qwen/qwen3-coder"),
        ("gemini-3-pro", "models/gemini-3-pro-preview"),
    ),
    *(("claude-opus-4-5-20251101", "us.anthropic.claude-opus-4-5-20251101-v1:0"), ("mistral-large-latest", "mistral-large-2411")),
)
OTHER = ((MODEL, "gpt-5.4-mini"), ("gpt-4o-mini", "gpt-4o"), (MODEL, "gpt-5.5"), ("claude-opus-4-5", "claude-haiku-4-5"))


def test_a_model_is_known_by_its_name_with_date_vendor_or_tag_and_a_smaller_sister_is_another_one() -> None:
    assert [pair for pair in SAME if not same_model(*pair)] == []
    assert [pair for pair in OTHER if same_model(*pair)] == []


# -- specs, keys and set-up --------------------------------------------------------------------------------------------------


def test_a_spec_names_model_and_service_and_each_may_be_left_out() -> None:
    mine = Catalog(services={"mine": Address("http://127.0.0.1:9/v1"), "ollama": Address("http://elsewhere/v1")})
    asks = read_spec("qwen/qwen3@20@mine", "x", {}, mine)
    assert (asks.model, asks.name, asks.address.url) == ("qwen/qwen3@20", "mine", "http://127.0.0.1:9/v1")
    assert read_spec("gpt-5.4", "x", {}, mine)[:2] == ("gpt-5.4", "openai")
    assert read_spec("", "my-model", {}, mine)[:2] == ("my-model", "openai")
    assert read_spec("@ollama", "my-model", {}, mine).address.url == "http://elsewhere/v1"  # the project's row goes first


WRONG: Mapping[str, tuple[str, str]] = {
    "": ("the openai agent needs a model", "openai:gpt-5.4"),
    "@ollama": ("the openai agent needs a model", "openai:qwen3-coder@ollama"),
    "gpt@nobody": ("there is no service 'nobody' for openai:gpt@nobody", "[services.nobody]"),
    "gpt@": ("there is no service '' for openai:gpt@", "known: openai, openrouter"),
    "gpt": ("the openai agent needs a key for openai", "set OPENAI_API_KEY in the environment that starts detent"),
    "gpt@mistral": ("the openai agent needs a key for mistral", "set MISTRAL_API_KEY"),
}


@pytest.mark.parametrize("rest", WRONG)
def test_a_wrong_spec_or_a_missing_key_is_told_before_anything_is_asked(folder: Path, rest: str) -> None:
    message, hint = WRONG[rest]
    for asks in (lambda: must_be_ready(f"openai:{rest}", {}, folder), lambda: ask(f"openai:{rest}", turn(folder), {})):
        failed = failure(asks)
        assert failed.message == message and hint in failed.hint


def test_services_on_this_machine_need_no_key_and_no_other_key_is_sent_to_them(folder: Path) -> None:
    must_be_ready("openai:qwen3@ollama", {}, folder)
    must_be_ready("openai:qwen3", {"OPENAI_BASE_URL": "http://localhost:1234/v1"}, folder)
    client = make_client(read_spec("qwen3@ollama", "", {"OPENAI_API_KEY": KEY}, Catalog()), {"OPENAI_API_KEY": KEY})
    assert client.api_key == "none"
    client.close()


def test_another_address_is_asked_for_nothing_that_only_openai_knows() -> None:
    plain = elsewhere(SERVICES["openai"], {"OPENAI_BASE_URL": "http://proxy/v1"})
    assert (plain.url, plain.key, plain.cache_key) == ("http://proxy/v1", "OPENAI_API_KEY", False)
    assert elsewhere(SERVICES["openai"], {"OPENAI_BASE_URL": "https://api.openai.com/v1/"}).cache_key


def test_nothing_of_openais_own_variables_goes_to_a_service(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "org-secret-word")
    with Server([say("done")]) as server:
        Asking(folder, server).reply()
    assert "org-secret-word" not in str(dict(server.seen[0].headers))


def test_a_key_that_is_not_accepted_is_a_matter_for_a_person(folder: Path) -> None:
    with Server([]) as server:
        failed = failure(lambda: ask(f"openai:{MODEL}", turn(folder), {**server.outer, "OPENAI_API_KEY": "sk-wrong-0000000000000000"}))
    assert type(failed) is DetentError
    assert (failed.message, failed.hint) == (
        "the model's service did not accept the key in OPENAI_API_KEY",
        "set OPENAI_API_KEY in the environment that starts detent",
    )


def test_a_key_is_kept_out_of_the_transcript_whatever_the_name_of_its_variable(folder: Path) -> None:
    with Server([]) as server:
        catalog = Catalog(services={"mine": Address(f"{server.url}/v1", "MY_WORD")})
        t: Turn = turn(folder, prompt="say correct-horse-battery", catalog=catalog)
        failed = failure(lambda: ask(f"openai:{MODEL}@mine", t, {"MY_WORD": "correct-horse-battery"}))
    assert "did not accept the key in MY_WORD" in failed.message
    assert server.seen[0].headers["authorization"] == "Bearer correct-horse-battery"
    assert t.transcript is not None and "say [redacted]" in t.transcript.read_text() and "correct-horse" not in t.transcript.read_text()


def test_the_sdk_is_imported_only_when_it_is_asked_and_named_when_it_is_missing(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['openai'] = None\n"
        "from pathlib import Path\nfrom detent.agents import Turn, ask\nfrom detent.errors import DetentError\n"
        "try: ask('openai:m', Turn('{}', 'p', 's', Path('.')), {'OPENAI_API_KEY': 'k'})\n"
        "except DetentError as e: print(e.message, '|', e.hint)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (
        ran.stdout == "the openai agent needs the package openai | install it: ./x setup (in Detent's checkout; it installs everything)\n"
    )
    assert openai.__version__
