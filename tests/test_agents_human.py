"""The human backend, at a terminal of its own (a pty), and without one; and how texts are shown there."""

import subprocess
import sys
from pathlib import Path

import pytest

from detent.agents import AgentFailed
from detent.agents.texts import LineBuffer, visible, whole
from detent.errors import DetentError
from detent.kernel.redact import MARK, redactor, secrets_of
from tests.agents_rigs import Person, failure, turn


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_a_person_sees_the_briefing_and_where_to_work_and_types_one_line(folder: Path) -> None:
    person = Person(folder, b"  I added it  \n")
    assert person.ask(turn(folder, prompt="# Write a test\n\nfor adding")).text == "I added it"
    screen = person.screen.decode().replace("\r\n", "\n")
    assert "# Write a test\n\nfor adding" in screen and f"Work in {folder}." in screen


def test_enter_alone_is_an_empty_summary(folder: Path) -> None:
    assert Person(folder, b"\n").ask(turn(folder)).text == ""


def test_the_end_of_input_stops_the_turn(folder: Path) -> None:
    found = failure(lambda: Person(folder, b"\x04").ask(turn(folder)))
    assert isinstance(found, AgentFailed) and found.sort == "Stopped"


def test_a_briefing_cannot_play_tricks_with_the_terminal(folder: Path) -> None:
    person = Person(folder, b"ok\n")
    person.ask(turn(folder, prompt="red \x1b[31m, title \x1b]0;x\x07, back\rover, turned \u202etxet"))
    assert b"\x1b" not in person.screen and b"\x07" not in person.screen
    assert rb"red \x1b[31m, title \x1b]0;x\x07, back\rover, turned \u202etxet" in person.screen


def test_without_a_terminal_it_says_so(folder: Path) -> None:
    code = (
        "from pathlib import Path\nfrom detent.agents import Turn, ask\nfrom detent.errors import DetentError\n"
        "try: ask('human', Turn('{}', 'p', 's', Path('.')), {})\nexcept DetentError as e: print(e.message, '|', e.hint)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, start_new_session=True)
    assert ran.stdout == "the agent 'human' needs a terminal, and there is none | run it in a terminal, or choose another agent\n"


def test_it_takes_nothing_behind_its_name(folder: Path) -> None:
    from detent.agents import ask

    assert type(failure(lambda: ask("human:bob", turn(folder), {}))) is DetentError


# -- texts and secrets -------------------------------------------------------------------------------------------------------


def test_half_characters_are_spelled_out_and_whole_ones_stay() -> None:
    assert whole("a\ud800b é 漢") == "a\\ud800b é 漢"
    assert visible("tab\tline\n é\u200b\x9b") == "tab\tline\n é\\u200b\\x9b"


def test_lines_come_whole_and_an_endless_one_comes_in_pieces() -> None:
    lines = LineBuffer()
    assert [*lines.feed("a"), *lines.feed("b\nc\nd"), *lines.end(), *lines.end()] == ["ab", "c", "d"]
    assert lines.feed("x" * 5000) == ["x" * 5000]


SECRETS = {
    "anthropic": "sk-ant-api03-" + "aB3_" * 10,
    "github": "ghp_" + "a1B2" * 9,
    "github fine": "github_pat_" + "a1B2" * 9,
    "gitlab": "glpat-" + "a1B2" * 5,
    "aws": "AKIA" + "A1B2" * 4,
    "google": "AIza" + "a1B2" * 9,
    "slack": "xoxb-1234567890-abc",
    "a private key": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\nAAAA\n-----END OPENSSH PRIVATE KEY-----",
    "a private key that is cut": "-----BEGIN PRIVATE KEY-----\nMIIEvQ\nmore",
    "a web token": "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4",
}


@pytest.mark.parametrize("name", SECRETS)
def test_what_looks_like_a_key_is_left_out(name: str) -> None:
    assert redactor()(f"before {SECRETS[name]}") == f"before {MARK}"


def test_the_values_of_key_variables_are_left_out_and_others_stay() -> None:
    outer = {
        "MY_API_KEY": "plainword", "GH_TOKEN": "plainword-longer", "DB_PASSWORD": "hunter22", "AWS_SECRET_ACCESS_KEY": "a+b/c*(d", "SHORT_TOKEN": "abc",
        "HOME": "/home/someone", "KEYBOARD": "qwertyuiop", "TOKENIZERS_PARALLELISM": "falsefalse",
    }  # fmt: skip
    redact = redactor(secrets_of(outer))
    said = "plainword plainword-longer hunter22 a+b/c*(d abc /home/someone qwertyuiop falsefalse"
    assert redact(said) == f"{MARK} {MARK} {MARK} {MARK} abc /home/someone qwertyuiop falsefalse"


def test_ordinary_text_is_left_alone() -> None:
    said = "the task-runner asks: sk-learn, ghp, AKIA, risk-assessment-of-the-whole-thing, -----BEGIN PUBLIC KEY-----"
    assert redactor()(said) == said
