"""What every command works with once a repository is opened: its journal, the door, and the checkouts of its runs. Built elsewhere."""

from typing import TYPE_CHECKING, NamedTuple, Protocol, Union

from detent.door import AnyEvent, AnyRun, Door
from detent.errors import DetentError, NoRun
from detent.git.place import Place
from detent.journal.journal import Head, SqliteJournal

if TYPE_CHECKING:
    from detent.journal.journal_postgres import PostgresJournal
    from detent.world.work_tree import RepoWorld
from detent.world.known_runs import Runs

NO_RUN = 'start one: detent start (the plan), or detent start "what you want"; `detent runs --all` lists those of other checkouts'
AnyJournal = Union[SqliteJournal, "PostgresJournal"]


class Checkouts(Protocol):
    """The checkouts of a repository's runs: the person's own, and workspaces of the machine, made when they are needed."""

    own: "RepoWorld"
    runs: "Runs"

    def of(self, run: AnyRun) -> "RepoWorld": ...
    def leave(self, run: AnyRun) -> None: ...
    def settle(self, effect: str, event: AnyEvent) -> None: ...


class App(NamedTuple):
    """Everything a command needs, wired to the checkout it was called in."""

    place: Place
    journal: "AnyJournal"
    door: Door
    world: "RepoWorld"  # the person's own checkout
    worlds: "Checkouts"  # of any run

    @property
    def busy(self) -> bool:
        """Whether any run of this repository is open."""
        return any(not head.ended for head in self.journal.heads())

    def current(self) -> Head | None:
        """The newest open run that is bound to this checkout."""
        mine = (h for h in self.journal.heads() if h.worktree == str(self.place.root) and not h.ended and not h.parent)
        return next(mine, None)

    def newest(self) -> Head | None:
        """The newest run of this checkout, ended or not."""
        return next((h for h in self.journal.heads() if h.worktree == str(self.place.root) and not h.parent), None)

    def chosen(self, run: str | None) -> str:
        """The run that a command is about: the one named, or the current one."""
        if run:
            if not self.journal.heads(run):
                raise DetentError(f"there is no run {run}", "see `detent runs --all`")
            return run
        head = self.current() or self.newest()
        if head is None:
            raise NoRun("there is no run in this checkout", NO_RUN)
        return head.run
