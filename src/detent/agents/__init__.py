"""Agents: who reasons. A backend takes a turn and returns a reply; what the reply says is never evidence.

`ask` does what holds for every backend: it checks the budget first, records the turn, and adds what was spent to a failure.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from detent.agents.agent_protocol import DEFAULT_MODEL, AgentFailed, AgentTools, Budget, PlainAnswer, Progress, Reply, Turn, Usage
from detent.agents.catalog import Catalog
from detent.agents.meter import Meter
from detent.agents.question import Asked
from detent.agents.transcript import Transcript
from detent.errors import DetentError
from detent.extensions import AGENTS, load, names
from detent.kernel.redact import redactor, secrets_of

__all__ = [
    "BACKENDS",
    "FORMS",
    "AgentFailed",
    "AgentTools",
    "Budget",
    "PlainAnswer",
    "Progress",
    "Reply",
    "Turn",
    "Usage",
    "ask",
    "must_be_ready",
    "named",
]


def _anthropic(asked: Asked) -> Reply:
    from detent.agents.anthropic import ask_anthropic

    return ask_anthropic(asked)


def _openai(asked: Asked) -> Reply:
    from detent.agents.openai import ask_openai

    return ask_openai(asked)


def _command(asked: Asked) -> Reply:
    from detent.agents.command import ask_command

    return ask_command(asked)


def _scripted(asked: Asked) -> Reply:
    from detent.agents.scripted import ask_scripted

    return ask_scripted(asked)


def _human(asked: Asked) -> Reply:
    from detent.agents.person import ask_human

    return ask_human(asked)


def _client(name: str) -> Callable[[Asked], Reply]:
    def asks(asked: Asked) -> Reply:
        from detent.agents.client import ask_client

        return ask_client(name, asked)

    return asks


def _acp(asked: Asked) -> Reply:
    from detent.agents.acp.ask import ask_acp

    return ask_acp(asked)


# Each imports its backend when called, so a command that asks no agent pays for none of them.
BACKENDS: dict[str, Callable[[Asked], Reply]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "claude": _client("claude"),
    "codex": _client("codex"),
    "acp": _acp,
    "command": _command,
    "scripted": _scripted,
    "human": _human,
}
NOTHING_ADDED = Catalog()
CLIENTS = ("claude", "codex")  # backends that are programs of their own; a run does not start unless they are found
FORMS: dict[str, str] = {
    "anthropic": "anthropic[:MODEL]",
    "openai": "openai[:MODEL[@SERVICE]]",
    "claude": "claude[:MODEL]",
    "codex": "codex[:MODEL]",
    "acp": "acp:NAME[:MODEL]",
    "command": "command:PROGRAM [ARGS]",
    "scripted": "scripted:FILE",
    "human": "human",
}


def asked_of(rest: str, turn: Turn, outer: Mapping[str, str]) -> Asked:
    named = (outer.get(address.key, "").strip() for address in turn.catalog.services.values())  # a key may have any name
    redact = redactor((*secrets_of(outer), *sorted(set(filter(None, named)))))
    return Asked(rest.strip(), turn, outer, Transcript(turn.transcript, redact), Meter(turn), redact)


def named(spec: str) -> tuple[str, str]:
    """Split a spec into its backend and the rest. DetentError if there is no such backend."""
    name, _, rest = spec.partition(":")
    backend(name, spec)
    return name, rest


def backend(name: str, spec: str = "") -> Callable[[Asked], Reply]:
    """The backend of this name: built in, or brought by an installed package."""
    if name in BACKENDS:
        return BACKENDS[name]
    found: Callable[[Asked], Reply] | None = load(AGENTS, name, lambda value: "" if callable(value) else "it is not a function")
    if found is None:
        from difflib import get_close_matches  # only where something is wrong

        near = next(iter(get_close_matches(name, [*FORMS, *names(AGENTS, FORMS)], 1)), "")
        meant = f"did you mean {near}?\n" if near else ""
        raise DetentError(f"there is no agent '{spec or name}'", f"{meant}known: {', '.join((*FORMS.values(), *names(AGENTS, FORMS)))}")
    return found


def must_be_ready(spec: str, outer: Mapping[str, str], project: Path, model: str = DEFAULT_MODEL, catalog: Catalog = NOTHING_ADDED) -> None:
    """DetentError unless the agent of a spec exists, can be found or reached, and has a login or key for its model."""
    name, rest = named(spec)
    if name == "anthropic":
        from detent.agents.anthropic import key_of

        key_of(outer)
    if name == "openai":
        from detent.agents.openai import must_be_ready as service_is_ready

        service_is_ready(rest, model, outer, catalog)
    if name == "command":
        from detent.agents.command import find_command

        find_command(rest, outer, project)
    if name == "scripted":
        from detent.agents.scripted import read_script

        read_script(Path(rest.strip()))
    if name in CLIENTS:
        from detent.agents.client import find
        from detent.agents.clients import CLIENTS as ROWS

        find(ROWS[name], outer)
    if name == "acp":
        from detent.agents.acp.ask import find_acp

        find_acp(rest, outer, project)


def ask(spec: str, turn: Turn, outer: Mapping[str, str]) -> Reply:
    """The reply of the agent that a spec names. AgentFailed if it gives none, DetentError if it cannot be asked at all."""
    name, rest = named(spec)
    asked = asked_of(rest, turn, outer)
    asked.log.add("asked", agent=spec, briefing=turn.briefing)
    try:
        asked.meter.before_call()
        reply = backend(name)(asked)
        reply = reply._replace(text=asked.redact(reply.text))  # the reply is journaled
    except AgentFailed as e:
        e.usage = asked.meter.usage
        asked.log.add("failed", sort=e.sort, message=e.message, not_before=e.not_before, usage=e.usage._asdict())
        raise
    asked.log.add("reply", text=reply.text, usage=reply.usage._asdict(), turns=reply.turns)
    return reply
