"""The anthropic backend: the real SDK against a scripted service on loopback."""

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import anthropic  # noqa: F401  # its import takes seconds, which no turn here should be charged for
import pytest

from detent.agents import Budget, PlainAnswer, Progress, Usage, ask
from detent.agents.faults import named_wait
from detent.agents.prices import price_of, priced
from detent.agents.stream_reading import READER
from detent.errors import DetentError
from tests.agents_asking import QUICK, READ, Asking, Box
from tests.agents_rigs import failure, turn
from tests.model_server import KEY, ModelServer, broken, call, cut, error, say, text, tool
from tests.model_server import Reply as Said


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


# -- the loop ----------------------------------------------------------------------------------------------------------------


def test_a_turn_is_sent_with_model_system_prompt_and_briefing_and_the_last_words_come_back(folder: Path) -> None:
    with ModelServer([say("one\ntwo", "\nthree")]) as server:
        asking = Asking(folder, server)
        assert asking.reply().text == "one\ntwo\nthree"
    body = server.bodies[0]
    assert body["model"] == "claude-opus-4-5-20251101"
    assert body["system"][0]["text"] == "you test"
    assert body["messages"][0]["content"][0]["text"] == asking.turn.prompt
    assert [p.text for p in asking.shown if p.kind == "text"] == ["one", "two", "three"]


def test_words_are_shown_while_the_message_still_comes(folder: Path) -> None:
    with ModelServer([Said(blocks=(text("first\nsecond\nthird\nfourth"),), then="hang")]) as server:
        shown: list[Progress] = []
        asking = Asking(folder, server, watch=shown.append, wanted=lambda: "third" not in [p.text for p in shown])
        assert asking.failed().sort == "Stopped"
    assert [p.text for p in shown if p.kind == "text"] == ["first", "second", "third"]


def test_every_call_of_a_message_is_run_in_order_and_answered_in_one_message(folder: Path) -> None:
    calls = [tool("Read", {"file_path": name}) for name in "abc"]
    with ModelServer([call(*calls, words="let me look"), call(READ), say("done")]) as server:
        asking = Asking(folder, server)
        reply = asking.reply()
    assert (reply.text, reply.turns) == ("done", 3)
    assert [a for _, a in asking.box.calls] == [{"file_path": name} for name in ("a", "b", "c", "a.py")]
    results = server.bodies[1]["messages"][2]["content"]
    assert [(r["type"], r["content"][0]["text"]) for r in results] == [("tool_result", f"content {i}") for i in (1, 2, 3)]
    assert [m["role"] for m in server.bodies[2]["messages"]] == ["user", "assistant", "user", "assistant", "user"]


def test_what_a_tool_did_not_like_is_told_to_the_model_and_the_loop_goes_on(folder: Path) -> None:
    with ModelServer([call(tool("Format", {"disk": 1})), say("sorry")]) as server:
        assert Asking(folder, server).reply().text == "sorry"
    result = server.bodies[1]["messages"][2]["content"][0]
    assert (result["is_error"], result["content"][0]["text"]) == (True, "there is no tool Format")


@pytest.mark.slow
def test_calls_beyond_the_limit_of_a_message_are_answered_but_not_run(folder: Path) -> None:
    with ModelServer([call(*(tool("Read", {"n": n}) for n in range(1000))), say("done")]) as server:
        asking = Asking(folder, server, limits=QUICK._replace(calls=8))
        asking.reply()
    results = server.bodies[1]["messages"][2]["content"]
    assert (len(asking.box.calls), len(results), sum(r["is_error"] for r in results)) == (8, 1000, 992)


HALF = {
    "half an object": '{"file_path": "a"',
    "a name twice": '{"file_path": "a", "file_path": "b"}',
    "no number": '{"n": NaN}',
    "too great a number": '{"n": 1e999}',
}


@pytest.mark.parametrize("name", HALF)
def test_arguments_that_are_no_whole_json_are_never_run(folder: Path, name: str) -> None:
    with ModelServer([call(tool("Write", HALF[name])), say("I see")]) as server:
        asking = Asking(folder, server)
        assert asking.reply().text == "I see"
    assert asking.box.calls == []
    assert "not valid JSON" in server.bodies[1]["messages"][2]["content"][0]["content"][0]["text"]


WILD = {
    "no JSON at all": Said(raw=b"event: message_start\ndata: {no\n\n"),
    "the wrong order": Said(raw=b'event: content_block_stop\ndata: {"type": "content_block_stop", "index": 7}\n\n'),
    "a message of nothing": Said(raw=b'event: message_start\ndata: {"type": "message_start", "message": null}\n\n'),
    "100,000 brackets": call(tool("Write", '{"a": ' + "[" * 100_000)),
    "a number of 5000 digits": call(tool("Write", '{"n": 1' + "0" * 5000 + "}")),
    "arguments that break off": call(tool("Write", '{"a": tru3}')),
}


@pytest.mark.parametrize("name", WILD)
def test_a_message_that_cannot_be_read_is_asked_for_again(folder: Path, name: str) -> None:
    with ModelServer([WILD[name], say("better")]) as server:
        asking = Asking(folder, server)
        assert asking.reply().text == "better"
    assert asking.box.calls == [] and len(server.seen) == 2


def test_a_service_that_only_talks_nonsense_is_a_crash(folder: Path) -> None:
    with ModelServer([WILD["no JSON at all"]] * 4) as server:
        assert Asking(folder, server).failed().sort == "Crashed"
    assert len(server.seen) == 4


def test_half_characters_from_a_tool_do_not_break_the_next_call(folder: Path) -> None:
    class Odd(Box):
        def call(self, name: str, arguments: object) -> PlainAnswer:
            return PlainAnswer("odd \ud800 name")

    with ModelServer([call(READ), say("done")]) as server:
        assert Asking(folder, server, toolbox=Odd()).reply().text == "done"
    assert server.bodies[1]["messages"][2]["content"][0]["content"][0]["text"] == "odd \\ud800 name"


# -- endings that are no success ---------------------------------------------------------------------------------------------

ENDINGS: Mapping[str, tuple[Said, str]] = {
    "cut at the limit": (say("half a sent")._replace(stop="max_tokens"), "Truncated"),
    "cut inside a call": (call(READ)._replace(stop="max_tokens"), "Truncated"),
    "out of context": (call(READ)._replace(stop="model_context_window_exceeded"), "Truncated"),
    "refused": (say("I cannot")._replace(stop="refusal"), "Refused"),
    "nothing said": (Said(), "Stuck"),
    "only blanks": (say(" \n"), "Stuck"),
    "calls after the end": (call(READ)._replace(stop="end_turn"), "Crashed"),
    "no call to stop for": (say("well")._replace(stop="tool_use"), "Crashed"),
    "another model": (say("hello")._replace(model="claude-cheap-1"), "ModelUnavailable"),
    "context overflow": (error(400, "invalid_request_error", "prompt is too long"), "Crashed"),
    "too large": (error(413, "request_too_large"), "Crashed"),
    "model not found": (error(404, "not_found_error"), "ModelUnavailable"),
    "no permission": (error(403, "permission_error"), "ModelUnavailable"),
    "no money": (error(402, "billing_error"), "ModelUnavailable"),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_an_ending_that_is_no_success_has_its_sort_and_is_asked_once(folder: Path, name: str) -> None:
    said, sort = ENDINGS[name]
    with ModelServer([said, say("never asked")]) as server:
        Asking(folder, server).fails_at_once(sort)


def test_a_model_that_is_not_there_names_the_option_and_the_setting(folder: Path) -> None:
    with ModelServer([ENDINGS["model not found"][0]]) as server:
        said = Asking(folder, server).failed().message
    assert "`--agent SPEC` (`detent resume --agent SPEC`)" in said and "`[agents] model` in detent.toml" in said


def test_a_context_overflow_says_what_the_service_said(folder: Path) -> None:
    with ModelServer([ENDINGS["context overflow"][0]]) as server:
        assert "prompt is too long" in Asking(folder, server).failed().message


def test_the_same_call_again_and_again_is_stuck(folder: Path) -> None:
    with ModelServer(lambda body, n: call(READ)) as server:
        asking = Asking(folder, server, limits=QUICK._replace(repeats=4))
        failed = asking.failed()
    assert (failed.sort, len(asking.box.calls), len(server.seen)) == ("Stuck", 3, 4)


def test_two_calls_by_turns_for_ever_are_stuck_and_different_ones_are_not(folder: Path) -> None:
    with ModelServer(lambda body, n: call(tool("Read", {"n": n % 2}))) as server:
        assert Asking(folder, server).failed().sort == "Stuck"
        assert len(server.seen) == QUICK.round
    with ModelServer(lambda body, n: call(tool("Read", {"n": n})) if n < 30 else say("done")) as server:
        assert Asking(folder, server).reply().turns == 31


# -- faults of the service ---------------------------------------------------------------------------------------------------

PASSING = {
    "529 twice": [error(529, "overloaded_error")] * 2,
    "500": [error(500, "api_error")],
    "502 from a proxy": [Said(502, body={})],
    "429 with a time": [error(429, "rate_limit_error", retry_after="0.02")],
    "429 without one": [error(429, "rate_limit_error")],
    "cut in the words": [cut(say("half"))],
    "cut in a call": [cut(call(READ))],
    "an end before the end": [call(READ)._replace(then="early")],
    "an error in the stream": [broken(call(READ))],
    "silence": [Said(then="hang")],
    "silence before the answer": [Said(0)],
}


@pytest.mark.parametrize("name", PASSING)
def test_a_passing_fault_is_tried_again_and_nothing_of_it_is_carried_out(folder: Path, name: str) -> None:
    limits = QUICK._replace(read=0.5) if name.startswith("silence") else QUICK
    with ModelServer([*PASSING[name], say("fine")]) as server:
        Asking(folder, server, limits=limits).passes_over(len(PASSING[name]))


LASTING = {
    "overloaded": (error(529, "overloaded_error"), "RateLimit"),
    "rate limit": (error(429, "rate_limit_error", retry_after="0.01"), "RateLimit"),
    "broken": (error(500, "api_error"), "Network"),
    "cut": (cut(say("half")), "Network"),
    "silent": (Said(then="hang"), "Timeout"),
}


@pytest.mark.parametrize("name", LASTING)
def test_a_lasting_fault_is_given_up_after_bounded_tries(folder: Path, name: str) -> None:
    said, sort = LASTING[name]
    limits = QUICK._replace(retries=2, read=0.1 if sort == "Timeout" else 10)
    with ModelServer([said] * 9) as server:
        assert Asking(folder, server, limits=limits).failed().sort == sort
    assert len(server.seen) == 3


def test_a_service_that_is_not_there_is_a_network_fault(folder: Path) -> None:
    with ModelServer([]) as server:
        pass
    assert Asking(folder, server).failed().sort == "Network"


def test_a_limit_that_names_a_far_time_parks_the_run_at_once(folder: Path) -> None:
    with ModelServer([error(429, "rate_limit_error", retry_after="7200")]) as server:
        failed = Asking(folder, server).failed()
    assert (failed.sort, len(server.seen)) == ("RateLimit", 1)
    ahead = datetime.fromisoformat(failed.not_before) - datetime.now(UTC)
    assert timedelta(seconds=7100) < ahead <= timedelta(seconds=7201)


def test_a_wait_beyond_the_turn_is_not_waited_for(folder: Path) -> None:
    with ModelServer([error(429, "rate_limit_error", retry_after="50")]) as server:
        failed = Asking(folder, server, timeout=5).failed()
    assert (failed.sort, bool(failed.not_before)) == ("RateLimit", True)


NOW = datetime(2026, 1, 1, tzinfo=UTC)
WAITS: tuple[tuple[Mapping[str, str], float | None], ...] = (
    ({}, None),
    ({"retry-after": "3"}, 3),
    ({"retry-after": "1.5", "retry-after-ms": "200"}, 0.2),
    ({"retry-after": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}, 90),
    ({"retry-after": format_datetime(NOW - timedelta(seconds=90), usegmt=True)}, 0),
    ({"retry-after": "soon"}, None),
    ({"retry-after": "nan"}, None),
    ({"retry-after": "-4"}, None),
    ({"retry-after": "1e300"}, 30 * 24 * 3600),
    ({"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "2026-01-01T00:01:00Z"}, 60),
    ({"anthropic-ratelimit-tokens-remaining": "9", "anthropic-ratelimit-tokens-reset": "2026-01-01T00:01:00Z"}, None),
    ({"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "tomorrow"}, None),
)


@pytest.mark.parametrize(("headers", "seconds"), WAITS)
def test_the_wait_is_the_one_that_the_service_names(headers: Mapping[str, str], seconds: float | None) -> None:
    assert named_wait(headers, NOW) == seconds


def test_pings_are_no_progress(folder: Path) -> None:
    with ModelServer([Said(then="ping")]) as server:
        failed = Asking(folder, server, limits=QUICK._replace(read=5), silence=0.5).failed()
    assert (failed.sort, len(server.seen)) == ("Stuck", 1)


def test_pings_do_not_hide_that_the_turn_is_no_longer_wanted(folder: Path) -> None:
    with ModelServer([Said(then="ping")]) as server:
        assert Asking(folder, server, wanted=lambda: not server.seen).failed().sort == "Stopped"
        assert READER not in [thread.name for thread in threading.enumerate()]  # the stream was hung up, not left


def test_a_service_that_never_answers_is_left_at_once_when_unwanted(folder: Path) -> None:
    with ModelServer([Said(0)]) as server:
        asking = Asking(folder, server, limits=QUICK._replace(read=20), wanted=lambda: not server.hung.is_set())
        assert asking.failed().sort == "Stopped"


# -- what it costs -----------------------------------------------------------------------------------------------------------


def test_usage_is_the_services_own_count_with_its_price(folder: Path) -> None:
    with ModelServer([call(READ), say("done")], least=1) as server:
        usage = Asking(folder, server).reply().usage
    assert usage.input_tokens == sum(s.input for s in server.seen)
    assert usage.cached_tokens == sum(s.read for s in server.seen) > 0
    assert usage.written_tokens == sum(s.written for s in server.seen) > 0
    read = usage.input_tokens + 0.1 * usage.cached_tokens + 1.25 * usage.written_tokens
    assert usage.usd == pytest.approx((5 * read + 25 * usage.output_tokens) / 1e6)


def test_a_cut_message_is_paid_for_too(folder: Path) -> None:
    with ModelServer([cut(say("half"))] * 9) as server:
        usage = Asking(folder, server, limits=QUICK._replace(retries=1)).failed().usage
    assert usage.input_tokens == sum(s.input for s in server.seen) > 0 and len(server.seen) == 2


def test_the_budget_is_looked_at_before_each_call(folder: Path) -> None:
    for budget, calls in ((Budget(turns=2), 2), (Budget(tokens=1), 1), (Budget(usd=0.000001), 1)):
        with ModelServer(lambda body, n: call(tool("Read", {"n": n}))) as server:
            failed = Asking(folder, server, budget=budget).failed()
        assert (failed.sort, len(server.seen)) == ("Budget", calls)
        assert failed.usage.tokens == sum(s.plain for s in server.seen) + failed.usage.output_tokens


def test_an_unknown_price_counts_as_nothing_and_is_said_once(folder: Path) -> None:
    with ModelServer([call(READ), say("done")], models=("my-model",)) as server:
        asking = Asking(folder, server, model="my-model")
        assert asking.reply().usage.usd == 0
    assert [p.text for p in asking.shown if "price unknown" in p.text] == ["price unknown: my-model is counted as free"]


def test_a_limit_in_dollars_is_not_ignored_where_no_price_is_known(folder: Path) -> None:
    with ModelServer([say("done")], models=("my-model",)) as server:
        failed = failure(Asking(folder, server, model="my-model", budget=Budget(usd=1.0)).reply)
    assert "cannot be kept" in failed.message and not server.seen


def test_prices_know_models_with_and_without_their_date() -> None:
    assert price_of("claude-opus-4-5-20251101") == price_of("claude-opus-4-5") != price_of("claude-opus-4-1-20250805")
    assert price_of("claude-nobody") is None
    million = Usage(10**6, 10**6, 10**6, 10**6)
    assert priced(million, price_of("claude-haiku-4-5")).usd == pytest.approx(1 + 5 + 0.1 + 1.25)


def test_each_call_reads_what_the_one_before_wrote_with_at_most_four_marks(folder: Path) -> None:
    def script(body: dict[str, object], n: int) -> Said:
        return call(*(tool("Read", {"n": n, "i": i}) for i in range(15))) if n < 8 else say("done")

    with ModelServer(script, least=1) as server:
        Asking(folder, server).reply()
    before = 0
    for seen in server.seen:
        assert seen.read == before  # all that was there before, exactly
        before = seen.read + seen.written
        assert seen.input == 0
        assert json.dumps(seen.body).count("cache_control") <= 4


# -- keys and set-up ---------------------------------------------------------------------------------------------------------


def test_without_a_key_it_does_not_start_and_says_what_to_do(folder: Path) -> None:
    failed = failure(lambda: ask("anthropic", turn(folder), {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}))
    assert (failed.message, failed.hint) == (
        "the anthropic agent needs a key",
        "set ANTHROPIC_API_KEY in the environment that starts detent",
    )


def test_a_key_that_is_not_accepted_is_a_matter_for_a_person(folder: Path) -> None:
    with ModelServer([]) as server:
        failed = failure(lambda: ask("anthropic", turn(folder), {**server.outer, "ANTHROPIC_API_KEY": "sk-ant-wrong-000000000000"}))
    assert type(failed) is DetentError and "did not accept the key" in failed.message


def test_a_key_that_a_tool_prints_is_not_in_the_transcript(folder: Path) -> None:
    other = "ghp_" + "a1B2" * 9

    class Leaks(Box):
        def call(self, name: str, arguments: object) -> PlainAnswer:
            return PlainAnswer(f"{KEY} {other}\n-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----\nrest")

    with ModelServer([call(READ), say(f"the key is {KEY}")]) as server:
        asking = Asking(folder, server, toolbox=Leaks())
        asking.reply()
    assert asking.turn.transcript is not None
    written = asking.turn.transcript.read_text() + "".join(p.text for p in asking.shown)
    assert not [secret for secret in (KEY, other, "MIIabc") if secret in written]
    assert "rest" in written


def test_the_sdk_is_imported_only_when_it_is_asked_and_named_when_it_is_missing(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['anthropic'] = None\n"
        "from pathlib import Path\nfrom detent.agents import Turn, ask\nfrom detent.errors import DetentError\n"
        "try: ask('anthropic', Turn('{}', 'p', 's', Path('.')), {'ANTHROPIC_API_KEY': 'k'})\n"
        "except DetentError as e: print(e.message, '|', e.hint)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (
        ran.stdout
        == "the anthropic agent needs the package anthropic | install it: ./x setup (in Detent's checkout; it installs everything)\n"
    )
