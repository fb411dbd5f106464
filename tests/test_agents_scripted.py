"""The scripted backend: plays a file, in order, over processes, and again where a turn was cut."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from detent.agents import AgentFailed, PlainAnswer, Progress, Reply, Turn, Usage, ask
from detent.errors import DetentError
from tests.agents_rigs import failure, turn


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def play(folder: Path, script: str, seq: int = 1, **changes: object) -> Reply:
    """One turn of a run at its so-many-th event."""
    said = {"state": "RED", "role": "test", "step": None, "attempt": 1, **changes.pop("briefing", {})}  # type: ignore[dict-item]
    file = folder.parent / "script.yaml"
    file.write_text(script)
    briefing = json.dumps({"run": "r1", "attempt_id": f"r1.{seq}", **said})
    return ask(f"scripted:{file}", turn(folder, briefing=briefing, **changes), {})


def words(folder: Path, script: str, *seqs: int, **changes: object) -> list[str]:
    return [play(folder, script, seq, **changes).text for seq in seqs]


THREE = "[{reply: one}, {reply: two}, {reply: three}]"


def test_entries_are_played_in_order_one_per_attempt(folder: Path) -> None:
    assert words(folder, THREE, 1, 4, 9) == ["one", "two", "three"]


def test_an_attempt_that_comes_again_was_not_judged_and_plays_its_entry_again(folder: Path) -> None:
    assert words(folder, THREE, 1, 1, 2, 2, 3) == ["one", "one", "two", "two", "three"]


def test_a_script_that_is_over_says_so(folder: Path) -> None:
    words(folder, THREE, 1, 2, 3)
    found = failure(lambda: play(folder, THREE, 4))
    assert type(found) is DetentError
    assert found.message.endswith("no entry is left for state 'RED', role 'test'")


def test_an_entry_is_for_its_state_role_step_and_attempt(folder: Path) -> None:
    script = """
    - {state: GREEN, reply: green}
    - {role: [reviewer, qa], reply: reviewed}
    - {step: adds, attempt: 2, reply: adds again}
    - {step: adds, reply: adds}
    - {reply: any, again: true}
    """
    assert words(folder, script, 1, 2) == ["any", "any"]
    adds = {"description": "adds", "task": "t", "index": 0, "type": "RED"}
    assert words(folder, script, 3, 4, briefing={"step": adds}) == ["adds", "any"]
    assert words(folder, script, 5, briefing={"step": adds, "attempt": 2}) == ["adds again"]
    assert words(folder, script, 6, briefing={"role": "qa"}) == ["reviewed"]
    assert words(folder, script, 7, 8, briefing={"state": "GREEN"}) == ["green", "any"]


def test_a_briefing_without_state_and_attempt_goes_by_the_environment_and_its_own_text(folder: Path) -> None:
    script = folder.parent / "script.yaml"
    script.write_text("[{role: other, reply: nope}, {state: RED, role: test, reply: yes one}, {reply: two}]")

    def once(briefing: str) -> str:
        return ask(f"scripted:{script}", turn(folder, briefing=briefing), {}).text

    assert [once('{"diff": "a"}'), once('{"diff": "a"}'), once("no JSON")] == ["yes one", "yes one", "two"]


def test_runs_and_scripts_beside_each_other_do_not_share_their_place(folder: Path) -> None:
    assert words(folder, THREE, 1, 2) == ["one", "two"]
    assert words(folder, THREE, 1, briefing={"run": "r2"}) == ["one"]


def test_without_a_transcript_the_first_entry_that_fits_is_played(folder: Path) -> None:
    assert words(folder, THREE, 1, 2, transcript=None) == ["one", "one"]


def test_an_entry_changes_files_shows_words_calls_tools_and_counts(folder: Path) -> None:
    class Box:
        def schemas(self) -> list[dict[str, object]]:
            return []

        def call(self, name: str, arguments: object) -> PlainAnswer:
            return PlainAnswer(f"{name} {arguments}", name == "Bad")

    (folder / "old.py").write_text("x\n")
    shown: list[Progress] = []
    script = """
    - say: [looking around]
      write: {a/b/new.py: "y\\n"}
      append: {old.py: "z\\n", fresh.txt: "1"}
      delete: [gone.py, nowhere/at/all]
      call: [{tool: Read, arguments: {file_path: a}}, {tool: Bad}]
      wait: 0.01
      usage: {input_tokens: 10, output_tokens: 2, usd: 0.5}
      reply: {currentTest: null}
    """
    (folder / "gone.py").touch()
    reply = play(folder, script, toolbox=Box(), watch=shown.append)
    assert (json.loads(reply.text), reply.usage, reply.turns) == ({"currentTest": None}, Usage(10, 2, usd=0.5), 1)
    files = {str(f.relative_to(folder)): f.read_text() for f in folder.rglob("*") if f.is_file()}
    assert files == {"a/b/new.py": "y\n", "old.py": "x\nz\n", "fresh.txt": "1"}
    assert [p.text for p in shown] == ["looking around", "Read", "Read {'file_path': 'a'}", "Bad", "failed: Bad {}", "12 tokens"]


def test_a_failure_is_played_once_and_the_same_attempt_goes_on(folder: Path) -> None:
    script = "[{usage: {input_tokens: 3}, fail: {sort: RateLimit, message: later, not_before: '2026-01-01T00:00:00Z'}}, {reply: two}]"
    found = failure(lambda: play(folder, script))
    assert isinstance(found, AgentFailed)
    assert (found.sort, found.message, found.not_before, found.usage) == ("RateLimit", "later", "2026-01-01T00:00:00Z", Usage(3))
    assert words(folder, script, 1) == ["two"]


def test_a_long_wait_is_silence(folder: Path) -> None:
    found = failure(lambda: play(folder, "[{wait: 60}]", silence=0.2))
    assert isinstance(found, AgentFailed) and found.sort == "Stuck"


WRONG = {
    "[{reply: a}, {replies: b}]": "unknown field `replies` - at `$[1]`",
    "[{usage: {tokens: 3}}]": "unknown field `tokens` - at `$[0].usage`",
    "[{write: {a: 3}}]": "Expected `str`, got `int` - at `$[0].write[...]`",
    "[{fail: {sort: Bad}}]": "Invalid enum value 'Bad' - at `$[0].fail.sort`",
    "reply: a": "Expected `array`, got `object`",
    "[{reply: a, reply: b}]": "the key 'reply' appears twice",
    "[{reply: a": "is not YAML",
    "- !!python/object/apply:os.system [id]": "is not YAML",
}


@pytest.mark.parametrize("script", WRONG)
def test_a_script_that_does_not_fit_is_refused_with_the_place(folder: Path, script: str) -> None:
    found = failure(lambda: play(folder, script))
    assert type(found) is DetentError and WRONG[script] in found.message, found.message


@pytest.mark.parametrize("name", ["../out", "/tmp/out", "a/../../out", "link/out", "~/out", ".git/hooks/x", "a\\0b", ""])
def test_a_script_writes_below_the_workspace_only(folder: Path, name: str) -> None:
    (folder.parent / "elsewhere").mkdir()
    (folder / "link").symlink_to(folder.parent / "elsewhere")
    for verb in (f'write: {{"{name}": x}}', f'append: {{"{name}": x}}', f'delete: ["{name}"]'):
        assert type(failure(lambda verb=verb: play(folder, f"[{{{verb}}}]"))) is DetentError  # type: ignore[misc]
    assert not (folder.parent / "out").exists() and not list((folder.parent / "elsewhere").iterdir())


@pytest.mark.needs("hard links")
def test_a_link_in_the_place_of_a_file_is_replaced_and_what_it_points_to_stays(folder: Path) -> None:
    outside = folder.parent / "outside"
    outside.write_text("mine")
    (folder / "soft").symlink_to(outside)
    os.link(outside, folder / "hard")
    play(folder, "[{write: {soft: x, hard: y}}]")
    assert (outside.read_text(), (folder / "soft").read_text(), (folder / "hard").read_text()) == ("mine", "x", "y")


CHILD = """
import os, signal, sys
from pathlib import Path
from detent.agents import Turn, ask
folder, script, briefing, log = Path(sys.argv[1]), *sys.argv[2:]
def watch(progress):
    if progress.text == "die" and not (folder.parent / "died").exists():
        (folder.parent / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
print(ask("scripted:" + script, Turn(briefing, "", "", folder, watch=watch, transcript=Path(log)), {}).text)
"""


def in_a_process_of_its_own(folder: Path, script: Path, seq: int) -> subprocess.CompletedProcess[str]:
    briefing = json.dumps({"run": "r1", "state": "RED", "attempt_id": f"r1.{seq}"})
    argv = [sys.executable, "-c", CHILD, str(folder), str(script), briefing, str(folder.parent / "log" / "t.jsonl")]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_after_a_kill_the_entry_of_the_cut_turn_is_played_again(folder: Path) -> None:
    script = folder.parent / "script.yaml"
    script.write_text("[{reply: one}, {say: [die], write: {two: x}, reply: two}, {reply: three}]")
    assert in_a_process_of_its_own(folder, script, 1).stdout == "one\n"
    assert in_a_process_of_its_own(folder, script, 2).returncode == -signal.SIGKILL
    assert not (folder / "two").exists()
    assert in_a_process_of_its_own(folder, script, 2).stdout == "two\n"
    assert in_a_process_of_its_own(folder, script, 3).stdout == "three\n"


def test_a_turn_without_its_own_model_has_the_default_one() -> None:
    assert Turn("", "", "", Path()).model == "claude-opus-4-5-20251101"
