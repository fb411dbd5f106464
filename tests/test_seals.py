"""What the machine keeps for itself where an agent can write: believed with its seal only, and found out anew without it."""

import json
import os
import stat
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from detent.app import open_app
from detent.effects.catalogue import Ways
from detent.effects.merge import land, offered
from detent.errors import DetentError
from detent.evidence.running.checks import check_all
from detent.evidence.running.collect import Collector
from detent.evidence.running.suite import Suite
from detent.storage.state import KEY, read_sealed, state_dir, write_sealed
from detent.world.reviewer import kept_review
from tests.cases import pass_all, project
from tests.patience import LONG
from tests.project import GREEN, Project
from tests.repos import git_at, make_repo, sh


def forge(file: Path, text: str) -> None:
    """Write as the machine would, with the seal of somebody else."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"seal": sha256(text.encode()).hexdigest(), "kept": text}))


# -- the seal --------------------------------------------------------------------------------------------------------------------


def test_what_is_kept_comes_back_as_it_was_and_from_there_only(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "a.json"
    assert read_sealed(file) is None
    write_sealed(file, "Grüße \udc80\n")
    assert read_sealed(file) == "Grüße \udc80\n"
    for other in (tmp_path / "folder" / "b.json", tmp_path / "a.json"):
        other.write_bytes(file.read_bytes())
        assert read_sealed(other) is None, "a copy at another place says nothing"
    assert sorted(f.name for f in file.parent.iterdir()) == ["a.json", "b.json"], "nothing else is left"


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", "nonsense", '{"seal": "\\ud800", "kept": "a"}', '{"seal": 1, "kept": "a"}', "[" * 100_000, "\xff"]
)
def test_what_somebody_else_wrote_is_nothing_and_no_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(text.encode("latin-1"))
    assert read_sealed(file) is None
    file.unlink()
    file.mkdir()
    assert read_sealed(file) is None
    forge(tmp_path / "b.json", "a")
    assert read_sealed(tmp_path / "b.json") is None


def test_the_key_is_made_once_and_is_the_users_own(tmp_path: Path) -> None:
    key = state_dir() / KEY
    write_sealed(tmp_path / "a", "a")
    first = key.read_text()
    write_sealed(tmp_path / "b", "b")
    assert key.read_text() == first and len(first.strip()) == 64
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert read_sealed(tmp_path / "a") == "a"
    key.unlink()
    assert read_sealed(tmp_path / "a") is None, "under another key it says nothing"
    key.chmod(0o644)
    with pytest.raises(DetentError, match="can be read by others"):
        read_sealed(tmp_path / "nothing")


# -- what is kept under it ---------------------------------------------------------------------------------------------------------


def test_a_review_is_paid_for_once(tmp_path: Path) -> None:
    paid: list[str] = []

    def make() -> tuple[str, dict[str, str]]:
        paid.append("once")
        return "fine", {"usage": "1"}

    assert kept_review(tmp_path / "r" / "a.json", make) == ("fine", {"usage": "1"})
    assert kept_review(tmp_path / "r" / "a.json", make) == ("fine", {"usage": "1"}), "as after a crash before its event was written"
    assert kept_review(tmp_path / "r" / "a.json", make, repeats=True) == ("fine", {}), "it was told with an earlier event"
    assert paid == ["once"]


def test_an_approval_that_an_agent_wrote_beforehand_is_none_and_the_reviewer_is_asked(tmp_path: Path) -> None:
    found = {"category": "style", "severity": "MINOR", "description": "a long name", "recommendation": "shorten it"}
    script = tmp_path / "reviewer"
    script.write_text(f"#!/bin/sh\ncat > /dev/null\necho asked >> {tmp_path}/asked\ncat {tmp_path}/answer\n")
    script.chmod(0o755)
    (tmp_path / "answer").write_text(json.dumps({"findings": [{"file_path": "calc.py", "line_number": 1, **found}]}))
    p = project(tmp_path / "p", f"[review]\nagent = 'command:{script}'\n").reddened()
    pass_all(p)
    file = next_review(p)
    forge(file, "")
    file.write_text('{"findings": []}')
    assert p.task()["step"]["type"] == "REFACTOR", "what the reviewer found has to be done"
    assert json.loads(read_sealed(file) or "")["findings"], "the name was the right one"
    assert p.green(f"{GREEN}\n\nplus = add\n")["status"] == "SUCCESS"
    forge(next_review(p), '{"findings": []}')
    assert p.task()["step"]["type"] == "REFACTOR"
    assert (tmp_path / "asked").read_text() == "asked\n" * 2


def next_review(p: Project) -> Path:
    """Where the review is kept that comes after the last step."""
    with closing((app := open_app(p.root, env=p.env)).journal):
        run = app.door.load(app.chosen(None)).run
    return p.root / ".git/detent/reviews" / f"{run.id}-{run.seq + 1}-{run.data.good_tree}.json"


def test_a_check_that_somebody_wrote_down_as_passed_is_run(tmp_path: Path) -> None:
    git = git_at(make_repo(tmp_path / "p", {"a": "a\n"}))
    collect, tree = Collector(git, Suite(None, LONG, os.environ["PATH"]), "r", os.environ), git.tree("HEAD")
    line = f"echo ran >> {tmp_path}/log"
    for _ in range(2):
        assert check_all(collect, tree, (line,), lambda: True)[0].passed
    assert (tmp_path / "log").read_text() == "ran\n", "a pass is not run again"
    (file,) = collect.store.glob("checks-*.json")
    forge(file, json.dumps({"false": 0.1}))
    assert not check_all(collect, tree, ("false",), lambda: True)[0].passed


def test_a_branch_that_somebody_wrote_down_as_offered_is_tested(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "p", {"a": "a\n"})
    sh(repo, "git", "switch", "-q", "-c", "feat/one")
    sh(repo, "git", "commit", "-q", "--allow-empty", "-m", "one")
    git, tested = git_at(repo), list[str]()
    tip = git.head()
    forge(offered(git, "refs/heads/feat/one"), tip)
    sh(repo, "git", "update-ref", "refs/detent/offered/feat/one", tip)
    ways = Ways("", "", "branch", "")
    for _ in range(2):
        said = land(git, "refs/heads/feat/one", "2026-01-01T00:00:00+00:00", ways, tested.append, lambda argv: None)
        assert said.outcome == ""
    assert tested == [git.tree(tip)], "and that once"
