"""A worker: takes executions from the engine, and runs one program for each until it ends, is cancelled, or the worker leaves.

Knows the engine's runtime and nothing of what a program does. The engine's event loop must live as long as the process: closing it
would end the engine's threads, and an execution claimed after that would never run.
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

ASK_AGAIN = 0.5  # seconds between retries of an unavailable database
AGAIN_AFTER = 5.0  # seconds until an execution that has not ended is started again
LAST_WORDS = 300  # characters of the last output that are reported for a stopped program
LOST_LOOKS = 4  # beats in which the engine has us holding a ticket that we do not run
TIDY_EVERY, TEND_EVERY = 60, 6  # beats
LAST_WRITES = 10.0  # seconds for the engine to record what ended here, before a leaving worker exits


class Running:
    """An execution that runs on this worker."""

    def __init__(self, keep: Callable[[str], bool]) -> None:
        self.output, self.stop, self.begun = ExecutionOutput(keep), threading.Event(), time.monotonic()


class LocalWorker:
    """The worker of this process. Only one is possible, since the engine's runtime is a singleton."""

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
        self.id = f"{holder.host}-{holder.pid}-{os.urandom(4).hex()}"  # unique: a restart is another worker
        self.leases = Leases(queue.database, self.id, holder, slots, pace)
        self.fence = Fence(pace, end)
        self.running: dict[str, Running] = {}
        self.leaving = threading.Event()
        self._pool = ThreadPoolExecutor(max_workers=2 * slots + 2, thread_name_prefix="execution")
        self._lost: dict[str, int] = {}
        self._over: set[str] = set()  # tickets that ended here and that the engine may not have recorded yet
        self._beats = 0

    # -- start and stop ----------------------------------------------------------------------------------------------------------

    def start(self, limit: int) -> None:
        """Start working. `limit`: how many executions may run at once over all workers."""
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
        DBOS.listen_queues([])  # none, until it knows this worker's slots
        DBOS.launch()
        own_slots(dbos._sys_db, lambda: 0 if self.leaving.is_set() else self.slots)
        self._take_over_the_dead()  # first, so that their executions are dequeued before others
        dbos._listening_queues = [QUEUE]

    def leave(self) -> None:
        """Stop all programs and free their executions, which continue from their journals."""
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
        """Wait until the engine has recorded what ended here, since its threads end with this process."""
        until = time.monotonic() + LAST_WRITES
        while self._over & set(self.queue.engine.holders()) and time.monotonic() < until:
            time.sleep(0.05)

    # -- the lease ---------------------------------------------------------------------------------------------------------------

    def _forever(self, work: Callable[[], None]) -> None:
        while not self.leaving.wait(self.pace.beat):
            with suppress(DetentError, sa.exc.SQLAlchemyError):  # retried at the next beat; the fence limits how long
                work()

    def _renew(self) -> None:
        """Renew the lease. Runs in its own thread and without the lock on jobs, so that nothing delays it."""
        asked = time.monotonic()
        self.leases.renew()
        self.fence.renewed(asked)

    def beat(self) -> None:
        """Take over from dead workers, stop cancelled executions, and make the engine and our tables agree."""
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
        """Free the executions of dead workers; returns ticket -> worker as it was before."""
        held = self.queue.engine.holders()  # before the leases are read
        if dead := self.leases.dead(set(held.values())):
            self._take_over(dead)
        return held

    def ask_again(self) -> None:
        """Check outages whose retry is due; if one is over, enqueue what waited for it."""
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
        """End this worker if the engine keeps saying that it holds a ticket that it never got: no other worker would take it."""
        self._over -= self._over - tickets
        mine = {ticket for ticket in tickets if ticket.partition("~")[0] not in self.running}
        self._lost = {ticket: self._lost.get(ticket, 0) + 1 for ticket in mine}
        if lost := [ticket for ticket, looks in self._lost.items() if looks >= LOST_LOOKS]:
            end_this_process(f"the engine says that it holds {lost[0]}, which it does not run")

    # -- one execution -----------------------------------------------------------------------------------------------------------

    async def hold(self, id: str, attempt: int, ticket: str) -> str:
        """The engine's step: run an execution's program to its end and store how it ended. Without room here, it reports a disk outage instead."""
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
        """Store some output; False if the database is unavailable."""
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
        """Never return, so that the engine of a leaving worker does not record an end."""
        while True:
            await asyncio.Event().wait()

    async def _call(self, work: Callable[..., Any], *args: Any) -> Any:
        """Call the database in a thread, retrying while it is unavailable, until the fence ends this process."""
        while not self.leaving.is_set():
            try:
                return await asyncio.get_running_loop().run_in_executor(self._pool, work, *args)
            except (Unreachable, JournalAway, sa.exc.SQLAlchemyError):
                await asyncio.sleep(ASK_AGAIN)
            except RuntimeError:
                if not self.leaving.is_set():  # else the pool is shut down, and we are leaving
                    raise
        return await self._nothing()

    def _run(self, id: str, here: Running) -> Ran:
        """Run the program under a warden process, which ends all of it if this worker is killed. The kernel signals the warden when the
        thread that started it dies, so that thread waits for the end."""
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
    """The last output of the program, on one line."""
    output = " ".join(here.output.tail.split())[-LAST_WORDS:]
    return f"; it last wrote: {output}" if output else ""


def register(worker: LocalWorker) -> None:
    """Register the engine's workflow: one preemptible step that holds one execution."""
    from dbos import DBOS

    @DBOS.step(name="hold", preemptible=True)
    async def hold(id: str, attempt: int, ticket: str) -> str:
        return await worker.hold(id, attempt, ticket)

    @DBOS.workflow(name=WORKFLOW)
    async def execute(id: str, attempt: int, ticket: str) -> str:
        return await hold(id, attempt, ticket)


def own_slots(system: Any, slots: Callable[[], int]) -> None:
    """Patch the engine so that this worker has its own number of slots; the engine stores one number for all workers."""
    read = system.get_queue

    def get_queue(name: str, **more: Any) -> Any:
        queue = read(name, **more)
        if queue is not None and name == QUEUE:
            queue._worker_concurrency = slots()
        return queue

    system.get_queue = get_queue
