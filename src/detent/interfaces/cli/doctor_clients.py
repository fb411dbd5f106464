"""What `detent doctor` says of the clients that can be driven: whether each is there, how it is driven, what pays for its model. Words only.

None of them is needed, so none of them makes the machine unfit: a row says what to do before that client can be asked.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from detent.agents.acp import AGENTS
from detent.agents.acp.acp_row import row_of
from detent.agents.client import find_program
from detent.agents.clients import CLIENTS, ClientRow
from detent.errors import DetentError
from detent.sandbox.process import run

VERSION = re.compile(r"\d+\.\d+\.\d+\S*")
PATIENCE = 10.0  # seconds for a program to say its version
Words = tuple[str, bool, str, str]  # name, fit, what is found, what to do


def client_rows(outer: Mapping[str, str]) -> Iterator[Words]:
    """One row for each client."""
    for row in (*CLIENTS.values(), *(row_of(agent, outer) for agent in AGENTS.values())):
        found, fix = _found(row, outer)
        yield row.name, not fix, found, fix


def _found(row: ClientRow, outer: Mapping[str, str]) -> tuple[str, str]:
    program = find_program(row, outer)
    if program is None:
        return "not installed", f"to drive it: {row.install}"
    there = f"{version_of(program, outer)} at {program}, {row.how}"
    try:
        access = row.access(outer)
    except DetentError as e:
        return f"{there}, {e.message}", e.hint or row.login
    return (f"{there}, paid by {access.how}", "") if access else (f"{there}, neither login nor key", f"to drive it: {row.login}")


def version_of(program: Path, outer: Mapping[str, str]) -> str:
    """What it calls itself. Some write to their home even for that, so they get one that goes away again."""
    with TemporaryDirectory() as home:
        try:
            ran = run([str(program), "--version"], Path("/"), {"PATH": outer.get("PATH", ""), "HOME": home}, PATIENCE)
        except OSError as e:
            return f"does not start ({e.strerror})"
    found = VERSION.search(ran.output) if ran.exit_code == 0 else None
    return found.group() if found else "reports no version"
