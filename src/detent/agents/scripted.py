"""The `scripted` backend, for demos and tests: each turn plays the next fitting entry of a file, and what it does is real.

Owns the file's format and the order of play. An attempt remembers its entry, so a turn that is cut off and repeated plays the same one.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
import yaml

from detent.agents.agent_protocol import AgentFailed, Progress, Reply, Sort, Usage
from detent.agents.question import Asked
from detent.agents.scripted_files import delete, write
from detent.agents.scripted_position import choose, spend_entry
from detent.errors import DetentError

LONGEST_WAIT = 600.0


class Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rejects unknown fields."""


class ScriptedToolCall(Strict, frozen=True):
    tool: str
    arguments: dict[str, object] = {}


class Failure(Strict, frozen=True):
    sort: Sort
    message: str = "the script says so"
    not_before: str = ""


class ScriptedSpent(Strict, frozen=True):
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    usd: float = 0.0


class ScriptEntry(Strict, frozen=True):
    """One turn: when it fits, and what it then does, in the order of the fields."""

    state: str | list[str] = []
    role: str | list[str] = []
    step: str = ""  # the description of the current step or test
    attempt: int = 0
    again: bool = False  # may be played any number of times
    say: list[str] = []
    write: dict[str, str] = {}
    append: dict[str, str] = {}
    delete: list[str] = []
    call: list[ScriptedToolCall] = []
    wait: float = 0.0
    usage: ScriptedSpent = ScriptedSpent()
    reply: str | dict[str, object] | list[object] = ""
    fail: Failure | None = None


class TurnFacts(msgspec.Struct, frozen=True):
    """The fields of a briefing that entries are matched against."""

    run: str = ""
    state: str = ""
    role: str = ""
    step: dict[str, object] | None = None
    attempt: int = 1
    attempt_id: str = ""


def ask_scripted(asked: Asked) -> Reply:
    """Play the next fitting entry and return its reply. DetentError if the file cannot be used or has no entry left."""
    path = Path(asked.rest)
    entries, where = read_script(path), where_of(asked)
    fitting = [i for i, entry in enumerate(entries) if fits(entry, where)]
    key = where.attempt_id or hashlib.sha256(asked.turn.briefing.encode("utf-8", "replace")).hexdigest()
    here = (asked.turn.transcript, f"{path.resolve()} {where.run}", f"{where.role} {key}")
    number = choose(*here, [(i, entries[i].again) for i in fitting])
    if number is None:
        raise DetentError(
            f"{path}: no entry is left for state '{where.state}', role '{where.role}'", "add one, or let one be played `again: true`"
        )
    entry = entries[number]
    asked.log.add("entry", file=str(path), number=number + 1)
    play(asked, entry)
    if entry.fail is not None:
        spend_entry(*here, number)
        raise AgentFailed(entry.fail.sort, entry.fail.message, entry.fail.not_before)
    text = entry.reply if isinstance(entry.reply, str) else json.dumps(entry.reply, ensure_ascii=False)
    return Reply(text, asked.meter.usage, asked.meter.turns)


def play(asked: Asked, entry: ScriptEntry) -> None:
    """Do what an entry says."""
    for text in entry.say:
        asked.tell(Progress("text", text))
    for name, text in entry.write.items():
        write(asked.turn.workspace, name, text)
    for name, text in entry.append.items():
        write(asked.turn.workspace, name, text, append=True)
    for name in entry.delete:
        delete(asked.turn.workspace, name)
    for call in entry.call:
        call_tool(asked, call)
    asked.meter.stir()
    asked.meter.pause(min(entry.wait, LONGEST_WAIT))
    asked.spend(Usage(**msgspec.structs.asdict(entry.usage)))
    asked.tell(Progress("usage", f"{asked.meter.usage.tokens} tokens", asked.meter.usage))


def call_tool(asked: Asked, call: ScriptedToolCall) -> None:
    if asked.turn.toolbox is None:
        raise DetentError(f"the script calls {call.tool}, but this turn has no tools", "write files with `write:` instead")
    asked.meter.check()
    asked.tell(Progress("tool", call.tool))
    answer = asked.turn.toolbox.call(call.tool, call.arguments)
    asked.log.add("call", tool=call.tool, arguments=call.arguments, text=answer.text, failed=answer.failed)
    asked.tell(Progress("result", ("failed: " if answer.failed else "") + answer.text[:200]))


def fits(entry: ScriptEntry, where: TurnFacts) -> bool:
    step = (where.step or {}).get("description", "")
    return (
        _one_of(entry.state, where.state)
        and _one_of(entry.role, where.role)
        and entry.step in ("", step)
        and entry.attempt in (0, where.attempt)
    )


def _one_of(wanted: str | list[str], value: str) -> bool:
    names = [wanted] if isinstance(wanted, str) else wanted
    return not names or value in names


def where_of(asked: Asked) -> TurnFacts:
    """The facts in the briefing; run, state and role may come from the environment variables instead."""
    env = asked.turn.env
    try:
        where = msgspec.json.decode(asked.turn.briefing, type=TurnFacts)
    except msgspec.MsgspecError:
        where = TurnFacts()
    return msgspec.structs.replace(
        where,
        run=where.run or env.get("DETENT_RUN", ""),
        state=where.state or env.get("DETENT_STATE", ""),
        role=where.role or env.get("DETENT_ROLE", ""),
    )


def read_script(path: Path) -> list[ScriptEntry]:
    """The entries of a script, YAML or JSON. An error names its place, such as `$[1].write`."""
    try:
        loaded = yaml.load(path.read_text("utf-8"), Loader=Once)
        return msgspec.convert(loaded, list[ScriptEntry])
    except OSError as e:
        raise DetentError(f"the script {path} cannot be read: {e.strerror}", "write scripted:FILE") from e
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as e:
        raise DetentError(f"the script {path} is not YAML: {e}", "see docs/agents.md for its form") from e
    except msgspec.ValidationError as e:
        raise DetentError(f"the script {path} is not valid: {e}", "see docs/agents.md for its form") from e


class Once(yaml.SafeLoader):
    """YAML that rejects duplicate keys."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = next((key for i, key in enumerate(keys) if key in keys[:i]), None)
        if twice is not None:
            raise yaml.constructor.ConstructorError(None, None, f"the key {twice!r} appears twice", node.start_mark)
        return super().construct_mapping(node, deep)
