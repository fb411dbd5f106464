"""Which agents can be asked on this machine, and what each of the others lacks: the look that a run takes before it begins. Starts nothing."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from detent.agents import must_be_ready
from detent.agents.acp import AGENTS
from detent.agents.clients import CLIENTS
from detent.app.who import catalog_of
from detent.config import Settings
from detent.errors import DetentError

SERVICES = ("anthropic", "openai")  # models that are asked without a program between


class FoundAgent(NamedTuple):
    """One agent, as `--agent` names it, and why it cannot be asked; empty: it can."""

    agent: str
    lacks: str = ""
    hint: str = ""


def found_agents(settings: Settings, env: Mapping[str, str], project: Path) -> Iterator[FoundAgent]:
    """Those that can be asked first, the configured ones before all."""
    known = (*settings.agents.roles.values(), *CLIENTS, *(f"acp:{name}" for name in AGENTS), *SERVICES)
    rows = [_looked_for(spec, settings, env, project) for spec in dict.fromkeys(known)]
    yield from sorted(rows, key=lambda row: bool(row.lacks))


def _looked_for(spec: str, settings: Settings, env: Mapping[str, str], project: Path) -> FoundAgent:
    try:
        must_be_ready(spec, env, project, settings.agents.model, catalog_of(settings))
    except DetentError as e:
        return FoundAgent(spec, e.message, e.hint or "")
    return FoundAgent(spec)
