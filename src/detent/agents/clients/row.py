"""What Detent knows of a headless client: the form of its table row, and the values passed with it. Knows no client by name.

A client is started with its own arguments, reaches its model's service at one address, and reports its turn in JSON lines.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from detent.agents.agent_protocol import Progress, Sort
from detent.agents.clients.wire_formats import WireFormat


class Access(NamedTuple):
    """How a model's service is reached and paid for. Never enters the sandbox: the client gets our address and a token valid only there."""

    how: str  # which key or login, for people to read
    url: str  # the service's address
    headers: Mapping[str, str]  # the headers that authenticate
    variable: str  # where the client looks for its key
    wire_format: WireFormat


class Wants(NamedTuple):
    """What a client's arguments, environment and files are made from."""

    system: str  # the system prompt of the role, added to the client's own
    model: str  # empty: the client's own choice
    workspace: Path
    home: Path  # private, made for this turn
    url: str  # the gateway's address
    variable: str
    token: str  # the gateway's token, given to the client as its key
    usd: float | None  # what may still be spent
    form: str = ""  # the name of the service's wire format


class ClientReport(NamedTuple):
    """What a client's output says so far."""

    text: str = ""  # its final text
    ended: bool = False  # it reports the end of its turn, successful or not
    failed: str = ""  # why the turn failed, in its own words
    kind: str = ""  # the same as an error kind of the service
    sort: Sort | None = None  # set if the client itself tells the sort
    usd: float = 0.0  # the cost it reports for the turn


class ClientRow(NamedTuple):
    """One client."""

    name: str
    program: str
    install: str  # the command that installs it
    login: str  # what to do if there is no login or key
    costs: bool  # whether it reports the cost of a turn
    model: Callable[[str, str], str]  # (named in the spec, configured) -> the model to ask
    access: Callable[[Mapping[str, str]], Access | None]  # finds a key or login in our own environment; None: there is neither
    argv: Callable[[Wants], list[str]]  # without the program
    env: Callable[[Wants], dict[str, str]]
    files: Callable[[Wants], dict[str, str]]  # path in its home -> text
    read: Callable[[ClientReport, bytes], ClientReport] = lambda report, line: report  # adds one line of output; ignores unknown lines
    show: Callable[[bytes], Iterable[Progress]] = lambda line: ()  # what a line shows in the live view
    mode: str = ""  # the session mode to set, for ACP agents
    how: str = ""  # how it is driven and held to what it may write, for people to read
