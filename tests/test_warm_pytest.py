"""A pytest that is forked for the projects of tests is the pytest that is installed: the same answers, the same world, and gone when it is not wanted."""

import os
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests import warm_pytest
from tests.patience import LONG, until
from tests.repos import write

SEEN = (
    "import json\nimport os\nimport sys\n\n\ndef test_seen():\n"
    "    found = [os.getcwd(), sys.path, sys.dont_write_bytecode, sys.pycache_prefix, 'tests.warm' in sys.modules]\n"
    "    print('\\nSEEN', json.dumps([*found, sorted(os.environ)]))\n"
)
LONGER = (
    "import os\nimport subprocess\nimport time\nfrom pathlib import Path\n\n\ndef test_long():\n    child = subprocess.Popen(['sleep', '3000'])\n"
    "    Path('started.new').write_text(f'{os.getpid()} {child.pid}')\n    Path('started.new').rename('started')\n    time.sleep(3000)\n"
)
MIXED = (
    "import unittest\n\nimport pytest\n\n\ndef test_passes():\n    pass\n\n\ndef test_fails():\n    assert [1, 2] == [1, 3]\n\n\n"
    "@pytest.mark.skip\ndef test_skipped():\n    pass\n\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_rows(n):\n    assert n == 1\n\n\n"
    "class T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(1, 1)\n"
)


def environment(warm: bool, **env: str) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COVERAGE_"))}
    first = warm_pytest.folder() / "bin" if warm else warm_pytest.REAL
    return {**own, "PATH": f"{first}:{warm_pytest.REAL}:{os.environ['PATH']}", **env}


def ran(folder: Path, *words: str, warm: bool, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, env=environment(warm, **env), capture_output=True, text=True, timeout=LONG)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [("pytest",), ("python", "-m", "pytest"), ("python3", "-m", "pytest", "tests/test_mixed.py")], ids=" ".join
)
def test_the_report_is_the_same(tmp_path: Path, words: tuple[str, ...]) -> None:
    write(tmp_path, {"tests/test_mixed.py": MIXED, "tests/test_broken.py": "import nothing_like_this\n", "pytest.ini": "[pytest]\n"})
    found = []
    for warm in (False, True):
        done = ran(tmp_path, *words, "--continue-on-collection-errors", f"--junitxml={tmp_path}/report.xml", warm=warm)
        cases = ET.parse(tmp_path / "report.xml").iter("testcase")
        found.append((done.returncode, [(c.get("classname"), c.get("name"), [(e.tag, e.get("message")) for e in c]) for c in cases]))
    assert found[0] == found[1] and found[0][0] != 0 and len(found[0][1]) >= 6


@pytest.mark.slow
@pytest.mark.parametrize("words", [("pytest", "-s"), ("python", "-m", "pytest", "-s")], ids=" ".join)
def test_what_a_test_sees_around_it_is_the_same(tmp_path: Path, words: tuple[str, ...]) -> None:
    write(tmp_path, {"tests/__init__.py": "", "tests/test_seen.py": SEEN, "lib/own.py": ""})
    given = {"PYTHONPATH": str(tmp_path / "lib"), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": str(tmp_path / "cache")}
    seen = []
    for warm in (False, True):
        said = ran(tmp_path, *words, warm=warm, **given).stdout
        seen.append([line for line in said.splitlines() if line.startswith("SEEN")])
    assert len(seen[0]) == 1 and seen[0] == seen[1]


@pytest.mark.slow
def test_another_use_of_python_is_left_to_python(tmp_path: Path) -> None:
    assert ran(tmp_path, "python3", "-c", "import sys; print(sys.flags.isolated, sys.orig_argv[1])", warm=True).stdout == "0 -c\n"
    write(tmp_path, {"test_seed.py": "import sys\n\n\ndef test_seed():\n    assert sys.flags.hash_randomization == 0\n"})
    assert ran(tmp_path, "pytest", warm=True, PYTHONHASHSEED="0").returncode == 0
    assert ran(tmp_path, "pytest", warm=True).returncode == 1


@pytest.mark.parametrize("name", ["sitecustomize.py", "random.py", "_pytest/__init__.py"])
def test_a_module_of_the_project_that_python_would_load_first_is_loaded_first(tmp_path: Path, name: str) -> None:
    write(tmp_path, {name: "raise SystemExit(77)\n", "test_one.py": "def test_one():\n    pass\n"})
    codes = [ran(tmp_path, "python", "-m", "pytest", warm=warm, PYTHONPATH=str(tmp_path)).returncode for warm in (False, True)]
    assert codes[0] == codes[1] != 0


def test_a_run_that_crashes_says_so(tmp_path: Path) -> None:
    write(tmp_path, {"test_crash.py": "import os\nimport signal\n\n\ndef test_crash():\n    os.kill(os.getpid(), signal.SIGSEGV)\n"})
    codes = [ran(tmp_path, "pytest", "-p", "no:faulthandler", warm=warm).returncode for warm in (False, True)]
    assert codes == [-11, -11]


def test_a_run_that_nobody_wants_any_more_ends_with_all_that_it_started(tmp_path: Path) -> None:
    write(tmp_path, {"test_long.py": LONGER})
    asking = subprocess.Popen(["pytest"], cwd=tmp_path, env=environment(True), stdout=subprocess.DEVNULL)
    until((tmp_path / "started").exists)
    pids = (tmp_path / "started").read_text().split()
    asking.kill()
    asking.wait()
    until(lambda: not any(alive(pid) for pid in pids))


def alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False
