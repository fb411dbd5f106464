"""What an agent of the protocol is to Detent: one row of a table, which becomes the row of a client for one model. Knows no agent."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from detent.agents.acp.acp_vendors import VENDORS, form_of, paid
from detent.agents.clients.row import Access, ClientRow, Wants
from detent.errors import DetentError


def no_files(wants: Wants) -> dict[str, str]:
    return {}


class AcpAgent(NamedTuple):
    """One agent."""

    name: str
    title: str  # as people call it
    program: str
    install: str  # the command that brings it
    forms: tuple[str, ...]  # in which it can ask for its model, the one it takes by itself first
    argv: Callable[[Wants], list[str]]
    env: Callable[[Wants], dict[str, str]]
    files: Callable[[Wants], dict[str, str]] = no_files
    mode: str = ""  # in which it asks before it writes; empty: it begins in it
    chooses: bool = False  # it has a model of its own where none is named


def row_of(agent: AcpAgent, outer: Mapping[str, str], named: str = "", configured: str = "") -> ClientRow:
    """The row of an agent in an environment, for a model: the one of the spec, else the one of the configuration."""
    access = paid(agent.forms, named or configured, outer)
    keys = dict.fromkeys(key for form in agent.forms for key in VENDORS[form].keys)
    return ClientRow(
        name=f"acp:{agent.name}",
        program=agent.program,
        install=agent.install,
        login=f"set {' or '.join(keys)} in the environment that starts detent",
        costs=False,
        model=lambda *_: model_of(agent, named, configured, access),
        access=lambda _: access,
        argv=agent.argv,
        env=agent.env,
        files=agent.files,
        mode=agent.mode,
        how="driven over ACP, its writes asked for and judged at submit",
    )


def model_of(agent: AcpAgent, named: str, configured: str, access: Access | None) -> str:
    """The model to ask. That of the configuration is for the service that makes it, and for no other."""
    found = named or (configured if access and form_of(configured) == access.dialect.name else "")
    if not found and not agent.chooses:
        raise DetentError(f"{agent.title} does not know which model to ask", f"name it: --agent acp:{agent.name}:MODEL")
    return found
