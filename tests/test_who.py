"""Who works and who reviews: an agent per role, a second try with another one, a reviewer of another vendor."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, cast

import pytest

from detent.agents.catalog import Address, Price
from detent.agents.vendors import vendor_of
from detent.app.driving import Driving
from detent.app.run_configs import CONFIGURED
from detent.app.who import agent_of, agents_are_ready, catalog_of, with_reviewer
from detent.config import Settings
from detent.config.sources import load
from detent.door import AnyEvent
from detent.drive.spent import failed_tries, spent_in
from detent.errors import DetentError
from tests.agents_rigs import failure
from tests.driven import ALONE, CYCLE, ENDS, GREENS, PLANS, REDS, REFACTORS, Json, driven, instead, project, scripted
from tests.model_server import KEY, ModelServer, say

NOTHING = {"PATH": "/nowhere"}
WRONG: Json = {"state": "GREEN", "write": {"calc.py": "def add(a, b):\n    return 0\n"}, "reply": "try again", "usage": {"input_tokens": 5}}
TWICE = '[agents]\ncoder = "codex"\n[agents.escalate]\nafter = 2\nto = "claude:opus"\n'


def settings(toml: str) -> Settings:
    return load({"detent.toml": toml}.get, {})


# -- a model per role, and a second try ---------------------------------------------------------------------------------------


def test_each_role_has_its_agent_unless_a_person_names_one_and_after_so_many_failures_another_one_is_asked() -> None:
    configured, named = Driving(CONFIGURED, settings(TWICE)), Driving("human", settings(TWICE))
    assert [agent_of(configured, role) for role in ("Coder", "test")] == ["codex", "anthropic"]
    assert [agent_of(named, "coder", failed) for failed in range(4)] == ["human", "human", "claude:opus", "claude:opus"]
    assert [agent_of(Driving("human", settings("")), "coder", failed) for failed in (0, 99)] == ["human", "human"]


@pytest.mark.slow
def test_after_failed_attempts_the_next_turn_goes_to_another_agent_and_events_status_and_history_say_so(tmp_path: Path) -> None:
    second = tmp_path / "second.json"
    second.write_text(json.dumps([GREENS]))
    p = project(tmp_path / "p", f'{ALONE}[agents.escalate]\nafter = 2\nto = "scripted:{second}"\n')
    stop: list[Json] = [{"state": "GREEN", "fail": {"sort": "Crashed", "message": "it broke"}}]
    with driven(p, PLANS, REDS, WRONG, *stop, REFACTORS, ENDS) as d:
        weak = d.run.data.setup.agent
        real = d.driver()
        asked: list[str] = []

        def ask(briefing, given):  # type: ignore[no-untyped-def]  # as the turns' own
            if given.agent != weak:
                asked.append(str(p.run("status", "--json").json["second_try"]))
            return real.turns.ask(briefing, given)

        done = d.go(instead(real, ask=ask))
        assert done["outcome"] == "done", done
        by = [(e.on, e.sent.facts["asked"]) for e in d.events if "asked" in e.sent.facts]
        strong = f"scripted:{second}"
        assert by == [
            ("planned", weak), ("red", weak), ("green", weak), ("agent-failed", weak), ("green", strong), ("refactor", weak), ("complete", weak),
        ]  # fmt: skip
        assert asked == [strong]  # while the strong one works, status says so
        assert spent_in(d.events).usage.input_tokens == 5  # what failed is counted
    shown = [line.strip() for line in p.run("history").out.splitlines() if "asked:" in line]
    assert shown == [f"asked: {who}" for who in (weak, strong, weak)]
    events = p.run("history", "--json").json["events"]
    assert [e["asked"] for e in events if e["asked"]] == [who for _, who in by]
    assert p.run("status", "--json").json["second_try"] is None


class Happened(NamedTuple):
    on: str
    status: str


@pytest.mark.parametrize(
    ("events", "failed"),
    [
        ("", 0), ("red/FAILURE", 1), ("red/FAILURE agent-failed/FAILURE", 2), ("red/FAILURE red/SUCCESS", 0), ("red/FAILURE resume/SUCCESS", 0),
        ("red/FAILURE limited/SUCCESS", 1), ("red/FAILURE steer/SUCCESS", 1), ("red/FAILURE red/REFUSED red/ERROR", 1),
        ("red/SUCCESS green/FAILURE green/FAILURE", 2), ("green/FAILURE red/NEEDS_ANALYSIS", 0),
    ],
)  # fmt: skip
def test_failed_attempts_are_counted_since_one_passed_or_a_person_let_it_go_on(events: str, failed: int) -> None:
    assert failed_tries(cast("list[AnyEvent]", [Happened(*event.split("/")) for event in events.split()])) == failed


def test_the_agent_of_the_second_try_must_be_one_that_can_be_asked_before_a_run_is_made(tmp_path: Path) -> None:
    p = project(tmp_path / "p", f'{ALONE}[agents.escalate]\nafter = 1\nto = "openai:gpt-5.4"\n')
    ran = p.run("run", "add numbers", "--agent", scripted(p, *CYCLE), "--json", OPENAI_API_KEY="")
    assert (ran.code, ran.json["error"]) == (2, "the openai agent needs a key for openai"), ran
    assert "no run" in p.run("status").err


MISTAKES: Mapping[str, tuple[str, str]] = {
    '[agents]\ncodr = "codex"': ("[agents] codr: no workflow has a role of that name", "did you mean coder?"),
    '[agents]\nzebra = "codex"': ("[agents] zebra: no workflow has a role of that name", "known: architect, coder"),
    '[agents]\ncoder = "gpt"': ("there is no agent 'gpt'", "openai[:MODEL[@SERVICE]]"),
    '[agents]\ncoder = "openai:m@mine"': ("there is no service 'mine' for openai:m@mine", "[services.mine]"),
    '[agents.escalate]\nafter = 1\nto = "gpt"': ("there is no agent 'gpt'", "known: "),
}


@pytest.mark.parametrize("toml", MISTAKES)
def test_a_role_that_nobody_has_and_an_agent_that_is_not_there_are_told_before_a_run_is_made(tmp_path: Path, toml: str) -> None:
    message, hint = MISTAKES[toml]
    failed = failure(lambda: agents_are_ready(settings(toml), "", NOTHING, tmp_path))
    assert failed.message == message and hint in failed.hint


def test_items_are_not_queued_for_a_role_that_nobody_has(tmp_path: Path) -> None:
    p = project(tmp_path / "p", f'{ALONE}[agents]\nwroker = "codex"\n')
    p.run("items", "add", "Round prices", "--json")
    ran = p.run("run", "--workflow", "execute", "it-1", "--agent", scripted(p, *CYCLE), "--json")
    assert ran.code == 2 and "[agents] wroker: no workflow has a role of that name" in ran.json["error"], ran
    queued = p.run("queue", "add", "it-1")
    assert queued.code == 2 and "did you mean worker?" in queued.err, queued


def test_every_role_that_a_prompt_is_written_for_can_be_configured(tmp_path: Path) -> None:
    roles = ("test-list", "test", "implementing", "refactor", "coder", "reviewer", "SpecAgent", "qa")
    agents_are_ready(settings("[agents]\n" + "".join(f'{role} = "human"\n' for role in roles)), "", NOTHING, tmp_path)


# -- services and prices -------------------------------------------------------------------------------------------------------


def test_services_and_prices_of_the_project_are_told_to_agents() -> None:
    toml = (
        '[services.mine]\nurl = "http://127.0.0.1:9/v1"\nkey = "MY_WORD"\nusage = false\n'
        '[prices]\n"m" = { input = 2, output = 8, cached = 0.5 }\n"free" = { input = 0, output = 0 }\n'
    )
    found = catalog_of(settings(toml))
    assert found.services == {"mine": Address("http://127.0.0.1:9/v1", "MY_WORD", False)}
    assert found.prices == {"m": Price(2, 8, 0.25, 1.0), "free": Price(0, 0, 0, 0)}


def test_a_service_in_a_file_that_is_not_committed_is_not_believed(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    p.write({"detent.toml": f'{ALONE}[services.mine]\nurl = "http://elsewhere/v1"\nkey = "OPENAI_API_KEY"\n'})
    p.git("rm", "-q", "--cached", "detent.toml")
    p.git("commit", "-qm", "without its configuration")
    ran = p.run("run", "add numbers", "--agent", scripted(p, *CYCLE), "--json")
    assert ran.code == 2 and "[services] is in a file that is not committed" in ran.json["error"], ran


# -- the reviewer --------------------------------------------------------------------------------------------------------------

VENDORS = {
    "anthropic": "Anthropic", "claude:opus": "Anthropic", "codex": "OpenAI", "openai:gpt-5.4": "OpenAI", "openai:o3@mine": "OpenAI",
    "openai:anthropic/claude-opus-4-5@openrouter": "Anthropic", "openai:gemini-3-pro@gemini": "Google", "openai:qwen3-coder@ollama": "Alibaba",
    "openai:devstral-2@mistral": "Mistral", "openai:something@mine": "", "openai": "", "command:./agent": "", "human": "", "scripted:x": "",
}  # fmt: skip


def test_the_vendor_of_an_agent_is_told_by_its_program_or_its_model() -> None:
    assert {spec: vendor_of(spec) for spec in VENDORS} == VENDORS
    assert vendor_of("openai", "gpt-5.4") == "OpenAI"


def other(toml: str, agent: str, env: Mapping[str, str] = NOTHING) -> str:
    return with_reviewer(settings(f'[review]\nagent = "other"\n{toml}'), agent, env, Path("/")).review.agent


def test_other_is_a_reviewer_of_another_vendor_than_whoever_may_have_written_it() -> None:
    both = '[agents]\ncoder = "anthropic"\nreviewer = "openai:gpt-5.4"\n'
    assert other(both, CONFIGURED) == "openai:gpt-5.4"
    assert other(both, "claude") == "openai:gpt-5.4"
    assert other(both, "codex") == "anthropic"
    assert other("", "codex", {**NOTHING, "ANTHROPIC_API_KEY": KEY}) == "anthropic"  # one that can be asked here
    third = f'{both}[agents.escalate]\nafter = 1\nto = "openai:gemini-3-pro@gemini"\n'
    assert other(third, "claude") == "openai:gpt-5.4"
    assert with_reviewer(settings('[review]\nagent = "human"\n'), "codex", NOTHING, Path("/")).review.agent == "human"


ALONE_HERE: Mapping[str, tuple[str, str]] = {
    "claude": ("Anthropic wrote it, and no agent of another vendor is known here", "configure one: [agents] reviewer"),
    "command:./agent": ("Detent cannot tell whose model command:./agent uses", "name the reviewer"),
    "": ("Detent cannot tell whose model an agent that calls by itself uses", "name the reviewer"),
}


@pytest.mark.parametrize("agent", ALONE_HERE)
def test_other_is_refused_where_there_is_no_other(agent: str) -> None:
    message, hint = ALONE_HERE[agent]
    for toml in ("", '[agents]\nreviewer = "claude:opus"\n'):
        failed = failure(lambda toml=toml: other(toml, agent))  # type: ignore[misc]  # the one of this round
        assert type(failed) is DetentError
        assert failed.message.startswith('[review] agent = "other": ') and message in failed.message and hint in failed.hint


def test_an_agent_that_calls_by_itself_can_start_where_nobody_is_asked_for_a_review(tmp_path: Path) -> None:
    p = project(tmp_path / "p", f'{ALONE}[review]\nagent = "other"\n')
    refused = p.run("start", "--workflow", "pr")
    assert refused.code == 2 and "Detent cannot tell whose model an agent that calls by itself uses" in refused.err, refused
    assert p.run("start", "--workflow", "tdd", "add numbers").code == 0


@pytest.mark.slow
def test_a_branch_is_reviewed_by_a_model_of_another_vendor_over_its_own_dialect(tmp_path: Path) -> None:
    config = f'{ALONE}[agents]\ncoder = "anthropic"\nreviewer = "openai:gpt-5.4"\n[review]\nagent = "other"\n'
    p = project(tmp_path / "p", config)
    p.git("switch", "-qc", "mine")
    p.write({"calc.py": "def add(a, b):\n    return a + b\n"})
    p.git("commit", "-qam", "add")
    p.git("switch", "-q", "main")
    review = {"pr_ready": True, "summary": "it adds", "issues": []}
    with ModelServer([say(json.dumps(review))], models=("gpt-5.4",)) as server:
        ran = p.run("review", "mine", "--json", **server.outer)
    assert ran.code == 0, ran
    assert [(seen.path, seen.body["model"]) for seen in server.seen] == [("/v1/chat/completions", "gpt-5.4")]
