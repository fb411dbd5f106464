"""The command backend: any program, told apart when it is slow, hung or dead."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from detent.agents import AgentFailed, Progress, Reply, Turn, ask
from detent.agents.agent_protocol import newest_change
from detent.agents.meter import seconds
from detent.errors import DetentError
from tests.agents_rigs import ENV, failure, turn
from tests.model_server import KEY


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def program(folder: Path, does: str) -> str:
    file = folder.parent / "agent"
    file.write_text(f"#!/bin/sh\n{does}\n")
    file.chmod(0o755)
    return f"command:{file}"


def run(folder: Path, does: str, **changes: object) -> Reply:
    return ask(program(folder, does), turn(folder, **changes), {"ANTHROPIC_API_KEY": KEY})


def failed(folder: Path, does: str, **changes: object) -> AgentFailed:
    found = failure(lambda: run(folder, does, **changes))
    assert isinstance(found, AgentFailed), found
    return found


def kept(t: Turn, kind: str) -> list[str]:
    assert t.transcript is not None
    return [line["text"] for line in map(json.loads, t.transcript.read_text().splitlines()) if line["kind"] == kind]


def test_it_gets_the_briefing_on_its_input_in_the_workspace_with_the_given_environment_and_no_other(folder: Path) -> None:
    t = turn(folder)
    run(folder, "cat > input; pwd > where; env > environment; echo done")
    assert (folder / "input").read_text() == t.briefing
    assert (folder / "where").read_text().strip() == str(folder)
    names = {line.partition("=")[0] for line in (folder / "environment").read_text().splitlines()}
    assert names - {"PWD", "OLDPWD", "SHLVL", "_"} == set(ENV)


def test_its_words_are_split_as_a_shell_would_and_no_shell_sees_them(folder: Path) -> None:
    spec = program(folder, 'printf "%s|" "$@"')
    assert ask(f"{spec} 'two words' $HOME ; touch x", turn(folder), {}).text == "two words|$HOME|;|touch|x|"
    assert not (folder / "x").exists()


def test_a_crash_says_what_was_written_on_either_stream(folder: Path) -> None:
    assert failed(folder, "echo out; echo 'no such model' >&2; exit 3").message.endswith(
        "failed with exit code 3: no such model\nout\nno such model"
    )
    assert failed(folder, "echo 'no such model' >&2; exit 3").message.endswith("failed with exit code 3: no such model")
    assert failed(folder, "exit 3").message.endswith("failed with exit code 3, and wrote nothing")


def test_a_time_out_is_told_in_whole_seconds_with_what_was_written_last(folder: Path) -> None:
    late = failed(folder, "echo 'at the third step'; exec sleep 60", timeout=1.4509)
    assert (late.sort, late.message) == ("Timeout", "the agent did not finish within 1.5 s; it last wrote: at the third step")
    assert seconds(29.4509) == "29 s"


def test_its_second_stream_is_shown_and_kept_but_is_no_part_of_the_reply(folder: Path) -> None:
    shown: list[Progress] = []
    t = turn(folder)
    assert run(folder, f"echo looking {KEY} >&2; echo hello; echo found >&2", watch=shown.append).text == "hello\n"
    assert kept(t, "stderr") == ["looking [redacted]\nfound\n"]
    assert {p.text for p in shown} == {"looking [redacted]", "found", "hello"}


def test_a_flood_on_both_streams_is_bounded(folder: Path) -> None:
    shown: list[Progress] = []
    t = turn(folder)
    flood = "head -c 30000000 /dev/zero | tr '\\0' 'x'"
    reply = run(folder, f"{flood} >&2; {flood}; echo; echo the end", watch=shown.append)
    assert len(reply.text) < 500_000 and reply.text.endswith("the end\n") and "bytes left out of 30000009" in reply.text
    assert len(kept(t, "stderr")[0]) < 500_000
    assert sum(len(p.text) for p in shown) < 3_000_000


DEAD: Mapping[str, tuple[str, str]] = {
    "an exit code": ("echo why; exit 7", "failed with exit code 7: why"),
    "a signal": ("kill -9 $$", "failed with exit code -9"),
    "words and then a crash": ("echo all tests pass; exit 1", "failed with exit code 1"),
}


@pytest.mark.parametrize("name", DEAD)
def test_a_dead_program_is_a_crash_whatever_it_said(folder: Path, name: str) -> None:
    does, says = DEAD[name]
    found = failed(folder, does)
    assert found.sort == "Crashed" and says in found.message


def test_a_program_that_is_not_there_is_a_crash(folder: Path) -> None:
    found = failure(lambda: ask("command:/nowhere/agent", turn(folder), {}))
    assert isinstance(found, AgentFailed) and found.message == "the agent '/nowhere/agent' could not be started: No such file or directory"


@pytest.mark.parametrize(("spec", "says"), [("command:", "is empty"), ("command:  ", "is empty"), ("command:a 'b", "cannot be read")])
def test_a_command_that_cannot_be_split_is_refused(folder: Path, spec: str, says: str) -> None:
    found = failure(lambda: ask(spec, turn(folder), {}))
    assert type(found) is DetentError and says in found.message


def test_a_silent_program_is_hung(folder: Path) -> None:
    found = failed(folder, "exec sleep 60", silence=0.5)
    assert (found.sort, found.message) == ("Stuck", "the agent showed no progress for 0.5 s")


SLOW = {
    "it writes words": "for i in 1 2 3 4 5 6 7; do sleep 1; echo still; done",
    "it writes to its second stream": "for i in 1 2 3 4 5 6 7; do sleep 1; echo still >&2; done",
    "it changes files": "for i in 1 2 3 4 5 6 7; do sleep 1; echo $i > deep/file; done",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_a_slow_program_that_shows_progress_is_waited_for(folder: Path, name: str) -> None:
    (folder / "deep").mkdir()
    assert run(folder, SLOW[name] + "; echo done", silence=5.0).text.endswith("done\n")


@pytest.mark.slow
def test_a_program_that_talks_for_ever_ends_at_the_timeout(folder: Path) -> None:
    assert failed(folder, "while true; do echo more; sleep 0.1; done", timeout=1.5, silence=1.0).sort == "Timeout"


def test_what_it_left_behind_ends_with_it_and_does_not_hold_its_streams(folder: Path) -> None:
    assert run(folder, "setsid sleep 60 & echo done").text == "done\n"


def test_the_callers_own_way_to_start_programs_is_used(folder: Path) -> None:
    from detent.sandbox.process import Ran
    from detent.sandbox.process import run as plain

    seen: list[object] = []

    def start(argv: list[str], *args: object, **named: object) -> Ran:
        seen.append(argv)
        return plain(["env", "INSIDE=yes", *argv], *args, **named)  # type: ignore[arg-type]  # handed on as they came

    assert run(folder, "echo $INSIDE", start=start).text == "yes\n"
    assert len(seen) == 1


def test_the_newest_change_sees_files_folders_and_deletions_within_its_bound(folder: Path) -> None:
    def change(what: Callable[[], object]) -> bool:
        """Whether a change is seen, the clock of the files being coarse: everything is made old first."""
        for path in (folder, *folder.rglob("*")):
            os.utime(path, (1, 1))
        what()
        return newest_change(folder) > 1e9

    assert not change(lambda: None)
    assert change((folder / "a").mkdir)
    assert change(lambda: (folder / "a" / "b").write_text("1"))
    assert change(lambda: (folder / "a" / "b").write_text("2"))
    assert change((folder / "a" / "b").unlink)
    assert change((folder / "a").rmdir)
    for i in range(50):
        (folder / f"f{i}").touch()
    assert newest_change(folder, most=1) <= newest_change(folder)
    assert newest_change(folder / "nowhere") == 0
