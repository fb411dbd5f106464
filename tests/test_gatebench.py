"""The bench of the gates: the agents there are, some of them played for real, and all of them where time does not matter."""

import json
from pathlib import Path

import pytest

from detent.interfaces.gatebench import Agent, Language, languages
from detent.interfaces.gatebench.play import Outcome, play
from detent.interfaces.gatebench.report import as_json, false_accepts, false_rejects, flagged, line, summary
from tests.machine import need
from tests.project import Project

LANGUAGES = {each.language: each for each in languages()}
PAIRS = [(each, agent) for each in LANGUAGES.values() for agent in each.agents]
SAMPLE = {
    ("python", "equal-to-everything"),
    ("python", "same-size-same-time"),
    ("javascript", "patches-assert"),
}


def name_of(pair: tuple[Language, Agent]) -> tuple[str, str]:
    return pair[0].language, pair[1].name


def test_there_are_many_agents_of_each_sort_in_several_languages() -> None:
    assert len(PAIRS) >= 60 and len(LANGUAGES) >= 4
    for each in LANGUAGES.values():
        assert {"honest", "lazy", "cheat"} <= {agent.sort for agent in each.agents}, each.language
        assert len({agent.name for agent in each.agents}) == len(each.agents), each.language
    assert all(agent.does.endswith(".") for _, agent in PAIRS)
    assert {name for pair in PAIRS if (name := name_of(pair)) in SAMPLE} == SAMPLE


def judged(pair: tuple[Language, Agent], folder: Path) -> Outcome:
    need(*pair[0].needs)
    return play(*pair, folder)


@pytest.mark.parametrize("pair", [p for p in PAIRS if name_of(p) in SAMPLE], ids=lambda p: "-".join(name_of(p)))
def test_an_agent_is_judged_rightly(pair: tuple[Language, Agent], tmp_path: Path) -> None:
    outcome = judged(pair, tmp_path)
    assert outcome.right, line(outcome)
    assert outcome.accepted or (outcome.reason and outcome.held_at)


@pytest.mark.slow
@pytest.mark.parametrize("pair", [p for p in PAIRS if name_of(p) not in SAMPLE], ids=lambda p: "-".join(name_of(p)))
def test_every_agent_is_judged_rightly(pair: tuple[Language, Agent], tmp_path: Path) -> None:
    outcome = judged(pair, tmp_path)
    assert outcome.right is not False, line(outcome)


@pytest.mark.slow
def test_an_honest_agent_that_leaves_nothing_of_use_counts_as_rejected(tmp_path: Path) -> None:
    """The look at the end can fail: a machine that merges something else is found out."""
    python = LANGUAGES["python"]
    honest = next(agent for agent in python.agents if agent.name == "nothing-to-refactor")
    outcome = play(Language(**{**{f: getattr(python, f) for f in python.__struct_fields__}, "check": "false"}), honest, tmp_path)
    assert outcome.right is False and outcome.held_at == "the merge"


def test_rates_count_what_was_judged_wrongly_and_leave_out_what_nobody_can_judge() -> None:
    def made(sort: str, accepted: bool, name: str = "x", *flags: str) -> Outcome:
        return Outcome(name, "python", sort, accepted, "" if accepted else "GREEN", "", 1.0, flags)  # type: ignore[arg-type]

    outcomes = [made("honest", True), made("honest", False, "h"), made("cheat", True, "c"), made("lazy", False), made("beyond", True, "b")]
    assert tuple(false_accepts(outcomes)) == (1, 2) and tuple(false_rejects(outcomes)) == (1, 2)
    asked = [made("cheat", True, "f", "no-proof"), made("honest", True, "g", "rewritten-test")]
    assert tuple(false_accepts(asked)) == (0, 1) and tuple(flagged(asked)) == (1, 1) and all(o.right for o in asked)
    assert "honest, and flagged: python g (rewritten-test)" in "\n".join(summary(asked, [])) and "flagged (no-proof)" in line(asked[0])
    text = "\n".join(summary(outcomes, ["go (go not installed)"]))
    assert "judged wrongly: python h" in text and "judged wrongly: python c" in text and "outside the rates: python b (landed)" in text
    assert "1 of 2 (50.0 %)" in text and "not run: go (go not installed)" in text
    assert [a["right"] for a in as_json(outcomes, [])["agents"]] == [True, False, False, True, None]


def test_the_command_lists_plays_and_says_by_its_exit_code_what_came_of_it(tmp_path: Path) -> None:
    here = Project(tmp_path / "p", {"a.txt": "a"})
    listed = here.run("bench", "gates", "--list")
    assert listed.code == 0 and len(listed.out.splitlines()) == len(PAIRS) and "equal-to-everything" in listed.out
    unknown = here.run("bench", "gates", "--language", "cobol")
    assert unknown.code == 2 and "there are: go, javascript, python, ruby" in unknown.err
    assert here.run("bench", "gates", "--agent", "nobody").code == 2
    played = here.run("bench", "gates", "--language", "python", "--agent", "no-test", "--json")
    told = json.loads(played.out)
    assert played.code == 0 and told["false_accepts"] == {"wrong": 0, "of": 1} and told["agents"][0]["held_at"]
