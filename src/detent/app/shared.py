"""What machines share: the queue's settings, and with them where the journal is. Reads the settings only if they could say so."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from detent.errors import DetentError, NoJournal
from detent.git.place import Place
from detent.journal.journal import SqliteJournal
from detent.journal.journal_file import accept

if TYPE_CHECKING:
    from detent.config import Settings
    from detent.journal.journal_postgres import PostgresJournal

FILES = ("detent.toml", "pyproject.toml")


def queue_settings(place: Place, env: Mapping[str, str]) -> "Settings":
    """The settings of this checkout; only [queue] is used of them."""
    from detent.config.sources import load

    def read(path: str) -> str | None:
        file = place.root / path
        return file.read_text("utf-8", "replace") if file.is_file() else None

    return load(read, env)


def shared_url(place: Place, env: Mapping[str, str]) -> str:
    """The address of the database that machines share; empty where everything is in files of this repository."""
    if not env.get("DETENT_QUEUE_URL") and not any(_mentions(f"{place.root}/{name}") for name in FILES):
        return ""
    return queue_settings(place, env).queue.url


def _mentions(file: str) -> bool:
    """Whether a file could name such a database at all: reading it properly takes longer than most calls."""
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
    """What a person says who knows how the journal came to be as it is: take it so. A sentence; empty if there is nothing to say."""
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
