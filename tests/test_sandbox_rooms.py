"""Rooms: what is guarded stays, what would open a room is refused, toolchains are seen and keys are not, and limits are kept."""

import errno
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from detent.errors import CannotTell, DetentError
from detent.sandbox import ProcessLimits, Room, seccomp
from detent.sandbox.bubblewrap import Bubblewrap
from detent.sandbox.guard import PLACEHOLDER, hold
from detent.sandbox.limits import ControlGroup, GroupPlace, find_places, unheld
from detent.sandbox.mounts import enter
from detent.sandbox.sandbox_protocol import size
from detent.sandbox.visible import missing_inside, toolchains
from tests.patience import LONG, until
from tests.rooms import Place, isolated


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def inside(place: Place) -> Bubblewrap:
    return isolated(place.outer)


# Guards


def test_what_is_absent_looks_like_no_file_and_is_gone_afterwards(place: Place, inside: Bubblewrap) -> None:
    ran = place.sh(inside, "test -f absent || echo no file; test -f .git && cat conf/guarded; ls -A absent")
    assert ran.output == "no file\nas it was"
    assert not (place.work / "absent").exists() and not (place.work / "new").exists()


def test_beside_what_is_guarded_work_goes_on(place: Place, inside: Bubblewrap) -> None:
    ran = place.sh(inside, "echo a > conf/other && mkdir -p new/deep && echo b > new/deep/mine && mv conf/other new/deep/ && echo fine")
    assert ran.output == "fine\n"
    assert sorted(p.name for p in (place.work / "new").rglob("*")) == ["deep", "mine", "other"]


def test_two_runs_share_a_placeholder_and_the_last_removes_it(place: Place, inside: Bubblewrap) -> None:
    outputs: list[str] = []
    script = "touch up; while [ ! -e go ]; do :; done; echo x > absent; rmdir absent; echo end"
    slow = threading.Thread(target=lambda: outputs.append(place.sh(inside, script).output))
    slow.start()
    until((place.work / "up").exists)
    place.sh(inside, "true")
    assert (place.work / "absent").stat().st_mode & 0o7777 == PLACEHOLDER
    (place.work / "go").touch()
    slow.join()
    assert outputs[0].endswith("end\n") and "cannot create absent" in outputs[0]
    assert not (place.work / "absent").exists()


def test_a_guarded_link_is_put_back_and_the_run_tells_nothing(place: Place, inside: Bubblewrap) -> None:
    link = place.work / "AGENTS.md"
    (place.work / "target").write_text("rules")
    link.symlink_to("target")
    assert "Read-only" in place.sh(inside, "echo x >> AGENTS.md", guarded=(link,)).output
    for attack in ("rm AGENTS.md", "rm AGENTS.md; echo mine > AGENTS.md", "ln -sfn sub AGENTS.md", "rm AGENTS.md; mkdir AGENTS.md"):
        with pytest.raises(CannotTell, match=r"AGENTS\.md is guarded, and the program changed it"):
            place.sh(inside, attack, guarded=(link,))
        assert os.readlink(link) == "target"


def test_what_cannot_be_guarded_stops_the_run(place: Place, inside: Bubblewrap) -> None:
    (place.work / "way").symlink_to("sub")
    for path, why in ((place.work / "way" / "file", "it is not a folder"), (place.outside / "secret", "in no folder that can be written")):
        with pytest.raises(CannotTell, match=why):
            place.sh(inside, "true", guarded=(path,))


def test_a_guard_wins_over_what_is_writable_inside_it(place: Place, inside: Bubblewrap) -> None:
    (place.work / "conf" / "cache").mkdir()
    ran = place.sh(inside, "touch conf/cache/x || echo kept", writable=(place.work / "conf" / "cache",), guarded=(place.work / "conf",))
    assert ran.output.endswith("kept\n")


def test_holding_leaves_folders_as_they_were_even_after_an_error(place: Place) -> None:
    before = sorted(place.work.rglob("*"))

    def fail_while_held() -> None:
        with hold(place.room.guarded, (place.work,)) as held:
            assert (place.work / "absent").is_dir() and place.work / "conf" in held.pins
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_while_held()
    assert sorted(place.work.rglob("*")) == before


# What may be in a room


def test_further_folders_are_read_or_written_as_named(place: Place, inside: Bubblewrap) -> None:
    cache, data = place.outside / "cache", place.outside / "data"
    cache.mkdir()
    data.mkdir()
    (data / "a").write_text("data")
    script = f"cat {data}/a; echo; touch {cache}/new; touch {data}/new 2>/dev/null || echo read-only; ls {place.outside}"
    ran = place.sh(inside, script, writable=(cache,), readable=(data,))
    assert ran.output.split() == ["data", "read-only", "cache", "data"]
    assert (cache / "new").exists() and not (data / "new").exists()


def test_an_environment_inside_the_workspace_is_not_the_programs_to_change(place: Place, inside: Bubblewrap) -> None:
    (place.work / ".venv").mkdir()
    assert place.sh(inside, "touch .venv/x 2>/dev/null || echo kept", readable=(place.work / ".venv",)).output == "kept\n"


def test_rooms_that_would_not_be_rooms_are_refused(place: Place, inside: Bubblewrap) -> None:
    (place.work / "planted").symlink_to(place.outside)
    (place.home / "tools").mkdir()
    (place.home / ".local/state/detent").mkdir(parents=True)
    refused: dict[str, dict[str, object]] = {
        "no program may see": {"readable": (Path("/"),)},
        "no program may see /etc": {"readable": (Path("/etc"),)},
        "no program may see /run": {"readable": (Path("/run"),)},
        f"no program may see {place.home}": {"readable": (place.home,)},
        f"no program may see {place.home}/.ssh": {"readable": (place.home / ".ssh",)},
        f"no program may see {place.home}/.aws": {"writable": (place.home / ".aws",)},
        f"no program may see {place.home}/.claude": {"readable": (place.home / ".claude",)},
        "could have made that link": {"writable": (place.work / "planted",)},
        "a program inside could": {"readable": (place.work / "planted",)},
        "No such file": {"readable": (place.home / "gone",)},
    }
    for words, change in refused.items():
        with pytest.raises(DetentError, match=words):  # the first one that is not refused is named by its words
            inside.run(["true"], place.work, place.env, LONG, place.room._replace(**change))  # type: ignore[arg-type]  # fields of a room
    assert place.sh(inside, "ls ~", readable=(place.home / "tools",)).output == "tools\n"


# Toolchains


def test_toolchains_are_found_without_the_secrets_beside_them(place: Place) -> None:
    home = place.home
    tool = home / ".local/share/thing/bin/thing"
    for path in (home / ".cargo/bin", home / ".cargo/registry", home / ".nvm", home / "go/pkg", home / ".local/bin", tool.parent):
        path.mkdir(parents=True)
    (home / ".cargo/credentials.toml").write_text("token")
    tool.touch()
    (home / ".local/bin/thing").symlink_to(tool)
    (home / ".local/bin/key").symlink_to(home / ".ssh/id_ed25519")
    found = toolchains({"HOME": str(home), "PATH": f"{home}/.local/bin:{home}:/usr/bin:relative:{home}/.cargo/bin"})
    below = {str(path.relative_to(home)) for path in found if path.is_relative_to(home)}
    assert below == {".cargo/bin", ".cargo/registry", ".nvm", "go/pkg", ".local/bin", ".local/share/thing/bin"}


ELSEWHERE = {  # where a toolchain is on PATH: what of it is seen, and what is not
    "sdk/go1.22/bin": (("sdk/go1.22/pkg", "sdk/go1.22/src"), "sdk/go1.22/notes"),
    "miniconda3/bin": (("miniconda3/lib", "miniconda3/envs"), "miniconda3/.condarc"),
    ".sdkman/candidates/java/current/bin": ((".sdkman/candidates/java/current/lib", ".sdkman/candidates/java/17/conf"), ".sdkman/etc"),
    ".local/state/fnm/123/bin": ((".local/state/fnm/123/lib", ".local/share/fnm/v20/installation/lib"), ".local/share/keyrings"),
    "prefix/bin": (("prefix/lib/node_modules/tool/package.json",), "prefix/.npmrc"),
    ".local/bin": ((".local/lib/node_modules/deep/index.js",), ".local/share/keyrings"),
}


def test_a_toolchain_elsewhere_in_the_home_is_seen_with_what_it_needs_and_not_with_what_lies_beside_it(place: Place) -> None:
    home = place.home
    files: tuple[str, ...] = (
        "sdk/go1.22/pkg/a",
        "sdk/go1.22/src/a",
        "sdk/go1.22/notes/a",
        "sdk/go1.22/bin/go",
        "miniconda3/bin/python",
        "miniconda3/lib/a",
    )
    files += ("miniconda3/envs/a", "miniconda3/.condarc", ".sdkman/candidates/java/17/bin/java", ".sdkman/candidates/java/17/lib/a")
    files += (".sdkman/candidates/java/17/conf/a", ".sdkman/etc/config", ".local/share/fnm/v20/installation/bin/node")
    files += (".local/share/fnm/v20/installation/lib/a", ".local/share/keyrings/a", "prefix/lib/node_modules/tool/cli.js")
    files += ("prefix/lib/node_modules/tool/package.json", "prefix/.npmrc", ".local/lib/node_modules/deep/bin/cli.js")
    files += (".local/lib/node_modules/deep/index.js", "prefix/bin/own", ".local/bin/own", ".local/state/fnm/own")
    for file in files:
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (home / file).touch()
    (home / ".sdkman/candidates/java/current").symlink_to("17")
    (home / ".local/state/fnm/123").symlink_to(home / ".local/share/fnm/v20/installation")
    (home / "prefix/bin/tool").symlink_to("../lib/node_modules/tool/cli.js")
    (home / ".local/bin/deep").symlink_to("../lib/node_modules/deep/bin/cli.js")
    for folder, (seen, unseen) in ELSEWHERE.items():
        found = toolchains({"HOME": str(home), "PATH": f"{home}/{folder}:/usr/bin"})
        for path in (*seen, folder):
            assert any((home / path).is_relative_to(each) for each in found), (path, found)
        assert not any((home / unseen).is_relative_to(each) for each in found), (unseen, found)


def test_the_environment_in_use_and_its_python_are_seen(place: Place, inside: Bubblewrap) -> None:
    environment, base = place.outside / "env", place.outside / "python"
    for path in (environment / "bin", base / "bin"):
        path.mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text(f"home = {base}/bin\nversion = 3\n")
    found = toolchains({"HOME": str(place.home), "PATH": "", "VIRTUAL_ENV": str(environment)})
    assert {environment, base} <= set(found)
    assert place.sh(inside, '"$PYTHON" -c "print(1)"').output == "1\n"


def test_a_program_that_is_only_outside_is_named_with_the_line_to_add(place: Place, inside: Bubblewrap) -> None:
    tool = place.outside / "kit" / "bin" / "frob"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\necho frobbed\n")
    tool.chmod(0o755)
    path = f"{tool.parent}:/usr/bin"
    sentence = missing_inside("frob", path, place.room)
    assert sentence is not None and f'[sandbox] mounts = ["{place.outside / "kit"}"]' in sentence and str(tool) in sentence
    shown = place.room._replace(readable=(*place.room.readable, place.outside / "kit"))
    assert missing_inside("frob", path, shown) is None
    assert inside.run(["frob"], place.work, {"PATH": path}, 30, shown).output == "frobbed\n"
    assert missing_inside("sh", path, place.room) is None and missing_inside("nowhere", path, place.room) is None
    (place.work / "frob2").symlink_to(tool)
    assert "kit" in (missing_inside("frob2", str(place.work), place.room) or "")


# The filter, as the kernel reads it


def answer(program: bytes, audit: int, number: int, *args: int) -> int:
    """Run a filter on one call."""
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, audit, 0, *args, *([0] * (6 - len(args))))
    at, value = 0, 0
    while True:
        code, yes, no, k = struct.unpack_from("<HBBI", program, 8 * at)
        at += 1
        if code == seccomp.RET:
            return int(k)
        if code == seccomp.LD:
            value = struct.unpack_from("<I", data, k)[0]
        else:
            true = {seccomp.JEQ: value == k, seccomp.JGE: value >= k, seccomp.JSET: bool(value & k)}[code]
            at += yes if true else no


@pytest.mark.parametrize("machine", seccomp.MACHINES)
def test_the_filter_refuses_each_call_of_its_table_and_lets_others_through(machine: str) -> None:
    program, (audit, column) = seccomp.build_filter(machine, False, True), seccomp.MACHINES[machine]
    named = {row[column] for row in (*seccomp.REFUSED.values(), *seccomp.MODES.values())}
    for row in seccomp.REFUSED.values():
        if row[column] != seccomp.NONE:
            assert answer(program, audit, row[column]) == seccomp.FAIL | row[2]
    for number in set(range(seccomp.LAST + 1)) - named - {seccomp.SOCKET[column]}:
        assert answer(program, audit, number) == seccomp.ALLOW, number
    assert answer(program, audit, seccomp.LAST + 1) == seccomp.FAIL | errno.ENOSYS
    assert answer(program, audit, seccomp.X32 + 1) == answer(program, audit ^ 1, 1) == seccomp.KILL


@pytest.mark.parametrize("machine", seccomp.MACHINES)
def test_the_filter_looks_at_modes_sockets_and_terminals(machine: str) -> None:
    audit, column = seccomp.MACHINES[machine]
    programs = {network: seccomp.build_filter(machine, network, False) for network in (False, True)}
    refused = seccomp.FAIL | errno.EPERM
    for *numbers, mode, flags in seccomp.MODES.values():
        number = numbers[column]
        if number == seccomp.NONE:
            continue
        args = [0] * 6
        args[mode] = 0o755
        assert answer(programs[False], audit, number, *args) == seccomp.ALLOW
        args[mode] = 0o4755
        assert answer(programs[False], audit, number, *args) == (seccomp.ALLOW if flags != seccomp.NONE else refused)
        args[flags if flags != seccomp.NONE else 5] = 0o101
        assert answer(programs[False], audit, number, *args) == refused
    assert answer(programs[False], audit, seccomp.IOCTL[column], 0, 0x5412) == refused
    assert answer(programs[False], audit, seccomp.IOCTL[column], 0, 0xFF00005412) == refused
    families = {n: [f for f in range(50) if answer(p, audit, seccomp.SOCKET[column], f) == seccomp.ALLOW] for n, p in programs.items()}
    assert families == {False: [1, 2, 10, 16], True: [2, 10, 16]}


def test_an_unknown_machine_gets_no_filter_and_no_sandbox() -> None:
    with pytest.raises(DetentError, match="riscv64"):
        seccomp.build_filter("riscv64", False, False)


# Limits


BOMB = """import os
n = 0
try:
    while n < 400:
        if os.fork() == 0:
            os.read(0, 1) or __import__('signal').pause()
        n += 1
except OSError as e:
    print(n, e.errno, flush=True)
"""


@pytest.mark.needs("groups")
def test_a_fork_bomb_ends_at_the_limit_and_the_host_goes_on(place: Place, inside: Bubblewrap) -> None:
    inside.limits = ProcessLimits(processes=40)
    ran = place.python(inside, BOMB)
    forked, error = map(int, ran.output.split())
    assert forked < 40 and error == errno.EAGAIN and ran.limit == "processes"
    assert subprocess.run(["true"], check=False).returncode == 0
    ran = place.sh(inside, "f() { f | f & }; f; sleep 1", 20)
    assert ran.limit == "processes"
    assert not [folder for at in inside.places for folder in at.folder.glob(f"detent-*-{os.getpid()}-*")], "the groups are gone"
    assert place.sh(inside, "true").limit == ""


def test_a_memory_hog_ends_and_we_do_not(place: Place, inside: Bubblewrap) -> None:
    inside.limits = ProcessLimits(memory=200 << 20)
    ran = place.python(inside, "a = bytearray(400 << 20)\nprint('got it')")
    assert "got it" not in ran.output and ran.exit_code != 0
    assert ran.limit == "memory" or "MemoryError" in ran.output
    assert "got it" in place.python(inside, "a = bytearray(50 << 20)\nprint('got it')").output


def test_what_is_kept_in_memory_has_a_size(place: Place, inside: Bubblewrap) -> None:
    inside.tmp_size = 1 << 20
    script = "for d in /tmp ~ /dev/shm; do head -c 2000000 /dev/zero > $d/x 2>/dev/null || echo full; done"
    assert place.sh(inside, script).output == "full\nfull\nfull\n"


def test_sizes_are_read() -> None:
    assert [size(text) for text in ("7", "512m", "8g", "1K")] == [7, 512 << 20, 8 << 30, 1024]


LOWERED = """import resource, subprocess, sys
from detent.sandbox.sandbox_protocol import ProcessLimits
from detent.sandbox.limits import ControlGroup
resource.setrlimit(resource.RLIMIT_DATA, (3 << 30, 3 << 30))
group = ControlGroup(ProcessLimits(8 << 30), ())
subprocess.run(["sh", "-c", "ulimit -d"], preexec_fn=group.join, check=True)
"""


def test_a_machine_that_allows_less_memory_than_we_would_keeps_its_own_limit() -> None:
    done = subprocess.run([sys.executable, "-c", LOWERED], capture_output=True, text=True)
    assert done.stdout == f"{3 << 20}\n", done.stderr


def test_groups_are_made_where_controllers_are_passed_on(tmp_path: Path) -> None:
    """The files of a unified hierarchy, as plain files: which folder is chosen and what is written there."""
    own = tmp_path / "user.slice" / "app.slice" / "ours.scope"
    own.mkdir(parents=True)
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids\n")
    (tmp_path / "member").write_text("0::/user.slice/app.slice/ours.scope\n")
    for folder, passed in ((own, ""), (own.parent, "cpu memory pids"), (own.parent.parent, "pids")):
        (folder / "cgroup.subtree_control").write_text(passed)
        (folder / "cgroup.procs").touch()
    (found,) = find_places(tmp_path, tmp_path / "member")
    assert found == GroupPlace(own.parent, frozenset({"cpu", "memory", "pids"}), True)
    assert unheld(ProcessLimits(), (found,)) == () and len(unheld(ProcessLimits(), ())) == 3
    mine = f"detent-{os.stat('/proc/self/ns/pid').st_ino}"
    dead, elsewhere = own.parent / f"{mine}-999999999-0", own.parent / "detent-1-999999999-0"
    dead.mkdir()
    elsewhere.mkdir()
    with pytest.raises(FileNotFoundError):  # a plain folder does not get its own cgroup.procs
        ControlGroup(ProcessLimits(1 << 30, 2, 99), (found,))
    assert not dead.exists() and elsewhere.exists(), "a process of another container may have that number, and be alive"
    (made,) = own.parent.glob(f"{mine}-{os.getpid()}-*")
    assert {f.name: f.read_text() for f in made.iterdir()} == {
        "pids.max": "99", "memory.max": str(1 << 30), "memory.oom.group": "1", "cpu.max": "200000 100000"
    }  # fmt: skip


# Sealed rooms


def test_a_sealed_workspace_can_be_read_and_only_what_is_named_in_it_can_be_written(place: Place, inside: Bubblewrap) -> None:
    tried = (
        "cat conf/guarded; touch conf/guarded; echo x > conf/other; rm -r conf; mv sub gone; touch .git absent new; echo fine > sub/mine"
    )
    ran = place.sh(inside, tried, sealed=True, writable=(place.work / "sub",))
    assert ran.output.startswith("as it was") and ran.output.count("Read-only file system") >= 6
    assert {p.relative_to(place.work).as_posix() for p in place.work.rglob("*")} == {"conf", "conf/guarded", "sub", "sub/mine", ".git"}
    assert "Read-only" in place.sh(inside, "touch sub/other", sealed=True).output


def test_a_link_in_a_folder_that_is_seen_leads_to_what_it_means(tmp_path: Path) -> None:
    """As of an environment that several checkouts share: `.venv` is a link there, and the checkout is seen as a whole."""
    checkout, shared, work = (tmp_path / name for name in ("checkout", "shared", "work"))
    for folder in (checkout, shared, work):
        folder.mkdir()
    (checkout / ".venv").symlink_to(shared)
    (alone := tmp_path / "alone").symlink_to(shared)
    seen = enter(Room(work, readable=(checkout, checkout / ".venv", alone)), tmp_path / "home").readable
    assert (shared, shared) in seen and (shared, checkout / ".venv") not in seen, "nothing can be mounted on a link"
    assert (shared, alone) in seen, "where nothing shows the link, its name is made"
