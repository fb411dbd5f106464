"""Tests of what a person's own agent did: they run in a sandbox where one can be had, and what holds nothing says so."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from detent.app.try_tests import Tried, try_tests
from detent.config import Settings
from detent.config.sources import load
from detent.git.place import find_place
from detent.sandbox.bubblewrap import find_program
from detent.storage.state import own_secret
from tests.project import INI, RED, Project
from tests.repos import make_repo

ROOT = Path(__file__).parent.parent
SECRET = "sk-of-the-person-0123456789"
ATTACKS = """
import os
import pathlib
import socket

import pytest

HOME = pathlib.Path({home!r})


def blocked(what):
    try:
        return not what()
    except OSError:
        return True


def environs():
    for each in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            yield each.read_bytes()
        except OSError:
            pass


def test_the_environment_of_others_is_not_read():
    assert not [text for text in environs() if {secret!r}.encode() in text]


def test_the_own_environment_has_no_key():
    assert {secret!r} not in os.environ.values()


@pytest.mark.parametrize("name", [".ssh/id_ed25519", ".netrc", ".bashrc", ".config/gh/hosts.yml", "other-project/secret.txt"])
def test_the_home_is_not_read(name):
    assert blocked((HOME / name).read_text)


def test_the_seal_key_is_not_read():
    assert blocked(pathlib.Path({key!r}).read_text)


def test_the_home_is_not_written():
    try:
        (HOME / ".bashrc").write_text("evil")
    except OSError:
        pass


def test_git_is_not_written():
    assert blocked(lambda: pathlib.Path(".git/hooks/post-commit").write_text("evil"))


def test_installed_packages_are_not_written():
    assert blocked(lambda: open(pytest.__file__, "ab").close())  # it could be written, and is not: other tests run on it now
"""
WORKS = """
import multiprocessing
import pathlib
import socket
import tempfile


def test_a_database_of_this_machine_is_reached():
    with socket.create_connection(("127.0.0.1", {port}), 20) as line:
        assert line.recv(2) == b"ok"


def test_sockets_by_name_work():
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as one:
        one.bind(folder + "/s")


def test_scratch_and_the_own_folder_can_be_written():
    pathlib.Path("made").write_text("x")
    pathlib.Path("made").unlink()
    with multiprocessing.Manager() as shared:
        assert shared.list([1])[0] == 1
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in (".ssh/id_ed25519", ".netrc", ".bashrc", ".config/gh/hosts.yml", "other-project/secret.txt"):
        file = tmp_path / "home" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("mine")
    return tmp_path / "home"


def tried(home: Path, files: dict[str, str], **env: str) -> Tried:
    root = make_repo(home / "project", {"pytest.ini": INI, **files})
    p = Project(root, made=True)
    outer = {**p.env, "HOME": str(home), "DETENT_SANDBOX_PULL": "auto", "ANTHROPIC_API_KEY": SECRET, **env}
    found = try_tests(find_place(root), load(lambda path: None, outer), outer, ())
    assert found is not None
    return found


def attacks(home: Path) -> dict[str, str]:
    own_secret("seal-key")
    key = str(Path(os.environ["XDG_STATE_HOME"]) / "detent" / "seal-key")
    return {"tests/test_attacks.py": ATTACKS.format(home=str(home), key=key, secret=SECRET)}


@pytest.mark.needs("namespaces")
def test_by_default_tests_of_the_work_are_kept_in(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    found = tried(home, attacks(home))
    assert (found.failing, found.trouble) == ((), ""), found
    assert (home / ".bashrc").read_text() == "mine"


@pytest.mark.needs("namespaces")
def test_without_a_sandbox_the_same_tests_reach_all_of_it(home: Path) -> None:
    found = tried(home, attacks(home), DETENT_SANDBOX_PULL="none")
    assert sum("home_is_not_read" in name for name in found.failing) == 5 and any("seal_key" in name for name in found.failing)
    assert (home / ".bashrc").read_text() == "evil"


@pytest.mark.needs("namespaces", "loopback")
def test_what_honest_tests_need_works_inside(home: Path) -> None:
    def answer() -> None:
        with server.accept()[0] as line:
            line.sendall(b"ok")

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=answer, daemon=True).start()
        found = tried(home, {"tests/test_works.py": WORKS.format(port=server.getsockname()[1])})
    assert (found.failing, found.passed) == ((), 3), found


ENDS = """
import atexit
import sys

report = next(word for word in sys.argv if word.startswith("--junitxml=")).partition("=")[2]
atexit.register(lambda: open(report, "ab").truncate(50_000_000_000))


def test_fails():
    assert 0
"""


def test_a_report_that_would_fill_the_memory_is_not_read(tmp_path: Path) -> None:
    found = tried(tmp_path / "home", {"tests/test_ends.py": ENDS})
    assert found.passed == 0 and "the most that Detent reads" in found.trouble, found


@pytest.mark.slow
@pytest.mark.needs("namespaces")
def test_the_verdict_says_what_held_the_tests(tmp_path: Path) -> None:
    p = Project(tmp_path / "p")
    p.env["DETENT_SANDBOX_PULL"] = "auto"
    verdict = p.planned().red()
    assert (verdict["status"], verdict["evidence"]["sandbox"]) == ("NEEDS_ANALYSIS", "bubblewrap"), verdict
    assert "your full permissions" not in verdict["output"]


WAYS = {"missing": ["--ro-bind", os.devnull, "/usr/bin/bwrap"], "no namespaces": ["--disable-userns", "--unshare-user"]}


@pytest.mark.sample(1)
@pytest.mark.needs("namespaces")
@pytest.mark.parametrize("way", WAYS)
def test_where_it_cannot_be_had_each_verdict_says_so_in_one_line(tmp_path: Path, way: str) -> None:
    p = Project(tmp_path / "p")
    p.env["DETENT_SANDBOX_PULL"] = "auto"
    p.planned()
    p.write({"tests/test_add.py": RED})
    work = json.dumps({"summary": "s", "test_command": "pytest tests/test_add.py", "expectation": "FAIL"})
    words = [str(find_program()), "--dev-bind", "/", "/", *WAYS[way], "--", *p.argv("submit-work", "-", "--json")]
    done = subprocess.run(words, cwd=p.root, env=p.env, input=work, capture_output=True, text=True, check=False)
    verdict = json.loads(done.stdout)
    assert (verdict["status"], verdict["evidence"]["sandbox"]) == ("NEEDS_ANALYSIS", "none"), done
    said = [line for line in verdict["output"].splitlines() if "your full permissions" in line]
    assert len(said) == 1 and "bubblewrap" in said[0] and "`detent doctor`" in said[0], verdict["output"]


def test_each_level_means_what_it_says() -> None:
    from detent.app.run_configs import level_of

    def level(driven: bool, **env: str) -> str:
        return level_of(load(lambda path: None, env), driven)

    assert (level(False), level(True)) == ("auto", "bubblewrap") == (level(False, DETENT_SANDBOX_LEVEL="auto"), level(True))
    assert (level(False, DETENT_SANDBOX_PULL="none"), level(True, DETENT_SANDBOX_PULL="none")) == ("none", "bubblewrap")
    assert {level(driven, DETENT_SANDBOX_LEVEL="outer") for driven in (True, False)} == {"outer"}
    assert Settings().sandbox.level == Settings().sandbox.pull == "auto"


STARTS = """
import ctypes, os, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from detent.sandbox.process import run
attack = '''
import os
def tried(path):
    try:
        return len(open(path, "rb").read(1))
    except OSError:
        return 0
parent = os.getppid()
print(tried(f"/proc/{parent}/environ"), os.access(f"/proc/{parent}/mem", os.R_OK), os.access(f"/proc/{parent}/root/etc", os.R_OK))
'''
ran = run([sys.executable, "-I", "-S", "-c", attack], Path("/"), {}, 60)
print(ran.output.strip(), ran.exit_code, ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""


def test_a_program_reads_neither_environment_nor_memory_of_the_one_that_judges_it(tmp_path: Path) -> None:
    """As somebody without rights: root reads everything."""
    shutil.copytree(ROOT / "src", source := tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    root = os.getuid() == 0
    for folder in (source, *source.parents) if root else ():
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    who = {"user": 65534, "group": 65534, "extra_groups": []} if root else {}
    python = "/usr/bin/python3" if root else sys.executable
    words = [python, "-I", "-S", "-c", STARTS, str(source)]
    done = subprocess.run(words, env={"KEY_OF_MINE": "x"}, cwd="/", capture_output=True, text=True, check=False, **who)  # type: ignore[call-overload]
    assert done.stdout.split() == ["0", "False", "False", "0", "0"], done
