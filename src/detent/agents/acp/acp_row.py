"""What Detent knows of an ACP agent: a row of the table, from which the ClientRow for one model is made. Knows no agent by name."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from detent.agents.acp.acp_vendors import VENDORS, form_of, paid
from detent.agents.clients.row import Access, ClientRow, Wants
from detent.errors import DetentError


def no_files(wants: Wants) -> dict[str, str]:
    return {}


class AcpAgent(NamedTuple):
    """One ACP agent: how it is installed, started, configured, and reaches its model."""

    name: str
    title: str  # the name that people know it by
    program: str
    install: str  # the command that installs it
    forms: tuple[str, ...]  # the wire formats in which it can ask its model, its default first
    argv: Callable[[Wants], list[str]]
    env: Callable[[Wants], dict[str, str]]
    files: Callable[[Wants], dict[str, str]] = no_files
    mode: str = ""  # the session mode in which it asks before it writes; empty: its initial mode
    chooses: bool = False  # it picks its own model if none is named


def row_of(agent: AcpAgent, outer: Mapping[str, str], named: str = "", configured: str = "") -> ClientRow:
    """The ClientRow for an agent and a model: the spec's model if it names one, else the configured one."""
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
    """The model to ask. The configured model is used only if it belongs to the service that pays."""
    found = named or (configured if access and form_of(configured) == access.wire_format.name else "")
    if not found and not agent.chooses:
        raise DetentError(f"{agent.title} does not know which model to ask", f"name it: --agent acp:{agent.name}:MODEL")
    return found
