"""Who holds something: a process of this very machine since its last start is looked at; of any other only what it promised counts."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from detent.journal.holder import Holder, _read_or_empty, is_alive, is_here, this_process
from detent.queue.lease import Leases
from detent.queue.queue_protocol import Pace
from tests.queues import BOTH, Rig, rig
from tests.test_other_machines import NOBODY, hidden

__all__ = ["rig"]


@pytest.mark.parametrize("other", [{"machine": "a-copy-of-this-one"}, {"space": "pid:[1]"}, {"host": "elsewhere"}])
def test_a_process_that_cannot_be_seen_from_here_counts_as_alive(other: dict[str, str]) -> None:
    away = replace(this_process("then", "work"), pid=1, start="1", **other)
    assert is_alive(away) and not is_here(away)


def test_a_holder_that_was_written_before_machines_were_told_apart_can_be_read() -> None:
    me = this_process("then", "work")
    old = {"pid": me.pid, "start": me.start, "boot": me.boot, "host": me.host, "since": "then", "doing": "work"}
    assert is_here(read := msgspec.json.decode(msgspec.json.encode(old), type=Holder)) and is_alive(read)


def test_what_a_machine_does_not_say_of_itself_is_empty_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "id").write_text("4fe1\n")
    (tmp_path / "broken").write_bytes(b"\xff\xfe")
    assert _read_or_empty((tmp_path / "id").read_text) == "4fe1"
    assert _read_or_empty((tmp_path / "none").read_text) == "", "there is no such file"
    assert _read_or_empty(tmp_path.read_text) == "", "it cannot be read"
    assert _read_or_empty((tmp_path / "broken").read_text) == "", "it is no text"
    assert _read_or_empty(lambda: os.readlink(tmp_path / "id")) == "", "it is no link"


@contextmanager
def without_rights_over_others() -> Iterator[None]:
    """As a user who may not signal the processes of root, even where the tests run as root."""
    mine = os.getresuid()
    if 0 in mine:
        os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(*mine)


def test_where_no_start_time_is_told_a_process_lives_as_long_as_its_number_does(monkeypatch: pytest.MonkeyPatch) -> None:
    with hidden(monkeypatch, "proc"):
        me = this_process("then", "work")
        assert me.start == "" and is_alive(me)
        with subprocess.Popen(["true"]) as ended:
            ended.wait()
        assert not is_alive(replace(me, pid=ended.pid))
        with without_rights_over_others():
            assert is_alive(replace(me, pid=1)), "another user's process is there too"


@pytest.mark.needs("proc")  # it has when a process began
@BOTH
def test_of_a_worker_that_cannot_be_seen_from_here_only_the_lease_counts(rig: Rig) -> None:
    me, shared = this_process("then", "work"), bool(rig.url)
    workers = {
        "a number that was used again": replace(me, start="1"),
        "before the last start": replace(me, boot="another-boot"),
        "a container of the same name": replace(me, pid=1, start="1", space="pid:[1]"),
        "a copy of this machine": replace(me, start="1", boot="another-boot", machine="a-copy"),
    }
    for id, holder in workers.items():
        Leases(rig.queue.database, id, holder, 1, Pace()).renew()
    leases = Leases(rig.queue.database, "me", me, 1, Pace())
    gone = ["a number that was used again", *([] if shared else ["before the last start"])]
    assert leases.dead(set()) == gone, "a queue that machines share cannot tell a restart from a copy; an embedded one has one machine"
    for id, holder in workers.items():
        Leases(rig.queue.database, id, holder, 1, Pace(lease=-1)).renew()
    leases.dead(set())
    assert leases.dead(set()) == sorted(workers), "a lease that ended, and was seen so twice"
