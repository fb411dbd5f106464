"""Which lines of a plan are pull requests: what its own form says, shown before the first step, changed by a person. And what becomes of them."""

import json
from pathlib import Path

import pytest

from detent.app.forges import way_to_land
from detent.config import Settings
from detent.config.settings import GitSettings as GitSettings
from detent.gates.plan_entries import entries, open_entries
from detent.git.place import find_place
from tests.cases import project
from tests.project import PLAN
from tests.repos import PLAIN, make_repo, sh

PROSE = "# Till\n\n## Context\n\nIt adds.\n\n- uses sqlite\n- is fast\n\n"
AFTER = "\n## References\n\n- RFC 1\n- the till of 1999\n"


@pytest.mark.parametrize(
    ("plan", "left"),
    [
        ("## Plan\n\n- [ ] add numbers\n- [x] start\n- [ ] subtract\n", ("add numbers", "subtract")),
        ("## PR 1: add numbers\n\n- [ ] write tests\n- detail\n\n## PR 2: subtract\n", ("PR 1: add numbers", "PR 2: subtract")),
        ("## PR 1: add [DONE] abcdef1\n\n- [ ] write tests\n\n## PR 2: subtract\n", ("PR 2: subtract",)),
        ("## Work\n\n- feat: add\n  - [ ] a test\n  - details\n- fix(ui)!: subtract\n", ("feat: add", "fix(ui)!: subtract")),
        ("## Work\n\n- feat: add [DONE] abcdef1\n- fix: subtract\n", ("fix: subtract",)),
        ("## Add numbers [DONE] abcdef1\n\n- detail\n\n## Subtract\n\n- detail\n", ("Subtract",)),
        ("## Add numbers\n\nText.\n\n## Subtract\n", ("Add numbers", "Subtract")),
    ],
)
def test_an_entry_is_what_the_form_of_the_plan_says_and_prose_is_none(plan: str, left: tuple[str, ...]) -> None:
    for text in (plan, PROSE + plan, PROSE + plan + AFTER):
        assert tuple(e.text for e in open_entries(text)) == left, text


@pytest.mark.parametrize(
    "plan", ["- [x] add\n", "- feat: add [DONE] abcdef1\n", "## PR 1: add [DONE] abcdef1\n", "## Add [DONE] abcdef1\n"]
)
def test_a_plan_whose_entries_are_all_done_has_none_left_whatever_prose_stands_around_them(plan: str) -> None:
    assert open_entries(PROSE + plan + AFTER) == ()


def test_a_person_may_name_the_form() -> None:
    assert [e.text for e in entries(PROSE + "- feat: add\n" + AFTER, r"^- (the|uses)")] == ["uses sqlite", "the till of 1999"]


@pytest.mark.slow
@pytest.mark.timeout(20)
def test_a_long_plan_is_read_in_time() -> None:
    assert len(open_entries("".join(f"- feat: {n}\n  - [ ] box\n" for n in range(20_000)))) == 20_000
    assert open_entries("".join(f"## Context\n### Notes\n- {n}\n" for n in range(20_000))) == ()


def test_start_shows_the_entries_and_what_becomes_of_them_before_the_first_step(tmp_path: Path) -> None:
    p = project(tmp_path / "p", files={PLAN: PROSE + "- [ ] feat: add numbers\n- [x] feat: start\n" + AFTER})
    ran = p.run("start")
    assert ran.out.startswith(f"The plan {PLAN} has 1 open entry, one pull request each:\n  feat: add numbers\nNot these? ")
    assert "Detent merges each finished pull request into main by itself" in ran.err
    assert "Its open entries:\n   - feat: add numbers\n" in ran.out


def test_a_plan_with_prose_ends_by_itself_once_its_entries_are_done(tmp_path: Path) -> None:
    p = project(tmp_path / "p", files={PLAN: PROSE + "- feat: add numbers [DONE] abcdef1\n" + AFTER})
    assert "has no open entry" in p.run("start").out
    assert p.submit(no_pr_left=True)["state"] == "DONE"


def test_a_pattern_of_a_person_decides_and_one_that_is_none_is_named(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[pr]\nentries = '^- is'\n", {PLAN: PROSE})
    assert "  is fast\n" in p.run("start").out
    bad = project(tmp_path / "bad", "[pr]\nentries = '('\n").run("start")
    assert bad.code == 2 and "[pr] entries is not a pattern" in bad.err


# -- what becomes of finished work --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("remote", "env", "settings", "way"),
    [
        ("", {}, GitSettings(), "auto"),
        ("/somewhere/else.git", {}, GitSettings(), "auto"),
        ("https://github.com/o/r.git", {"GITHUB_TOKEN": "t"}, GitSettings(), "pull-request"),
        ("git@gitlab.com:o/r.git", {"GITLAB_TOKEN": "t"}, GitSettings(), "pull-request"),
        ("https://github.com/o/r.git", {}, GitSettings(), "branch"),
        ("https://github.com/o/r.git", {}, GitSettings(pr_command="open-pr"), "pull-request"),
        ("https://github.com/o/r.git", {"GITHUB_TOKEN": "t"}, GitSettings(merge="auto"), "auto"),
        ("https://github.com/o/r.git", {"GITHUB_TOKEN": "t"}, GitSettings(branching=False), ""),
    ],
)
def test_a_pull_request_is_the_way_where_the_remote_is_at_a_forge(
    tmp_path: Path, remote: str, env: dict[str, str], settings: GitSettings, way: str
) -> None:
    root = make_repo(tmp_path / "p", {"a": "a\n"})
    if remote:
        sh(root, "git", "remote", "add", "origin", remote)
    assert way_to_land(Settings(git=settings), find_place(root), {**PLAIN, **env, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}) == way


@pytest.mark.slow
def test_init_says_that_finished_work_is_merged_without_asking(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    assert "merges each finished pull request into main by itself" in p.run("init").out
    p.git("remote", "add", "origin", "https://github.com/o/r.git")
    assert "opens a pull request" in p.run("init", GITHUB_TOKEN="t").out
    assert json.loads(p.run("init", "--json").out)["file"] == "detent.toml"
