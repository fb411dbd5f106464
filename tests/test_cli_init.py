"""`detent init` in real folders: what it writes, that it can be repeated, and that it is taken back exactly."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from detent.interfaces.cli.group import run

SOURCE = Path(__file__).parent.parent / "src"


class Place:
    """A repository and a way to call detent in it."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch, said: pytest.CaptureFixture[str]) -> None:
        self.root, self.patch, self.said = root, patch, said
        self.programs = root.parent / "programs"
        self.programs.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> None:
        names = [f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]
        env = {**os.environ, **dict.fromkeys(names, "x"), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", *words], cwd=self.root, check=True, env=env, capture_output=True)

    def commit(self) -> None:
        self.git("commit", "-q", "--allow-empty", "-m", "first")

    def write(self, name: str, text: str = "") -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def program(self, name: str, real: str = "/bin/true") -> None:
        (self.programs / name).write_text(f'#!/bin/sh\nexec {real} "$@"\n', encoding="utf-8")
        (self.programs / name).chmod(0o755)

    def init(self, *words: str, at: str = ".") -> tuple[int, str]:
        """The exit code, and everything that is said."""
        self.patch.chdir(self.root / at)
        self.patch.setenv("PATH", str(self.programs))
        code = run(["init", *words])
        self.patch.undo()
        said = self.said.readouterr()
        return code, said.out + said.err

    @property
    def toml(self) -> str:
        return (self.root / "detent.toml").read_text(encoding="utf-8")

    def settings(self) -> dict[str, object]:
        return tomllib.loads(self.toml)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Place:
    (tmp_path / "project").mkdir()
    return Place(tmp_path / "project", monkeypatch, capsys)


def test_what_is_detected_is_written_and_shown(here: Place) -> None:
    here.commit()
    here.write("pyproject.toml", "[tool.ruff]\n")
    here.write("docs/Plan_Doc/Active_Plan.md", "- [ ] one\n")
    here.write(".venv/bin/python")
    here.write(".venv/bin/pytest")
    here.program("ruff")
    code, said = here.init()
    assert code == 0
    assert said.splitlines()[0] == "detent.toml was written."
    assert '  test.command = ".venv/bin/python -m pytest"\n' in said
    assert "detent start" not in said.partition("Next:")[2], "there is no git on PATH, so it would fail"
    written = here.settings()
    assert written["test"] == {"command": ".venv/bin/python -m pytest"}
    assert written["pr"] == {"plan": "docs/Plan_Doc/Active_Plan.md"}
    assert written["git"] == {"main": "main"}
    assert "ruff check" in json.dumps(written["preflight"])
    assert here.toml.startswith("# Written by `detent init` (")


def test_a_second_call_changes_nothing(here: Place) -> None:
    here.write("setup.py")
    here.init()
    before = here.toml
    code, said = here.init()
    assert (code, here.toml) == (0, before)
    assert said.startswith("Nothing to change.\n")
    assert "  kept: test.command\n" in said


def test_keys_that_a_person_set_are_kept_and_missing_ones_are_added_to_their_sections(here: Place) -> None:
    here.commit()
    here.write("setup.py")
    here.write("PLAN.md")
    mine = '# mine\n[test] # tests\ntimeout = 9\n\n[git]\nmain = "trunk"\n'
    here.write("detent.toml", mine)
    code, said = here.init()
    assert code == 0
    assert said.startswith("detent.toml was added to.\n")
    assert "kept: git.main" in said
    assert here.toml == mine.replace("# tests\n", '# tests\ncommand = "python3 -m pytest"\n') + '\n[pr]\nplan = "PLAN.md"\n'
    assert here.init()[1].startswith("Nothing to change.")


@pytest.mark.parametrize("text", ["test = {timeout = 9}\n", "test.timeout = 9\n", "[test]\r\ntimeout = 9"])
def test_a_file_in_another_style_is_added_to_safely_or_not_at_all(here: Place, text: str) -> None:
    here.write("setup.py")
    (here.root / "detent.toml").write_bytes(text.encode())
    code, said = here.init()
    assert code == 0
    if here.settings() == tomllib.loads(text):
        assert said.startswith("Nothing changed: detent.toml is written in a way that Detent cannot safely add to.")
        assert 'add by hand: test.command = "python3 -m pytest"' in said
    else:
        assert here.settings() == {"test": {"timeout": 9, "command": "python3 -m pytest"}, "git": {"main": "main"}}


def test_settings_in_pyproject_are_left_alone(here: Place) -> None:
    here.commit()
    here.write("pyproject.toml", "[tool.detent.test]\ncommand = 'make test'\n")
    code, said = here.init()
    assert code == 0
    assert said.startswith("Nothing to change: the settings are in pyproject.toml under [tool.detent].\n")
    assert "detected and not set there: git.main" in said
    assert not (here.root / "detent.toml").exists()


def test_a_test_command_of_tdd_properties_is_not_hidden(here: Place) -> None:
    here.write("setup.py")
    here.write("tdd.properties", "test.command=make test\n")
    here.init()
    assert "test" not in here.settings()


def test_where_nothing_is_detected_nothing_is_written(here: Place) -> None:
    here.commit()
    here.git("checkout", "-q", "-b", "one")
    here.git("branch", "two")
    here.git("branch", "-D", "main")
    code, said = here.init()
    assert code == 0 and said.startswith("Nothing to change.\nnothing was detected; set [test] command in detent.toml by hand\n\n")
    assert "no test framework is recognised" in said and "detent start" not in said.partition("Next:")[2]
    assert not (here.root / "detent.toml").exists()


def test_from_a_folder_below_the_root_the_file_is_written_at_the_root(here: Place) -> None:
    here.write("src/a.py")
    here.write("setup.py")
    here.init(at="src")
    assert here.settings()["test"] == {"command": "python3 -m pytest"}


@pytest.mark.parametrize("way", ["born", "unborn", "packed", "remote", "master", "only", "detached", "worktree"])
def test_the_main_branch_is_read_from_gits_own_files(here: Place, way: str) -> None:
    if way != "unborn":
        here.commit()
    if way == "packed":
        here.git("branch", "other")
        here.git("pack-refs", "--all")
    elif way == "remote":
        here.git("branch", "trunk")
        here.git("update-ref", "refs/remotes/origin/trunk", "HEAD")
        here.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    elif way == "master":
        here.git("branch", "-m", "master")
        here.git("branch", "other/deep")
    elif way == "only":
        here.git("branch", "-m", "deep/er")
    elif way == "detached":
        here.git("checkout", "-q", "--detach")
    elif way == "worktree":
        here.git("worktree", "add", "-q", "-b", "feature", str(here.root.parent / "linked"))
    expected = {"remote": "trunk", "master": "master", "only": "deep/er"}.get(way, "main")
    where = here.root.parent / "linked" if way == "worktree" else here.root
    assert here.init("--json", at=str(where))[0] == 0
    assert tomllib.loads((where / "detent.toml").read_text(encoding="utf-8"))["git"] == {"main": expected}


def test_json_says_the_same_in_one_object(here: Place) -> None:
    here.write("setup.py")
    code, said = here.init("--json")
    assert code == 0
    first = json.loads(said)
    assert (first["file"], first["changed"], first["written"]) == (
        "detent.toml",
        True,
        {"test.command": "python3 -m pytest", "git.main": "main"},
    )
    again = json.loads(here.init("--json")[1])
    assert (again["changed"], again["written"], again["kept"]) == (False, {}, ["git.main", "test.command"])


def test_remove_takes_back_exactly_what_was_written(here: Place) -> None:
    here.write("setup.py")
    here.init()
    assert here.init("--remove") == (0, "detent.toml was removed; it was as init wrote it.\n")
    assert not (here.root / "detent.toml").exists()
    assert here.init("--remove") == (0, "Nothing to remove: there is no detent.toml.\n")


def test_remove_leaves_a_file_that_is_committed_and_names_the_command_for_it(here: Place) -> None:
    here.write("setup.py")
    here.init()
    here.git("add", "detent.toml")
    here.commit()
    here.program("git", os.path.realpath(str(shutil.which("git"))))
    code, said = here.init("--remove")
    assert (code, said) == (1, "detent.toml was not removed: it is committed.\nto remove it for everybody: git rm detent.toml\n")
    assert (here.root / "detent.toml").exists()


def test_remove_takes_back_what_init_added_to_its_own_file(here: Place) -> None:
    here.write("setup.py")
    here.init()
    here.write("PLAN.md")
    assert "pr.plan" in here.init()[1]
    assert here.init("--remove")[0] == 0


@pytest.mark.parametrize("change", ["\n", "# a word\n", "[bash]\ntimeout = 9\n"])
def test_remove_leaves_a_file_that_a_person_changed(here: Place, change: str) -> None:
    here.write("setup.py")
    here.init()
    here.write("detent.toml", here.toml + change)
    code, said = here.init("--remove")
    assert (code, said) == (1, "detent.toml was not removed: it is not as init wrote it.\ndelete it by hand if you mean to\n")
    assert (here.root / "detent.toml").exists()


def test_a_file_that_a_person_changed_is_added_to_but_no_longer_counts_as_inits(here: Place) -> None:
    here.write("setup.py")
    here.init()
    here.write("detent.toml", here.toml + "[bash]\ntimeout = 9\n")
    here.write("PLAN.md")
    assert here.init()[0] == 0
    assert here.settings()["pr"] == {"plan": "PLAN.md"}
    assert here.init("--remove")[0] == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"[tset]\n", "detent: detent.toml: there is no section [tset]\n  did you mean [test]?"),
        (b"[test\n", "detent: detent.toml, line 1"),
        (b"\xff\n", "detent: detent.toml is not UTF-8 text"),
    ],
)
def test_a_file_with_a_mistake_is_not_touched(here: Place, text: bytes, sentence: str) -> None:
    (here.root / "detent.toml").write_bytes(text)
    code, said = here.init()
    assert code == 2
    assert said.startswith(sentence)
    assert (here.root / "detent.toml").read_bytes() == text


def test_a_symbolic_link_is_not_written_through(here: Place) -> None:
    here.write("elsewhere.toml")
    (here.root / "detent.toml").symlink_to("elsewhere.toml")
    here.write("setup.py")
    code, said = here.init()
    assert code == 2
    assert "detent.toml is a symbolic link" in said
    assert (here.root / "elsewhere.toml").read_text(encoding="utf-8") == ""


def test_outside_of_a_repository_init_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "detent", "init"], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 2
    assert "is not in a git repository" in done.stderr
