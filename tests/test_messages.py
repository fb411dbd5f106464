"""Every text that the program shows is in one file per door under golden/messages, to be read whole; a new or changed one is read before it is kept."""

import ast
from functools import cache

import pytest

from tools.messages import GOLDEN, SOURCE, is_phrase, messages, stilted, texts_of, texts_of_page, texts_of_script


@cache
def now() -> dict[str, str]:
    """The texts of all doors: reading the source takes seconds, so it is not done where tests are only collected."""
    return messages()


def texts(source: str, docstrings: str = "") -> list[str]:
    return list(texts_of(ast.parse(source), docstrings))


def test_the_texts_of_each_door_are_the_recorded_ones() -> None:
    for door, text in now().items():
        lines, kept = text.splitlines(), (GOLDEN / f"{door}.txt").read_text("utf-8").splitlines()
        new, gone = [line for line in lines if line not in kept], [line for line in kept if line not in lines]
        assert (new, gone) == ([], []), "read what is new as someone who has never seen Detent; then: .venv/bin/python tools/messages.py"
        assert lines == kept


def test_no_text_uses_words_that_engineers_do_not_use() -> None:
    lines = [line for text in now().values() for line in text.splitlines()]
    assert [(line, wrong) for line in lines if (wrong := stilted(line))] == [], "tools/messages.py has the list"


def test_no_briefing_and_no_prompt_uses_them_either() -> None:
    files = [file for file in SOURCE.rglob("*.md") if "examples" not in file.parts]
    assert len(files) > 80
    rows = ((file.relative_to(SOURCE), line) for file in files for line in file.read_text("utf-8").splitlines())
    assert [(str(name), line, wrong) for name, line in rows if (wrong := stilted(f"x: {line}"))] == []


@pytest.mark.parametrize(
    "text",
    ["plan it anew", "Mend the line", "it goes on", "it stands below", "a person is told", "it is no list", "look at the rights of it"],
)
def test_a_stilted_word_is_found(text: str) -> None:
    assert stilted(f"app/x: {text}")


@pytest.mark.parametrize(
    "text", ["a recommended amendment", "there is no run", "it is no longer there", "each test can be told apart", "go on top of it"]
)
def test_a_usual_word_is_left_alone(text: str) -> None:
    assert stilted(f"app/x: {text}") == []


def test_there_is_no_file_for_a_door_that_is_gone() -> None:
    assert {file.stem for file in GOLDEN.iterdir()} == set(now())


def test_what_is_filled_in_is_shown_by_its_name() -> None:
    assert texts('raise DetentError(f"there is no run {run}", "see " + name + " for more")') == [
        "there is no run {run}",
        "see {name} for more",
    ]
    assert texts('say(f"it took {end - start:.1f} s in {place.root}")') == ["it took {…} s in {place.root}"]


def test_a_text_inside_of_what_is_filled_in_is_a_text_of_its_own() -> None:
    assert sorted(texts("say(f\"the run {'has ended' if over else 'goes well'} now\")")) == ["goes well", "has ended", "the run {…} now"]


def test_docstrings_are_texts_only_where_they_are_shown() -> None:
    gate = 'def tests_kept(look: Look) -> str | None:\n    """No test is lost."""\n'
    command = '@click.command("abort")\ndef command() -> int:\n    """End the run."""\n'
    assert texts(gate) == [] and texts(gate, "gate") == ["No test is lost."]
    assert texts(command) == [] and texts(command, "command") == ["End the run."]


@pytest.mark.parametrize("text", ["SELECT run FROM events", r"(?:a|b)\d+ of it", "import os\n", "dict[str, Run[Any]]", "word"])
def test_what_is_no_sentence_is_left_out(text: str) -> None:
    assert not is_phrase(text)


def test_patterns_and_assertions_are_left_out() -> None:
    assert texts('re.compile("one of these")\nassert done, "the gate read it"\n') == []


def test_the_page_has_texts_in_quotes_and_between_tags() -> None:
    shown = '<p class="one two">No runs yet</p>; // not this one\nconst says = `waits for ${run.name}`, kind = "Try again";'
    assert list(texts_of_page(shown)) == ["No runs yet", "waits for {run.name}", "Try again"]


def test_the_script_has_its_help_and_what_it_says() -> None:
    script = "cat <<'TEXT'\nusage: ./x\nTEXT\n" + 'die "git is not installed." "Install git first."\nname="not this"\n'
    assert list(texts_of_script(script)) == ["usage: ./x", "git is not installed.", "Install git first."]
