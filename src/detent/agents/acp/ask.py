"""The `acp` backend: an agent of the table by name, or the user's own command. One turn is one session.

A command of the user's is given every service for which there is a key.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from detent.agents.acp import AGENTS
from detent.agents.acp.acp_row import no_files, row_of
from detent.agents.acp.acp_talk import steering
from detent.agents.acp.acp_vendors import VENDORS, access_of
from detent.agents.agent_protocol import Reply
from detent.agents.client import FoundClient, ask_program, find
from detent.agents.clients.row import Access, ClientRow, Wants
from detent.agents.clients.wire_formats import CHAT
from detent.agents.command import find_command
from detent.agents.command import split_command as words_of
from detent.agents.question import Asked


def split_spec(rest: str) -> tuple[str, str]:
    """Split a spec into an agent's name and model; ("", "") if it is a command instead."""
    name, _, model = rest.partition(":")
    return (name, model) if name in AGENTS and not any(char.isspace() for char in rest) else ("", "")


def ask_acp(asked: Asked) -> Reply:
    """One turn of an ACP agent."""
    name, model = split_spec(asked.rest)
    if name:
        row = row_of(AGENTS[name], asked.outer, model, asked.turn.model)
        found = find(row, asked.outer)
        return ask_program(row, found._replace(ways=with_responses_api(found.ways, asked.outer)), asked, steering(row, own=False))
    row = own_row(asked.rest, asked.outer)
    found = FoundClient(own_program(asked.rest, asked.outer, asked.turn.workspace), own_ways(asked.outer))
    return ask_program(row, found, asked, steering(row, own=True))


def with_responses_api(ways: tuple[Access, ...], outer: Mapping[str, str]) -> tuple[Access, ...]:
    """Also allow the responses API wherever chat completions are allowed: some agents choose between them by the model's name."""
    chats = [way for way in ways if way.wire_format is CHAT]
    return (*ways, *(access for _ in chats if (access := access_of("responses", outer))))


def find_acp(rest: str, outer: Mapping[str, str], project: Path) -> None:
    """DetentError if the agent is not installed or has no key for its model."""
    name, model = split_spec(rest)
    if name:
        find(row_of(AGENTS[name], outer, model), outer)
    else:
        own_program(rest, outer, project)


LOGIN = "it gets the keys of ANTHROPIC_API_KEY, OPENAI_API_KEY and GEMINI_API_KEY, if they are set; docs/agents.md says what else it needs"
ROOTS = {"OPENAI_BASE_URL": "/v1"}  # the path that clients expect at the end of the address


def own_row(command: str, outer: Mapping[str, str]) -> ClientRow:
    argv = words_of(command)

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
    """Every service for which there is a key."""
    return tuple(access for form in VENDORS if (access := access_of(form, outer)))


def own_program(command: str, outer: Mapping[str, str], folder: Path) -> Path:
    """The program of a command: on PATH, or as a path below the folder. DetentError if it is missing."""
    find_command(command, outer, folder)
    name = words_of(command)[0]
    found = str(folder / name) if "/" in name else shutil.which(name, path=outer.get("PATH", os.defpath))
    return Path(found or name).absolute()
