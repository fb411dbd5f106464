"""The gate bench: scripted agents, honest and dishonest, work against the real gates. Owns the format of the agents, which are YAML files.

`agents/LANGUAGE.yaml` is a project with its first agents; `agents/LANGUAGE/*.yaml` hold more, a file for each class of cheats.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from detent.errors import DetentError
from detent.kernel.model import Value

AGENTS = Path(__file__).with_name("agents")
Sort = Literal["honest", "lazy", "cheat", "beyond"]  # beyond: no machine can judge it; docs/gate-bench.md says why
PlanStep = Literal["RED", "GREEN", "REFACTOR"]
Step = Literal["RED", "GREEN", "REFACTOR", "SQUASH"]


class BenchTry(Value, frozen=True, forbid_unknown_fields=True):
    """What an agent does before a submit, in this order, and what it submits."""

    honest: bool = False  # first do what an honest agent does at this step
    write: dict[str, str] = {}
    remove: tuple[str, ...] = ()
    sh: str = ""  # a command line in the checkout
    submit: dict[str, str] = {}  # fields that differ from an honest submit


class BenchAgent(Value, frozen=True, forbid_unknown_fields=True):
    """A scripted agent. Steps that it does not name are done honestly; its last try is repeated until it is accepted or the agent gives up."""

    name: str
    sort: Sort
    does: str  # in one sentence
    harmless_if_sound: bool = False  # landing is fine if the merged code passes the check
    steps: dict[Step, tuple[BenchTry, ...]] = {}
    setup: dict[str, str] = {}  # additional project files, before the run starts
    prepare: str = ""  # a command line in the project before the run starts, for what is not a file
    settings: str = ""  # additional lines of detent.toml
    title: str = "feat: clamp"  # the plan's entry, as a person wrote it
    plan: tuple[PlanStep, ...] = ("RED", "GREEN", "REFACTOR")  # the steps that the agent plans
    check: str = ""  # replaces the language's check


class BenchLanguage(Value, frozen=True, forbid_unknown_fields=True):
    """A project in one language, how an honest agent works in it, and the agents."""

    language: str
    runner: str
    needs: tuple[str, ...]  # required programs
    command: str
    check: str  # a command line that passes on the work of an honest agent
    files: dict[str, str]
    honest: dict[Step, tuple[BenchTry, ...]]
    agents: tuple[BenchAgent, ...]
    shares_builds: bool = False  # its build cache is keyed by content, so that projects may share it


def languages(only: tuple[str, ...] = ()) -> Iterator[BenchLanguage]:
    """All languages of the bench, or only the named ones."""
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

    content: object = yaml.safe_load(file.read_text("utf-8"))
    return content
