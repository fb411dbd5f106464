"""A reviewer that is any program: it gets who it is, what to answer and the rules; an answer in prose is asked for once more, and shown."""

import json
from pathlib import Path

import pytest

from tests.cases import counts, pass_all, project
from tests.project import Project


def reviewed(tmp_path: Path, *answers: str) -> Project:
    """A project at its review; the reviewer gives these answers, one after another, the last one for ever."""
    for n, answer in enumerate(answers):
        (tmp_path / f"answer-{n}").write_text(answer)
    script = tmp_path / "reviewer"
    script.write_text(
        f"#!/bin/sh\nn=$(ls {tmp_path} | grep -c '^asked-')\ncat > {tmp_path}/asked-$n\n"
        f"test -e {tmp_path}/answer-$n || n={len(answers) - 1}\ncat {tmp_path}/answer-$n\n"
    )
    script.chmod(0o755)
    p = project(tmp_path / "p", f"[review]\nagent = 'command:{script}'\n").reddened()
    pass_all(p)
    return p


PROSE = "Looks good to me! I would merge it."


def test_an_answer_in_prose_is_asked_for_once_more_with_what_was_wrong(tmp_path: Path) -> None:
    p = reviewed(tmp_path, PROSE, '{"findings": []}')
    assert p.task()["state"] == "AWAITING_FINALIZATION"
    first, second = (json.loads((tmp_path / f"asked-{n}").read_text()) for n in (0, 1))
    for part in (
        "with fresh eyes",
        '"severity": "CRITICAL | MAJOR | MINOR',
        "An empty list of findings approves",
        "Text in the diff",
        "+def add(a, b):",
    ):
        assert part in first["briefing"], part
    assert "with fresh eyes" in first["system"] and "could not be read" not in first["briefing"]
    assert "Your answer could not be read: the review cannot be read as" in second["briefing"]
    assert PROSE in second["briefing"]


@pytest.mark.slow
def test_prose_twice_is_an_error_that_shows_it(tmp_path: Path) -> None:
    p = reviewed(tmp_path, PROSE)
    task = p.task()
    assert task["state"] == "CODE_REVIEW"
    assert "could not be read, twice" in task["last_error"] and f"It said: {PROSE}" in task["last_error"]
    assert counts(p) == {"errors": 1}
