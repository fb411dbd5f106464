"""Containers, with a real engine: the same room and the same attacks as for bubblewrap, limits that hold or nothing runs, nothing left behind."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.errors import CannotTell, DetentError
from detent.sandbox import ProcessLimits, choose, container
from detent.sandbox.container import Container, clamped
from detent.sandbox.container_engine import ContainerEngine, clean_up, find, folders
from detent.sandbox.sandbox_probe import SENTENCES, probe
from tests.machine import need
from tests.patience import LONG, until
from tests.project import Project
from tests.rooms import Place
from tests.test_sandbox import BROKEN, CASES, DAEMONS, LOCKED, REFUSED, is_free, prepared
from tests.test_sandbox_rooms import BOMB

EVERYTHING = json.dumps({"defaultAction": "SCMP_ACT_ALLOW"}).encode()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> ContainerEngine:
    """Podman and the way to call it that works here, found by trying."""
    need("engine")
    return container.make("podman", tmp_path_factory.mktemp("home"), ProcessLimits(), "").engine


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def inside(place: Place, engine: ContainerEngine) -> Iterator[Container]:
    yield Container(engine, place.home, ProcessLimits())
    assert list(folders().glob("*")) == [], "nothing of a container is left"


def names(engine: ContainerEngine) -> list[str]:
    """Of this test: others have a state folder of their own."""
    return engine.call([*engine.command, "ps", "-a", "--filter", f"label=detent={folders()}", "--format", "{{.Names}}"]).stdout.split()


def groups() -> set[Path]:
    return set(Path("/sys/fs/cgroup").glob("**/libpod-*"))


def orphans(before: set[Path]) -> list[Path]:
    """Control groups that nobody is in and that were not there before."""
    found = []
    for folder in groups() - before:
        with contextlib.suppress(OSError):
            found += [folder] if not (folder / "cgroup.procs").read_text() else []
    return found


# The room


def test_no_attack_gets_through(place: Place, inside: Container) -> None:
    here = os.getcwd()
    devices = {"the rights of a device of the machine": "chmod 666 /dev/null && echo THROUGH"}
    script = "\n".join(f"( {text} ) 2>/dev/null | grep -q THROUGH && echo {name!r}" for name, text in (CASES | devices).items())
    (place.work / "attacks.sh").write_text(f"{script}\necho all tried\n")
    try:
        with prepared(place) as given:
            ran = inside.run(["sh", "attacks.sh"], place.work, place.env, LONG, place.room, stdin=given)
    finally:
        os.chdir(here)
    assert ran.output.splitlines() == ["all tried"]
    assert (place.work / "conf" / "guarded").read_text() == "as it was"
    assert (place.work / ".git").read_text() == "gitdir: /elsewhere\n"
    assert not (place.outside / "written").exists()
    assert not (place.work / "absent").exists() and not (place.work / "new" / "deep" / "absent").exists()


def test_the_probe_finds_nothing_and_finds_what_is_missing(place: Place, inside: Container) -> None:
    assert probe(inside, place.outer) == ()
    open_calls = Container(inside.engine, place.home, ProcessLimits())
    open_calls.profile = EVERYTHING
    open_calls.image = ""
    shutil.rmtree(os.environ["XDG_STATE_HOME"])
    found = probe(Unfiltered(open_calls), place.outer)
    assert {SENTENCES[name] for name in ("calls_the_kernel", "traces", "makes_set_user_id", "opens_vsock")} <= set(found)


class Unfiltered:
    """A container whose engine was told to let every call through."""

    name = "unfiltered"

    def __init__(self, made: Container) -> None:
        self.run = made.run


def test_the_kernel_refuses_what_the_filter_names(place: Place, inside: Container) -> None:
    head = "import ctypes, platform\nlibc = ctypes.CDLL(None, use_errno=True)\narm = platform.machine() == 'aarch64'\n"
    more = {
        "a namespace by clone": "syscall(220 if arm else 56, 0x10000011, 0, 0, 0, 0)",
        "fchmodat2": "syscall(452, -100, b'script.py', 0o4755, 0)",
    }
    tries = [f"ctypes.set_errno(0)\nprint(libc.{call}, ctypes.get_errno())" for call in (REFUSED | more).values()]
    lines = place.python(inside, head + "\n".join(tries)).output.splitlines()
    answers = dict(zip(REFUSED | more, (tuple(map(int, line.split())) for line in lines), strict=True))
    assert answers.pop("an unknown call") == (-1, 38) and answers.pop("a socket of the host's own kind") == (-1, 97)
    assert answers.pop("fchmodat2") in ((-1, 1), (-1, 38)), "an engine that does not know it yet says so"
    assert set(answers.values()) == {(-1, 1)}


def test_it_sees_its_room_and_nothing_else(place: Place, inside: Container) -> None:
    os.environ["DETENT_TEST_SECRET"] = "must not be inherited"
    cache = place.outside / "cache"
    cache.mkdir()
    script = (
        "import json, os\nstatus = dict(l.split(':', 1) for l in open('/proc/self/status') if ':' in l)\nopen('made', 'w')\n"
        f"open('{cache}/made', 'w')\n"
        "tops = sorted(os.listdir('/'))\nwritable = [d for d in ('/', '/usr', '/etc', '/dev', '/proc', '/bin', '/run', '/sys') if os.access(d, os.W_OK)]\n"
        "print(json.dumps([dict(os.environ), os.getuid(), [status[k].strip() for k in ('CapEff', 'CapBnd', 'NoNewPrivs', 'Seccomp')],"
        " sorted(os.listdir('/proc/self/fd')), os.listdir(os.environ['HOME']), writable, tops, os.path.exists('/etc/shadow')]))"
    )
    try:
        ran = place.python(inside, script, writable=(cache,))
    finally:
        del os.environ["DETENT_TEST_SECRET"]
    env, uid, rights, files, home, writable, tops, shadow = json.loads(ran.output)
    env.pop("LC_CTYPE", None)  # Python's own doing
    assert env == {**place.env, "PWD": str(place.work)}
    assert uid != 0 and rights == ["0" * 16, "0" * 16, "1", "2"]
    assert files == ["0", "1", "2", "3"] and home == [] and writable == [] and not shadow
    shown = {path.parts[1] for path in (*place.room.readable, place.home, place.work)}
    assert (
        set(tops)
        <= {"bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "nix", "proc", "run", "sbin", "sys", "tmp", "usr", ".detent"} | shown
    )
    assert {path.stat().st_uid for path in (place.work / "made", cache / "made")} == {os.getuid()}


@pytest.mark.slow
def test_input_output_and_errors_come_as_they_are(place: Place, inside: Container) -> None:
    given = place.outside / "input"
    given.write_text("words")
    seen: list[bytes] = []
    script = "cat; echo out; echo err >&2; kill -SEGV $$"
    env = place.env | {"TEXT": "two\nlines 'quoted' \"$HOME\""}
    both = inside.run(["sh", "-c", script], place.work, env, LONG, place.room, stdin=given, watch=seen.append)
    assert (both.output, both.exit_code) == ("wordsout\nerr\n", 128 + signal.SIGSEGV) and b"".join(seen).decode() == both.output
    alone = inside.run(["printenv", "TEXT"], place.work, env, LONG, place.room, stderr=subprocess.DEVNULL)
    assert alone.output == env["TEXT"] + "\n"
    with open(place.outside / "errors", "wb") as errors:
        apart = inside.run(["sh", "-c", script], place.work, env, LONG, place.room, stdin=given, stderr=errors.fileno())
    assert apart.output == "wordsout\n" and (place.outside / "errors").read_text() == "err\n"


def test_variables_do_not_stand_in_the_arguments_of_any_process(place: Place, inside: Container) -> None:
    secret, seen = os.urandom(12).hex(), []

    def look(_: bytes) -> None:
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                seen.append(secret.encode() in file.read_bytes())
        (place.work / "go").touch()

    script = "echo ready; while [ ! -e go ]; do :; done"
    inside.run(["sh", "-c", script], place.work, {**place.env, "TOKEN": secret}, LONG, place.room, watch=look)
    assert seen and not any(seen)
    with pytest.raises(ValueError, match="zero byte"):
        inside.run(["true"], place.work, {"A": "x\0y"}, LONG, place.room)
    with pytest.raises(CannotTell, match="cannot be handed into a container"):
        inside.run(["true"], place.work, {"A;true;B": "x"}, LONG, place.room)


def test_a_program_that_is_not_there_is_an_error_as_outside(place: Place, inside: Container) -> None:
    (place.work / "plain").write_text("")
    for name, kind in (("no-such-program", FileNotFoundError), ("./plain", PermissionError)):
        with pytest.raises(kind):
            inside.run([name], place.work, place.env, LONG, place.room)
    with pytest.raises(CannotTell, match="chdir"):
        inside.run(["true"], place.outside, place.env, LONG, place.room)
    (place.work / "a,b").mkdir()
    with pytest.raises(DetentError, match="holds a comma"):
        place.sh(inside, "true", readable=(place.work / "a,b",))


# Limits


def test_limits_are_those_of_the_machine_at_most_and_can_be_read_inside(place: Place, inside: Container) -> None:
    most = clamped(ProcessLimits(1 << 60, 10_000))
    assert most.cpus == os.cpu_count() and most.memory == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert inside.limits.cpus == min(4, os.cpu_count() or 1) and inside.limits.memory == min(8 << 30, most.memory)
    inside.limits = ProcessLimits(512 << 20, 1, 77)
    groups = "/sys/fs/cgroup"
    ran = place.sh(
        inside,
        f"cat {groups}/memory.max {groups}/cpu.max {groups}/pids.max || cat {groups}/memory/memory.limit_in_bytes {groups}/cpu/cpu.cfs_quota_us {groups}/pids/pids.max",
    )
    words = ran.output.split()
    assert str(512 << 20) in words and "100000" in words and "77" in words


@pytest.mark.parametrize("flag", ["memory", "cpus", "pids"])
def test_a_limit_that_does_not_hold_is_an_error_before_anything_runs(place: Place, inside: Container, flag: str) -> None:
    """An engine that takes the words and does not do what they say."""
    deaf = place.outside / "podman"
    deaf.write_text(
        f'#!/bin/sh\nfor word; do shift; case $word in --{flag}*) ;; *) set -- "$@" "$word" ;; esac; done\nexec {inside.program} "$@"\n'
    )
    deaf.chmod(0o755)
    inside.engine, inside.limits = inside.engine._replace(program=deaf), ProcessLimits(1 << 30, 1, 100)
    with pytest.raises(CannotTell, match="does not hold"):
        place.sh(inside, "touch ran")
    assert not (place.work / "ran").exists()


@pytest.mark.slow
def test_who_takes_too_much_is_ended_and_the_limit_is_named(place: Place, inside: Container) -> None:
    inside.limits = ProcessLimits(200 << 20, 1, 60)
    hog = place.python(inside, "a = bytearray(400 << 20)\nprint('got it')")
    assert "got it" not in hog.output and hog.limit == "memory" and hog.exit_code == 128 + signal.SIGKILL
    bomb = place.python(inside, BOMB)
    assert int(bomb.output.split()[0]) < 60 and bomb.limit == "processes"
    inside.tmp_size = 1 << 20
    full = place.sh(inside, "for d in /tmp ~ /dev/shm; do head -c 2000000 /dev/zero > $d/x 2>/dev/null || echo full; done")
    assert full.output == "full\nfull\nfull\n"


# Nothing is left


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("how", "end"), [("a daemon", "it ends"), ("one that ignores signals", "the timeout"), ("a session of its own", "no longer wanted")]
)
def test_nothing_of_it_lives_on(place: Place, inside: Container, how: str, end: str) -> None:
    (place.work / "lock").touch()
    script = DAEMONS[how] + LOCKED + ("exit 7" if end == "it ends" else "touch up; sleep 100")
    wanted = (lambda: not (place.work / "up").exists()) if end == "no longer wanted" else (lambda: True)
    before = groups()
    ran = inside.run(["sh", "-c", script], place.work, place.env, 4 if end == "the timeout" else 30, place.room, wanted)
    assert (ran.exit_code, ran.timed_out, ran.stopped) == (7 if end == "it ends" else None, end == "the timeout", end == "no longer wanted")
    assert (place.work / "up").exists() == (end != "it ends")
    until(lambda: is_free(place.work / "lock"))
    assert names(inside.engine) == [] and not (place.work / "absent").exists()
    until(lambda: not orphans(before))


OURSELVES = """import os, sys
from pathlib import Path
from detent.sandbox import ProcessLimits, Room
from detent.sandbox.container import Container
from detent.sandbox.container_engine import ContainerEngine
work = Path(sys.argv[1])
made = Container(ContainerEngine("podman", Path(sys.argv[3]), tuple(sys.argv[4:])), Path(sys.argv[2]), ProcessLimits())
made.run(["sh", "-c", "touch lock; setsid flock lock sleep 100 & while flock -n lock true; do :; done; touch up; sleep 100"], work, {"PATH": "/usr/bin:/bin"}, 100, Room(work))
"""


@contextlib.contextmanager
def ourselves(place: Place, engine: ContainerEngine) -> Iterator["subprocess.Popen[bytes]"]:
    words = [sys.executable, "-c", OURSELVES, str(place.work), str(place.home), str(engine.program), *engine.way]
    us = subprocess.Popen(words)
    try:
        until((place.work / "up").exists)
        assert not is_free(place.work / "lock")
        yield us
    finally:
        us.kill()
        us.wait()


def test_our_own_sudden_death_ends_it_too(place: Place, engine: ContainerEngine) -> None:
    with ourselves(place, engine) as us:
        (name,) = [path.name for path in folders().iterdir()]
        us.kill()
        until(lambda: is_free(place.work / "lock"))
        until(lambda: name not in names(engine))
    clean_up(engine)
    assert list(folders().iterdir()) == []


def test_if_the_keeper_dies_with_us_the_next_start_cleans_up(place: Place, engine: ContainerEngine) -> None:
    with ourselves(place, engine) as us:
        (name,) = [path.name for path in folders().iterdir()]
        (keeper,) = [int(pid) for pid in Path(f"/proc/{us.pid}/task/{us.pid}/children").read_text().split()]
        clean_up(engine)
        assert name in names(engine), "the container of a run that goes on is left alone"
        os.kill(keeper, signal.SIGSTOP)  # so that it cannot hear of our death
        us.kill()
        us.wait()
        os.kill(keeper, signal.SIGKILL)
    assert not is_free(place.work / "lock") and name in names(engine), "the engine's monitor lives on"
    container.make("podman", place.home, ProcessLimits(), "")
    until(lambda: is_free(place.work / "lock"))
    assert name not in names(engine) and list(folders().iterdir()) == []


def test_two_at_once_do_not_end_each_other(place: Place, inside: Container) -> None:
    outputs: list[str] = []
    slow = threading.Thread(
        target=lambda: outputs.append(place.sh(inside, "touch up; while [ ! -e go ]; do sleep 0.05; done; echo end").output)
    )
    slow.start()
    until((place.work / "up").exists)
    assert place.sh(inside, "echo quick").output == "quick\n"
    (place.work / "go").touch()
    slow.join()
    assert outputs == ["end\n"]


# When it breaks


@pytest.mark.parametrize("how", BROKEN)
def test_isolation_that_breaks_is_an_error_and_never_a_result(place: Place, inside: Container, how: str) -> None:
    program = place.outside / "podman"
    if text := BROKEN[how]:
        program.write_text(text)
        program.chmod(0o755)
    inside.engine = inside.engine._replace(program=program)
    with pytest.raises((CannotTell, DetentError)):
        place.sh(inside, f"touch {place.outside}/written")
    assert not (place.outside / "written").exists() and not (place.work / "absent").exists()


# Images


def small_system(at: Path) -> Path:
    """A root file system of a few programs, with the libraries they need."""
    for name in ("sh", "env", "cat", "true"):
        program = Path(shutil.which(name) or "").resolve()
        linked = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout.split()
        for file in (program, *(Path(word) for word in linked if word.startswith("/"))):
            to = at / (f"usr/bin/{name}" if file == program else str(file).lstrip("/").removeprefix("usr/"))
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file.resolve(), to)
    (at / "bin").symlink_to("usr/bin")
    (at / "etc").mkdir()
    (at / "etc" / "marker").write_text("another system\n")
    (at / "opt" / "kit").mkdir(parents=True)
    (at / "opt" / "kit" / "here").write_text("kit\n")
    return at


def test_another_system_in_a_folder_is_used_and_left_as_it_was(place: Place, inside: Container) -> None:
    inside.image = str(small_system(place.outside / "system"))
    before = sorted(map(str, Path(inside.image).rglob("*")))
    shown = Path("/opt/other")
    ran = place.sh(
        inside,
        "cat /etc/marker /opt/kit/here conf/guarded; echo; echo mine > made; [ -e /usr/bin/git ] || echo no git; echo x > /opt/x",
        readable=(),
    )
    assert ran.output.startswith("another system\nkit\nas it was\nno git\n") and "Read-only" in ran.output
    assert (place.work / "made").read_text() == "mine\n"
    assert sorted(map(str, Path(inside.image).rglob("*"))) == before and not shown.exists()
    with pytest.raises(DetentError, match="there is no folder"):
        container.make("podman", place.home, ProcessLimits(), "/no/such/folder")


@pytest.mark.slow
def test_an_image_by_name_is_used_and_a_missing_one_is_named(place: Place, inside: Container) -> None:
    engine, name = inside.engine, f"localhost/detent-test-{os.urandom(4).hex()}"
    system = small_system(place.outside / "system")
    subprocess.run(["tar", "-C", str(system), "-cf", str(place.outside / "system.tar"), "."], check=True)
    done = engine.call([*engine.command, "import", str(place.outside / "system.tar"), name])
    assert done.returncode == 0, done.stderr
    try:
        inside.image = name
        assert place.sh(inside, "cat /etc/marker; echo x > /etc/x || echo kept", readable=()).output.startswith("another system\n")
        made = container.make("container", place.home, ProcessLimits(), name)
        assert made.bare.image == "" and made.name == "podman"
    finally:
        engine.call([*engine.command, "rmi", "-f", name])
    with pytest.raises(DetentError, match="no-such-image"):
        container.make("podman", place.home, ProcessLimits(), "localhost/no-such-image")


# Choosing


@pytest.mark.slow
def test_a_run_is_judged_in_a_container_and_the_doctor_tries_it(tmp_path: Path, engine: ContainerEngine) -> None:
    project = Project(tmp_path / "project")
    project.env |= {"DETENT_SANDBOX_LEVEL": "podman", "DETENT_SANDBOX_MEMORY": "1g"}
    checks = {c["name"]: c for c in project.run("doctor", "--json").json["checks"]}
    assert checks["sandbox"]["ok"] and checks["sandbox"]["says"].startswith("podman: the probe tried every escape it knows")
    assert checks["containers"]["ok"] and "used as the sandbox" in checks["containers"]["says"]
    project.planned()
    verdict = project.red()
    assert (verdict["status"], verdict["evidence"]["sandbox"], verdict["evidence"]["counts"]["errors"]) == ("NEEDS_ANALYSIS", "podman", 1)
    assert names(engine) == []


def test_an_engine_that_is_not_there_or_has_nobody_to_talk_to_is_named(place: Place) -> None:
    with pytest.raises(DetentError, match="podman is not installed, and nothing is run without it"):
        find("podman", (str(place.outside),))
    client = place.outside / "docker"
    client.write_text("#!/bin/sh\necho 'Cannot connect to the engine' >&2\nexit 1\n")
    client.chmod(0o755)
    with pytest.raises(DetentError, match="docker does not work here, and nothing is run without it: Cannot connect to the engine"):
        find("docker", (str(place.outside),))
    with pytest.raises(DetentError, match=r"docker (is not installed|does not work here|needs an image)"):
        choose("docker", place.outer)
