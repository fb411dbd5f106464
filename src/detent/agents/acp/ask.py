"""Any agent that speaks the Agent Client Protocol: a row of the table by its name, or a command of the user's. One turn is one session."""

from collections.abc import Mapping
from pathlib import Path

from detent.agents.acp import AGENTS
from detent.agents.acp.acp_row import row_of
from detent.agents.acp.acp_talk import steering
from detent.agents.acp.acp_vendors import access_of
from detent.agents.acp.own import own_program, own_row, own_ways
from detent.agents.agent_protocol import Reply
from detent.agents.client import FoundClient, ask_program, find
from detent.agents.clients.dialects import CHAT
from detent.agents.clients.row import Access
from detent.agents.question import Asked


def split(rest: str) -> tuple[str, str]:
    """The name and the model of a row; no name where the rest of a spec is a command."""
    name, _, model = rest.partition(":")
    return (name, model) if name in AGENTS and not any(char.isspace() for char in rest) else ("", "")


def ask_acp(asked: Asked) -> Reply:
    """One turn."""
    name, model = split(asked.rest)
    if name:
        row = row_of(AGENTS[name], asked.outer, model, asked.turn.model)
        found = find(row, asked.outer)
        return ask_program(row, found._replace(ways=both(found.ways, asked.outer)), asked, steering(row, own=False))
    row = own_row(asked.rest, asked.outer)
    found = FoundClient(own_program(asked.rest, asked.outer, asked.turn.workspace), own_ways(asked.outer))
    return ask_program(row, found, asked, steering(row, own=True))


def both(ways: tuple[Access, ...], outer: Mapping[str, str]) -> tuple[Access, ...]:
    """A service that is asked in the form of chats may be asked for responses too: some agents choose by the model's name."""
    chats = [way for way in ways if way.dialect is CHAT]
    return (*ways, *(access for _ in chats if (access := access_of("responses", outer))))


def find_acp(rest: str, outer: Mapping[str, str], project: Path) -> None:
    """DetentError if the agent is not there, or has nothing that pays for its model."""
    name, model = split(rest)
    if name:
        find(row_of(AGENTS[name], outer, model), outer)
    else:
        own_program(rest, outer, project)
