"""Workers are killed at random while they work: each execution ends once, no process is left, no slot is lost. Few jobs here; 200 with `-m slow`."""

import random
import time

import pytest

from detent.queue.queue_protocol import QueueJob
from tests.patience import LONG
from tests.queues import Rig, rig

__all__ = ["rig"]


def chaos(rig: Rig, jobs: int, workers: int, kills: int, often: float = 0.3, seconds: float = 0.3) -> int:
    """Work off so many jobs, and kill one worker after another meanwhile; how many kills there were."""
    dice = random.Random(jobs)
    rig.queue.add([QueueJob(f"r{n:03}", f"i{n:03}", needs=(f"i{n - 1:03}",) if n % 10 == 9 else ()) for n in range(jobs)])
    rig.queue.add([QueueJob(f"r{n:03}", f"i{n:03}") for n in range(jobs) if n % 10 != 9])  # again: nothing happens
    crew = [rig.work(str(seconds), slots=2, limit=3) for _ in range(workers)]
    killed = 0
    end = time.monotonic() + LONG + jobs * 10
    while set(rig.queue.counts().values()) != {0}:
        assert time.monotonic() < end, rig.states()
        at_work = [w for w in crew if set(w.kinds("started")) - set(w.kinds("ended"))]
        if killed < kills and at_work and dice.random() < often:
            victim = dice.choice(at_work)
            victim.kill()
            killed += 1
            crew[crew.index(victim)] = rig.work(str(seconds), slots=2, limit=3)
        time.sleep(0.2)
    return killed


def is_whole(rig: Rig, jobs: int, killed: int) -> None:
    """What must be true after all that."""
    ids = [f"r{n:03}" for n in range(jobs)]
    assert killed > 0
    assert rig.states() == dict.fromkeys(ids, "done")
    assert sorted(rig.noted("ends")) == ids, "each ended once"
    assert rig.noted("overlaps") == [], "and never ran twice at a time"
    assert all(len(rig.noted(f"{id}.steps")) == 3 for id in ids), "and went on from its last step"
    assert len(rig.noted("starts")) <= jobs + 3 * killed, "and only what was killed was started again"
    rig.until(lambda: not rig.queue.engine.holders(), "no slot is held")
    assert rig.alive() == []


@pytest.mark.slow
@pytest.mark.parametrize("rig", ["postgres"], indirect=True)
def test_two_workers_on_postgresql_that_are_killed_at_random_lose_and_double_nothing(rig: Rig) -> None:
    is_whole(rig, 10, chaos(rig, 10, workers=2, kills=2))


@pytest.mark.slow
def test_one_worker_on_the_embedded_queue_that_is_killed_again_and_again_loses_and_doubles_nothing(rig: Rig) -> None:
    is_whole(rig, 8, chaos(rig, 8, workers=1, kills=2))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("rig", "workers"), [("postgres", 2), ("sqlite", 1)], indirect=["rig"])
def test_two_hundred_executions_and_many_kills_lose_and_double_nothing(rig: Rig, workers: int) -> None:
    killed = chaos(rig, 200, workers, kills=30, often=0.1)
    assert killed > 10
    is_whole(rig, 200, killed)
