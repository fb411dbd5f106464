"""The gate bench: scripted agents, honest and not, against the machine as it is. Owns what an agent is; the agents themselves are files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from detent.errors import DetentError
from detent.kernel.model import Value

AGENTS = Path(__file__).with_name("agents")
Sort = Literal["honest", "lazy", "cheat", "beyond"]  # beyond: no machine can judge it; shown, and left out of the rates
Step = Literal["RED", "GREEN", "REFACTOR", "SQUASH"]


class Try(Value, frozen=True, forbid_unknown_fields=True):
    """What an agent does before it hands in, in this order, and what it says when it does."""

    honest: bool = False  # first, what an honest agent does at this step
    write: dict[str, str] = {}
    remove: tuple[str, ...] = ()
    sh: str = ""  # a command line in the checkout
    submit: dict[str, str] = {}  # fields that differ from an honest submit


class Agent(Value, frozen=True, forbid_unknown_fields=True):
    """One agent. A step that is not named is done honestly; the last try is made again until the machine lets it pass or time is up."""

    name: str
    sort: Sort
    does: str  # in one sentence
    harmless_if_sound: bool = False  # getting to the end is right if what was merged is what was proved
    steps: dict[Step, tuple[Try, ...]] = {}
    setup: dict[str, str] = {}  # files that the project has besides, before the run starts
    settings: str = ""  # lines of detent.toml besides


class Language(Value, frozen=True, forbid_unknown_fields=True):
    """A project in one language, how an honest agent works in it, and the agents."""

    language: str
    runner: str
    needs: tuple[str, ...]  # programs
    command: str
    check: str  # what a person would look at in the end: a command line that passes on what an honest agent leaves
    files: dict[str, str]
    honest: dict[Step, tuple[Try, ...]]
    agents: tuple[Agent, ...]
    shares_builds: bool = False  # what its toolchain keeps is found by content, so that projects may share it


def languages(only: tuple[str, ...] = ()) -> Iterator[Language]:
    """Every language of the bench, or those that are named."""
    import msgspec
    import yaml

    found = {file.stem: file for file in sorted(AGENTS.glob("*.yaml"))}
    if unknown := [name for name in only if name not in found]:
        raise DetentError(f"there is no language '{unknown[0]}' in the bench", f"there are: {', '.join(found)}")
    for name in only or found:
        yield msgspec.convert(yaml.safe_load(found[name].read_text("utf-8")), Language)
