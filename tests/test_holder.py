"""Who holds something: a process of this very machine since its last start is looked at; of any other only what it promised counts."""

import msgspec
import pytest
from msgspec.structs import replace

from detent.journal.holder import Holder, is_alive, is_here, this_process
from detent.queue.lease import Leases
from detent.queue.queue_protocol import Pace
from tests.queues import BOTH, Rig, rig

__all__ = ["rig"]


@pytest.mark.parametrize("other", [{"machine": "a-copy-of-this-one"}, {"space": "pid:[1]"}, {"host": "elsewhere"}])
def test_a_process_that_cannot_be_seen_from_here_counts_as_alive(other: dict[str, str]) -> None:
    away = replace(this_process("then", "work"), pid=1, start="1", **other)
    assert is_alive(away) and not is_here(away)


def test_a_holder_that_was_written_before_machines_were_told_apart_can_be_read() -> None:
    me = this_process("then", "work")
    old = {"pid": me.pid, "start": me.start, "boot": me.boot, "host": me.host, "since": "then", "doing": "work"}
    assert is_here(read := msgspec.json.decode(msgspec.json.encode(old), type=Holder)) and is_alive(read)


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
