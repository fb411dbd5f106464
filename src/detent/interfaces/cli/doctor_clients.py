"""The rows of `detent doctor` on clients that can be driven: whether each is installed, how it is driven, what pays for its model.

None of them is required: a row only says what to do before that client can be used.
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
PATIENCE = 10.0  # seconds for `--version`
Words = tuple[str, bool, str, str]  # name, whether it is ready, what was found, how to fix it


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
    """The version that a program reports. Some write to their home even for that, so they get a temporary one."""
    with TemporaryDirectory() as home:
        try:
            ran = run([str(program), "--version"], Path("/"), {"PATH": outer.get("PATH", ""), "HOME": home}, PATIENCE)
        except OSError as e:
            return f"does not start ({e.strerror})"
    found = VERSION.search(ran.output) if ran.exit_code == 0 else None
    return found.group() if found else "reports no version"
