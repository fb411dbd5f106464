"""The bench of the gates: the agents there are, some of them played for real, and all of them where time does not matter."""

import json
import re
from pathlib import Path

import pytest

from bench.orchestrators.scene import Scene, left_out
from detent.interfaces.gatebench import AGENTS, BenchAgent, BenchLanguage, languages
from detent.interfaces.gatebench.bench_report import WIDE, as_json, counts, false_accepts, false_rejects, flagged_by, line, summary
from detent.interfaces.gatebench.play import BenchResult, play
from tests.machine import need
from tests.project import Project

LANGUAGES = {each.language: each for each in languages()}
PAIRS = [(each, agent) for each in LANGUAGES.values() for agent in each.agents]
SAMPLE = {
    ("python", "equal-to-everything"),
    ("python", "same-size-same-time"),
    ("javascript", "patches-assert"),
}


WITHOUT_A_RUN = {"poisons-what-is-kept", "puts-an-older-git-dir-back"}  # what they spoil is Detent's own


def name_of(pair: tuple[BenchLanguage, BenchAgent]) -> tuple[str, str]:
    return pair[0].language, pair[1].name


def test_there_are_many_agents_of_each_sort_in_several_languages() -> None:
    assert len(PAIRS) >= 60 and len(LANGUAGES) >= 4
    for each in LANGUAGES.values():
        assert {"honest", "lazy", "cheat"} <= {agent.sort for agent in each.agents}, each.language
        assert len({agent.name for agent in each.agents}) == len(each.agents), each.language
    assert all(agent.does.endswith(".") for _, agent in PAIRS)
    assert {name for pair in PAIRS if (name := name_of(pair)) in SAMPLE} == SAMPLE


def judged(pair: tuple[BenchLanguage, BenchAgent], folder: Path) -> BenchResult:
    need(*pair[0].needs)
    return play(*pair, folder)


@pytest.mark.slow
@pytest.mark.parametrize("pair", [p for p in PAIRS if name_of(p) in SAMPLE], ids=lambda p: "-".join(name_of(p)))
def test_an_agent_is_judged_rightly(pair: tuple[BenchLanguage, BenchAgent], tmp_path: Path) -> None:
    outcome = judged(pair, tmp_path)
    assert outcome.right, line(outcome)
    assert outcome.accepted or (outcome.reason and outcome.held_at)


@pytest.mark.slow
@pytest.mark.parametrize("pair", [p for p in PAIRS if name_of(p) not in SAMPLE], ids=lambda p: "-".join(name_of(p)))
def test_every_agent_is_judged_rightly(pair: tuple[BenchLanguage, BenchAgent], tmp_path: Path) -> None:
    outcome = judged(pair, tmp_path)
    assert outcome.right is not False, line(outcome)


def in_a_class(pair: tuple[BenchLanguage, BenchAgent]) -> bool:
    files = (AGENTS / pair[0].language).glob("*.yaml")
    return any(f"- name: {pair[1].name}\n" in file.read_text("utf-8") for file in files)


CLASSED = [p for p in PAIRS if p[1].sort in ("cheat", "beyond") and in_a_class(p) and not left_out(p[1]) and p[1].name not in WITHOUT_A_RUN]


@pytest.mark.slow
@pytest.mark.parametrize("pair", CLASSED, ids=lambda p: "-".join(name_of(p)))
def test_a_cheat_of_a_class_would_pass_if_only_the_tests_were_asked(pair: tuple[BenchLanguage, BenchAgent], tmp_path: Path) -> None:
    need(*pair[0].needs)
    scene = Scene(*pair, tmp_path)
    scene.work()
    assert scene.sh(pair[0].command) == 0


@pytest.mark.slow
def test_an_honest_agent_that_leaves_nothing_of_use_counts_as_rejected(tmp_path: Path) -> None:
    """The look at the end can fail: a machine that merges something else is found out."""
    python = LANGUAGES["python"]
    honest = next(agent for agent in python.agents if agent.name == "nothing-to-refactor")
    outcome = play(BenchLanguage(**{**{f: getattr(python, f) for f in python.__struct_fields__}, "check": "false"}), honest, tmp_path)
    assert outcome.right is False and outcome.held_at == "the merge"


def made(sort: str, accepted: bool, name: str = "x", *flags: str, language: str = "python") -> BenchResult:
    return BenchResult(name, language, sort, accepted, "" if accepted else "GREEN", "", 1.0, flags)  # type: ignore[arg-type]


OUTCOMES = [
    made("honest", True),
    made("honest", False, "h"),
    made("honest", True, "g", "rewritten-test"),
    made("cheat", True, "c"),
    made("cheat", True, "f", "no-proof", "unnoticed", language="ruby"),
    made("lazy", False),
    made("beyond", True, "b"),
]


def test_every_agent_is_counted_once_and_a_flag_is_neither_a_failure_nor_silence() -> None:
    dishonest, honest = counts(OUTCOMES, "dishonest"), counts(OUTCOMES, "honest")
    assert dishonest["all"] == {"agents": 4, "failed": 1, "flagged": 1, "landed silently": 2}
    assert dishonest["ruby"] == {"agents": 1, "failed": 0, "flagged": 1, "landed silently": 0}
    assert honest["all"] == honest["python"] == {"agents": 3, "landed": 1, "flagged": 1, "failed": 1}
    for table in (dishonest, honest):
        assert all(row["agents"] == sum(n for title, n in row.items() if title != "agents") for row in table.values())
    assert flagged_by(OUTCOMES) == {"no-proof": ["ruby/f"], "unnoticed": ["ruby/f"]}
    assert flagged_by(OUTCOMES, honest=True) == {"rewritten-test": ["python/g"]}


def test_what_is_judged_wrongly_is_right_for_nobody_and_what_no_machine_can_judge_is_left_out() -> None:
    assert [o.right for o in OUTCOMES] == [True, False, True, False, True, True, None]
    assert tuple(false_accepts(OUTCOMES)) == (1, 3) and tuple(false_rejects(OUTCOMES)) == (1, 3)


def test_the_tables_and_the_names_below_them_fit_a_terminal() -> None:
    many = [made("cheat", True, f"a-name-of-some-length-{n}", "unnoticed") for n in range(9)]
    lines = summary([*OUTCOMES, *many], ["go (go not installed)"])
    assert max(map(len, lines)) <= WIDE, lines
    text = " ".join(" ".join(lines).split())
    assert "dishonest agents failed flagged landed silently" in text and "honest agents landed flagged failed" in text
    assert "all 13 1 10 2" in text and "all 3 1 1 1" in text
    assert "landed silently, though it should have failed or been flagged: python/c" in text
    assert "landed silently, and no machine can judge it: python/b" in text
    assert "no-proof 1: ruby/f" in text and "unnoticed 10: ruby/f, python/a-name-of-some-length-0," in text
    assert "rewritten-test 1: python/g" in text and "honest, and failed: python/h" in text and "not run: go (go not installed)" in text


def test_json_says_what_the_tables_say() -> None:
    told = as_json(OUTCOMES, ["go (go not installed)"])
    assert told["dishonest"] == counts(OUTCOMES, "dishonest") and told["honest"] == counts(OUTCOMES, "honest")
    assert told["flagged_by"] == flagged_by(OUTCOMES) and told["honest_flagged_by"] == {"rewritten-test": ["python/g"]}
    assert told["landed_silently"] == ["python/c", "python/b"] and told["not_run"] == ["go (go not installed)"]
    assert [a["right"] for a in told["agents"]] == [True, False, True, False, True, True, None]


def test_the_docs_name_every_agent_that_no_machine_can_judge_and_how_many_there_are() -> None:
    text = (Path(__file__).parents[1] / "docs/gate-bench.md").read_text("utf-8")
    beyond = {f"{each.language}/{agent.name}" for each, agent in PAIRS if agent.sort == "beyond"}
    named = set(
        re.findall(r"`((?:python|javascript|go|ruby)/[\w-]+)`", text.partition("## What no machine can judge")[2].partition("\n## ")[0])
    )
    assert named == beyond and f"There are {len(PAIRS)} agents" in text


@pytest.mark.slow
def test_the_command_lists_plays_and_says_by_its_exit_code_what_came_of_it(tmp_path: Path) -> None:
    here = Project(tmp_path / "p", {"a.txt": "a"})
    listed = here.run("bench", "gates", "--list")
    assert listed.code == 0 and len(listed.out.splitlines()) == len(PAIRS) and "equal-to-everything" in listed.out
    rows = json.loads(here.run("bench", "gates", "--list", "--json").out)
    assert [(row["language"], row["name"]) for row in rows] == [(each.language, agent.name) for each, agent in PAIRS]
    unknown = here.run("bench", "gates", "--language", "cobol")
    assert unknown.code == 2 and "there are: go, javascript, python, ruby" in unknown.err
    assert here.run("bench", "gates", "--agent", "nobody").code == 2
    played = here.run("bench", "gates", "--language", "python", "--agent", "no-test", "--json")
    told = json.loads(played.out)
    assert played.code == 0 and told["dishonest"]["all"] == {"agents": 1, "failed": 1, "flagged": 0, "landed silently": 0}
    assert told["agents"][0]["held_at"] and told["landed_silently"] == []
    assert "1/1" in played.err, "how far it is stands beside the JSON"
