"""A command of the user's that speaks the protocol: it is given every service that there is a key for, and asked for nothing else."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from detent.agents.acp.acp_row import no_files
from detent.agents.acp.acp_vendors import VENDORS, access_of
from detent.agents.clients.row import Access, ClientRow, Wants
from detent.agents.command import find_command, split

LOGIN = "it gets the keys of ANTHROPIC_API_KEY, OPENAI_API_KEY and GEMINI_API_KEY, if they are set; docs/agents.md says what else it needs"
ROOTS = {"OPENAI_BASE_URL": "/v1"}  # what clients expect at the end of an address


def own_row(command: str, outer: Mapping[str, str]) -> ClientRow:
    argv = split(command)

    def env(wants: Wants) -> dict[str, str]:
        given = {form: access for form in VENDORS if (access := access_of(form, outer))}
        addresses = {VENDORS[form].address: wants.url + ROOTS.get(VENDORS[form].address, "") for form in given}
        return {**addresses, **{access.variable: wants.token for access in given.values()}}

    return ClientRow(
        name=f"acp:{command}",
        program=argv[0],
        install="it is your own command",
        login=LOGIN,
        costs=False,
        model=lambda *_: "",
        access=lambda _: None,
        argv=lambda wants: argv[1:],
        env=env,
        files=no_files,
    )


def own_ways(outer: Mapping[str, str]) -> tuple[Access, ...]:
    """Every service that can be paid for."""
    return tuple(access for form in VENDORS if (access := access_of(form, outer)))


def own_program(command: str, outer: Mapping[str, str], folder: Path) -> Path:
    """Its program: on PATH, or as a path from the folder. DetentError if it is not there."""
    find_command(command, outer, folder)
    name = split(command)[0]
    found = str(folder / name) if "/" in name else shutil.which(name, path=outer.get("PATH", os.defpath))
    return Path(found or name).absolute()
