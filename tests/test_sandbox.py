"""What a program tries inside, on both levels: what must not get through bubblewrap does get through without it, so the attacks are real."""

import contextlib
import errno
import os
import platform
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.errors import CannotTell, DetentError
from detent.sandbox import Sandbox, choose
from detent.sandbox.bubblewrap import Bubblewrap, find_program, packed
from detent.sandbox.sandbox_protocol import Unisolated
from tests.machine import need
from tests.patience import LONG, until
from tests.rooms import PYTHON, SECRETS, Place, isolated


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def inside(place: Place) -> Bubblewrap:
    return isolated(place.outer)


# Each ends with `&& echo THROUGH` in a shell, or prints it from Python.
SHELL = {
    "T4 a link out of the workspace": 'ln -s "$OUT" link && cat link/secret',
    "T5 a hard link to a file outside": 'ln "$OUT/secret" hard',
    "T8 a guarded file that does not exist": "echo planted > absent",
    "T8 a guarded file in folders that do not exist": "rm -rf new; mkdir -p new/deep && echo planted > new/deep/absent",
    "T9 a file outside is read": 'cat "$OUT/secret"',
    "T9 a file outside is written": 'cat "$OUT/secret" && echo x > "$OUT/written"',
    "T9 a guarded file is written": "echo x > conf/guarded",
    "T9 a guarded file is removed": "rm -f conf/guarded",
    "T9 a guarded file is replaced": "echo x > mine && mv -f mine conf/guarded",
    "T9 the folder of a guarded file is moved away": "mv conf conf2 && mkdir conf && echo x > conf/guarded",
    "T9 a guarded file gets other rights": "chmod 777 conf/guarded",
    "T11 a git dir with hooks is made": "rm -rf .git && mkdir -p .git/hooks",
    "T12 the gitfile points elsewhere": "echo 'gitdir: evil' > .git",
    "T14 the gitfile is a link": "ln -sf evil .git && test -L .git",
    "T25 a process of ours is killed": 'kill -9 "$VICTIM"',
    "T32 a setting of the kernel": 'true 3<>/proc/sys/kernel/core_pattern',
    "T35 our environment is read": 'tr "\\0" "\\n" < /proc/$OURS/environ | grep -q PATH=',
    "T35 our processes are seen": "grep -aq sleep /proc/$VICTIM/cmdline",
    "T40 a secret of the home is found": 'test -n "$(find "$HOME" -type f)"',
    "T42 a key is read": 'cat "$HOME/.ssh/id_ed25519"',
    "T42 the password file": "test -r /etc/shadow || grep -q ^root: /etc/passwd",
}  # fmt: skip
PYTHONS = {
    "T33 a socket with a name": "import os, socket; socket.socket(socket.AF_UNIX).connect(os.environ['OUT'] + '/socket')",
    "T33 a socket with an abstract name": "import os, socket; socket.socket(socket.AF_UNIX).connect('\\0' + os.environ['ABSTRACT'])",
    "T34 the host's network": "import os, socket; socket.create_connection(('127.0.0.1', int(os.environ['PORT'])), 5)",
    "T34 the host's network by UDP": "import os, socket; s = socket.socket(type=socket.SOCK_DGRAM); s.connect(('192.0.2.1', 53)); s.send(b'x')",
    "T35 tracing": "import ctypes, os; assert ctypes.CDLL(None).ptrace(0, 0, None, None) == 0",
    "T36 io_uring": "import ctypes; l = ctypes.CDLL(None, use_errno=True); l.syscall(425, 0, 0); assert ctypes.get_errno() not in (1, 38)",
    "T36 a set-user-id file by chmod": "import os; open('tool', 'w'); os.chmod('tool', 0o4755)",
    "T36 a set-user-id file at once": "import os; os.umask(0); os.open('tool', os.O_CREAT | os.O_WRONLY, 0o4755); assert os.stat('tool').st_mode & 0o4000",
    "T43 its input is written through its own descriptor": "open('/proc/self/fd/0', 'w').write('x')",
}  # fmt: skip
CASES = {name: f"{script} && echo THROUGH" for name, script in SHELL.items()} | {
    name: f"cat > try.py <<'END'\n{script}\nprint('THROUGH')\nEND\n\"$PYTHON\" -I try.py" for name, script in PYTHONS.items()
}
KEPT_BY_CONTAINERS = ("T32 a setting of the kernel", "T35 our environment is read", "T36 io_uring")
NEEDS_ROOT = (
    "T32 a setting of the kernel",
    "T35 our environment is read",
)  # without isolation: our process cannot be looked into otherwise
NEEDS_ROUTE = ("T34 the host's network by UDP",)


@contextlib.contextmanager
def prepared(place: Place) -> Iterator[Path]:
    """Sockets, a process and an input outside, for the attacks to aim at."""
    victim = subprocess.Popen(["sleep", "100"])
    name = f"detent-test-{os.urandom(6).hex()}"
    place.env |= {"VICTIM": str(victim.pid), "ABSTRACT": name}
    given = place.outside / "input"
    given.write_text("input")
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as named, socket.socket(socket.AF_UNIX) as abstract:
        place.env["PORT"] = str(tcp.getsockname()[1])
        os.chdir(place.outside)  # the name of a socket is short
        named.bind("socket")
        abstract.bind("\0" + name)
        named.listen()
        abstract.listen()
        try:
            yield given
        finally:
            victim.kill()
            victim.wait()


def attempt(sandbox: Sandbox, place: Place, name: str) -> str:
    here = os.getcwd()
    try:
        with prepared(place) as given:
            return sandbox.run(["sh", "-c", CASES[name]], place.work, place.env, LONG, place.room, stdin=given).output
    finally:
        os.chdir(here)


@pytest.mark.sample(20)
@pytest.mark.parametrize("name", CASES)
def test_inside_it_does_not_get_through(place: Place, inside: Bubblewrap, name: str) -> None:
    assert "THROUGH" not in attempt(inside, place, name)
    assert (place.work / "conf" / "guarded").read_text() == "as it was"
    assert (place.work / ".git").read_text() == "gitdir: /elsewhere\n"
    assert (place.outside / "input").read_text() == "input"
    assert not (place.outside / "written").exists()
    assert not (place.work / "absent").exists() and not (place.work / "new" / "deep" / "absent").exists()


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", [name for name in CASES if name not in NEEDS_ROUTE and (os.getuid() == 0 or name not in NEEDS_ROOT)])
def test_without_isolation_it_does(place: Place, name: str) -> None:
    if name in KEPT_BY_CONTAINERS:
        need("no container")
    assert "THROUGH" in attempt(choose("none", place.outer), place, name)


REFUSED = {
    "mount": "mount(b'none', b'sub', b'tmpfs', 0, None)",
    "remount": "mount(b'none', b'/', None, 32 | 4096, None)",
    "remount what is guarded": "mount(b'none', b'conf/guarded', None, 32 | 4096, None)",
    "umount": "umount2(b'conf/guarded', 2)",
    "a user namespace": "unshare(0x10000000)",
    "a mount namespace": "unshare(0x20000)",
    "another root": "chroot(b'sub')",
    "a terminal's input": "ioctl(0, 0x5412, b'x')",
    "a terminal's input, in other words": "ioctl(0, ctypes.c_ulong(0x100005412), b'x')",
    "keys": "syscall(219 if arm else 250, 0, 0)",
    "bpf": "syscall(280 if arm else 321, 0, 0, 0)",
    "userfaultfd": "syscall(282 if arm else 323, 0)",
    "perf": "syscall(241 if arm else 298, 0, 0, 0, 0, 0)",
    "opening by handle": "syscall(265 if arm else 304, 0, 0, 0)",
    "fsopen": "syscall(430, b'tmpfs', 0)",
    "open_tree": "syscall(428, -100, b'/', 1)",
    "an unknown call": "syscall(470)",
    "a socket of the host's own kind": "socket(40, 1, 0)",
}


def test_the_kernel_refuses_what_the_filter_names(place: Place, inside: Bubblewrap) -> None:
    head = "import ctypes, platform\nlibc = ctypes.CDLL(None, use_errno=True)\narm = platform.machine() == 'aarch64'\n"
    tries = [f"ctypes.set_errno(0)\nprint(libc.{call}, ctypes.get_errno())" for call in REFUSED.values()]
    lines = place.python(inside, head + "\n".join(tries)).output.splitlines()
    answers = dict(zip(REFUSED, (tuple(map(int, line.split())) for line in lines), strict=True))
    expected = dict.fromkeys(REFUSED, (-1, errno.EPERM))
    assert answers == expected | {"an unknown call": (-1, errno.ENOSYS), "a socket of the host's own kind": (-1, errno.EAFNOSUPPORT)}


FOREIGN = """import ctypes, mmap, sys
code = {"i386": b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3", "x32": b"\\xb8\\x27\\x00\\x00\\x40\\x0f\\x05\\xc3"}[sys.argv[1]]  # getpid
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(code)
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))(), flush=True)
"""


@pytest.mark.parametrize("kind", ["i386", "x32"] if platform.machine() == "x86_64" else [])
def test_calls_of_another_architecture_end_the_program(place: Place, inside: Bubblewrap, kind: str) -> None:
    (place.work / "foreign.py").write_text(FOREIGN)
    ran = inside.run([PYTHON, "-I", "foreign.py", kind], place.work, place.env, LONG, place.room)
    assert (ran.exit_code, ran.output) == (128 + signal.SIGSYS, "")


def test_it_has_no_rights_and_is_not_root(place: Place, inside: Bubblewrap) -> None:
    ran = place.sh(inside, "id -u; grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status")
    lines = [line.split() for line in ran.output.splitlines()]
    assert lines[0] != ["0"]
    assert {name: int(value, 16) for name, value in lines[1:]} == {
        "CapInh:": 0, "CapPrm:": 0, "CapEff:": 0, "CapBnd:": 0, "CapAmb:": 0, "NoNewPrivs:": 1, "Seccomp:": 2
    }  # fmt: skip


def test_only_what_is_named_is_there(place: Place, inside: Bubblewrap) -> None:
    top = place.sh(inside, "ls -A /").output.split()
    known = {"bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "nix", "proc", "sbin", "tmp", "usr"}
    shown = {path.parts[1] for path in (*place.room.readable, place.home, place.work)}
    assert set(top) <= known | shown
    assert not {"run", "sys", "var", "srv", "mnt", "boot"} & (set(top) - shown)
    assert "shadow" not in place.sh(inside, "ls -A /etc").output.split()


def test_there_is_nothing_to_be_written_but_the_room(place: Place, inside: Bubblewrap) -> None:
    name = f"detent-test-{os.urandom(6).hex()}"
    refused = 'for d in / /usr /etc /dev /proc /proc/sys /bin /lib; do touch "$d/x" 2>/dev/null && echo "$d"; done; '
    assert place.sh(inside, refused + f'touch w /tmp/{name} "$HOME/{name}" /dev/shm/{name} && echo fine').output == "fine\n"
    assert (place.work / "w").exists()
    assert not any((folder / name).exists() for folder in (Path("/tmp"), Path("/dev/shm"), place.home))


def test_files_it_leaves_belong_to_us(place: Place, inside: Bubblewrap) -> None:
    place.sh(inside, "mkdir -p a/b && touch a/b/c")
    assert {p.stat().st_uid for p in (place.work / "a", place.work / "a" / "b", place.work / "a" / "b" / "c")} == {os.getuid()}
    (place.work / "a" / "b" / "c").unlink()


def test_its_environment_is_exactly_the_given_one(place: Place, inside: Bubblewrap) -> None:
    os.environ["DETENT_TEST_SECRET"] = "must not be inherited"
    try:
        for env in ({"PATH": "/usr/bin:/bin", "A": "1\n2=3"}, {"HOME": "/somewhere", "PATH": "/usr/bin"}):
            ran = inside.run(["env", "-0"], place.work, env, LONG, place.room)
            seen = dict(line.split("=", 1) for line in ran.output.split("\0") if line)
            assert seen == {"HOME": str(place.home), **env, "PWD": str(place.work)}
    finally:
        del os.environ["DETENT_TEST_SECRET"]


def test_it_has_a_private_home_at_the_given_path(place: Place, inside: Bubblewrap) -> None:
    assert all((place.home / name).exists() for name in SECRETS)
    assert place.sh(inside, 'cd "$HOME" && pwd && find . -type f && echo x > mine && cat mine').output == f"{place.home}\nx\n"


def test_it_inherits_no_open_file(place: Place, inside: Bubblewrap) -> None:
    with open(place.outside / "secret", "rb") as file:
        os.set_inheritable(file.fileno(), True)
        assert place.sh(inside, "ls /proc/self/fd").output.split() == ["0", "1", "2", "3"]


def command_lines() -> list[bytes]:
    lines = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(file.read_bytes())
    return lines


def test_variables_do_not_stand_in_the_arguments_of_any_process(place: Place, inside: Bubblewrap) -> None:
    secret = os.urandom(12).hex()
    seen: list[bool] = []

    def look(_: bytes) -> None:
        lines = command_lines()
        seen.extend((any(secret.encode() in line for line in lines), any(b"bwrap\0--args" in line for line in lines)))
        (place.work / "go").touch()

    script = "echo ready; while [ ! -e go ]; do :; done"
    inside.run(["sh", "-c", script], place.work, {**place.env, "TOKEN": secret}, LONG, place.room, watch=look)
    assert seen[:2] == [False, True]


def test_the_loader_of_the_isolation_itself_does_not_hear_the_programs_variables(place: Place, inside: Bubblewrap) -> None:
    ran = inside.run(["true"], place.work, {**place.env, "LD_DEBUG": "files"}, LONG, place.room)
    assert "libc.so" in ran.output and "libcap" not in ran.output


def test_a_zero_byte_cannot_smuggle_words_to_bubblewrap(place: Place, inside: Bubblewrap) -> None:
    with pytest.raises(ValueError, match="zero byte"):
        inside.run(["true"], place.work, {"A": "x\0--bind\0/\0/"}, LONG, place.room)
    assert packed(["a", "é"]) == b"a\0\xc3\xa9\0"


def test_the_program_that_isolates_is_never_taken_from_the_path_or_the_workspace(place: Place, inside: Bubblewrap) -> None:
    planted = place.work / "bwrap"
    planted.write_text(f"#!/bin/sh\ntouch {place.outside}/written\n")
    planted.chmod(0o755)
    made = isolated({**place.outer, "PATH": f"{place.work}:{os.environ['PATH']}"})
    assert made.program.is_absolute() and not made.program.is_relative_to(place.work)
    ran = made.run(["sh", "-c", "pwd"], place.work, {**place.env, "PATH": f"{place.work}:/usr/bin:/bin"}, LONG, place.room)
    assert ran.exit_code == 0 and not (place.outside / "written").exists()
    assert find_program((str(place.outside),)) is None


# The network


def test_without_network_it_can_still_talk_to_itself(place: Place, inside: Bubblewrap) -> None:
    script = (
        "import socket\ns = socket.create_server(('localhost', 0))\nsocket.create_connection(('localhost', s.getsockname()[1]), 5)\n"
        "socket.socket(socket.AF_UNIX).bind('s')\nprint('fine')"
    )
    assert place.python(inside, script).output == "fine\n"
    assert not place.sh(inside, "ls /etc/resolv.conf 2>/dev/null").output


def test_with_network_it_reaches_the_host_but_no_socket_by_name(place: Place, inside: Bubblewrap) -> None:
    name = f"detent-test-{os.urandom(6).hex()}"
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind("\0" + name)
        abstract.listen()
        script = (
            f"import socket\nsocket.create_connection(('127.0.0.1', {tcp.getsockname()[1]}), 5)\nprint('reached')\nsocket.socketpair()\n"
            f"try:\n    socket.socket(socket.AF_UNIX).connect('\\0{name}')\nexcept OSError as e:\n    print(e.errno)"
        )
        assert place.python(inside, script, network=True).output.split() == ["reached", str(errno.EAFNOSUPPORT)]


# What is left running


DAEMONS = {
    "a background process": "flock lock sleep 100 &",
    "a session of its own": "setsid flock lock sleep 100 &",
    "a daemon": "(setsid setsid flock lock sleep 100 &) &",
    "one that ignores signals": "(trap '' TERM INT HUP; exec setsid flock lock sleep 100) &",
    "one that holds the output": "setsid flock lock sh -c 'while :; do sleep 1; echo x; done' &",
}
LOCKED = "\nwhile flock -n lock true; do :; done\n"


def is_free(lock: Path) -> bool:
    return subprocess.run(["flock", "-n", str(lock), "true"], check=False).returncode == 0


ENDS = [(how, "it ends") for how in DAEMONS] + [("a daemon", "the timeout"), ("one that ignores signals", "no longer wanted")]


@pytest.mark.sample(3)
@pytest.mark.parametrize(("how", "end"), ENDS)
def test_nothing_of_it_lives_on(place: Place, inside: Bubblewrap, how: str, end: str) -> None:
    (place.work / "lock").touch()
    script = DAEMONS[how] + LOCKED + ("exit 7" if end == "it ends" else "touch up; kill -STOP $$; sleep 100")
    wanted = (lambda: not (place.work / "up").exists()) if end == "no longer wanted" else (lambda: True)
    ran = inside.run(["sh", "-c", script], place.work, place.env, 1.5 if end == "the timeout" else 30, place.room, wanted)
    assert (ran.exit_code, ran.timed_out, ran.stopped) == (7 if end == "it ends" else None, end == "the timeout", end == "no longer wanted")
    assert (place.work / "up").exists() == (end != "it ends")
    until(lambda: is_free(place.work / "lock"))
    assert ran.seconds < 20


OURSELVES = """import os, sys
from pathlib import Path
from detent.sandbox import Room, choose
work = Path(sys.argv[1])
sandbox = choose("bubblewrap", {"HOME": sys.argv[2]})
sandbox.run(["sh", "-c", sys.argv[3]], work, {"PATH": "/usr/bin:/bin"}, 100, Room(work, (work / "absent",)))
"""


def test_our_own_sudden_death_ends_it_too(place: Place, inside: Bubblewrap) -> None:
    (place.work / "lock").touch()
    script = "setsid flock lock sleep 100 &" + LOCKED + "touch up; sleep 100"
    us = subprocess.Popen([sys.executable, "-c", OURSELVES, str(place.work), str(place.home), script])
    until((place.work / "up").exists)
    assert not is_free(place.work / "lock")
    us.kill()
    us.wait()
    until(lambda: is_free(place.work / "lock"))
    assert (place.work / "absent").is_dir(), "a placeholder was left"
    place.sh(inside, "true")
    assert not (place.work / "absent").exists(), "the next run takes it over and removes it"


def test_it_reads_nothing_and_has_no_terminal(place: Place, inside: Bubblewrap) -> None:
    ran = place.sh(inside, "cat; (true < /dev/tty) 2>/dev/null && echo terminal; echo end", 10)
    assert ran.output == "end\n" and not ran.timed_out


def test_a_crash_leaves_no_dump(place: Place, inside: Bubblewrap) -> None:
    for sandbox in (inside, choose("none", place.outer)):
        assert place.sh(sandbox, "ulimit -c; ulimit -Hc").output.split() == ["0", "0"]


def test_output_is_bounded_counted_and_watched_inside_too(place: Place, inside: Bubblewrap) -> None:
    seen: list[int] = []
    ran = inside.run(
        ["sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' a"], place.work, place.env, LONG, place.room, watch=lambda b: seen.append(len(b))
    )
    assert ran.size == sum(seen) == 3_000_000 and len(ran.output) < 401_000


# When it breaks


def test_a_program_that_is_not_there_is_an_error_as_outside(place: Place, inside: Bubblewrap) -> None:
    (place.work / "plain").write_text("")
    for name, kind in (("no-such-program", FileNotFoundError), ("./plain", PermissionError)):
        with pytest.raises(kind):
            inside.run([name], place.work, place.env, LONG, place.room)


def test_a_program_cannot_pretend_that_it_never_ran(place: Place, inside: Bubblewrap) -> None:
    ran = place.sh(inside, "echo 'bwrap: execvp sh: No such file or directory'; exit 1")
    assert ran.exit_code == 1


BROKEN = {
    "it is gone": None,
    "it fails": "#!/bin/sh\necho no more user namespaces\nexit 1\n",
    "it runs the program without isolation": '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n',
    "it pretends": "#!/bin/sh\nexit 0\n",
}


@pytest.mark.parametrize("how", BROKEN)
def test_isolation_that_breaks_is_an_error_and_never_a_result(place: Place, inside: Bubblewrap, how: str) -> None:
    inside.program = place.outside / "bwrap"
    if text := BROKEN[how]:
        inside.program.write_text(text)
        inside.program.chmod(0o755)
    with pytest.raises(CannotTell, match="the sandbox broke"):
        inside.run(["sh", "-c", "true"], place.work, place.env, LONG, place.room)
    assert not (place.work / "absent").exists()


def test_isolation_that_is_killed_midway_is_an_error(place: Place, inside: Bubblewrap) -> None:
    def kill(_: bytes) -> None:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        for pid in map(int, children):
            if Path(f"/proc/{pid}/comm").read_text() == "bwrap\n":
                os.kill(pid, signal.SIGKILL)

    (place.work / "lock").touch()
    script = "flock lock sleep 100 &" + LOCKED + "echo up; sleep 100"
    with pytest.raises(CannotTell, match="the sandbox broke"):
        inside.run(["sh", "-c", script], place.work, place.env, LONG, place.room, watch=kill)
    until(lambda: is_free(place.work / "lock"))


def test_a_folder_that_is_not_in_the_room_cannot_be_worked_in(place: Place, inside: Bubblewrap) -> None:
    with pytest.raises(CannotTell, match="chdir"):
        inside.run(["true"], place.outside, place.env, LONG, place.room)


# Choosing


def test_levels_are_chosen_by_name(place: Place, inside: Bubblewrap) -> None:
    assert choose("auto", place.outer).name == choose("bubblewrap", place.outer).name == "bubblewrap"
    assert choose("none", place.outer).name == "none"
    assert getattr(inside, "because", "") == Unisolated().because == ""
    with pytest.raises(DetentError, match="there is no sandbox 'chroot'"):
        choose("chroot", place.outer)


CHOOSES = """import sys
from detent.errors import DetentError
from detent.sandbox import choose
print(choose("auto", {}).name, "because", choose("auto", {}).because)
try:
    choose("bubblewrap", {})
except DetentError as e:
    print(e.message, "|", e.hint)
"""


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--ro-bind", os.devnull], ["bubblewrap is not installed", "apt-get install bubblewrap"]),
        (["--disable-userns", "--unshare-user"], ["bubblewrap does not work here", 'level = "outer"']),
    ],
    ids=["missing", "no user namespaces"],
)
def test_where_it_is_missing_it_says_so_and_is_never_silently_left_out(inside: Bubblewrap, words: list[str], says: list[str]) -> None:
    hidden = [*words, str(inside.program)] if "--ro-bind" in words else words
    command = [str(inside.program), "--dev-bind", "/", "/", *hidden, "--", sys.executable, "-c", CHOOSES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    first, second = done.stdout.splitlines()[0], done.stdout
    assert first.startswith(f"none because {says[0]}"), done.stdout + done.stderr
    assert all(word in second for word in says)
