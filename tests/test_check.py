"""`detent check` on real repositories: which change is meant, what is said of it, and that nothing here is touched."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from detent.app.check_span import What, change_of
from detent.errors import DetentError
from detent.evidence.outcomes.card import Change
from detent.git.place import find_place
from detent.git.repo import Git
from tests.cases import await_that
from tests.project import INI, Project
from tests.repos import sh

CALC = "def half(n):\n    return n // 2\n\n\ndef double(n):\n    return n * 2\n"
TESTS = "from calc import double, half\n\n\ndef test_half():\n    assert half(4) == 2\n\n\ndef test_double():\n    assert double(2) == 4\n"
BASE = {"pytest.ini": INI, ".gitignore": "__pycache__/\n", "calc.py": CALC, "tests/test_calc.py": TESTS}
HALF = CALC.replace("n // 2", "n / 2")
ODD = "from calc import half\n\n\ndef test_odd():\n    assert half(3) == 1.5\n"
PROVED = {"calc.py": HALF, "tests/test_odd.py": ODD}
THIRD = {"calc.py": CALC + "\n\ndef third(n):\n    return n / 3\n"}


class Branch(Project):
    """A project with a branch beside main."""

    def __init__(self, folder: Path, files: dict[str, str] | None = None) -> None:
        super().__init__(folder, files or BASE)
        self.git("switch", "-q", "-c", "work")

    def commit(self, files: dict[str, str], message: str = "change") -> str:
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def meant(self, text: str = "", what: What = "range") -> Change:
        return change_of(Git(find_place(self.root), self.env), what, text, "")


@pytest.fixture
def p(tmp_path: Path) -> Branch:
    return Branch(tmp_path / "p")


def test_on_main_itself_it_is_what_was_not_pushed_yet(p: Branch, tmp_path: Path) -> None:
    sh(tmp_path, "git", "clone", "-q", "--branch", "main", str(p.root), "mine")
    mine = Branch.__new__(Branch)
    mine.root, mine.env = tmp_path / "mine", p.env
    with pytest.raises(DetentError, match="HEAD has no commit that main does not have"):
        mine.meant()
    mine.commit(THIRD, "one")
    found = mine.meant()
    assert found.name == "origin/main…HEAD" and [c.subject for c in found.commits] == ["one"]
    sh(tmp_path, "git", "clone", "-q", "--depth", "1", f"file://{p.root}", "shallow")
    with pytest.raises(DetentError, match="as far as this shallow clone goes"):
        change_of(Git(find_place(tmp_path / "shallow"), p.env), "range", "HEAD~1..HEAD", "")


# -- which change is meant -----------------------------------------------------------------------------------------------------


def test_without_a_range_it_is_what_the_branch_has_over_main(p: Branch) -> None:
    p.commit(THIRD, "one")
    p.commit({"README.md": "words\n"}, "two")
    p.git("switch", "-q", "main")
    p.commit({"other.py": "x = 1\n"}, "elsewhere")
    p.git("switch", "-q", "work")
    found = p.meant()
    assert (found.name, [c.subject for c in found.commits], found.paths) == ("main…HEAD", ["one", "two"], ("README.md", "calc.py"))


def test_in_a_detached_checkout_of_ci_main_is_the_remotes(p: Branch, tmp_path: Path) -> None:
    p.commit(THIRD, "one")
    p.git("switch", "-q", "main")
    sh(tmp_path, "git", "clone", "-q", "-b", "work", str(p.root), "ci")
    sh(tmp_path / "ci", "git", "switch", "-q", "--detach")
    sh(tmp_path / "ci", "git", "branch", "-q", "-D", "work")
    found = change_of(Git(find_place(tmp_path / "ci"), p.env), "range", "", "")
    assert [c.subject for c in found.commits] == ["one"]


@pytest.mark.parametrize("text", ["main..work", "main...work", "main..", "work"])
def test_a_range_is_written_as_for_git(p: Branch, text: str) -> None:
    p.commit(THIRD, "one")
    assert [c.subject for c in p.meant(text).commits] == ["one"]


def test_a_merge_is_compared_with_its_first_parent(p: Branch) -> None:
    p.commit(THIRD, "one")
    p.git("switch", "-q", "main")
    p.commit({"other.py": "x = 1\n"}, "elsewhere")
    p.git("merge", "-q", "--no-ff", "-m", "merge", "work")
    assert p.meant("HEAD").paths == ("calc.py",)


@pytest.mark.parametrize(
    ("text", "says", "way"),
    [
        ("", "HEAD has no commit that main does not have", "--worktree"),
        ("HEAD..HEAD", "both ends are", "A..B"),
        ("work..main~1", "main~1 is older than work", "main~1..work"),
        ("nowhere..HEAD", "there is no commit 'nowhere' here", "fetch it"),
    ],
)
def test_a_range_without_a_commit_says_why_and_the_way_on(p: Branch, text: str, says: str, way: str) -> None:
    p.git("switch", "-q", "main")
    p.commit({"a": "1"})
    p.git("switch", "-q", "work")
    p.git("reset", "-q", "--hard", "main")
    with pytest.raises(DetentError) as told:
        p.meant(text)
    assert says in told.value.message and way in told.value.hint


NAMESAKES = {
    "a tag called as the branch": ("main", "refs/tags/main"),
    "a branch called as that of the remote": ("origin/main", "refs/heads/origin/main"),
    "a tag called as the end": ("work", "refs/tags/work"),
}


@pytest.mark.parametrize(("name", "ref"), NAMESAKES.values(), ids=NAMESAKES)
def test_a_name_that_may_mean_two_commits_is_not_guessed(p: Branch, name: str, ref: str) -> None:
    p.git("update-ref", "refs/remotes/origin/main", "main")
    p.commit({"tests/test_calc.py": "def test_a():\n    pass\n"}, "a weaker test")
    p.git("update-ref", ref, "HEAD")
    p.commit(THIRD, "one")
    with pytest.raises(DetentError, match="may mean") as told:
        p.meant(f"{name}..HEAD" if name != "work" else f"main..{name}")
    assert told.value.hint.startswith("name it in full: refs/")
    assert p.meant("refs/heads/main..refs/heads/work").commits


def test_parents_that_only_the_git_dir_says_are_not_believed(p: Branch) -> None:
    """`info/grafts` gives commits other parents: here main comes after the weaker test, which would then be no part of the change."""
    p.commit({"tests/test_calc.py": "def test_a():\n    pass\n"}, "a weaker test")
    weaker, main = p.git("rev-parse", "HEAD"), p.git("rev-parse", "main")
    p.commit(THIRD, "one")
    (p.root / ".git/info").mkdir(exist_ok=True)
    (p.root / ".git/info/grafts").write_text(f"{main} {weaker}\n{weaker}\n")
    assert p.git("merge-base", "main", "work") == weaker, "the attack is a real one"
    assert [commit.subject for commit in p.meant("refs/heads/main..refs/heads/work").commits] == ["a weaker test", "one"]


def test_an_unborn_branch_unrelated_histories_and_a_shallow_clone_are_told(p: Branch, tmp_path: Path) -> None:
    p.commit(THIRD, "one")
    p.git("switch", "-q", "--orphan", "apart")
    p.commit({"b": "1"}, "apart")
    with pytest.raises(DetentError, match="no commit in common"):
        p.meant("main..apart")
    p.git("switch", "-q", "work")
    sh(tmp_path, "git", "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{p.root}", "shallow")
    git = Git(find_place(tmp_path / "shallow"), p.env)
    with pytest.raises(DetentError) as told:
        change_of(git, "range", "origin/main..origin/work", "")
    assert "shallow clone" in told.value.message and "--unshallow" in told.value.hint
    sh(tmp_path, "git", "init", "-q", "empty")
    with pytest.raises(DetentError, match="no commit yet"):
        change_of(Git(find_place(tmp_path / "empty"), p.env), "range", "", "")


def test_what_is_staged_and_what_lies_here_are_told_apart(p: Branch) -> None:
    p.write({"calc.py": HALF, "new.py": "x = 1\n", ".env": "TOKEN=1\n"})
    p.git("add", "calc.py")
    before = (p.git("status", "--porcelain"), p.git("for-each-ref"))
    assert p.meant(what="staged").paths == ("calc.py",)
    assert p.meant(what="worktree").paths == ("calc.py", "new.py"), "a secret stays out"
    assert (p.git("status", "--porcelain"), p.git("for-each-ref")) == before


def test_a_change_does_not_say_which_branch_is_main(p: Branch) -> None:
    p.commit(THIRD, "one")
    p.git("branch", "decoy")
    p.commit({"detent.toml": "[git]\nmain = 'decoy'\n"}, "two")
    assert "main…HEAD" in p.run("check").out.splitlines()[0] and [c.subject for c in p.meant().commits] == ["one", "two"]


def test_main_says_itself_which_branch_it_is(p: Branch) -> None:
    p.git("switch", "-q", "main")
    p.commit({"detent.toml": "[git]\nmain = 'trunk'\n"}, "configured")
    p.git("branch", "trunk")
    p.git("switch", "-q", "-c", "later")
    p.commit({"README.md": "words\n"}, "one")
    assert p.run("check").out.startswith("trunk…HEAD  1 commit, 1 file")


def test_a_change_is_what_all_of_its_commits_say(p: Branch) -> None:
    p.commit(THIRD, "one\n\nDetent-Change: Refactor")
    assert p.meant().declared == "refactor"
    p.commit({"a": "1"}, "two\n\nDetent-Change: magic")
    assert p.meant().declared == ""


WITHOUT_EXTRAS = """import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("anthropic", "dbos", "psycopg", "sqlalchemy"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
from detent.app.preload import preload
preload()
"""


def test_what_judging_needs_is_loaded_where_no_extra_is_installed() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# -- what is said of it --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_proved_change_is_clean_and_known_the_second_time(p: Branch) -> None:
    p.commit(PROVED)
    first = p.run("check")
    assert first.code == 0, first
    assert "1 test fails without this change and passes with it" in first.out and "2 old tests pass as before" in first.out
    assert first.out.splitlines()[-1].startswith("CLEAN")
    again = p.run("check", "--json").json
    assert again["known_before"] and again["proved"] == ["tests/test_odd.py::test_odd"] and again["answer"] == "clean"
    assert p.git("status", "--porcelain") == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        ({"calc.py": HALF.replace("n * 2", "n * 3"), "tests/test_odd.py": ODD}, 1, "test_double passed before and fails now"),
        (THIRD, 10, "no-proof calc.py"),
        ({"README.md": "words\n"}, 0, "CLEAN"),
        ({"tests/test_calc.py": TESTS.partition("\n\n\ndef test_double")[0] + "\n"}, 1, "is gone, but would still pass"),
    ],
    ids=["a regression", "no test needs it", "words", "a test is gone"],
)
def test_the_exit_code_says_it(p: Branch, change: dict[str, str], code: int, says: str) -> None:
    p.commit(change)
    ran = p.run("check")
    assert ran.code == code and says in " ".join(ran.out.split()), ran
    assert max(map(len, ran.out.splitlines())) <= 80


def test_nothing_of_the_change_decides_how_it_is_judged(p: Branch) -> None:
    p.commit({**THIRD, "detent.toml": "[flags]\nno-proof = 'allow'\njudged-by = 'allow'\n[test]\ncommand = 'true'\n"})
    found = p.run("check", "--json").json
    assert {"no-proof", "judged-by"} <= {flag["kind"] for flag in found["flags"]} and "pytest" in found["command"], found
    assert p.run("check", "--fail-on", "failed").code == 0, "flags are told, and that is all"


@pytest.mark.slow
def test_a_refactoring_that_says_so_needs_no_test_of_its_own(p: Branch) -> None:
    p.commit({"calc.py": CALC.replace("n * 2", "n + n")}, "simpler\n\nDetent-Change: refactor")
    ran = p.run("check")
    assert ran.code == 0 and "declared   refactor" in ran.out, ran
    p.commit({"calc.py": CALC.replace("n * 2", "n * 3")}, "worse\n\nDetent-Change: refactor")
    assert p.run("check").code == 1, "a word changes no outcome"


def test_commit_by_commit_each_has_its_card_and_the_worst_decides(p: Branch) -> None:
    p.commit(PROVED, "proved")
    p.commit({"other.py": "def f():\n    return 1\n"}, "not proved")
    ran = p.run("check", "--each", "--json")
    assert [one["answer"] for one in ran.json["commits"]] == ["clean", "flagged"] and ran.code == 10
    declared = p.run("check", "--each", "--declare", "refactor", "--json").json["commits"]
    assert "no-proof" not in {flag["kind"] for one in declared for flag in one["flags"]}, "what is said beforehand holds for each"
    assert p.run("check", "--each", "--staged").code == 2


def test_commit_by_commit_each_card_is_shown_as_soon_as_it_is_known(p: Branch) -> None:
    p.commit({"README.md": "words\n"}, "words")
    p.commit({"README.md": "more words\n"}, "more")
    ran = subprocess.run(
        [sys.executable, "-m", "detent", "check", "--each"], cwd=p.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert ran.returncode == 0 and ran.stdout.count("CLEAN") == 2, ran.stdout
    assert ran.stdout.index("CLEAN") < ran.stdout.index("commit 2 of 2"), ran.stdout


@pytest.mark.slow
def test_what_is_staged_is_judged_and_the_checkout_stays(p: Branch) -> None:
    p.write({**PROVED, "tests/test_calc.py": "def test_broken():\n    assert False\n"})
    p.git("add", "calc.py", "tests/test_odd.py")
    before = p.git("status", "--porcelain")
    assert p.run("check", "--staged").code == 0
    assert p.run("check", "--worktree").code == 1
    assert p.git("status", "--porcelain") == before


def test_a_project_without_tests_is_told_so(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {"calc.py": CALC, "README.md": "x\n"})
    p.commit(THIRD)
    found = p.run("check", "--json")
    assert found.code == 10 and {"no-proof", "weak-evidence"} <= {flag["kind"] for flag in found.json["flags"]}, found


@pytest.mark.slow
def test_where_only_an_exit_code_is_read_the_command_counts_as_one_test(tmp_path: Path) -> None:
    script, asks = 'set -e\nfor each in tests/*.txt; do python3 -c "import calc; $(cat $each)"; done\n', "assert calc.half(4) == 2\n"
    files = {"calc.py": CALC, "run.sh": script, "tests/four.txt": asks, "detent.toml": "[test]\ncommand = 'sh run.sh'\n"}
    p = Branch(tmp_path / "p", files)
    p.commit({"calc.py": HALF, "tests/three.txt": "assert calc.half(3) == 1.5\n"})
    found = p.run("check", "--json").json
    assert found["proved"] == ["sh run.sh"] and "weak-evidence" in {flag["kind"] for flag in found["flags"]}, found
    p.commit({"calc.py": "def half(n):\n    return 7\n"})
    assert p.run("check").code == 1


def test_a_runner_that_is_not_there_cannot_be_verified(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, "detent.toml": "[test]\ncommand = 'nowhere/bin/pytest'\n"})
    p.commit(PROVED)
    ran = p.run("check")
    assert ran.code == 4 and ran.out.splitlines()[-1].startswith("COULD NOT VERIFY"), ran


# -- in the forms of others ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_sarif_junit_markdown_and_annotations_say_the_same(p: Branch, tmp_path: Path) -> None:
    p.commit(THIRD)
    run = json.loads(p.run("check", "--sarif").out)["runs"][0]
    (result,) = [r for r in run["results"] if r["ruleId"] == "no-proof"]
    at = result["locations"][0]["physicalLocation"]
    assert (result["level"], at["artifactLocation"]["uri"]) == ("warning", "calc.py")
    assert {r["ruleId"] for r in run["results"]} <= {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    cases = ElementTree.fromstring(p.run("check", "--junit").out)
    assert cases.attrib["failures"] == "1" and cases.find("testcase[@classname='no-proof']/failure") is not None
    text = p.run("check", "--markdown").out
    assert text.startswith("### Detent: flagged") and "**no-proof** `calc.py`" in text
    summary = tmp_path / "summary.md"
    told = p.run("check", "--github", GITHUB_STEP_SUMMARY=str(summary)).out
    first, rest = told.split("\n", 1)
    assert first.startswith("::stop-commands::") and f"::{first.rpartition(':')[2]}::" in rest, "names in the card are no commands"
    assert "::warning file=calc.py,line=7,title=no-proof::" in told and "### Detent: flagged" in summary.read_text()


def test_two_ways_to_name_a_change_are_one_too_many(p: Branch) -> None:
    for words in (["--staged", "--worktree"], ["main..work", "--staged"], ["--json", "--sarif"], ["--json", "--github"]):
        assert p.run("check", *words).code == 2, words


@pytest.mark.slow
def test_a_package_that_is_not_installed_and_not_needed_stops_no_check(p: Branch) -> None:
    without = "import sys; sys.modules['psycopg'] = None; from detent.app.preload import preload; preload()"
    done = subprocess.run([sys.executable, "-c", without], env=p.env, capture_output=True, text=True)
    assert done.returncode == 0, done
    ours = without.replace("psycopg", "detent.kernel.redact")
    assert subprocess.run([sys.executable, "-c", ours], env=p.env, capture_output=True).returncode == 1, "what is ours must be there"


def test_a_kill_in_the_middle_leaves_the_checkout_as_it_was(p: Branch) -> None:
    begun = p.root.parent / "begun"
    slow = f"import time\n\n\ndef test_slow():\n    open({str(begun)!r}, 'w').close()\n    time.sleep(600)\n"
    p.commit({**PROVED, "tests/test_slow.py": slow})
    p.write({"calc.py": "# in the middle of something\n"})
    before = p.git("status", "--porcelain"), p.git("for-each-ref")
    running = subprocess.Popen(p.argv("check"), cwd=p.root, env=p.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    await_that(begun.exists)
    running.kill()
    running.wait()
    assert (p.git("status", "--porcelain"), p.git("for-each-ref")) == before
