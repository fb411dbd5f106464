"""A push that breaks something is refused by git itself: the hook that `detent init` writes, and the one of the `pre-commit` program. Real pushes
to a bare repository; every suite has two tests."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from detent.app.check_span import pushed
from detent.errors import DetentError
from tests.project import ROOT
from tests.repos import sh
from tests.test_check import CALC, PROVED, Branch

WORSE = {"calc.py": CALC.replace("n * 2", "n * 3")}
ZERO = "0" * 40


class Pusher(Branch):
    """A clone with a bare remote that has main."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "p")
        sh(folder, "git", "init", "-q", "--bare", "-b", "main", "remote.git")
        self.remote = folder / "remote.git"
        self.git("remote", "add", "origin", str(self.remote))
        self.git("push", "-q", "origin", "main")
        (folder / "bin").mkdir()
        (folder / "bin" / "detent").write_text(f'#!/bin/sh\nexec {sys.executable} -m detent "$@"\n')
        (folder / "bin" / "detent").chmod(0o755)
        self.env["PATH"] = f"{folder / 'bin'}:{self.env['PATH']}"
        self.env["PRE_COMMIT_HOME"] = str(folder / "pre-commit")

    def push(self, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", "push", *args], cwd=self.root, env=self.env, capture_output=True, text=True)

    @property
    def there(self) -> str:
        """Where the branch stands at the remote."""
        return sh(self.remote, "git", "rev-parse", "--quiet", "--verify", "work", check=False)


@pytest.fixture
def p(tmp_path: Path) -> Pusher:
    return Pusher(tmp_path)


def pushes_are_checked(p: Pusher, skips: dict[str, str] | None = None) -> None:
    """The whole story: a good push, a bad one, the way round it, and a deletion."""
    good = p.commit(PROVED, "good")
    done = p.push("-q", "origin", "work")
    assert done.returncode == 0 and p.there == good, done
    assert "1 test fails without this change and passes with it" in done.stdout + done.stderr
    bad = p.commit(WORSE, "bad")
    done = p.push("-q", "origin", "work")
    assert done.returncode != 0 and p.there == good and "test_double passed before and fails now" in done.stdout + done.stderr, done
    assert "git push --no-verify" in done.stdout + done.stderr or skips == {}
    assert p.push("-q", "--no-verify", "origin", "work").returncode == 0 and p.there == bad
    assert p.push("-q", "origin", ":work").returncode == 0 and not p.there, "nothing is checked where nothing comes"


def test_the_hook_refuses_a_failing_push_and_lets_a_clean_one_through(p: Pusher) -> None:
    done = p.run("init", "--hook", "pre-push")
    assert done.code == 0 and "--no-verify" in done.out, done
    assert not (p.root / "detent.toml").exists(), "the hook needs no configuration"
    pushes_are_checked(p)
    assert p.run("init", "--remove").code == 0 and not (p.root / ".git/hooks/pre-push").exists()


@pytest.mark.slow
def test_pre_commit_takes_the_definition_and_hands_it_what_is_pushed(p: Pusher, tmp_path: Path) -> None:
    (definition,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    hooks = tmp_path / "hooks"
    sh(tmp_path, "git", "init", "-q", "hooks")
    (hooks / ".pre-commit-hooks.yaml").write_text((ROOT / ".pre-commit-hooks.yaml").read_text())
    sh(hooks, "git", "add", "-A")
    sh(hooks, "git", "commit", "-q", "-m", "hooks")
    installed = {"id": definition["id"], "language": "system"}  # the detent of the PATH: installing it again needs a network
    config = {"repos": [{"repo": str(hooks), "rev": sh(hooks, "git", "rev-parse", "HEAD"), "hooks": [installed]}]}
    p.write({".pre-commit-config.yaml": yaml.safe_dump(config)})
    p.git("add", "-A")
    p.git("commit", "-q", "-m", "pre-commit")
    subprocess.run(
        [sys.executable, "-m", "pre_commit", "install", "-t", "pre-push"], cwd=p.root, env=p.env, check=True, capture_output=True
    )
    pushes_are_checked(p, {})


# -- which ranges ------------------------------------------------------------------------------------------------------------------


def ranges(p: Branch, *lines: str, **env: str) -> list[str]:
    return pushed(p.root, {**p.env, **env}, lines)


def test_a_push_is_compared_with_what_the_remote_has_or_else_with_main(p: Pusher) -> None:
    main, one = p.git("rev-parse", "main"), p.commit({"a": "1"})
    two = p.commit({"a": "2"})
    line = "refs/heads/work {} refs/heads/work {}".format
    assert ranges(p, line(two, one)) == [f"{one[:12]}..{two[:12]}"]
    assert ranges(p, line(two, ZERO)) == ranges(p, line(two, "f" * 40)) == [f"{main[:12]}..{two[:12]}"], (
        "a new branch, and one that others moved"
    )
    assert ranges(p, line(ZERO, one), line(one, two), f"refs/tags/v1 {two} refs/tags/v1 {ZERO}") == []
    assert ranges(p, line(two, one), line(one, main), "") == [f"{one[:12]}..{two[:12]}", f"{main[:12]}..{one[:12]}"]
    assert ranges(p, PRE_COMMIT_FROM_REF=one, PRE_COMMIT_TO_REF=two) == [f"{one[:12]}..{two[:12]}"]


def test_a_push_that_cannot_be_compared_is_told_and_a_shallow_clone_is_never_a_yes(p: Pusher, tmp_path: Path) -> None:
    p.git("switch", "-q", "--orphan", "pages")
    apart = p.commit({"index.html": "x"})
    line = f"refs/heads/pages {apart} refs/heads/pages {ZERO}"
    ran = p.run("check", "--pushed", stdin=f"{line}\n")
    assert ran.code == 0 and "nothing to check" in ran.err, ran
    p.git("switch", "-q", "work")
    new = p.commit({"a": "1"})
    p.git("push", "-q", "--no-verify", "origin", "work")
    sh(tmp_path, "git", "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{p.remote}", "shallow")
    with pytest.raises(DetentError, match="shallow clone"):
        pushed(tmp_path / "shallow", p.env, [f"refs/heads/work {new} refs/heads/work {ZERO}"])


def test_what_is_no_line_of_a_push_is_refused(p: Pusher) -> None:
    with pytest.raises(DetentError, match="not a line of a push"):
        ranges(p, "refs/heads/work")
    assert p.run("check", "--pushed", "HEAD").code == 2 and p.run("check", "--pushed", "--each").code == 2
    assert p.run("check", "--pushed").code == 0, "nothing is pushed, nothing is said"


# -- hooks of others ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theirs", "way"),
    [
        ("#!/bin/sh\nmake test\n", "detent check --pushed"),
        ("#!/bin/sh\n# generated by pre-commit\n", ".pre-commit-config.yaml"),
        ("# lefthook\n", "lefthook.yml"),
    ],
)
def test_a_hook_of_others_is_left_alone_and_the_way_to_have_both_is_told(p: Pusher, theirs: str, way: str) -> None:
    file = p.root / ".git/hooks/pre-push"
    file.write_text(theirs)
    ran = p.run("init", "--hook", "pre-push")
    assert ran.code == 2 and "there is a pre-push hook already" in ran.err and way in ran.err, ran
    p.run("init", "--remove")
    assert file.read_text() == theirs


@pytest.mark.slow
def test_the_line_that_chains_works_in_a_hook_of_others(p: Pusher) -> None:
    file = p.root / ".git/hooks/pre-push"
    file.write_text("#!/bin/sh\necho theirs\n")
    file.chmod(0o755)
    line = next(line for line in p.run("init", "--hook", "pre-push").err.splitlines() if "add a line to it: " in line)
    file.write_text(f"#!/bin/sh\necho theirs\n{line.partition('add a line to it: ')[2]}\n")
    p.commit(WORSE)
    done = p.push("origin", "work")
    assert done.returncode != 0 and "theirs" in done.stdout + done.stderr and not p.there, done


def test_husky_gets_its_own_file_and_gives_it_back(p: Pusher) -> None:
    p.git("config", "core.hooksPath", ".husky/_")
    assert p.run("init", "--hook", "pre-push").code == 0
    hook = p.root / ".husky/pre-push"
    assert hook.stat().st_mode & 0o111 and "check --pushed" in hook.read_text()
    assert p.run("init", "--hook", "pre-push", "--json").json["changed"] is False
    hook.write_text(hook.read_text() + "echo more\n")
    assert p.run("init", "--hook", "pre-push").code == 2 and p.run("init", "--remove").code == 2, "it is not ours any more"
    hook.write_text(hook.read_text().removesuffix("echo more\n"))
    assert p.run("init", "--remove", "--hook", "pre-push").code == 0 and not (p.root / ".husky").exists()


def test_a_folder_of_hooks_that_other_repositories_share_is_left_alone(p: Pusher, tmp_path: Path) -> None:
    p.git("config", "core.hooksPath", str(tmp_path / "shared"))
    ran = p.run("init", "--hook", "pre-push")
    assert ran.code == 2 and "other repositories" in ran.err and not (tmp_path / "shared").exists()
    assert p.run("init", "--remove").code == 0
