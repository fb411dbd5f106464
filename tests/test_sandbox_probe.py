"""The probe finds nothing in the sandbox, and finds the holes of sandboxes that were weakened on purpose: it can fail."""

import contextlib
import os
import signal
import socket
import struct
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from detent.sandbox import Room, Sandbox, attacks, choose, seccomp
from detent.sandbox.bubblewrap import Bubblewrap
from detent.sandbox.process import Ran, run
from detent.sandbox.sandbox_probe import SENTENCES, probe
from detent.sandbox.sandbox_protocol import DEVNULL, always
from tests.rooms import Place, isolated


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Place(tmp_path)


@pytest.fixture
def inside(place: Place) -> Bubblewrap:
    return isolated(place.outer)


class Weak:
    """Bubblewrap with the words of somebody who did not know better, and an open file that is passed on."""

    name = "weak"

    def __init__(self, bwrap: Path, *words: str) -> None:
        self.bwrap, self.words = bwrap, words

    def run(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        room: Room,
        wanted: Callable[[], bool] = always,
        stdin: Path = DEVNULL,
        stderr: int = subprocess.STDOUT,
        watch: Callable[[bytes], None] | None = None,
    ) -> Ran:
        work = str(room.workspace)
        command = [str(self.bwrap), *self.words, "--bind", work, work, "--chdir", str(cwd), "--", *argv]
        with open(os.devnull, "rb") as leak:
            return run(command, cwd, env, timeout, wanted, stdin, stderr, watch, (leak.fileno(),))


class Careless:
    """Whoever starts programs without looking after what they leave."""

    name = "careless"

    def run(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        room: Room,
        wanted: Callable[[], bool] = always,
        stdin: Path = DEVNULL,
        stderr: int = subprocess.STDOUT,
        watch: Callable[[bytes], None] | None = None,
    ) -> Ran:
        words = ["unshare", "--user", "--mount", "--map-root-user", *argv]  # its own mounts, so that no attack touches the host's
        with stdin.open("rb") as source, open(cwd / "output", "wb") as out:
            code = subprocess.run(words, cwd=cwd, env=dict(env), stdin=source, stdout=out, timeout=timeout, check=False).returncode
        return Ran(code, (cwd / "output").read_text(), 0, "", 0)


class Unguarded:
    """The sandbox itself, but it forgets what is guarded."""

    name = "unguarded"

    def __init__(self, sandbox: Bubblewrap) -> None:
        self.sandbox = sandbox

    def run(
        self,
        argv: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
        room: Room,
        wanted: Callable[[], bool] = always,
        stdin: Path = DEVNULL,
        stderr: int = subprocess.STDOUT,
        watch: Callable[[bytes], None] | None = None,
    ) -> Ran:
        return self.sandbox.run(argv, cwd, env, timeout, room._replace(guarded=()), wanted, stdin, stderr, watch)


@pytest.mark.sample(1)
@pytest.mark.parametrize("network", [False, True])
def test_nothing_gets_through_and_it_costs_once(place: Place, inside: Bubblewrap, network: bool) -> None:
    assert probe(inside, place.outer, network) == ()
    inside.filters = dict.fromkeys(inside.filters, EVERYTHING)
    assert probe(inside, place.outer, network) == (), "what held is remembered"
    (place.home.parent / "state" / "detent" / "probe.json").write_text("not JSON")
    assert probe(inside, place.outer, network) != (), "a memory that cannot be read is none"
    assert probe(inside, place.outer, network) != (), "what did not hold is tried again"


def test_a_changed_program_is_tried_again(place: Place, inside: Bubblewrap) -> None:
    assert probe(inside, place.outer) == ()
    broken = place.outside / "bwrap"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    inside.program = broken
    (sentence,) = probe(inside, place.outer)
    assert sentence.startswith("the probe could not look: the sandbox broke")


def test_no_isolation_does_not_hold(place: Place) -> None:
    assert probe(choose("none", place.outer), place.outer) == ("programs are not isolated at all",)


# What a sandbox is missing, and what the probe says of it.

Weaken = Callable[[Bubblewrap], Sandbox]


def without_filter(sandbox: Bubblewrap) -> Sandbox:
    sandbox.filters = dict.fromkeys(sandbox.filters, EVERYTHING)
    return sandbox


def without_filter_and(*words: str) -> Weaken:
    def weaken(sandbox: Bubblewrap) -> Sandbox:
        sandbox.boundary = tuple(word for word in sandbox.boundary if word not in words)
        return without_filter(sandbox)

    return weaken


def with_the_hosts_network(sandbox: Bubblewrap) -> Sandbox:
    sandbox.boundary = (*sandbox.boundary, "--share-net")
    return sandbox


def weak(*words: str) -> Weaken:
    return lambda sandbox: Weak(sandbox.program, *words)


EVERYTHING = struct.pack("<HBBI", seccomp.RET, 0, 0, seccomp.ALLOW)
FILTERED = {"calls_the_kernel", "traces", "makes_set_user_id", "opens_vsock"}
GUARDED = {"writes_guarded", "makes_absent", "moves_guarded"}
OPEN = {"reads_outside", "sees_the_home", "sees_sockets", "connects_to_a_socket", "inherits_files"} | FILTERED | GUARDED
AS_ROOT = {"remounts_for_writing", "writes_outside", "writes_core_pattern", "mounts", "has_rights", "makes_a_namespace", "opens_sysrq"}
HOLES: dict[str, tuple[Weaken, set[str], set[str]]] = {
    "all read-only, all unshared": (weak("--ro-bind", "/", "/", "--unshare-all"), OPEN, AS_ROOT),
    "nothing unshared": (weak("--ro-bind", "/", "/", "--setenv", "LEAK", "1"), {"shares_a_namespace", "connects_to_the_host", "sees_the_environment"}, set()),
    "the machine's devices": (weak("--ro-bind", "/", "/", "--dev", "/dev"), set(), {"changes_a_device"}),
    "no filter": (without_filter, FILTERED, set()),
    "no filter, namespaces can be made": (without_filter_and("--disable-userns"), {"makes_a_namespace"}, set()),
    "no guards": (Unguarded, GUARDED, set()),
    "the host's network": (with_the_hosts_network, {"connects_to_the_host", "connects_to_a_socket", "shares_a_namespace"}, set()),
}  # fmt: skip
NEVER_HERE = {"opens_a_terminal", "dumps_core", "lives_on"}  # no terminal, no process of ours may dump, and what lives on has its own test


@pytest.mark.sample(3)
@pytest.mark.parametrize("hole", HOLES)
def test_a_hole_is_found(place: Place, inside: Bubblewrap, hole: str) -> None:
    weaken, names, names_as_root = HOLES[hole]
    with socket.socket(socket.AF_UNIX) as agent:
        agent.bind(path := f"/tmp/detent-test-{os.urandom(6).hex()}")
        found = probe(weaken(inside), {**place.outer, "SSH_AUTH_SOCK": path})
        os.unlink(path)
    missed = {SENTENCES[name] for name in (names | names_as_root if os.getuid() == 0 else names)} - set(found)
    assert not missed, found


def test_a_process_that_lives_on_is_found(place: Place, inside: Bubblewrap) -> None:
    try:
        assert SENTENCES["lives_on"] in probe(Careless(), place.outer)
    finally:
        orphans = [int(pid) for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split()]
        for pid in orphans:  # they are ours, since this process has run a program before
            with contextlib.suppress(OSError):
                if b"attacks.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)


def test_every_attack_has_its_sentence_and_has_been_seen_getting_through() -> None:
    assert [attack.__name__ for attack in attacks.ATTACKS if attack.__name__ not in SENTENCES] == []
    assert {name for _, names, as_root in HOLES.values() for name in names | as_root} == set(SENTENCES) - NEVER_HERE
