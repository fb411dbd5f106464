"""Programs that are run leave nothing behind: whatever they start, however they end, however we end."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from detent.sandbox.process import run
from tests.patience import LONG, lives, until
from tests.project import Project

ENV = {"PATH": os.environ["PATH"]}
PYTHON = sys.executable


def test_a_program_is_run_and_its_output_kept(tmp_path: Path) -> None:
    ran = run(["sh", "-c", "echo out; echo err >&2; exit 3"], tmp_path, ENV, 10)
    assert (ran.exit_code, ran.output, ran.timed_out, ran.leftovers) == (3, "out\nerr\n", False, 0)


def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run(["no-such-program"], tmp_path, ENV, 10)


def test_it_reads_nothing_and_sees_no_environment_but_its_own(tmp_path: Path) -> None:
    assert run(["sh", "-c", "cat; env | cut -d= -f1 | sort | tr '\\n' ' '"], tmp_path, ENV, 10).output.split() == ["PATH", "PWD"]


@pytest.mark.parametrize("size", [10, 399_000, 5_000_000, 60_000_000])
def test_output_of_any_size_is_bounded_and_counted(tmp_path: Path, size: int) -> None:
    ran = run(
        [PYTHON, "-c", f"import sys; sys.stdout.write('a' * {size // 2}); sys.stdout.write('b' * {size - size // 2})"], tmp_path, ENV, 60
    )
    assert ran.size == size
    assert len(ran.output) <= min(size, 400_000) + 200
    assert ran.output.startswith("a") and ran.output.endswith("b")
    assert ("bytes left out" in ran.output) == (size > 400_000)


def test_output_that_is_not_utf8_is_shown_all_the_same(tmp_path: Path) -> None:
    assert run([PYTHON, "-c", "import os; os.write(1, b'a\\xff\\xfeb')"], tmp_path, ENV, 10).output == "a\ufffd\ufffdb"


DAEMON = """import os, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
open('pid', 'w').write(str(os.getpid()))
time.sleep(100)
"""
LEAVES = {
    "a background process": "sleep 100 & echo $! > pid",
    "a session of its own": "setsid sleep 100 & echo $! > pid",
    "a daemon": f"{PYTHON} daemon.py; while [ ! -s pid ]; do :; done",
    "one that ignores signals": "(trap '' TERM INT HUP; sleep 100 & echo $! > pid; wait) & while [ ! -s pid ]; do :; done",
}  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.needs("proc")  # test_other_machines.py has what holds without
@pytest.mark.parametrize("how", LEAVES, ids=str)
def test_what_a_program_leaves_behind_is_ended_with_it(tmp_path: Path, how: str) -> None:
    (tmp_path / "daemon.py").write_text(DAEMON)
    ran = run(["sh", "-c", LEAVES[how]], tmp_path, ENV, 30)
    assert ran.exit_code == 0
    assert ran.leftovers >= 1
    assert not lives(int((tmp_path / "pid").read_text()))
    assert ran.seconds < 20, "nobody waits for what was left behind"


@pytest.mark.needs("proc")
@pytest.mark.slow
@pytest.mark.parametrize("how", LEAVES, ids=str)
def test_at_the_timeout_the_whole_tree_ends(tmp_path: Path, how: str) -> None:
    (tmp_path / "daemon.py").write_text(DAEMON)
    ran = run(["sh", "-c", LEAVES[how] + "; sleep 100"], tmp_path, ENV, 2)
    assert ran.timed_out and ran.exit_code is None
    assert not lives(int((tmp_path / "pid").read_text()))


def test_a_program_that_is_no_longer_wanted_is_ended(tmp_path: Path) -> None:
    ran = run(["sleep", "100"], tmp_path, ENV, 60, wanted=lambda: False)
    assert ran.stopped and ran.seconds < 30


HANG = "import os, time\n\n\ndef test_hang():\n    open(os.environ['HOME'] + '/pid', 'w').write(str(os.getpid()))\n    time.sleep(100)\n"


LATER = (signal.SIGTERM, signal.SIGHUP)  # the same handler as SIGINT's


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "signum", [signal.SIGINT, signal.SIGKILL, *(pytest.param(s, marks=pytest.mark.slow) for s in LATER)], ids=lambda s: s.name
)
def test_a_submit_that_is_stopped_leaves_no_process_and_no_mark(tmp_path: Path, signum: signal.Signals) -> None:
    project = Project(tmp_path / "p")
    project.env["HOME"] = str(tmp_path)
    project.planned()
    project.write({"tests/test_add.py": HANG})
    argv = project.argv("submit-work", "--summary", "s", "--test-command", "pytest", "--expectation", "FAIL")
    child = subprocess.Popen(argv, cwd=project.root, env=project.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until((tmp_path / "pid").exists)
    until(lambda: (tmp_path / "pid").read_text() != "")
    tests = int((tmp_path / "pid").read_text())
    assert lives(tests)
    child.send_signal(signum)
    code = child.wait(LONG)
    assert code == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGKILL: -9}[signum]
    until(lambda: not lives(tests))
    assert project.task()["state"] == "EXECUTING_TDD"
    assert project.state["debug_attempt_counter"] == 0
    project.write({"tests/test_add.py": "def test_add():\n    assert 1 == 2\n"})
    assert project.submit(test_command="pytest", expectation="FAIL")["status"] == "NEEDS_ANALYSIS"


def test_output_can_be_watched_as_it_comes_and_a_bad_watcher_hurts_nobody(tmp_path: Path) -> None:
    seen: list[bytes] = []

    def watch(chunk: bytes) -> None:
        seen.append(chunk)
        (tmp_path / "go").touch()
        raise ValueError("a watcher that fails")

    ran = run(["sh", "-c", "echo one; while [ ! -e go ]; do :; done; echo two"], tmp_path, ENV, 20, watch=watch)
    assert (ran.exit_code, ran.output, seen[0], b"".join(seen)) == (0, "one\ntwo\n", b"one\n", b"one\ntwo\n")


def test_programs_of_other_threads_are_not_taken_for_leftovers(tmp_path: Path) -> None:
    results: list[int | None] = []

    def begin(name: str) -> threading.Thread:
        script = f"touch {name}; while [ ! -e end-{name} ]; do sleep 0.01; done; exit 5"
        thread = threading.Thread(target=lambda: results.append(run(["sh", "-c", script], tmp_path, ENV, 30).exit_code))
        thread.start()
        until((tmp_path / name).exists)
        return thread

    quick, slow = begin("quick"), begin("slow")
    plain = subprocess.Popen(["sleep", "100"])
    (tmp_path / "end-quick").touch()
    quick.join()
    assert plain.poll() is None, "nor is what was started in our own session"
    plain.kill()
    plain.wait()
    (tmp_path / "end-slow").touch()
    slow.join()
    assert results == [5, 5]
