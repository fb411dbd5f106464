"""Sorts jobs that are added together by their dependencies; refuses cycles and duplicates. Pure."""

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter

from detent.errors import DetentError
from detent.queue.queue_protocol import QueueJob


def in_order(jobs: Sequence[QueueJob]) -> list[QueueJob]:
    """The jobs, each after those it needs."""
    by_item: dict[str, QueueJob] = {}
    for job in jobs:
        if job.item and by_item.setdefault(job.item, job) is not job:
            raise DetentError(f"item {job.item} is named twice", "name each item once")
    if len({job.id for job in jobs}) != len(jobs):
        raise DetentError("an execution is named twice", "name each once")
    needs = {job.id: [by_item[item].id for item in job.needs if item in by_item] for job in jobs}
    by_id = {job.id: job for job in jobs}
    try:
        return [by_id[id] for id in TopologicalSorter(needs).static_order()]
    except CycleError as e:
        circle = " → ".join(by_id[id].item or id for id in reversed(e.args[1]))
        raise DetentError(f"these items need each other: {circle}", "remove one of the dependencies: detent items dep") from e
