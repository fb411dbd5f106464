"""Answers that are hard-coded for the examples of tests, in forms that are hard to see: examples of data files, errors and yes or no for an answer,
values that are encoded, hashed, escaped, in pieces or in patterns. And honest code that looks like it. The small projects are in `hard_coded.yaml`."""

from pathlib import Path

import pytest
import yaml

from detent.evidence.changes.changes import ReferenceTrees
from detent.evidence.looks.branch_probes import examples_in_code
from detent.evidence.probes.context import ProbeContext
from detent.evidence.running.collect import Collector
from detent.evidence.running.suite import Suite
from tests.repos import git_at, make_repo, sh, write

Files = dict[str, str]
TABLE = yaml.safe_load((Path(__file__).parent / "hard_coded.yaml").read_text())
HIDDEN = ("digest", "sum", "hex", "encoded", "pattern", "beginning", "backwards", "copy")  # not looked for in tests that were there before


def projects(kind: str) -> dict[str, Files]:
    """Each with its tests, which several may share."""
    return {name: {**TABLE["tests"].get(files.pop("tests", ""), {}), **files} for name, files in TABLE[kind].items()}


FROM_DATA, HONEST = projects("from-data"), projects("honest")
OTHERS = projects("with-errors") | projects("more-forms")
OLDER = [name for name, files in FROM_DATA.items() if any(p.endswith(".toml") for p in files) and not any(word in name for word in HIDDEN)]


def is_test(path: str) -> bool:
    return path.startswith(("tests/", "test/", "spec/", "testdata/")) or "_test." in path or ".test." in path


def found(folder: Path, change: Files, base: Files | None = None) -> list[str]:
    """The places that a change is asked about."""
    root = make_repo(folder / "p", {"notes.md": "x\n", **(base or {})})
    git = git_at(root)
    before = git.tree("HEAD")
    write(root, change)
    sh(root, "git", "add", "-A")
    sh(root, "git", "commit", "-q", "-m", "change")
    tip = git.tree("HEAD")
    collector = Collector(git, Suite(None, 60.0, ""), "look", {})
    context = ProbeContext(
        git, collector, lambda: True, lambda path: "test" if is_test(path) else "production", tip, ReferenceTrees(before, (), ""), ()
    )
    return [flag.place for flag in examples_in_code(context, git.patch(before, tip)[1])]


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", FROM_DATA)
def test_examples_of_data_files_are_found_in_the_code(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, FROM_DATA[name]), name


@pytest.mark.parametrize("name", OLDER)
def test_examples_that_the_tests_had_before_are_found_too(tmp_path: Path, name: str) -> None:
    data = {path: text for path, text in FROM_DATA[name].items() if is_test(path) and path.endswith(".toml")}
    assert found(tmp_path, {path: text for path, text in FROM_DATA[name].items() if path not in data}, data), name


@pytest.mark.sample(20)
@pytest.mark.parametrize("name", OTHERS)
def test_errors_and_other_plain_answers_to_the_very_examples_are_found(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, OTHERS[name]), name


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_that_names_what_its_tests_name_is_not_asked_about(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, HONEST[name]) == [], name
