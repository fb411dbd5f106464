"""Machines that are not the author's: without what only Linux has, with folders that may not be read, with a Mac's sandbox by its text."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from detent.app.driver_lock import driver_of, only_driver
from detent.errors import CannotTell, DetentError
from detent.sandbox import SANDBOXES, ProcessLimits, Room, choose
from detent.sandbox.process import run
from detent.sandbox.seatbelt import Seatbelt, holes, profile, quoted
from detent.sandbox.visible import toolchains
from detent.storage import machine
from tests.driven import PLANS, driven, project
from tests.patience import lives, until
from tests.project import Project

NOBODY = 65534
WITHOUT = {machine.SWITCH: "linux"}


@contextmanager
def as_nobody() -> Iterator[None]:
    """As a user who is not root: root may read everything."""
    mine = os.geteuid()
    if mine == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(mine)


@contextmanager
def hidden(monkeypatch: pytest.MonkeyPatch, names: str = "linux") -> Iterator[None]:
    """This process as if the machine had nothing of Linux."""
    monkeypatch.setenv(machine.SWITCH, names)
    _look_again()
    try:
        yield
    finally:
        monkeypatch.delenv(machine.SWITCH)
        _look_again()


def _look_again() -> None:
    machine.has.cache_clear()
    machine.hidden.cache_clear()


# -- folders that may not be read ----------------------------------------------------------------------------------------------


def test_a_folder_of_path_or_of_a_toolchain_that_may_not_be_read_is_no_traceback(tmp_path: Path) -> None:
    locked, home = tmp_path / "locked", tmp_path / "home"
    (locked / "bin").mkdir(parents=True)
    (locked / "pyenv").mkdir()
    (home / "bin").mkdir(parents=True)
    for above in (tmp_path, *tmp_path.parents[:3]):
        above.chmod(above.stat().st_mode | 0o055)
    env = {"HOME": str(home), "PATH": f"{locked / 'bin'}:{home / 'bin'}:/usr/bin", "PYENV_ROOT": str(locked / "pyenv")}
    (home / "bin").chmod(0o311)
    locked.chmod(0)
    try:
        with as_nobody():
            found = toolchains(env)
    finally:
        locked.chmod(0o755)
        (home / "bin").chmod(0o755)
    assert not [path for path in found if path.is_relative_to(locked)]
    assert home / "bin" in found


# -- what only Linux has -------------------------------------------------------------------------------------------------------


def test_everything_that_is_hidden_is_named_with_what_is_weaker(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(machine.THERE) == set(machine.WEAKER)
    with hidden(monkeypatch):
        assert machine.lacking() == tuple(machine.WEAKER.values())
    with hidden(monkeypatch, "proc,openat2"):
        assert machine.hidden() == {"proc", "openat2"}
    assert machine.hidden() == frozenset()


def test_an_installed_detent_does_not_listen_to_the_switch(tmp_path: Path) -> None:
    """The module by itself, outside a checkout."""
    folder = tmp_path / "site" / "detent" / "kernel"
    folder.mkdir(parents=True)
    (folder / "machine.py").write_bytes(Path(machine.__file__).read_bytes())
    code = "import machine; print(sorted(machine.hidden()))"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env={**os.environ, **WITHOUT}, capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_without_proc_and_prctl_a_program_and_its_group_are_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hidden(monkeypatch):
        ran = run(["sh", "-c", "sleep 100 & echo $!; wait"], tmp_path, {"PATH": os.environ["PATH"]}, 1.0)
    assert ran.timed_out
    child = int(ran.output.split()[0])
    until(lambda: not lives(child), "what it started lives on")


def test_without_proc_the_process_that_drives_a_run_is_looked_for_by_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with driven(project(tmp_path / "p"), PLANS) as d, hidden(monkeypatch, "proc"):
        assert driver_of(d.app, d.id) == ""
        with only_driver(d.app, d.id):
            assert driver_of(d.app, d.id).startswith(f"{os.getpid()} since ")
        assert driver_of(d.app, d.id) == "", "this process is there still, and drives no more"
        (d.app.place.common_dir / "detent" / f"drive-{d.id}.lock").write_text("999999999 since ever")
        assert driver_of(d.app, d.id) == ""


def test_without_bubblewrap_tests_run_unisolated_and_the_verdict_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with hidden(monkeypatch):
        sandbox = choose("auto", {"HOME": str(tmp_path)})
        assert sandbox.name == "none"
        assert "bubblewrap is not installed" in getattr(sandbox, "because", "")
        with pytest.raises(DetentError, match="bubblewrap is not installed"):
            choose("bubblewrap", {"HOME": str(tmp_path)})


def test_files_are_opened_folder_by_folder_without_openat2(monkeypatch: pytest.MonkeyPatch) -> None:
    from detent.tools.beneath import best_opener, by_walk

    with hidden(monkeypatch):
        assert best_opener() is by_walk


@pytest.mark.slow
def test_a_step_is_judged_with_all_of_it_hidden(tmp_path: Path) -> None:
    """One RED and one GREEN through the real command line."""
    project = Project(tmp_path / "p")
    project.env.update(WITHOUT)
    project.reddened()
    done = project.green()
    assert done["status"] == "SUCCESS"
    assert done["evidence"]["sandbox"] == "none"
    rows = [c["says"] for c in project.run("doctor", "--json").json["checks"] if c["name"] == "machine"]
    assert rows == list(machine.WEAKER.values())


# -- macOS, by its text --------------------------------------------------------------------------------------------------------


def room(tmp_path: Path, **more: object) -> Room:
    return Room(tmp_path / "w", (tmp_path / "w" / ".git",), (tmp_path / "out",), (tmp_path / "lib",), **more)  # type: ignore[arg-type]


def rules(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def test_the_profile_denies_what_it_does_not_name_and_takes_back_what_is_guarded(tmp_path: Path) -> None:
    lines = rules(profile(room(tmp_path), tmp_path / "scratch"))
    assert lines[:2] == ["(version 1)", "(deny default)"]
    (written,) = [line for line in lines if line.startswith("(allow file-write* ")]
    (read,) = [line for line in lines if line.startswith("(allow file-read* (subpath")]
    (guarded,) = [line for line in lines if line.startswith("(deny file-write* ")]
    assert f'(subpath "{tmp_path}/w")' in written and f'(subpath "{tmp_path}/out")' in written
    assert f'(subpath "{tmp_path}/lib")' in read and f'(subpath "{tmp_path}/lib")' not in written
    assert guarded == f'(deny file-write* (subpath "{tmp_path}/w/.git"))'
    assert lines.index(guarded) > lines.index(written), "what comes later wins"
    assert lines[-1] == "(deny network*)"
    assert str(Path.home()) not in read.replace(str(tmp_path), "")


def test_a_sealed_room_is_read_only_and_a_room_with_the_network_has_it(tmp_path: Path) -> None:
    text = profile(room(tmp_path, sealed=True, network=True), tmp_path / "scratch")
    (written,) = [line for line in rules(text) if line.startswith("(allow file-write* ")]
    assert f'(subpath "{tmp_path}/w")' not in written and f'(subpath "{tmp_path}/out")' in written
    assert rules(text)[-1] == "(allow network*)"


def test_no_path_breaks_out_of_the_profile() -> None:
    assert quoted('/a"b\\c') == '"/a\\"b\\\\c"'
    with pytest.raises(CannotTell):
        quoted("/a\n(allow default)")


def test_elsewhere_the_level_is_refused_and_its_probe_trusts_nothing(tmp_path: Path) -> None:
    assert "sandbox-exec" in SANDBOXES
    if sys.platform != "darwin":
        with pytest.raises(DetentError, match="comes with macOS"):
            choose("sandbox-exec", {"HOME": str(tmp_path)}, ProcessLimits())
    leaks = tmp_path / "sandbox-exec"
    leaks.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')  # what applies no profile at all
    leaks.chmod(0o755)
    found = holes(Seatbelt(leaks))
    assert len(found) == 4 and "it can write what is guarded" in found
    assert holes(Seatbelt(tmp_path / "gone")) == ("the probe could not look: No such file or directory",)
