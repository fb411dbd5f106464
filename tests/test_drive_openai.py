"""`detent run --agent openai:MODEL`: a whole cycle over the real SDK, with real tool calls, against the scripted service in its chat dialect."""

import signal
from pathlib import Path

import pytest

from tests.driven import GREEN, project, running
from tests.model_server import KEY, Json, ModelServer, Reply, call, cut, error, say, tool
from tests.patience import LONG
from tests.test_drive_anthropic import Model

MODEL = "my-model"


class ChatModel(Model):
    """The same model, asked in the other dialect."""

    def __call__(self, body: Json, number: int) -> Reply:
        return super().__call__({"system": [{"text": body["messages"][0]["content"]}], "messages": grouped(body["messages"][1:])}, number)


def grouped(messages: list[Json]) -> list[Json]:
    """As the Messages API has them: results of tools in one message."""
    found: list[Json] = []
    for message in messages:
        if message["role"] == "tool" and found[-1]["role"] == "tool":
            found[-1]["content"].append({"content": message["content"]})
        else:
            found.append({"role": message["role"], "content": [{"text": message["content"], "content": message["content"]}]})
    return found


@pytest.mark.slow
def test_a_whole_cycle_over_the_real_sdk_and_the_sums_are_those_of_the_service(tmp_path: Path) -> None:
    truncated = Reply(blocks=({"type": "text", "text": "I was about to"},), stop="max_tokens")
    model = ChatModel(PLAN=[error(503, "busy", retry_after_ms="10")], GREEN=[truncated])
    config = '[git]\nremote = ""\n[limits]\nusd = 5\n[prices]\n"my-model" = { input = 2, output = 8, cached = 1 }\n'
    p = project(tmp_path / "p", config)
    with ModelServer(model, models=(MODEL,)) as server:
        ran = p.run("run", "add numbers", "--agent", f"openai:{MODEL}", "--json", **server.outer)
    assert ran.code == 0, ran
    events = p.run("history", "--json").json["events"]
    assert [e["on"] for e in events] == ["start", "planned", "red", "agent-failed", "green", "refactor", "complete", "offered"]
    assert {e["asked"] for e in events if e["usage"]} == {f"openai:{MODEL}"}
    assert model.tools == ["Read", "Bash", "Write", "Write", "Bash", "Write", "Write"]
    assert "tests are frozen while the code is written" in "\n".join(model.results)
    assert p.git("show", "detent/add-numbers:calc.py") + "\n" == GREEN
    answered = [seen for seen in server.seen if seen.output]
    usage = ran.json["usage"]
    assert usage["input_tokens"] == sum(seen.input for seen in answered)
    assert usage["cached_tokens"] == sum(seen.read for seen in answered) > 0
    assert usage["output_tokens"] == sum(seen.output for seen in answered)
    assert usage["usd"] == round((2 * usage["input_tokens"] + usage["cached_tokens"] + 8 * usage["output_tokens"]) / 1e6, 6)
    assert KEY not in "".join(Path(e["transcript"]).read_text() for e in events if e["transcript"])


@pytest.mark.slow
def test_a_message_that_broke_off_is_in_the_sums_too(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    model = ChatModel(PLAN=[cut(say("half " * 2000))] * 9)
    with ModelServer(model, models=(MODEL,)) as server:
        ran = p.run("run", "add numbers", "--agent", f"openai:{MODEL}", "--json", DETENT_LIMITS_TURNS="1", **server.outer)
    assert ran.json["outcome"] == "halted", ran
    served = sum(seen.output for seen in server.seen)
    assert abs(ran.json["usage"]["output_tokens"] - served) < served / 10


DIALECTS = {"openai": (f"openai:{MODEL}", ChatModel), "anthropic": (f"anthropic:{MODEL}", Model)}


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_a_killed_turn_used_is_counted_with_the_one_that_goes_on_in_its_place(
    tmp_path: Path, dialect: str, end: signal.Signals
) -> None:
    spec, kind = DIALECTS[dialect]
    model = kind(PLAN=[call(tool("Bash", {"command": "ls"})), Reply(then="hang")])
    p = project(tmp_path / "p")
    with ModelServer(model, models=(MODEL,), caching=False) as server:
        with running(p, "run", "add numbers", "--agent", spec, "--json", **server.outer) as child:
            assert server.hung.wait(LONG)
            child.send_signal(end)
            child.communicate(timeout=LONG)
        done = p.run("resume", "--json", **server.outer)
    assert done.code == 0, done
    answered = [seen for n, seen in enumerate(server.seen) if n != 1]  # the second one was never ended
    whole = sum(seen.input + seen.output for seen in answered)
    counted = done.json["usage"]["input_tokens"] + done.json["usage"]["output_tokens"]
    cut_off = server.seen[1].input
    assert counted == pytest.approx(whole + (cut_off if end == signal.SIGINT else 0), abs=cut_off / 4 if end == signal.SIGINT else 0)
    events = p.run("history", "--json").json["events"]
    assert [e["on"] for e in events].count("planned") == 1  # the attempt is the same one


def test_without_a_key_no_run_is_made_and_the_way_out_is_told(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    ran = p.run("run", "add numbers", "--agent", "openai:gpt-5.4", "--json", OPENAI_API_KEY="", OPENAI_BASE_URL="")
    assert ran.code == 2 and "needs a key" in ran.json["error"] and "OPENAI_API_KEY" in ran.json["hint"], ran
    assert "no run" in p.run("status").err


def test_a_limit_in_dollars_without_a_price_is_refused_before_the_model_is_asked(tmp_path: Path) -> None:
    p = project(tmp_path / "p", '[git]\nremote = ""\n[limits]\nusd = 5\n')
    with ModelServer([], models=(MODEL,)) as server:
        ran = p.run("run", "add numbers", "--agent", f"openai:{MODEL}", "--json", **server.outer)
    assert ran.code == 2 and "cannot be kept" in ran.json["error"] and "[prices]" in ran.json["hint"], ran
    assert not server.seen
