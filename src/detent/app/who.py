"""Chooses agents from the settings: for a role, for a second try, and a reviewer of another vendor. Runs no agent.

Also the catalog of models: services and prices that the project adds.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from detent.agents import must_be_ready
from detent.agents.catalog import Address, Catalog, Price
from detent.agents.vendors import vendor_of
from detent.app.driving import Driving, driving
from detent.app.opened import App
from detent.app.run_configs import CONFIGURED, DEFAULT, OTHER, REVIEWER
from detent.config import Settings
from detent.config.settings import TokenPrice
from detent.door import AnyRun
from detent.drive.spent import failed_tries
from detent.errors import DetentError

INSTALLED = ("claude", "codex", "anthropic", "openai")  # reviewers to look for if the configuration names none of another vendor


def agent_of(terms: Driving, role: str, failed: int = 0) -> str:
    """The agent for a role: the one a person named, else the configured one; after enough failures the one of [agents.escalate]."""
    if is_escalated(terms, failed):
        return terms.settings.agents.escalate.to
    return terms.named or terms.settings.agents.of(role) or DEFAULT


def second_try(app: App, run: AnyRun) -> str:
    """The agent that takes over after failed attempts; empty if none does."""
    terms = driving(app, run.id)
    return terms.settings.agents.escalate.to if is_escalated(terms, failed_tries(app.worlds.runs.history(run.id))) else ""


def is_escalated(terms: Driving, failed: int) -> bool:
    after = terms.settings.agents.escalate.after
    return bool(after) and failed >= after


def catalog_of(settings: Settings) -> Catalog:
    """The model services and prices of the settings."""
    services = {name: Address(row.url, row.key, row.usage) for name, row in settings.services.items()}
    return Catalog(services, {model: _price(row) for model, row in settings.prices.items()})


def _price(row: TokenPrice) -> Price:
    """A price row as a Price, whose cache prices are fractions of the input price."""
    read, write = (row.input if each is None else each for each in (row.cached, row.written))
    return Price(row.input, row.output, read / row.input, write / row.input) if row.input else Price(0, row.output, 0, 0)


def agents_are_ready(settings: Settings, agent: str, env: Mapping[str, str], project: Path, roles: Iterable[str] = ()) -> None:
    """Check that every agent a driven run may ask is available, also for these roles. DetentError names the one that is not, or an unknown role."""
    roles_are_known(settings)
    specs = (agent,) if agent else settings.agents.roles.values()
    for spec in dict.fromkeys((*specs, settings.agents.escalate.to)):
        if spec:
            must_be_ready(spec, env, project, settings.agents.model, catalog_of(settings))
    if not agent and not (settings.agents.roles and all(settings.agents.of(role) for role in roles)):
        _default_is_ready(settings, env, project)


def _default_is_ready(settings: Settings, env: Mapping[str, str], project: Path) -> None:
    """Check the default agent; if its key is missing, the hint says how to name another one."""
    try:
        must_be_ready(DEFAULT, env, project, settings.agents.model, catalog_of(settings))
    except DetentError as e:
        message = f"no agent is named, and the default, {DEFAULT}, has no key"
        raise DetentError(message, f"name an agent: --agent claude (`detent doctor` lists those that are installed); or {e.hint}") from e


def roles_are_known(settings: Settings) -> None:
    """Refuse a role under [agents] that no workflow has."""
    if not settings.agents.roles:
        return
    from detent.app.registry import all_tables
    from detent.config.values import unknown  # most runs configure no role

    states = (state for table in all_tables().values() for state in table.states.values())
    known = sorted({state.role.lower() for state in states if state.role} | {REVIEWER})
    for role in settings.agents.roles:
        if role not in known:
            raise unknown(f"[agents] {role}: no workflow has a role of that name", role, known)


# -- the reviewer --------------------------------------------------------------------------------------------------------------


def with_reviewer(settings: Settings, agent: str, env: Mapping[str, str], project: Path) -> Settings:
    """The settings with `other` replaced by a reviewer of another vendor than `agent`'s, chosen once when a run begins.
    An empty `agent` means pull mode."""
    if settings.review.agent != OTHER:
        return settings
    authors = {spec: vendor_of(spec, settings.agents.model) for spec in _authors(settings, agent)}
    if not authors or not all(authors.values()):
        who = next((spec for spec, vendor in authors.items() if not vendor), "an agent that calls by itself")
        raise DetentError(
            f'[review] agent = "{OTHER}": Detent cannot tell whose model {who} uses, so it cannot choose one of another vendor',
            'name the reviewer: [review] agent = "codex"',
        )
    for spec in _candidates(settings, env, project):
        vendor = vendor_of(spec, settings.agents.model)
        if vendor and vendor not in authors.values():
            return msgspec.structs.replace(settings, review=msgspec.structs.replace(settings.review, agent=spec))
    raise DetentError(
        f'[review] agent = "{OTHER}": {" and ".join(sorted(set(authors.values())))} wrote it, and no agent of another vendor is known here',
        'configure one: [agents] reviewer = "openai:MODEL", or name it: [review] agent',
    )


def _authors(settings: Settings, agent: str) -> list[str]:
    """The agents that may write in a driven run: the named one or those of the roles, and the one of the second try."""
    if not agent:
        return []
    roles = {role: spec for role, spec in settings.agents.roles.items() if role != REVIEWER}
    specs: Iterable[str] = (agent,) if agent != CONFIGURED else (DEFAULT, *roles.values())
    return [spec for spec in dict.fromkeys((*specs, settings.agents.escalate.to)) if spec]


def _candidates(settings: Settings, env: Mapping[str, str], project: Path) -> Iterator[str]:
    """Possible reviewers: the configured agents first, then available ones of INSTALLED."""
    yield from filter(None, (settings.agents.of(REVIEWER), *settings.agents.roles.values(), settings.agents.escalate.to))
    for spec in INSTALLED:
        try:
            must_be_ready(spec, env, project, settings.agents.model, catalog_of(settings))
        except DetentError:
            continue
        yield spec


SERVICES = ("anthropic", "openai")  # backends that call a model directly


class FoundAgent(NamedTuple):
    """An agent as `--agent` names it, and why it is not available; empty if it is."""

    agent: str
    lacks: str = ""
    hint: str = ""


def found_agents(settings: Settings, env: Mapping[str, str], project: Path) -> Iterator[FoundAgent]:
    """All known agents: available ones first, and among those the configured ones."""
    from detent.agents.acp import AGENTS  # imported late: only needed for this list
    from detent.agents.clients import CLIENTS

    known = (*settings.agents.roles.values(), *CLIENTS, *(f"acp:{name}" for name in AGENTS), *SERVICES)
    rows = [_looked_for(spec, settings, env, project) for spec in dict.fromkeys(known)]
    yield from sorted(rows, key=lambda row: bool(row.lacks))


def _looked_for(spec: str, settings: Settings, env: Mapping[str, str], project: Path) -> FoundAgent:
    try:
        must_be_ready(spec, env, project, settings.agents.model, catalog_of(settings))
    except DetentError as e:
        return FoundAgent(spec, e.message, e.hint or "")
    return FoundAgent(spec)
