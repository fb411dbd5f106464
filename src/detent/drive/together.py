"""Drives several children of a run in parallel, up to a limit, with a thread for each. Owns only the threads.

Control returns as soon as one child has ended, so that its parent can move; the others continue meanwhile.
"""

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Event

from detent.kernel.model import Briefing

LOOK = 1.0  # seconds between checks whether a person has answered a waiting child


class Together:
    """The children of a run that this process drives."""

    def __init__(self, most: int, work: Callable[[str, Callable[[], bool]], Briefing], now: Callable[[str], str]) -> None:
        self.work, self.now = work, now
        self.stopping = Event()
        self.pool = ThreadPoolExecutor(most, "task")
        self.busy: dict[Future[Briefing], str] = {}
        self.waiting: dict[str, Briefing] = {}

    def work_on(self, children: tuple[str, ...]) -> Briefing | None:
        """Drive these children; None once one has ended, or the briefing of one when all wait for a person."""
        while True:
            for child in children:
                self._begin(child)
            if not self.busy:
                return next(self.waiting[child] for child in children)
            done, _ = wait(self.busy, LOOK, FIRST_COMPLETED)
            ended = [self._take_result(future) for future in done]
            if any(ended):
                return None

    def _begin(self, child: str) -> None:
        """Start a thread for a child that has none, unless it still waits at the same event."""
        waits = self.waiting.get(child)
        if child in self.busy.values() or (waits is not None and self.now(child) == waits.attempt_id):
            return
        self.waiting.pop(child, None)
        self.busy[self.pool.submit(self.work, child, self.stopping.is_set)] = child

    def _take_result(self, future: "Future[Briefing]") -> bool:
        """Take the result of a finished thread; whether its child has ended."""
        child = self.busy.pop(future)
        briefing = future.result()
        if briefing.actor != "none":
            self.waiting[child] = briefing
        return briefing.actor == "none"

    def close(self) -> None:
        """Stop all threads, and wait for them. Work that was not judged is not recorded."""
        self.stopping.set()
        self.pool.shutdown(wait=True, cancel_futures=True)
