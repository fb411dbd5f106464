"""The card of a run's branch: in the text of its pull request, and wherever the run is shown. A real repository, one look."""

import json
from pathlib import Path

import pytest

from detent.config.sources import load
from detent.evidence.outcomes.card import kept_card
from detent.interfaces.cli.doctor_project import _pull_requests
from tests.driven import project
from tests.project import Project
from tests.repos import make_repo, sh
from tests.test_flags_landing import flagged_tdd

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def p(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose pull requests are opened by a program that keeps the text."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = project(tmp_path / "p", f"[git]\nmerge = 'pull-request'\npr_command = 'cp {{body}} {tmp_path}/body.md'\n")
    sh(tmp_path, "git", "clone", "-q", "--bare", str(made.root), "hub.git")
    made.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    return made


@pytest.mark.slow
def test_a_run_shows_what_its_branch_proves_and_its_pull_request_says_so_too(tmp_path: Path, p: Project) -> None:
    run = flagged_tdd(p).json["run"]
    assert not (tmp_path / "body.md").exists(), "a person is asked first"
    for shown in (p.run("status", "--run", run), p.run("history", "--run", run), p.run("show", run)):
        lines = [line.strip() for line in shown.out.splitlines()]
        assert any(line.startswith("Card: main…") for line in lines), shown
        assert "proved     1 test fails without this change and passes with it" in lines, shown
        assert any(line.startswith("FLAGGED    1 to look at") for line in lines), shown
    for read in (p.run("status", "--run", run, "--json"), p.run("history", "--run", run, "--json"), p.run("show", run, "--json")):
        card = read.json["card"]
        assert (card["answer"], [f["kind"] for f in card["flags"] if f["level"] == "ask"]) == ("flagged", ["judged-by"])
    assert p.run("answer", "FLAGS", "accept", "--note", "it is meant").code == 0
    assert p.run("resume").code == 0
    for shown in (p.run("status", "--run", run), p.run("history", "--run", run), p.run("show", run)):
        assert "FLAGGED    1 looked at and accepted" in shown.out, shown
    text = (tmp_path / "body.md").read_text()
    assert "### Detent: flagged — main…" in text and "**To look at**" in text and "+ def one():" in text
    assert f"`detent history --run {run}` says by whom" in text and "answered FLAGS with accept: it is meant" in text
    assert text.index("Said by people") < text.index("### Detent")


@pytest.mark.slow
def test_a_card_that_was_written_by_another_hand_is_not_shown(p: Project) -> None:
    run = flagged_tdd(p).json["run"]
    file = p.root / ".git" / "detent" / "cards" / f"{run}.json"
    forged = json.loads(file.read_text())
    forged["kept"] = forged["kept"].replace("judged-by", "weak-evidence")
    file.write_text(json.dumps(forged))
    assert kept_card(p.root / ".git", run) is None
    shown = p.run("status", "--run", run)
    assert shown.code == 0 and "Card:" not in shown.out
    file.write_text("{")
    assert p.run("show", run, "--json").json["card"] is None


@pytest.mark.parametrize(
    ("git", "told"),
    [
        ("", []),
        ("merge = 'branch'\npr_command = 'true'", []),
        ("merge = 'pull-request'", [(False, "none can be opened: Detent does not know which forge the remote is on")]),
        (
            "merge = 'pull-request'\n[forge]\nkind = 'github'\nproject = 'a/b'",
            [(False, "none can be opened: the remote is not set, which names no host of GitHub")],
        ),
        (
            "merge = 'pull-request'\npr_command = 'gh pr create --fill'",
            [(False, "`gh pr create --fill` gets no text, so pull requests will not say what they prove")],
        ),
        ("merge = 'pull-request'\npr_command = 'open {body}'", [(True, "`open {body}`, with the proof card in {body}")]),
    ],
)
def test_the_doctor_says_whether_pull_requests_get_the_card(tmp_path: Path, git: str, told: list[tuple[bool, str]]) -> None:
    root = make_repo(tmp_path / "p", {"a.txt": "a"})
    settings = load(lambda path: f"[git]\n{git}\n" if path == "detent.toml" else None, {})
    assert [(check.ok, check.says) for check in _pull_requests(root, settings)] == told
