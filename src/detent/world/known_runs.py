"""The runs of one repository, as other modules of world/ need them: events, configuration, workflow and reviewer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from detent.door import AnyEvent, AnyRun, always
from detent.errors import CannotTell, DetentError
from detent.journal.journal_rows import from_entry
from detent.kernel.model import Sent
from detent.kernel.table import Table

if TYPE_CHECKING:
    from detent.blocks.proved import Fold
    from detent.effects.catalogue import Ways
    from detent.evidence.running.suite import Suite
    from detent.forge import Pulls
    from detent.journal.journal import Entry, Head
    from detent.kernel.model import OwnGate
    from detent.sandbox.process import Ran
    from detent.tracker import Tracker
    from detent.world.reviewer import Asking


class Carried(Protocol):
    """The part of a Workflow that world/ needs: effects, jobs, published files, and what its events claim."""

    @property
    def effects(self) -> Mapping[str, Callable[[Any, AnyEvent], None]]: ...  # each gets the RepoWorld and the event
    @property
    def jobs(self) -> Mapping[str, Callable[[Any, AnyRun], Sent | None]]: ...
    @property
    def files(self) -> Callable[[AnyRun], Mapping[str, str | None]]: ...
    @property
    def claims(self) -> "Fold": ...
    @property
    def being_written(self) -> Callable[[AnyRun], tuple[str, ...]]: ...


class Journaled(Protocol):
    """The reading part of a journal."""

    def events(self, run: str, after: int = 0, limit: int = 1000) -> "Sequence[Entry]": ...
    def last(self, run: str) -> "Entry | None": ...
    def at(self, run: str, seq: int) -> "Entry | None": ...
    def children(self, parent: str) -> "Sequence[Head]": ...
    def has_report(self, tree: str, digest: str) -> bool: ...


def no_reviewer(run: AnyRun) -> "Asking":
    raise CannotTell("there is no reviewer to ask")


def alone(run: AnyRun) -> None:
    """Share nothing: there is no other machine."""


FROM_RUN, FROM_EVENT = "from_run", "from_event"  # facts of a rollback's first event: where it was rolled back from


class Runs:
    """The runs of one repository. `config_of`, `workflow` and `reviewer` are built in app/."""

    reviewer: "Callable[[AnyRun], Asking]" = staticmethod(no_reviewer)
    say: Callable[[str], None] = staticmethod(lambda words: None)  # reports progress
    share: Callable[[AnyRun], None] = staticmethod(alone)  # shares a run's refs with other machines
    tests_run: Callable[[], bool] = staticmethod(always)  # whether tests can be run on main now; called only at an outage of tests
    patient = False  # whether an outage parks a run instead of failing; set for a worker

    def __init__(
        self,
        journal: Journaled,
        tables: Mapping[str, Table[Any]],
        outer: Mapping[str, str],
        config_of: "Callable[[AnyRun], RunConfig]",
        workflow: Callable[[str], Carried],
        clock: Callable[[], str],
        wanted: Callable[[], bool] = always,
    ) -> None:
        self.journal, self.tables, self.outer = journal, tables, outer
        self.config_of, self.workflow, self.clock, self.wanted = config_of, workflow, clock, wanted

    def history(self, run: str) -> Iterator[AnyEvent]:
        """Every event of a run, in order."""
        return (from_entry(self.tables[e.workflow], e) for e in self.journal.events(run, limit=1_000_000))

    def family(self, run: str) -> list[AnyRun]:
        """A run and its children at their newest events, the oldest first."""
        entries = (self.journal.last(r) for r in (run, *(h.run for h in self.journal.children(run))))
        return [from_entry(self.tables[e.workflow], e).run for e in entries if e is not None]

    def earlier(self, run: str) -> list[tuple[str, int]]:
        """The runs that a run was rolled back from, the oldest first, each with the event it was rolled back to."""
        found: list[tuple[str, int]] = []
        while (first := self.journal.at(run, 1)) is not None:
            facts = from_entry(self.tables[first.workflow], first).sent.facts
            run, seq = facts.get(FROM_RUN, ""), facts.get(FROM_EVENT, "0")
            if not run or run in {known for known, _ in found}:
                break
            found.append((run, int(seq)))
        return found[::-1]

    def spent(self, run: str) -> Iterator[AnyEvent]:
        """Every event that counts towards a run's budget: its own, its children's, and those of runs it was rolled back from."""
        roots = (*(old for old, _ in self.earlier(run)), run)
        return (event for root in roots for each in self.family(root) for event in self.history(each.id))

    def when(self, run: str, seq: int) -> str:
        """The time of an event."""
        entry = self.journal.at(run, seq)
        return entry.at if entry else ""


def no_tracker() -> "Tracker":
    raise DetentError("this run has no tracker", "only executions have one")


def no_pulls() -> "Pulls":
    raise DetentError("this run has no forge", "set [git] pr_command in detent.toml")


class RunConfig(NamedTuple):
    """A run's configuration: how its tests are run, its work is landed, and its agents are started."""

    suite: "Suite"
    settings: Mapping[str, str]
    preflight: tuple[str, ...]
    ways: "Ways"
    squash: str
    reviewer: str
    start: "Callable[..., Ran]"  # starts an agent's program in the sandbox
    home: Path  # the folder with the installed environment: the person's checkout, or a workspace with its own setup
    origin: Path  # the person's checkout
    gates: "tuple[OwnGate, ...]" = ()  # the project's own gates
    apart: bool = False  # whether programs are cut off from the machine's network
    tracker: "Callable[[], Tracker]" = no_tracker
    pulls: "Callable[[], Pulls]" = no_pulls
