"""What a headless client is to Detent: one row of a table. Owns the form of a row and its values; knows no client.

A client is asked by its own words, reaches its model's service through one address, and says in JSON lines how its turn went.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from detent.agents.agent_protocol import Progress, Sort
from detent.agents.clients.dialects import WireFormat


class Access(NamedTuple):
    """How the model's service is reached and paid. Stays outside: a client gets an address of ours and a word that opens only that."""

    how: str  # in words, for people: which key or which login
    url: str  # of the service
    headers: Mapping[str, str]  # what pays
    variable: str  # in which the client looks for its key
    dialect: WireFormat  # the form in which it is asked


class Wants(NamedTuple):
    """What the words, the environment and the files of a client are made of."""

    system: str  # what the role is told, beside what the client tells its model itself
    model: str  # empty: the client's own choice
    workspace: Path
    home: Path  # private, made for this turn
    url: str  # where the client finds the service: ours
    variable: str
    token: str  # what it takes for its key
    usd: float | None  # what may still be spent
    form: str = ""  # in which the service is asked: the name of its dialect


class ClientSaid(NamedTuple):
    """What the lines of a client came to so far."""

    text: str = ""  # its last words
    ended: bool = False  # it says that its turn is over, well or not
    failed: str = ""  # why not well, in its own words
    kind: str = ""  # the same as the service names it
    sort: Sort | None = None  # where the client itself tells a sort
    usd: float = 0.0  # what it says that the turn cost


class ClientRow(NamedTuple):
    """One client."""

    name: str
    program: str
    install: str  # the command that brings it
    login: str  # what to do where nothing pays
    costs: bool  # whether it says what a turn cost
    model: Callable[[str, str], str]  # of the one that the spec names, and the one of the configuration
    access: Callable[[Mapping[str, str]], Access | None]  # from our own environment; None: neither key nor login
    argv: Callable[[Wants], list[str]]  # without the program
    env: Callable[[Wants], dict[str, str]]
    files: Callable[[Wants], dict[str, str]]  # in its home
    read: Callable[[ClientSaid, bytes], ClientSaid] = lambda said, line: said  # one line more; a line that is not known changes nothing
    show: Callable[[bytes], Iterable[Progress]] = lambda line: ()  # a line, for the live view
    mode: str = ""  # which the session of an agent is put into
    how: str = ""  # it is driven, and held to what its state lets it write; for people
