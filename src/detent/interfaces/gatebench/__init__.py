"""The gate bench: scripted agents, honest and not, against the machine as it is. Owns what an agent is; the agents themselves are files.

`agents/LANGUAGE.yaml` is a project with its first agents; `agents/LANGUAGE/*.yaml` are more of them, a file for each class of cheats.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from detent.errors import DetentError
from detent.kernel.model import Value

AGENTS = Path(__file__).with_name("agents")
Sort = Literal["honest", "lazy", "cheat", "beyond"]  # beyond: no machine can judge it; shown, and docs/gate-bench.md says why
PlanStep = Literal["RED", "GREEN", "REFACTOR"]
Step = Literal["RED", "GREEN", "REFACTOR", "SQUASH"]


class BenchTry(Value, frozen=True, forbid_unknown_fields=True):
    """What an agent does before it hands in, in this order, and what it says when it does."""

    honest: bool = False  # first, what an honest agent does at this step
    write: dict[str, str] = {}
    remove: tuple[str, ...] = ()
    sh: str = ""  # a command line in the checkout
    submit: dict[str, str] = {}  # fields that differ from an honest submit


class BenchAgent(Value, frozen=True, forbid_unknown_fields=True):
    """One agent. A step that is not named is done honestly; the last try is made again until the machine lets it pass or time is up."""

    name: str
    sort: Sort
    does: str  # in one sentence
    harmless_if_sound: bool = False  # getting to the end is right if what was merged is what was proved
    steps: dict[Step, tuple[BenchTry, ...]] = {}
    setup: dict[str, str] = {}  # files that the project has besides, before the run starts
    prepare: str = ""  # a command line in the project before the run starts, for what is no file of it
    settings: str = ""  # lines of detent.toml besides
    title: str = "feat: clamp"  # the entry of the plan, which a person wrote
    plan: tuple[PlanStep, ...] = ("RED", "GREEN", "REFACTOR")  # what the agent makes of it
    check: str = ""  # instead of the language's, where an honest agent leaves something else


class BenchLanguage(Value, frozen=True, forbid_unknown_fields=True):
    """A project in one language, how an honest agent works in it, and the agents."""

    language: str
    runner: str
    needs: tuple[str, ...]  # programs
    command: str
    check: str  # what a person would look at in the end: a command line that passes on what an honest agent leaves
    files: dict[str, str]
    honest: dict[Step, tuple[BenchTry, ...]]
    agents: tuple[BenchAgent, ...]
    shares_builds: bool = False  # what its toolchain keeps is found by content, so that projects may share it


def languages(only: tuple[str, ...] = ()) -> Iterator[BenchLanguage]:
    """Every language of the bench, or those that are named."""
    import msgspec

    found = {file.stem: file for file in sorted(AGENTS.glob("*.yaml"))}
    if unknown := [name for name in only if name not in found]:
        raise DetentError(f"there is no language '{unknown[0]}' in the bench", f"there are: {', '.join(found)}")
    for name in only or found:
        language = msgspec.convert(_read(found[name]), BenchLanguage)
        more = [agent for file in sorted((AGENTS / name).glob("*.yaml")) for agent in msgspec.convert(_read(file), tuple[BenchAgent, ...])]
        yield msgspec.structs.replace(language, agents=(*language.agents, *more))


def _read(file: Path) -> object:
    import yaml

    said: object = yaml.safe_load(file.read_text("utf-8"))
    return said
