"""Several children of one run, driven at once: a thread for each, as many as are allowed. Owns the threads and nothing else.

Whoever asks gets control back as soon as one child has ended, so that its parent can go on; the others stay at work meanwhile.
"""

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Event

from detent.kernel.model import Briefing

LOOK = 1.0  # seconds after which it is looked whether a person has answered a child that waits


class Together:
    """The children of a run that are at work in this process."""

    def __init__(self, most: int, work: Callable[[str, Callable[[], bool]], Briefing], now: Callable[[str], str]) -> None:
        self.work, self.now = work, now
        self.stopping = Event()
        self.pool = ThreadPoolExecutor(most, "task")
        self.busy: dict[Future[Briefing], str] = {}
        self.waiting: dict[str, Briefing] = {}

    def work_on(self, children: tuple[str, ...]) -> Briefing | None:
        """Have these children worked on; None once one of them has ended, else the briefing of one that waits when all of them do."""
        while True:
            for child in children:
                self._begin(child)
            if not self.busy:
                return next(self.waiting[child] for child in children)
            done, _ = wait(self.busy, LOOK, FIRST_COMPLETED)
            ended = [self._came(future) for future in done]
            if any(ended):
                return None

    def _begin(self, child: str) -> None:
        """Start a thread for a child that has none, unless it waits where it waited before."""
        waits = self.waiting.get(child)
        if child in self.busy.values() or (waits is not None and self.now(child) == waits.attempt_id):
            return
        self.waiting.pop(child, None)
        self.busy[self.pool.submit(self.work, child, self.stopping.is_set)] = child

    def _came(self, future: "Future[Briefing]") -> bool:
        """A thread is through; whether its child has ended."""
        child = self.busy.pop(future)
        briefing = future.result()
        if briefing.actor != "none":
            self.waiting[child] = briefing
        return briefing.actor == "none"

    def close(self) -> None:
        """End what runs, and wait for it. What was not judged is marked nowhere."""
        self.stopping.set()
        self.pool.shutdown(wait=True, cancel_futures=True)
