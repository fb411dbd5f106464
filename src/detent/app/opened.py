"""The App that every command works with: journal, door, checkouts of runs; and opening the journal. The App is built in app/__init__.py.

The journal is a file of the repository or in a shared database; settings are read only if they could name one.
"""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol, Union

from detent.door import AnyEvent, AnyRun, Door
from detent.errors import DetentError, NoJournal, NoRun
from detent.git.place import Place
from detent.journal.journal import Head, SqliteJournal
from detent.journal.journal_file import accept
from detent.world.known_runs import Runs

if TYPE_CHECKING:
    from detent.config import Settings
    from detent.journal.journal_postgres import PostgresJournal
    from detent.world.work_tree import RepoWorld


def now() -> str:
    """The time as text, for people. Nothing is decided by it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


FILES = ("detent.toml", "pyproject.toml")


def queue_settings(place: Place, env: Mapping[str, str]) -> "Settings":
    """The settings as they lie in this checkout, of which callers use only [queue]."""
    from detent.config.sources import load

    def read(path: str) -> str | None:
        file = place.root / path
        return file.read_text("utf-8", "replace") if file.is_file() else None

    return load(read, env)


def shared_url(place: Place, env: Mapping[str, str]) -> str:
    """The URL of the database that machines share; empty where everything is in files of this repository."""
    if not env.get("DETENT_QUEUE_URL") and not any(_mentions(f"{place.root}/{name}") for name in FILES):
        return ""
    return queue_settings(place, env).queue.url


def _mentions(file: str) -> bool:
    """Whether a file could name such a database: a cheap test, since parsing settings takes longer than most calls."""
    try:
        with open(file, "rb") as opened:
            return b"postgres" in opened.read()
    except OSError:
        return False


def open_journal(place: Place, env: Mapping[str, str] | None = None, create: bool = False) -> "SqliteJournal | PostgresJournal":
    """The journal of this repository: its own file, or the database that [queue] url names."""
    from detent.git.fingerprint import bind, must_be_bound

    must_be_bound(place)
    opened = _opened(place, env, create)
    bind(place)
    return opened


def accept_journal(place: Place, env: Mapping[str, str] | None = None) -> str:
    """Accept the journal as it is, for a person who knows why it does not match its anchor. Returns a sentence for them, or ""."""
    from detent.git.fingerprint import bind

    bind(place, again=True)
    if not shared_url(place, os.environ if env is None else env):
        return accept(place.journal)
    try:
        _opened(place, env, False, True).close()
    except NoJournal:
        return "there is no journal; a new one may begin"
    return "the events of the journal are taken as they are"


def _opened(place: Place, env: Mapping[str, str] | None, create: bool, accepted: bool = False) -> "SqliteJournal | PostgresJournal":
    url = shared_url(place, os.environ if env is None else env)
    if not url:
        return SqliteJournal(place.journal, create)
    try:
        from detent.journal.journal_postgres import PostgresJournal
    except ModuleNotFoundError as e:
        from detent.installation import extra

        raise DetentError(f"a journal in PostgreSQL needs the package {e.name}", f"install it: {extra('queue')}") from e
    return PostgresJournal(url, create, accepted)


NO_RUN = 'start one: detent start (the plan), or detent start "what you want"; `detent runs --all` lists those of other checkouts'
AnyJournal = Union[SqliteJournal, "PostgresJournal"]


class Checkouts(Protocol):
    """The checkouts of a repository's runs: the person's own, and workspaces, made on demand."""

    own: "RepoWorld"
    runs: "Runs"

    def of(self, run: AnyRun) -> "RepoWorld": ...
    def leave(self, run: AnyRun) -> None: ...
    def settle(self, effect: str, event: AnyEvent) -> None: ...


class App(NamedTuple):
    """Everything a command needs, built for the checkout it was called in."""

    place: Place
    journal: "AnyJournal"
    door: Door
    world: "RepoWorld"  # the person's own checkout
    worlds: "Checkouts"  # of any run

    @property
    def busy(self) -> bool:
        """Whether a run of this repository is open."""
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
