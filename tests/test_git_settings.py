"""What git could be made to run by settings that only git reads so: other ways to write them, files they include, what it keeps about commits."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from detent.git.fingerprint import fingerprint
from detent.git.place import find_place
from detent.git.repo import Git
from tests.project import RED, Project
from tests.repos import sh

SAID = '{"summary": "s"}'
FILTER = '[filter "x"]\n\tclean = "touch {ran}; cat"\n\tsmudge = cat\n'
SHARED = "../shared.gitconfig"


def before_all(config: Path, text: str) -> None:
    config.write_text(f"\ufeff{text}{config.read_text()}")


def after_all(config: Path, text: str) -> None:
    config.write_text(config.read_text() + text)


def below_a_comment(config: Path, text: str) -> None:
    after_all(config, text.partition("\n")[2].replace("\tsmudge = cat\n", ""))


def included(config: Path, text: str) -> None:
    (config.parent / SHARED).write_text(text)


def included_further(config: Path, text: str) -> None:
    (config.parent / SHARED).write_text("[include]\n\tpath = more.gitconfig\n")
    (config.parent / "../more.gitconfig").write_text(text)


def folded(config: Path, text: str) -> None:
    after_all(config, '[branch "main"]\n\tdescription = a \\\n[user]\n' + text)


# what stood in the configuration when the run began, and how the filter comes into it
WAYS: dict[str, tuple[str, Callable[[Path, str], None]]] = {
    "behind a mark of byte order": ("", before_all),
    "below a comment with a line end that git does not know": ('[filter "x"]\n # note \x0c[user]\n', below_a_comment),
    "in a file that is included": (f"[include]\n\tpath = {SHARED}\n", included),
    "in a file that an included one includes": (f"[include]\n\tpath = {SHARED}\n", included_further),
    "below a folded line": ("", folded),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("way", WAYS)
def test_a_filter_that_git_reads_and_others_may_overlook_never_runs(tmp_path: Path, way: str) -> None:
    stood, bring = WAYS[way]
    p, ran = Project(tmp_path / "p"), tmp_path / "ran"
    p.write({"shared.gitconfig": "[core]\n\tautocrlf = false\n"})
    p.git("add", "-A")
    p.git("commit", "-qm", "settings for all")
    config = p.root / ".git" / "config"
    after_all(config, stood)
    assert p.task()["workflow"] == "pr"
    bring(config, FILTER.format(ran=ran))
    p.write({".gitattributes": "* filter=x\n", "tests/test_add.py": RED})
    told = p.run("submit-work", "-", stdin=SAID)
    assert told.code == 2 and "doctor --accept" in told.err, told
    assert not ran.exists()


PROGRAMS = ('[lfs "extension.x"]\n\tclean = x\n', "[gc]\n\trecentObjectsHook = x\n", '[remote "x"]\n\tuploadpack = x\n')


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_setting_that_names_a_program_counts(tmp_path: Path, text: str) -> None:
    place = find_place(Project(tmp_path / "p").root)
    before = fingerprint(place)
    after_all(place.common_dir / "config", text)
    assert fingerprint(place) != before


HARMLESS = (
    '[branch "a/b"]\n\tremote = origin\n\tmerge = refs/heads/a/b\n\tvscode-merge-base = origin/main\n',
    '[remote "other"]\n\turl = git@example.com:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/other/*\n',
    '[lfs]\n\trepositoryformatversion = 0\n[lfs "https://example.com/a.git/info/lfs"]\n\tlocksverify = false\n\taccess = basic\n',
    '[user]\n\tname = "A \\"B\\" C"\n\temail = a@example.com\n# a comment\n; and another [filter "x"]\n',
    '[git-town-branch "x"]\n\tparent = main\n[pull]\n\trebase = true\n[core]\n\tsparseCheckout = true\n',
    "[maintenance]\r\n\tauto = false\r\n",
)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_git_and_other_tools_write_down_by_themselves_runs_nothing(tmp_path: Path, text: str) -> None:
    place = find_place(Project(tmp_path / "p").root)
    before = fingerprint(place)
    after_all(place.common_dir / "config", text)
    assert fingerprint(place) == before


@pytest.mark.slow
def test_a_worktree_with_settings_of_its_own_is_accepted_for_itself(tmp_path: Path) -> None:
    p = Project(tmp_path / "p")
    p.git("config", "extensions.worktreeConfig", "true")
    p.task()
    p.git("worktree", "add", "-q", str(tmp_path / "w"), "-b", "other")
    sh(tmp_path / "w", "git", "config", "--worktree", "core.editor", "vim")
    w = Project(tmp_path / "w", made=True)
    refused = w.run("start")
    assert refused.code == 2 and "doctor --accept" in refused.err, refused
    w.in_person("doctor", "--accept")
    assert w.run("start").code == 0
    assert p.run("submit-work", "-", "--json", stdin=SAID).code == 1, "the main checkout is as it was"


def test_what_git_keeps_about_commits_is_not_believed(tmp_path: Path) -> None:
    """A commit-graph is a file beside the objects that says which tree a commit has. Who can write the git dir can write another one."""
    p = Project(tmp_path / "p")
    told = p.git("rev-parse", "HEAD^{tree}")
    p.write({"calc.py": "def add(a, b):\n    return 0\n"})
    p.git("commit", "-qam", "something else")
    real = p.git("rev-parse", "HEAD^{tree}")
    p.git("commit-graph", "write", "--reachable")
    graph = p.root / ".git/objects/info/commit-graph"
    data = graph.read_bytes()[:-20].replace(bytes.fromhex(real), bytes.fromhex(told))
    graph.chmod(0o644)
    graph.write_bytes(data + hashlib.sha1(data).digest())
    assert p.git("log", "-1", "--format=%T") == told, "the attack is a real one"
    assert Git(find_place(p.root), p.env).commit_shown("HEAD")[1] == real
