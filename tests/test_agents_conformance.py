"""What holds for every backend alike. A new one gets a rig in agents_rigs and passes this."""

import json
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import anthropic  # noqa: F401  # its import takes seconds, which no turn here should be charged for
import openai  # noqa: F401  # the same
import pytest

from detent.agents import BACKENDS, FORMS, AgentFailed, Budget, Reply, Turn, Usage, ask
from detent.agents.agent_protocol import Sort
from tests.agents_rigs import RIGS, WORDS, failure, turn
from tests.model_server import KEY

every = pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) if name == "claude" else name for name in RIGS])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def lines(t: Turn) -> list[dict[str, object]]:
    assert t.transcript is not None
    return [json.loads(line) for line in t.transcript.read_text("utf-8").splitlines()]


def sort_of(call: Callable[[], Reply]) -> str:
    failed = failure(call)
    assert isinstance(failed, AgentFailed), failed
    return failed.sort


def test_every_backend_has_a_rig_and_a_form() -> None:
    assert set(BACKENDS) == set(RIGS) == set(FORMS)


def test_every_backend_and_every_sort_of_failure_is_in_the_docs() -> None:
    text = (Path(__file__).parent.parent / "docs" / "agents.md").read_text("utf-8")
    assert not [form for form in FORMS.values() if f"| `{form}` |" not in text or f"## `{form}`" not in text]
    assert not [sort for sort in get_args(Sort) if f"| `{sort}` |" not in text]


@every
def test_it_replies(folder: Path, name: str) -> None:
    with RIGS[name](folder, "replies") as rig:
        reply = rig.ask(turn(folder))
    assert (reply.text.strip(), reply.turns) == (WORDS, 1)


@every
def test_it_fails_with_its_sort_and_the_transcript_says_so(folder: Path, name: str) -> None:
    t = turn(folder)
    with RIGS[name](folder, "fails") as rig:
        assert sort_of(lambda: rig.ask(t)) == rig.fails_as
    assert (lines(t)[-1]["kind"], lines(t)[-1]["sort"]) == ("failed", rig.fails_as)


@every
@pytest.mark.parametrize("budget", [Budget(tokens=0), Budget(usd=0.0), Budget(seconds=0.0), Budget(turns=0)])
def test_a_used_up_budget_is_seen_before_the_agent_is_reached(folder: Path, name: str, budget: Budget) -> None:
    with RIGS[name](folder, "replies") as rig:
        assert sort_of(lambda: rig.ask(turn(folder, budget=budget))) == "Budget"
        assert not rig.begun()


@every
def test_an_unwanted_turn_is_not_begun(folder: Path, name: str) -> None:
    with RIGS[name](folder, "replies") as rig:
        assert sort_of(lambda: rig.ask(turn(folder, wanted=lambda: False))) == "Stopped"
        assert not rig.begun()


@pytest.mark.sample(2)
@every
def test_it_stops_soon_when_it_is_no_longer_wanted(folder: Path, name: str) -> None:
    with RIGS[name](folder, "hangs") as rig:
        begun = time.monotonic()
        assert sort_of(lambda: rig.ask(turn(folder, wanted=lambda: not rig.begun()))) == "Stopped"
        assert rig.begun() and time.monotonic() - begun < 50  # and not when it would have ended by itself


@pytest.mark.slow
@every
def test_it_ends_at_its_timeout(folder: Path, name: str) -> None:
    with RIGS[name](folder, "hangs") as rig:
        assert sort_of(lambda: rig.ask(turn(folder, timeout=8.0))) == "Timeout"
        assert rig.begun()


@pytest.mark.sample(3)
@every
def test_it_ends_where_the_time_of_its_budget_ends(folder: Path, name: str) -> None:
    with RIGS[name](folder, "hangs") as rig:
        assert sort_of(lambda: rig.ask(turn(folder, budget=Budget(seconds=1.0)))) == "Budget"


@every
def test_the_transcript_is_whole_private_and_without_the_key(folder: Path, name: str) -> None:
    t = turn(folder)
    assert t.transcript is not None and KEY in t.prompt and KEY in t.briefing
    with RIGS[name](folder, "replies") as rig:
        rig.ask(t)
    kinds = [line["kind"] for line in lines(t)]
    assert (kinds[0], kinds[-1]) == ("asked", "reply")
    assert str(lines(t)[-1]["text"]).strip() == WORDS
    assert KEY not in t.transcript.read_text("utf-8") and "[redacted]" in t.transcript.read_text("utf-8")
    assert stat.S_IMODE(t.transcript.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", [name for name in RIGS if name != "human"])  # a person's rig tells sorts only
def test_a_turn_that_cannot_be_recorded_is_not_begun(folder: Path, name: str) -> None:
    (folder.parent / "log").mkdir()
    (folder.parent / "log" / "turn.jsonl").mkdir()
    with RIGS[name](folder, "replies") as rig:
        assert "cannot be written" in failure(lambda: rig.ask(turn(folder))).message
        assert not rig.begun()


def test_an_unknown_agent_is_refused_with_the_known_ones(folder: Path) -> None:
    failed = failure(lambda: ask("gpt:5", turn(folder), {}))
    assert failed.message == "there is no agent 'gpt:5'"
    assert (
        failed.hint
        == "known: anthropic[:MODEL], openai[:MODEL[@SERVICE]], claude[:MODEL], codex[:MODEL], acp:NAME[:MODEL], command:PROGRAM [ARGS], scripted:FILE, human"
    )


def test_usages_add_up() -> None:
    assert Usage(1, 2, 3, 4, 0.5) + Usage(10, 20, 30, 40, 0.25) == Usage(11, 22, 33, 44, 0.75)
    assert Usage(1, 2, 3, 4, 9.0).tokens == 10
