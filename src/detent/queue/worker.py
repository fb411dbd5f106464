"""A worker: takes executions from the engine, and runs one program for each until it ends, is wanted no more, or the worker leaves.

Knows the engine's runtime and nothing of what a program does. The engine's own event loop lives as long as the process: a loop that
closes would take the engine's threads with it, and what was claimed next would stay claimed by a worker that never runs it.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NoReturn

import sqlalchemy as sa

from detent.errors import DetentError, JournalAway
from detent.journal.holder import this_process
from detent.queue.database import Unreachable
from detent.queue.engine import FORM, NAME, QUEUE, WORKFLOW, DurableQueue, serializer
from detent.queue.lease import Fence, Leases, end_this_process
from detent.queue.output import ExecutionOutput
from detent.queue.queue_protocol import Pace, WorkerEvent, WorkerTask
from detent.queue.recovery import RECOVERY
from detent.sandbox.process import Ran, run
from detent.sandbox.warden import command

ASK_AGAIN = 0.5  # seconds between two questions to a database that does not answer
AGAIN_AFTER = 5.0  # seconds until an execution that has not ended is taken up once more
LAST_WORDS = 300  # characters of what a program wrote last that are told of one that had to be ended
LOST_LOOKS = 4  # beats in which the engine says that we hold what we do not run
TIDY_EVERY, TEND_EVERY = 60, 6  # beats
LAST_WRITES = 10.0  # seconds for the engine to write down what ended here, before a worker that leaves is gone


class Running:
    """An execution at work here."""

    def __init__(self, keep: Callable[[str], bool]) -> None:
        self.output, self.stop, self.begun = ExecutionOutput(keep), threading.Event(), time.monotonic()


class LocalWorker:
    """One worker in this process. There can only be one: the engine's runtime is one per process."""

    def __init__(
        self,
        queue: DurableQueue,
        task: WorkerTask,
        slots: int,
        pace: Pace,
        see: Callable[[WorkerEvent], None],
        end: Callable[[str], None] = end_this_process,
    ) -> None:
        self.queue, self.task, self.slots, self.pace, self.see = queue, task, slots, pace, see
        holder = this_process("", "work")
        self.id = f"{holder.host}-{holder.pid}-{os.urandom(4).hex()}"  # never used again: a restart is another worker
        self.leases = Leases(queue.database, self.id, holder, slots, pace)
        self.fence = Fence(pace, end)
        self.running: dict[str, Running] = {}
        self.leaving = threading.Event()
        self._pool = ThreadPoolExecutor(max_workers=2 * slots + 2, thread_name_prefix="execution")
        self._lost: dict[str, int] = {}
        self._over: set[str] = set()  # tickets whose turn has ended here, and of which the engine may not know it yet
        self._beats = 0

    # -- coming and going --------------------------------------------------------------------------------------------------------

    def start(self, limit: int) -> None:
        """Begin to work. `limit` is how much may run at once over all workers."""
        self.leases.renew()
        now = self.queue.store.limit(limit)
        self.queue.engine.client.register_queue(QUEUE, global_concurrency=now, polling_interval_sec=self.pace.poll, application_name=NAME)
        self._launch()
        self.fence.start()
        for work, name in ((self._renew, "lease"), (self.beat, "beat"), (self.ask_again, "away")):
            threading.Thread(target=self._forever, args=(work,), name=name, daemon=True).start()

    def _launch(self) -> None:
        from dbos import DBOS

        for name in ("DBOS__CLOUD", "DBOS__VMID", "DBOS__APPVERSION"):
            os.environ.pop(name, None)
        config: Any = {
            "name": NAME,
            "system_database_url": self.queue.database.url,
            "system_database_engine": self.queue.database.engine,
            "application_version": FORM,
            "executor_id": self.id,
            "serializer": serializer(),
            "run_migrations": False,
            "log_level": "ERROR",
        }
        dbos = DBOS(config=config)
        register(self)
        DBOS.listen_queues([])  # to nothing, until it knows how many slots this worker has
        DBOS.launch()
        own_slots(dbos._sys_db, lambda: 0 if self.leaving.is_set() else self.slots)
        self._take_over_the_dead()  # what they held comes before its equals, also for the slots of a worker that just came
        dbos._listening_queues = [QUEUE]

    def leave(self) -> None:
        """End every program here and give back what they were for. Nothing is lost: each goes on from its journal."""
        self.leaving.set()
        self.see(WorkerEvent("leaving"))
        for each in list(self.running.values()):
            each.stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self.fence.disarm()
        with suppress(Unreachable, sa.exc.SQLAlchemyError):
            self._let_the_engine_write()
            self.queue.store.hand_back([self.id], [self.id])
            self.leases.give_up([self.id])

    def _let_the_engine_write(self) -> None:
        """Our tables know what has ended here. The engine writes it down in threads that go with this process, so they are waited for."""
        until = time.monotonic() + LAST_WRITES
        while self._over & set(self.queue.engine.holders()) and time.monotonic() < until:
            time.sleep(0.05)

    # -- the lease ---------------------------------------------------------------------------------------------------------------

    def _forever(self, work: Callable[[], None]) -> None:
        while not self.leaving.wait(self.pace.beat):
            with suppress(DetentError, sa.exc.SQLAlchemyError):  # tried again at the next beat; the fence watches that it is not too late
                work()

    def _renew(self) -> None:
        """Say that we live. In a thread of its own, and without the lock under which jobs change: nobody else's work makes it wait."""
        asked = time.monotonic()
        self.leases.renew()
        self.fence.renewed(asked)

    def beat(self) -> None:
        """Take over from those who do not live, and see to it that the engine and our tables agree."""
        held = self._take_over_the_dead()
        self._know_what_is_held({ticket for ticket, worker in held.items() if worker == self.id})
        for id in self.queue.store.unwanted(self.id):
            if id in self.running:
                self.running[id].stop.set()
        self.queue.put_right(self.id, set(self.running))
        self.queue.engine.limit(self.queue.store.limit(0))
        self._beats += 1
        if self._beats % TEND_EVERY == 1:
            self.task.tend()
        if self._beats % TIDY_EVERY == 1:
            self.queue.engine.forget()
            self.queue.store.prune()

    def _take_over_the_dead(self) -> dict[str, str]:
        """Free what workers hold that do not live; who held which ticket before."""
        held = self.queue.engine.holders()  # before the leases are read
        if dead := self.leases.dead(set(held.values())):
            self._take_over(dead)
        return held

    def ask_again(self) -> None:
        """Ask what is away whether it is there again, each at its time. What waited for it is handed over at once then."""
        now = self.queue.board.now()
        for outage in (each for each in self.queue.away() if each.until <= now and RECOVERY[each.thing].holds):
            if self.task.back(outage.thing):
                self.queue.wake(outage.thing)
                self.see(WorkerEvent("back", text=outage.thing))
            else:
                self.queue.store.meet_outage(outage.thing, outage.said)

    def _take_over(self, dead: list[str]) -> None:
        from dbos import DBOS

        for id in self.queue.store.hand_back(dead, self.leases.excused):
            self.see(WorkerEvent("taken-up", id, "its worker is gone"))
        DBOS._recover_pending_workflows(dead)
        self.leases.give_up(dead)

    def _know_what_is_held(self, tickets: set[str]) -> None:
        """The engine may believe that we run something that we never got. Nobody else takes it then, so this worker must go."""
        self._over -= self._over - tickets
        mine = {ticket for ticket in tickets if ticket.partition("~")[0] not in self.running}
        self._lost = {ticket: self._lost.get(ticket, 0) + 1 for ticket in mine}
        if lost := [ticket for ticket, looks in self._lost.items() if looks >= LOST_LOOKS]:
            end_this_process(f"the engine says that it holds {lost[0]}, which it does not run")

    # -- one execution -----------------------------------------------------------------------------------------------------------

    async def hold(self, id: str, attempt: int, ticket: str) -> str:
        """Hold an execution: run its program to the end and keep how it ended. Before that there must be room for it here."""
        if full := await self._call(self.task.room, len(self.running)):
            await self._call(self._hold_back, full)
        if not await self._call(self._begin, id, attempt, ticket):
            return "nothing to do"
        here = self.running[id] = Running(lambda text: self._keep(id, attempt, text))
        self.see(WorkerEvent("started", id))
        program = asyncio.get_running_loop().run_in_executor(self._pool, self._run, id, here)
        try:
            ran = await asyncio.shield(program)
        except asyncio.CancelledError:
            here.stop.set()
            await asyncio.wait({program})
            raise
        finally:
            if program.done():
                await self._left(id, here)
        return str(await self._call(self._finish, id, attempt, ticket, here, ran))

    def _begin(self, id: str, attempt: int, ticket: str) -> bool:
        if self.queue.store.begin(id, attempt, ticket, self.id):
            return True
        self._over.add(ticket)
        return False

    def _keep(self, id: str, attempt: int, text: str) -> bool:
        """Keep some output; False if that cannot be done now."""
        try:
            self.queue.store.write(id, attempt, text)
        except (Unreachable, sa.exc.SQLAlchemyError):
            return False
        return True

    def _hold_back(self, why: str) -> None:
        self.queue.store.meet_outage("disk", why)
        self.queue.engine.limit(0)
        self.see(WorkerEvent("away", text=why))

    async def _left(self, id: str, here: Running) -> None:
        self.running.pop(id, None)
        if here.stop.is_set() and not self.leaving.is_set():
            await self._call(self.queue.store.let_go, id, self.id)
            self.see(WorkerEvent("ended", id, "cancelled"))

    async def _nothing(self) -> NoReturn:
        """This worker leaves: the engine must not hear that the execution came to an end."""
        while True:
            await asyncio.Event().wait()

    async def _call(self, work: Callable[..., Any], *args: Any) -> Any:
        """Say something to the database. While it does not answer it is asked again, until the fence says that it is too late."""
        while not self.leaving.is_set():
            try:
                return await asyncio.get_running_loop().run_in_executor(self._pool, work, *args)
            except (Unreachable, JournalAway, sa.exc.SQLAlchemyError):
                await asyncio.sleep(ASK_AGAIN)
            except RuntimeError:
                if not self.leaving.is_set():  # else the threads are gone, and so are we
                    raise
        return await self._nothing()

    def _run(self, id: str, here: Running) -> Ran:
        """Run the program under a warden, which ends all of it if this worker is killed. The kernel tells it of the death of the thread
        that started it, so that thread waits for its end."""
        child = self.task.child(id)

        def wanted() -> bool:
            if here.output.silent() > 1:
                here.output.flush()
            return not here.stop.is_set() and here.output.silent() <= self.task.silence

        def watch(chunk: bytes) -> None:
            here.output.feed(chunk)
            self.see(WorkerEvent("output", id, here.output.last))

        try:
            return run(command(child.argv), child.cwd, child.env, self.task.timeout, wanted, watch=watch)
        finally:
            here.output.flush()

    def _finish(self, id: str, attempt: int, ticket: str, here: Running, ran: Ran) -> str:
        outcome = self.task.judge(id, ran.exit_code, here.output.last)
        if outcome.state in ("failed", "again") and not outcome.cause and (why := self._ended_by_us(here, ran)):
            outcome = outcome._replace(state="failed", reason=why)
        kept = self.queue.store.finish(id, attempt, self.id, outcome, ran.exit_code, AGAIN_AFTER)
        self._over.add(ticket)
        if not kept:
            return "another has it"
        self.see(WorkerEvent("ended", id, f"{outcome.state}: {outcome.reason}".removesuffix(": ")))
        if outcome.cause:
            self.queue.engine.limit(self.queue.store.limit(0))
            self.see(WorkerEvent("away", text=outcome.reason))
        if (pause := self.queue.paused()).reason:
            self.queue.engine.limit(0)
            self.see(WorkerEvent("paused", text=pause.reason))
        return outcome.state

    def _ended_by_us(self, here: Running, ran: Ran) -> str:
        if ran.timed_out:
            return f"it took more than {self.task.timeout:.0f} s and was stopped{_tail(here)}"
        if ran.stopped and not here.stop.is_set():
            return f"it wrote nothing for more than {self.task.silence:.0f} s and was stopped{_tail(here)}"
        return ""


def _tail(here: Running) -> str:
    """What the program wrote last, in a line."""
    said = " ".join(here.output.tail.split())[-LAST_WORDS:]
    return f"; it last wrote: {said}" if said else ""


def register(worker: LocalWorker) -> None:
    """Tell the engine what to run: one workflow of one step, which can be preempted and holds one execution."""
    from dbos import DBOS

    @DBOS.step(name="hold", preemptible=True)
    async def hold(id: str, attempt: int, ticket: str) -> str:
        return await worker.hold(id, attempt, ticket)

    @DBOS.workflow(name=WORKFLOW)
    async def execute(id: str, attempt: int, ticket: str) -> str:
        return await hold(id, attempt, ticket)


def own_slots(system: Any, slots: Callable[[], int]) -> None:
    """Give this worker slots of its own: the engine keeps one number for all workers, and reads it again at each look."""
    read = system.get_queue

    def get_queue(name: str, **more: Any) -> Any:
        queue = read(name, **more)
        if queue is not None and name == QUEUE:
            queue._worker_concurrency = slots()
        return queue

    system.get_queue = get_queue
