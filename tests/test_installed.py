"""Detent from its wheel, in a fresh environment outside the repository: what a person gets who installs it."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.patience import LONG
from tests.repos import make_repo

ROOT = Path(__file__).parent.parent
UV = ROOT / ".tools" / "bin" / "uv"
TESTS = "import unittest\n\nimport till\n\n\nclass Till(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(till.total([1, 2]), 3)\n"
FILES = {
    "till.py": "def total(prices):\n    return 0\n",
    "tests/__init__.py": "",
    ".gitignore": "__pycache__/\n",
    "docs/plan.md": "- one\n",
}


def done(cwd: Path, *argv: str) -> None:
    subprocess.run(argv, cwd=cwd, check=True, capture_output=True, timeout=LONG)


class Installed:
    """An environment that has the wheel and nothing of this checkout."""

    def __init__(self, folder: Path, wheel: Path, extra: str) -> None:
        self.bin, self.home = folder / "env" / "bin", folder / "home"
        self.home.mkdir(parents=True)
        done(folder, str(UV), "venv", "--quiet", str(self.bin.parent))
        done(folder, str(UV), "pip", "install", "--quiet", "--python", str(self.bin / "python"), f"{wheel}{extra}")
        self.env = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(self.home), "COLUMNS": "80", "LANG": "C.UTF-8", "TMPDIR": str(folder)}

    def run(self, *words: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        argv = [str(self.bin / "detent"), *words]
        return subprocess.run(argv, cwd=cwd, env=self.env, input=stdin, capture_output=True, text=True, timeout=LONG)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not UV.exists():
        pytest.skip("uv is installed by ./x setup")
    out = tmp_path_factory.mktemp("dist")
    subprocess.run([UV, "build", "--quiet", "--wheel", "--out-dir", str(out)], cwd=ROOT, check=True, capture_output=True, timeout=LONG)
    (file,) = out.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("bare"), wheel, "")


@pytest.fixture(scope="module")
def whole(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("whole"), wheel, "[all]")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = make_repo(tmp_path / "shop", FILES)
    for path, text in {"till.py": "def total(prices):\n    return sum(prices)\n", "tests/test_till.py": TESTS}.items():
        (root / path).write_text(text)
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    subprocess.run(["git", "commit", "-qm", "totals"], cwd=root, check=True, env={**os.environ, **IDENTITY})
    return root


IDENTITY = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

pytestmark = pytest.mark.slow


@pytest.mark.timeout(600)
def test_the_bare_wheel_shows_the_first_screen_plays_its_demo_and_checks_a_change(bare: Installed, repo: Path) -> None:
    assert "detent check" in bare.run(cwd=repo).stdout
    named = subprocess.run([bare.bin / "detent-gate", "--version"], env=bare.env, capture_output=True, text=True, timeout=LONG)
    assert named.stdout == bare.run("--version", cwd=repo).stdout and named.stdout.startswith("detent "), "as `uvx detent-gate` calls it"
    demo = bare.run("demo", cwd=repo)
    assert demo.returncode == 0, demo
    assert "What to do now" in demo.stdout and "deletes the test to get green" in demo.stdout
    assert max(map(len, demo.stdout.splitlines())) <= 80
    seconds = re.search(r"It took (\d+) seconds", demo.stdout)
    assert seconds
    card = bare.run("check", "HEAD~1..HEAD", "--json", cwd=repo)
    assert json.loads(card.stdout)["answer"] == "clean", card


@pytest.mark.timeout(600)
def test_what_the_bare_wheel_lacks_is_named_with_the_line_that_adds_it(bare: Installed, repo: Path) -> None:
    for words in (("work", "--once"), ("demo", "queue"), ("demo", "tdd")):
        said = bare.run(*words, cwd=repo)
        assert said.returncode == 2, said
        assert f"uv pip install --python {bare.bin / 'python'}" in said.stderr, said
        assert "Traceback" not in said.stderr


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["cheat", "pr", "tdd", "queue", "pipeline"])
def test_every_demo_runs_from_the_wheel(whole: Installed, tmp_path: Path, name: str) -> None:
    done = whole.run("demo", name, cwd=tmp_path)
    assert done.returncode == 0, done
    assert "What you saw" in done.stdout and "What to do now" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.timeout(600)
def test_serve_mcp_and_work_run_from_the_wheel(whole: Installed, repo: Path) -> None:
    work = whole.run("work", "--once", cwd=repo)
    assert work.returncode == 0 and "nothing to do" in work.stdout, work
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}) + "\n"
    assert '"serverInfo"' in whole.run("mcp", cwd=repo, stdin=asked).stdout
    argv = [str(whole.bin / "detent"), "serve", "--port", "0", "--no-open"]
    with subprocess.Popen(argv, cwd=repo, env=whole.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as child:
        assert child.stdout is not None
        try:
            assert "http://127.0.0.1:" in child.stdout.readline(), "one link first"
        finally:
            child.terminate()


@pytest.mark.timeout(600)
def test_the_script_that_times_the_first_minutes_comes_to_a_proved_step(whole: Installed, tmp_path: Path) -> None:
    """What docs/first-steps.md has the seconds of, without its apt-get: in a project that somebody cloned."""
    till = "def total(prices):\n    return sum(prices)\n"
    files = {
        "src/till/__init__.py": "",
        "tests/__init__.py": "",
        "pytest.ini": "[pytest]\npythonpath = src\n",
        ".gitignore": ".venv/\n__pycache__/\n",
    }
    root = make_repo(tmp_path / "shop", files)
    for path, text in {"src/till/__init__.py": till, "tests/test_till.py": TESTS}.items():
        (root / path).write_text(text)
    for words in (["add", "-A"], ["commit", "-qm", "totals"]):
        subprocess.run(["git", *words], cwd=root, check=True, env={**os.environ, **IDENTITY})
    done(root, str(UV), "venv", "--quiet", ".venv")
    done(root, str(UV), "pip", "install", "--quiet", "--python", ".venv/bin/python", "pytest")
    argv = ["sh", str(ROOT / "tools" / "first_minutes.sh"), "use", str(root)]
    said = subprocess.run(argv, env={**whole.env, **IDENTITY, "SHOW": "1"}, capture_output=True, text=True, timeout=LONG)
    assert said.returncode == 0, said
    steps = re.findall(r"^ *\d+\.\d s  (.*)$", said.stdout, re.MULTILINE)
    assert len(steps) == 7 and steps[-1] == "together"
    assert "proved     1 test fails without this change" in said.stdout and "SUCCESS  EXECUTING_TDD" in said.stdout, said.stdout


@pytest.mark.timeout(600)
def test_a_first_gated_step_from_the_wheel(whole: Installed, tmp_path: Path) -> None:
    """init, commit, start: what `init` names is typed, and works."""
    root = make_repo(tmp_path / "shop", {"test_a.py": "def test_a():\n    assert True\n", ".gitignore": "__pycache__/\n"})
    said = json.loads(whole.run("init", "--entry", "Round prices", "--json", cwd=root).stdout)
    commit, start = said["next"][-2:]
    subprocess.run(["sh", "-c", commit], cwd=root, check=True, capture_output=True, env={**whole.env, **IDENTITY})
    started = whole.run(*start.split()[1:], cwd=root)
    assert started.returncode == 0 and "Plan the next pull request" in started.stdout, started
