"""The walks of the sceptic and of the daily user, as docs/walks.md has them, played in a real terminal: real git, real tests, nothing mocked."""

import os
from pathlib import Path

import pytest

from tests.clients.real import Claude
from tests.daily import REFUSED, LikeClaude, calls
from tests.pane import BIN, pane
from tests.project import BYTECODE, QUICK, Project
from tests.repos import make_repo, sh, write
from tests.walks import TILL, missing, presses, steps, walk

DISCOUNT = {
    "till.py": TILL["till.py"] + "\n\ndef discounted(price: int, percent: int) -> int:\n    return price - price * percent // 100\n",
    "tests/test_till.py": TILL["tests/test_till.py"].replace("import total", "import discounted, total")
    + "\n\ndef test_a_discount_is_taken_off():\n    assert discounted(200, 10) == 180\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Maya's project, with a branch that an agent left her."""
    root = make_repo(tmp_path / "till", TILL)
    sh(root, "git", "switch", "-q", "-c", "discount")
    write(root, DISCOUNT)
    sh(root, "git", "commit", "-q", "-a", "-m", "Take a discount off a price")
    return root


@pytest.mark.slow
def test_the_sceptic_sees_the_demo_and_where_her_project_stands(shop: Path) -> None:
    with pane(shop.parent) as shell:
        walk(shell, "The sceptic")


@pytest.mark.slow
def test_the_sceptic_checks_a_branch_hides_a_test_and_leaves_nothing_behind(shop: Path) -> None:
    before = sh(shop, "git", "status", "--porcelain"), sh(shop, "git", "for-each-ref")
    with pane(shop) as shell:
        walk(shell, "On her own branch")
    assert (sh(shop, "git", "status", "--porcelain"), sh(shop, "git", "for-each-ref")) == before
    assert not (shop / ".git" / "detent").exists() and not (Path(os.environ["XDG_STATE_HOME"]) / "detent").exists()


def test_a_line_that_is_not_on_the_screen_is_found() -> None:
    screen = ["main…HEAD  1 commit, 2 files", "kept       2 old tests", "CLEAN      3.1 s, 6 test runs"]
    assert missing(("main…HEAD  1 commit, 2 files", "CLEAN      … s, … test runs"), screen) == ""
    assert missing(("CLEAN      … s, … test runs", "kept       2 old tests"), screen) == "kept       2 old tests", "in this order only"
    assert missing(("main…HEAD  1 commit",), screen) == "main…HEAD  1 commit", "a line is a whole line"


def test_the_page_has_something_to_type_or_to_press_for_each_of_the_three() -> None:
    assert steps("The sceptic") and steps("The daily user") and steps("The lead") and len(presses("The lead")) >= 8


# -- the daily user ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def desk(tmp_path: Path) -> Project:
    """Jonas's project, before he has heard of Detent."""
    project = Project(make_repo(tmp_path / "till", TILL), made=True)
    project.env["PATH"] = f"{BIN}:{project.env['PATH']}"
    return project


def holds(answers: dict[str, str]) -> None:
    """The agent was refused what it may not do, and nothing else; its pull request was merged."""
    told = "\n".join(f"{name}: {said[:400]}" for name, said in answers.items())
    assert {name for name, said in answers.items() if "Refused by Detent" in said} == REFUSED, told
    assert '"status":"SUCCESS"' in answers["code handed in"].replace('\\"', '"'), told


def test_the_daily_user_sets_up_and_starts_and_the_hooks_hold_what_the_client_asks(desk: Project) -> None:
    with pane(desk.root, **QUICK, PYTHONPYCACHEPREFIX=str(BYTECODE)) as shell:
        walk(shell, "The daily user")
    turns = calls(desk.root, TILL["till.py"])
    until_red = {name: turns[name] for name in list(turns)[: list(turns).index("test handed in")]}
    answers = LikeClaude(desk).play(until_red)
    assert {name for name, said in answers.items() if "Refused by Detent" in said} == REFUSED & until_red.keys(), answers


@pytest.mark.slow
def test_the_daily_user_gets_a_merged_pull_request(desk: Project) -> None:
    with pane(desk.root) as shell:
        walk(shell, "The daily user")
        holds(LikeClaude(desk).play(calls(desk.root, TILL["till.py"])))
        walk(shell, "Claude Code at work")


@pytest.mark.slow
@pytest.mark.needs("clients")
def test_the_daily_user_does_the_same_with_the_real_claude_code(desk: Project) -> None:
    with pane(desk.root) as shell:
        walk(shell, "The daily user")
        turns = calls(desk.root, TILL["till.py"])
        played = Claude().play(desk, [*turns.values(), "The plan is done."])
        assert played.exit == 0 and len(played.results) == len(turns), str(played)
        holds(dict(zip(turns, played.results, strict=True)))
        walk(shell, "Claude Code at work")
