"""The demo does what the README says, and leaves nothing behind."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from detent.errors import DetentError
from detent.interfaces.demos import demo_cheat
from detent.interfaces.demos.demo_cheat import ATTEMPTS
from detent.interfaces.demos.demo_queue import typed
from tests.project import ROOT, Project


@pytest.mark.slow
def test_the_demo_goes_through_two_pull_requests_and_catches_what_it_should(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    (made := tmp_path / "tmp").mkdir()
    ran = project.run("demo", "pr", XDG_STATE_HOME=str(tmp_path / "state"), TMPDIR=str(made))
    assert ran.code == 0, ran
    for said in (
        "REFUSED",
        "FAILURE",
        "findings (add does not say what it does)",
        "was deleted",
        "Merge branch 'feat/subtract-numbers'",
        "chain unbroken",
    ):
        assert said in ran.out
    assert ran.out.count("the machine: merged") == 2
    assert not [*made.iterdir()]
    assert not (tmp_path / "state").exists()


def test_the_first_demo_catches_three_cheats_in_sentences_that_fit_a_terminal(tmp_path: Path) -> None:
    (made := tmp_path / "tmp").mkdir()
    ran = Project(tmp_path / "p").run("demo", XDG_STATE_HOME=str(tmp_path / "state"), TMPDIR=str(made), COLUMNS="80")
    assert ran.code == 0, ran
    told = " ".join(ran.out.split())
    assert all(attempt.story in told for attempt in ATTEMPTS)
    assert [line.split()[1].strip(":") for line in ran.out.splitlines() if line.lstrip()[:1] in "✓✗" and line.strip()] == [
        a.wanted for a in ATTEMPTS
    ]
    assert "What you saw" in ran.out and "What to do now" in ran.out and "detent check" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80
    assert not [*made.iterdir()] and not (tmp_path / "state").exists()


@pytest.mark.slow
def test_a_demo_that_goes_otherwise_than_its_story_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from detent.interfaces.cli.demo import command

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(demo_cheat, "ATTEMPTS", (ATTEMPTS[0]._replace(wanted="FAILURE"),))
    assert command.main(["cheat"], standalone_mode=False) == 1
    said = capsys.readouterr().out
    assert "This did not go as scripted" in said and "What you saw" not in said


def test_the_picture_of_the_readme_shows_the_demo_as_it_is() -> None:
    picture = ElementTree.parse(ROOT / "docs" / "pictures" / "demo.svg")
    rows = ["".join(row.itertext()) for row in picture.iter("{http://www.w3.org/2000/svg}text")]
    shown = " ".join(" ".join(rows).replace("\u00a0", " ").split())
    assert all(attempt.story in shown for attempt in ATTEMPTS), "renew it: .venv/bin/python docs/demo_cast.py"
    head, *events = (ROOT / "docs" / "pictures" / "demo.cast").read_text("utf-8").splitlines()
    assert json.loads(head)["version"] == 2 and all(json.loads(event)[1] == "o" for event in events)
    assert "docs/pictures/demo.svg" in (ROOT / "README.md").read_text("utf-8")


def test_what_a_demo_needs_is_said_before_it_begins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from detent.interfaces.cli import demo

    monkeypatch.setitem(demo.DEMOS, "tdd", ("no_such_package",))
    with pytest.raises(DetentError, match="needs no_such_package, which is not installed with Detent"):
        demo.command.main(["tdd"], standalone_mode=False)


def test_a_demo_that_is_not_there_is_told(tmp_path: Path) -> None:
    ran = Project(tmp_path / "p").run("demo", "nonsense")
    assert ran.code == 2 and "no demo 'nonsense'" in ran.err


@pytest.mark.slow
def test_the_tdd_demo_builds_a_feature_test_by_test_and_catches_what_it_should(tmp_path: Path) -> None:
    """Four cycles from one command: two cheats are caught, a test that passes at once is asked about, and every phase has its commit and its note."""
    ran = Project(tmp_path / "p").run("demo", "tdd", XDG_STATE_HOME=str(tmp_path / "state"))
    assert ran.code == 0, ran
    said = ran.out
    whole = " ".join(said.split())
    assert "slugify/__init__.py changed; a RED step writes tests only" in whole
    assert "tests/test_longest.py was modified; tests are frozen while the code is written" in whole
    assert "already passes, so nothing needs this step" in whole
    assert "? FLAGS The branch is ready to land and has 1 flag to look at: no-proof" in whole and "the person: accept" in whole
    assert "4 tests done, 0 open" in said and '"nextPhase": "COMPLETE"' in said
    prefixes = [
        line.split()[2] for line in said.splitlines() if line.startswith("  ") and len(line.split()) > 2 and line.split()[2].endswith(":")
    ]
    cycle = ["plan:", "test:", "feat:", "refactor:"]
    assert prefixes == [*cycle * 3, "plan:", "test:", "plan:"]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_pipeline_demo_leads_a_feature_from_a_request_to_a_release_with_people_at_the_gates(tmp_path: Path) -> None:
    (made := tmp_path / "tmp").mkdir()
    ran = Project(tmp_path / "p").run("demo", "pipeline", XDG_STATE_HOME=str(tmp_path / "state"), TMPDIR=str(made))
    assert ran.code == 0, ran
    told = [" ".join(line.split()) for line in ran.out.splitlines()]
    for said in (
        "the person: changes-requested: say what happens without a name --to spec",
        "the person: fix --note 'markup must never run'",
        "repairs FIX_SECURITY (1), FIX_BUILD (1)",
        "changes requested 1",
        "acceptance, at that tree pytest -q tests/test_hello.py passed; python release.py passed",
    ):
        assert said in " ".join(told), ran.out
    assert "`python release.py` fails: pyproject.toml does not name: /hello" in " ".join(told)
    assert "Merge branch 'detent/" in ran.out and "chain unbroken" in ran.out
    assert not [*made.iterdir()] and not (tmp_path / "state").exists()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_queue_demo_works_six_items_off_and_lands_what_is_done(tmp_path: Path) -> None:
    (made := tmp_path / "made").mkdir()
    ran = Project(tmp_path / "p").run("demo", "queue", XDG_STATE_HOME=str(tmp_path / "state"), TMPDIR=str(made))
    assert ran.code == 0, ran
    told = [" ".join(line.split()) for line in ran.out.splitlines()]
    for said in (
        "Done: 4 done, 1 failed, 1 blocked.",
        "BACK it-4-show-totals-with-a-sign it conflicts with main in price.py",
        "it-4 closed Show totals with a sign execute-it-4-1 COMPLETED, execute-it-4-2 COMPLETED",
        "it-5 blocked Import the old price list execute-it-5-1 BLOCKED",
        "it-8 open Tests fail: Print receipts filed by the machine, not queued",
    ):
        assert said in " ".join(told), ran.out
    merges = [line for line in told if "Merge branch 'it-" in line]
    assert (len(merges), len([line for line in merges if line.endswith("', which it-2 needs")])) == (5, 1), (
        "four landed, and it-2 began with it-1"
    )
    assert "chain unbroken" in ran.out
    assert not [*made.iterdir()] and not (tmp_path / "state").exists()


LANDED = {"pr": "main", "tdd": "detent/*", "pipeline": "detent/*", "queue": "main"}  # the branches that a demo leaves


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.needs("namespaces", "bubblewrap")
@pytest.mark.parametrize("name", LANDED)
def test_what_a_demo_leaves_is_verified_in_the_sandbox(tmp_path: Path, name: str) -> None:
    (made := tmp_path / "made").mkdir()
    state = str(tmp_path / "state")
    assert Project(tmp_path / "p").run("demo", name, "--keep", XDG_STATE_HOME=state, TMPDIR=str(made)).code == 0
    (place,) = [each.parent for each in made.glob("*/*/.git")]
    p = Project(place, made=True)
    branches = p.git("for-each-ref", "--format=%(refname:short)", f"refs/heads/{LANDED[name]}").splitlines()
    assert branches
    for branch in branches:
        p.git("checkout", "-q", branch)
        ran = p.run("verify", XDG_STATE_HOME=state, DETENT_SANDBOX_PULL="auto")
        assert ran.code == 0 and "VERIFIED: every claim holds again" in ran.out, ran
        assert "sandbox bubblewrap" in ran.out, ran


def test_a_command_that_breaks_ends_the_demo(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    p = Project(tmp_path / "p")
    with pytest.raises(DetentError, match="the demo ends here: `detent queue` exited with code 2"):
        typed(p.root, p.env, "queue", "dance")
    assert "$ detent queue dance" in capfd.readouterr().out
