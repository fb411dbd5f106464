"""The door: `next` and `submit`, the only way in which any run changes.

Claim, settle owed effects, find the row, snapshot, judge (takes minutes, outside any transaction), decide (pure), append by
compare-and-swap. Knows only this order; the steps themselves are handed in.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import msgspec

from detent.errors import Busy, CannotTell, DetentError, Moved, NotYet, Unwanted
from detent.journal.holder import Holder
from detent.journal.journal import Journal, RunClaim
from detent.journal.journal_rows import from_entry, to_entry
from detent.kernel.decide import FLAGS, decide, is_worn, machine_flags, refusal, verdict_of
from detent.kernel.model import Briefing, Event, Found, Run, Sent, Verdict
from detent.kernel.table import Child, Row, Table

DUE = Sent("due", by="system")
MOST_MOVES = 200  # system moves in one call; more means a table with an endless loop
STOP_CHILDREN = "stop_children"  # the only effect that the door performs itself
EVERYWHERE = ("abort", "steer")  # verbs that a person may use in any state, so that they never become stale
TO_CHILD = ("submit", "scope-reduction", "escalate", "answer", "resume", "steer")  # verbs that a parent passes on to its open child

AnyEvent = Event[Any]
AnyRun = Run[Any]


class Case(NamedTuple):
    """One submit to judge. `stands` turns false when the run no longer waits for the verdict, so that judging may stop."""

    run: AnyRun
    sent: Sent
    row: Row[Any]
    tree: str
    stands: Callable[[], bool]


class Judge(Protocol):
    """Runs the gates of a row."""

    def judge(self, case: Case) -> Found: ...


class World(Protocol):
    """Everything outside the journal: the tree, effects and jobs."""

    def snapshot(self, run: AnyRun) -> str: ...
    def settle(self, effect: str, event: AnyEvent) -> None: ...
    def perform(self, job: str, run: AnyRun) -> Sent | None: ...


def always() -> bool:
    return True


def _stay(run: AnyRun) -> dict[str, str]:
    """The flags of an ended child that stay, as facts for its parent."""
    kept = tuple(flag for flag in run.flags if flag.stays)
    return {FLAGS: msgspec.json.encode(kept).decode()} if kept else {}


class Door:
    """The one door. Takes values, returns a briefing or a verdict. `wanted` turns false when the caller cancels; then nothing is recorded."""

    def __init__(
        self,
        journal: Journal,
        tables: Mapping[str, Table[Any]],
        world: World,
        judge: Judge,
        brief: Callable[[Table[Any], AnyRun], Briefing],
        clock: Callable[[], str],
        holder: Callable[[str], Holder],
        wanted: Callable[[], bool] = always,
    ) -> None:
        self.journal, self.tables, self.world, self.judge = journal, tables, world, judge
        self.brief, self.clock, self.holder, self.wanted = brief, clock, holder, wanted

    # -- starting and reading ------------------------------------------------------------------------------------------------

    def start(self, run: AnyRun, sent: Sent) -> AnyEvent:
        """Append the first event of a run. An existing run is left alone, so that starting can be repeated after a crash."""
        if (there := self.journal.last(run.id)) is not None:
            return from_entry(self._table(there.workflow), there)
        table = self._table(run.workflow)
        first = msgspec.structs.replace(run, seq=1, limits={**table.limits, **run.limits})
        verdict = Verdict("SUCCESS", first.state, instruction="Call get_task.")
        event = self._finish(table, Event(first, "start", "", self.clock(), sent, Found(), "SUCCESS", verdict))
        try:
            self.journal.append(to_entry(table, event), expect=0)
        except Moved:
            return self.load(run.id)
        return event

    def load(self, run: str) -> AnyEvent:
        """The newest event of a run."""
        entry = self.journal.last(run)
        if entry is None:
            raise DetentError(f"there is no run {run}", "see `detent runs`")
        return from_entry(self._table(entry.workflow), entry)

    # -- the two operations --------------------------------------------------------------------------------------------------

    def next(self, run: str) -> Briefing:
        """Make the system moves that are due, then return the briefing of whoever acts next. Idempotent."""
        event = self.load(run)
        if event.briefing is not None and not self.journal.owed(run):
            return event.briefing
        waits = ""
        with self._claimed(run, "get_task") as claim:
            try:
                event = self._advance(run, claim)
            except NotYet as e:
                event, waits = self.load(run), str(e)
        self._settle_rest(run)
        child = self._open_child(event.run)
        if child:
            inner = self.next(child)
            return inner if inner.actor != "none" else self.next(run)  # the child ended by a system move, so the parent may move too
        briefing = self.briefing(event)
        if waits:
            return msgspec.structs.replace(briefing, last_error=waits, briefing=f"> {waits}\n\n{briefing.briefing}")
        return msgspec.structs.replace(briefing, last_error=event.found.unclear) if event.status == "ERROR" else briefing

    def briefing(self, event: AnyEvent) -> Briefing:
        """The briefing after an event: the stored one, or made now if a system move is due first. Changes nothing."""
        return event.briefing or self.brief(self._table(event.run.workflow), event.run)

    def tend(self, run: str) -> tuple[str, ...]:
        """Make the system moves that are due in a run itself; returns the open children that it waits for."""
        with self._claimed(run, "tend") as claim:
            event = self._advance(run, claim)
        self._settle_rest(run)
        return self.open_children(event.run)

    def submit(self, run: str, sent: Sent) -> Verdict:
        """Submit an agent's attempt or a person's call."""
        target = self._addressed(run, sent)
        if (earlier := self._earlier(target, sent)) is not None:
            return earlier.verdict
        verdict = self._answer(target, sent)
        self._settle_rest(target)
        return verdict

    def settle(self, run: str) -> None:
        """Perform the owed effects of a run, unless another call holds it."""
        self._settle_rest(run)

    # -- inside --------------------------------------------------------------------------------------------------------------

    def _answer(self, target: str, sent: Sent) -> Verdict:
        try:
            if sent.by == "human":
                return self._people(target, sent).verdict
            with self._claimed(target, sent.verb) as claim:
                self._settle(target)
                return self._apply(target, sent, claim).verdict
        except Busy as e:
            return self._not_now(target, Verdict("BUSY", "", instruction="Wait, then call get_task.", reasons=(e.message,)))
        except Moved as e:
            return self._not_now(target, Verdict("STALE", "", instruction="Call get_task.", reasons=(e.message,)))

    def _earlier(self, run: str, sent: Sent) -> AnyEvent | None:
        """The event that already answered this attempt, if any."""
        entry = self.journal.attempt(run, sent.attempt_id) if sent.attempt_id else None
        return from_entry(self._table(entry.workflow), entry) if entry else None

    def _table(self, workflow: str) -> Table[Any]:
        if workflow not in self.tables:
            raise DetentError(
                f"the workflow '{workflow}' is not installed here",
                "install the package that provides it; `detent show RUN` still shows what happened",
            )
        return self.tables[workflow]

    @contextmanager
    def _claimed(self, run: str, doing: str) -> Iterator[RunClaim]:
        claim = self.journal.claim(run, self.holder(doing))
        try:
            yield claim
        finally:
            self.journal.release(claim)

    def _settle(self, run: str) -> None:
        """Perform owed effects, in order. Effects are idempotent, so a crash before one is marked as settled does no harm."""
        for owed in self.journal.owed(run):
            entry = self.journal.at(run, owed.seq)
            assert entry is not None, "what is owed is owed by an event"
            event = from_entry(self._table(entry.workflow), entry)
            if owed.effect == STOP_CHILDREN:
                self._stop_children(event)
            else:
                self.world.settle(owed.effect, event)
            self.journal.settled(owed)

    def _stop_children(self, event: AnyEvent) -> None:
        """Abort the open children of a run that a person stopped, through this door."""
        for head in self.journal.children(event.run.id):
            if not head.ended:
                self._people(head.run, Sent("abort", by="human", channel=event.sent.channel, note=event.sent.note))

    def _advance(self, run: str, claim: RunClaim) -> AnyEvent:
        """Make system moves, one event each, until somebody must act or the run ends."""
        for _ in range(MOST_MOVES):
            self._settle(run)
            event = self.load(run)
            self._still_wanted(run)
            table, state = self._table(event.run.workflow), self._table(event.run.workflow).states[event.run.state]
            if state.end:
                return event
            sent = self._due(table, event.run)
            if sent is None:
                return event
            try:
                after = self._apply(run, sent, claim, at=event.run.state)
            except Moved:
                continue  # a person moved the run meanwhile; check again
            if after.status == "ERROR":
                return after
        raise DetentError(f"run {run} never stops making system moves", "this is a bug in its workflow table")

    def _due(self, table: Table[Any], run: AnyRun) -> Sent | None:
        """The machine's next Sent to the run: a due move, a child's end, or a job's outcome; None if nothing is due."""
        if table.kind(run, DUE):
            return DUE
        state = table.states[run.state]
        if state.children:
            return self._children(table, run)
        if state.job is None:
            return None
        try:
            return self.world.perform(state.job.name, run)
        except NotYet:
            raise
        except CannotTell as e:
            return Sent("outcome", by="system", outcome="(unclear)", output=str(e), facts=e.facts)

    def _children(self, table: Table[Any], run: AnyRun) -> Sent | None:
        """Create missing children; returns the first end of a child that the run has not joined yet, if any."""
        for child in table.children(run):
            self._beget(run, child)
        for head in self.journal.children(run.id):
            name = head.run.removeprefix(f"{run.id}.")
            if head.ended and name not in run.joined:
                self._settle_rest(head.run)  # its effects may be unsettled after a crash
                inner = self.load(head.run).run
                facts = {**self._table(inner.workflow).result(inner), **_stay(inner)}
                return Sent("child", by="system", child=name, outcome=head.state, facts=facts)
        return None

    def _beget(self, parent: AnyRun, child: Child) -> None:
        run: AnyRun = Run(
            f"{parent.id}.{child.name}",
            child.workflow,
            child.start,
            0,
            child.data,
            limits=dict(child.limits),
            parent=parent.id,
            worktree=child.worktree or parent.worktree,
        )
        self.start(run, Sent("start", by="system"))

    def open_children(self, run: AnyRun) -> tuple[str, ...]:
        """The children that a run waits for."""
        waits = self._table(run.workflow).states[run.state].children
        return tuple(h.run for h in self.journal.children(run.id) if waits and not h.ended)

    def _open_child(self, run: AnyRun) -> str:
        return next(iter(self.open_children(run)), "")

    def _addressed(self, run: str, sent: Sent) -> str:
        """The run that a call is for: the open child for verbs in TO_CHILD, else the run itself."""
        child = self._open_child(self.load(run).run) if sent.verb in TO_CHILD else ""
        return self._addressed(child, sent) if child else run

    def acting(self, run: str) -> AnyRun:
        """The run that acts: this one, or its open child."""
        return self.load(self._addressed(run, Sent("submit"))).run

    def _apply(self, run: str, sent: Sent, claim: RunClaim | None, at: str = "") -> AnyEvent:
        """Find the row, judge, decide, append. `at`: only in this state. If a person's event came in between but the state is the same,
        decide again on the same evidence."""
        if (earlier := self._earlier(run, sent)) is not None:
            return earlier  # answered before we got the claim
        event = self.load(run)
        if at and event.run.state != at:
            raise Moved(f"run {run} moved to {event.run.state} in the meantime; nothing was recorded", "call get_task")
        table = self._table(event.run.workflow)
        on, row, found = self._found(table, event.run, sent)
        found = msgspec.structs.replace(found, flagged=(*found.flagged, *machine_flags(sent)))
        if sent.by == "agent" or found.unclear:  # a job's work is always recorded
            self._still_wanted(run)
        found = msgspec.structs.replace(found, heard=min(found.heard, self._shown(event.run, sent)))
        while True:
            before = event.run
            decision = decide(table, before, sent, row, found)
            verdict = verdict_of(table, decision, decision.run, found)
            after = Event(decision.run, on, before.state, self.clock(), sent, found, decision.status, verdict, decision.owes)
            after = self._finish(table, after)
            if is_worn(before, found):
                return after
            try:
                self.journal.append(to_entry(table, after), before.seq, claim)
                break
            except Moved:
                if (earlier := self._earlier(run, sent)) is not None:
                    return earlier
                event = self.load(run)
                if event.run.state != before.state or table.kind(event.run, sent) != on:
                    if sent.verb in EVERYWHERE:
                        return self._apply(run, sent, claim)
                    raise Moved(f"run {run} moved to {event.run.state} in the meantime; nothing was recorded", "call get_task") from None
        if claim is not None:
            self._settle(run)
        return after

    def _shown(self, run: AnyRun, sent: Sent) -> int:
        """The number of steers in the briefing that a call answers: that of its attempt, else the newest."""
        of, _, seq = sent.attempt_id.rpartition(".")
        entry = self.journal.at(run.id, int(seq)) if of == run.id and seq.isdigit() else None
        return len(from_entry(self._table(entry.workflow), entry).run.steers) if entry else len(run.steers)

    def _people(self, run: str, sent: Sent) -> AnyEvent:
        """Apply a person's call, which needs no claim. Its effects are settled now, or by the call that holds the run."""
        event = self._apply(run, sent, None)
        self._settle_rest(run)
        return event

    def _settle_rest(self, run: str) -> None:
        """Settle owed effects unless another call holds the run; a person may have called just before its claim was released."""
        while self.journal.owed(run):
            try:
                with self._claimed(run, "settle"):
                    self._settle(run)
            except Busy:
                return  # the holder settles them when it releases its claim

    def _found(self, table: Table[Any], run: AnyRun, sent: Sent) -> tuple[str, Row[Any] | None, Found]:
        """The event kind, its row, and the result of judging."""
        on = table.kind(run, sent)
        if sent.outcome == "(unclear)":
            return on, None, Found(unclear=sent.output, output=sent.output)
        if (no := refusal(table, run, sent, on)) is not None:
            return on, None, no
        row = table.row(run.state, on)
        assert row is not None, "what has no row is refused"
        if not row.gates and not row.prove:
            return on, row, Found(heard=len(run.steers), output=sent.output)

        def stands() -> bool:
            return self.wanted() and self.load(run.id).run.state == run.state

        try:
            tree = "" if table.states[run.state].bare else self.world.snapshot(run)
        except CannotTell as e:
            return on, row, Found(unclear=str(e))
        return on, row, self.judge.judge(Case(run, sent, row, tree, stands))

    def _still_wanted(self, run: str) -> None:
        if not self.wanted():
            raise Unwanted(f"the call to run {run} was cancelled; nothing was recorded", "call get_task to see where it stands")

    def _finish(self, table: Table[Any], event: AnyEvent) -> AnyEvent:
        """The event with its briefing, if no system move is due before somebody acts."""
        run = event.run
        state = table.states[run.state]
        waits = state.end or (state.actor in ("agent", "human") and state.job is None and not table.kind(run, DUE))
        if not waits:
            return event
        return msgspec.structs.replace(event, briefing=self.brief(table, run))

    def _not_now(self, run: str, verdict: Verdict) -> Verdict:
        event = self.load(run)
        table = self._table(event.run.workflow)
        return msgspec.structs.replace(verdict, state=event.run.state, allowed_actions=table.open_to_agents(event.run))
