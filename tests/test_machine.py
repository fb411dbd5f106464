"""What tests need of the machine: what is missing is found by trying, costs one line at the end, and fails the run only where CI says so."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.machine import LACKS, NEEDS, RUNNERS

ROOT = Path(__file__).parent.parent
SKIPS = "import pytest\n\ndef test_runs(): pass\n\n@pytest.mark.parametrize('n', [1])\ndef test_skips(n): pytest.skip('no moon tonight')\n"
WHOLE_FILE_SKIPS = "import pytest\npytest.skip('no moon tonight', allow_module_level=True)\n"
NEEDY = (
    "import pytest\nfrom tests.machine import need\n\ndef test_runs(): pass\n\n"
    "@pytest.mark.needs('hard links', 'terminals')\n@pytest.mark.parametrize('n', [1, 2])\ndef test_marked(n): pass\n\n"
    "def test_asks(): need('terminals')\n\n@pytest.mark.needs('hard links')\ndef test_has_it(): pass\n"
)


def run_small_project(
    folder: Path, test: str, allowed: str = "", *args: str, ci: str = "true", lacks: str = ""
) -> subprocess.CompletedProcess[str]:
    (folder / "tests").mkdir()
    for name in ("conftest.py", "machine.py", "run_log.py", "warm_pytest.py", "warm_end.py"):
        shutil.copy(ROOT / "tests" / name, folder / "tests")
    (folder / "tests" / "test_a.py").write_text(test, encoding="utf-8")
    (folder / "tests" / "allowed_skips.txt").write_text(allowed, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--rootdir", str(folder), "-p", "no:cacheprovider", "-p", "xdist", *args, "tests"]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_", "COVERAGE_"))}
    own = {"PYTEST_DEBUG_TEMPROOT": str(folder)}  # or it would take away what earlier runs of all tests left: minutes
    env = {**inherited, **own, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "CI": ci, LACKS: lacks}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


# -- the gate against silent skips -------------------------------------------------------------------------------------------


@pytest.mark.sample(2)
@pytest.mark.parametrize("workers", ["0", "2"])
@pytest.mark.parametrize("test", [SKIPS, WHOLE_FILE_SKIPS], ids=["one test", "whole file"])
def test_ci_fails_on_a_skip_that_is_not_listed(tmp_path: Path, test: str, workers: str) -> None:
    done = run_small_project(tmp_path, test, "tests/test_a.py* | another reason\n", "-n", workers)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert "not listed: tests/test_a.py" in done.stdout
    assert "The run fails: 1 skipped, but not listed in tests/allowed_skips.txt" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("line", ["tests/test_a.py::test_skips[1] | no moon tonight", "tests/*::test_skips* | no moon *"])
def test_ci_accepts_a_skip_that_is_listed_and_shows_it(tmp_path: Path, line: str) -> None:
    done = run_small_project(tmp_path, SKIPS, f"# why\n\n{line}\n", "-n", "2")
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    assert "listed:     tests/test_a.py::test_skips[1] | no moon tonight" in done.stdout


def test_outside_ci_a_skip_is_only_told(tmp_path: Path) -> None:
    done = run_small_project(tmp_path, SKIPS, ci="")
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    assert "    1 left out: no moon tonight\n" in done.stdout and "listed" not in done.stdout


def test_a_listed_skip_needs_a_reason(tmp_path: Path) -> None:
    done = run_small_project(tmp_path, SKIPS, "tests/test_a.py::test_skips\n")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "a line must read `node id | reason`" in done.stderr


# -- what a test needs -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "2"])
def test_what_the_machine_lacks_costs_one_line_that_says_how_to_get_it(tmp_path: Path, workers: str) -> None:
    done = run_small_project(tmp_path, NEEDY, "", "-n", workers, ci="", lacks="terminals")
    assert done.returncode == pytest.ExitCode.OK and "2 passed, 3 skipped" in done.stdout, done.stdout
    row = NEEDS["terminals"]
    assert done.stdout.count(row.why) == 1 and f"    3 left out: {row.why}; to run them: {row.how}\n" in done.stdout


def test_where_ci_says_so_the_machine_must_have_everything(tmp_path: Path) -> None:
    done = run_small_project(tmp_path, NEEDY, lacks="terminals")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED and "The run fails: 3 skipped" in done.stdout, done.stdout


def test_a_need_that_nobody_knows_is_an_error(tmp_path: Path) -> None:
    done = run_small_project(tmp_path, "import pytest\n\n@pytest.mark.needs('a moon')\ndef test_a(): pass\n")
    assert done.returncode not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and "a moon" in done.stdout + done.stderr


def test_every_need_has_a_reason_of_its_own_and_a_way_to_get_it() -> None:
    assert len({row.why for row in NEEDS.values()}) == len(NEEDS)
    assert all(row.how for row in NEEDS.values())
    assert {name for names in RUNNERS.values() for name in names} <= set(NEEDS)


TRIES = "import sys\nfrom tests.machine import lacks, no_walls\nprint(*(name for name in sys.argv[1:] if lacks(name)), no_walls())\n"


def lacking(*world: str, path: str = os.environ["PATH"]) -> list[str]:
    """Which of these are missing in a world of its own, and whether there can be no walls."""
    env = {**{k: v for k, v in os.environ.items() if k != LACKS}, "PATH": path, "PYTHONPATH": str(ROOT)}
    names = ("namespaces", "terminals", "loopback", "cargo", "hard links")
    done = subprocess.run([*world, sys.executable, "-c", TRIES, *names], env=env, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.needs("bubblewrap", "namespaces", "terminals", "loopback")
def test_what_is_missing_is_found_by_trying(tmp_path: Path) -> None:
    everything = ("bwrap", "--dev-bind", "/", "/")
    assert {"namespaces", "terminals", "loopback", "hard links"}.isdisjoint(lacking())
    bare = lacking(
        *everything, "--unshare-user", "--disable-userns", "--tmpfs", "/dev/pts", "--tmpfs", "/tmp", "--bind", str(ROOT), str(ROOT)
    )
    assert bare[:2] == ["namespaces", "terminals"] and bare[-1] == "True" and "hard links" not in bare
    shim = tmp_path / "cargo"
    shim.write_text("#!/bin/sh\necho 'no default toolchain is configured' >&2\nexit 1\n")
    shim.chmod(0o755)
    assert "cargo" in lacking(path=f"{tmp_path}:/usr/bin:/bin")
