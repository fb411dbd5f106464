"""Files that judge, looked at before and after tests ran: written, put back, linked by an installer, taken away."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from detent.app.judges import Judges, written_meanwhile
from detent.errors import CannotTell
from detent.evidence.running.toolchain import stamps


def judges(folder: Path, ours: Path, walled: bool) -> Judges:
    holds = {str(path): path.read_text() for path in sorted(folder.iterdir())}
    return Judges(stamps(holds, ours), holds, walled)


def meanwhile(tmp_path: Path, act: Callable[[Path], object], what: str = "runner/python.py", walled: bool = False) -> str:
    runner, ours = tmp_path / "runner", tmp_path / "ours"
    for path in (runner / "python.py", ours / "gate.py"):
        path.parent.mkdir(parents=True)
        path.write_text("was = 1\n")
    before = judges(runner, ours, walled)
    act(tmp_path / what)
    return written_meanwhile(before, judges(runner, ours, walled))


def put_back(path: Path) -> None:
    text, seen = path.read_text(), path.stat()
    path.write_text("was = 2\n")
    path.write_text(text)
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))


def test_what_nobody_touched_is_fine(tmp_path: Path) -> None:
    assert meanwhile(tmp_path, lambda path: path.read_text()) == ""


@pytest.mark.parametrize("act", [lambda path: path.write_text("was = 2\n"), Path.unlink], ids=["written", "taken away"])
def test_a_judge_that_was_written_is_named(tmp_path: Path, act: Callable[[Path], object]) -> None:
    assert "runner/python.py was written while the tests ran" in meanwhile(tmp_path, act)


@pytest.mark.parametrize("act", [lambda path: os.link(path, path.parent.parent / "other"), put_back], ids=["linked", "put back"])
def test_one_that_was_only_touched_is_neither_blamed_nor_believed(tmp_path: Path, act: Callable[[Path], object]) -> None:
    with pytest.raises(
        CannotTell, match="was touched while the tests ran, by an installer or by these tests, though its content is the same"
    ):
        meanwhile(tmp_path, act)


def test_a_file_of_ours_that_was_touched_is_named(tmp_path: Path) -> None:
    assert "ours/gate.py was written" in meanwhile(tmp_path, put_back, "ours/gate.py")


def test_in_a_sandbox_an_installer_that_links_a_file_costs_nothing_and_a_written_one_is_named(tmp_path: Path) -> None:
    assert meanwhile(tmp_path / "a", lambda path: os.link(path, path.parent.parent / "other"), walled=True) == ""
    assert "was written" in meanwhile(tmp_path / "b", lambda path: path.write_text("was = 2\n"), walled=True)
