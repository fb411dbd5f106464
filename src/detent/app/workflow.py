"""A workflow as one value: its table and everything that other rooms need to know about it. Checked whole when it is constructed.

To add a workflow, write one of these (docs/extending.md). Functions that few calls need import their module late.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol

import msgspec

from detent.blocks.briefs import Reader, not_given, read_summary
from detent.blocks.common import Ground, Inner, Part
from detent.door import STOP_CHILDREN, AnyEvent, AnyRun
from detent.journal.journal import Head
from detent.kernel.decide import ERRORS
from detent.kernel.model import Briefing, Run, Sent
from detent.kernel.table import Child, T, Table

if TYPE_CHECKING:
    from detent.app.opened import App
    from detent.blocks.proved import Chain, Fold, Proved
    from detent.blocks.terms import Terms
    from detent.config import Settings
    from detent.gates.human import PersonDecision
    from detent.world.work_tree import Effects, Jobs, RepoWorld

NEEDED = ("setup", "base", "branch", "good_tree", "reds")  # fields that every run's data must have
OF_AGENTS = ("agent-failed", "limited", "no-model", "over-budget")  # events of a driven agent, which its states need rows for
HAND_IN = "hand-in"  # the prompt on how to hand in work


class Start(Protocol):
    """Creates a run; returns its id."""

    def __call__(self, app: "App", sent: Sent, terms: "Terms") -> str: ...


def no_files(run: AnyRun) -> Mapping[str, str | None]:
    return {}


def none_written(run: AnyRun) -> tuple[str, ...]:
    return ()


def no_plan(run: AnyRun) -> tuple[Part, ...]:
    return ()


def no_pause(run: AnyRun) -> float:
    return 0.0


def nothing_known(briefing: Briefing, command: str) -> dict[str, str]:
    return {}


def nothing_more(app: "App", run: AnyRun) -> dict[str, Any]:
    return {}


def no_sentences(run: AnyRun) -> tuple[str, ...]:
    return ()


def no_tests(run: AnyRun) -> dict[str, list[str]]:
    return {}


def no_findings(run: AnyRun) -> str:
    return ""


def nothing_shown(app: "App", run: AnyRun, paths: Iterable[str]) -> dict[str, str]:
    return {}


def nothing_edited(app: "App", run: AnyRun) -> Mapping[str, str]:
    return {}


def as_asked(app: "App", run: AnyRun, asked: "PersonDecision") -> str:
    return str(asked.question)


def no_meanings(run: AnyRun, asked: "PersonDecision") -> Mapping[str, str]:
    return {}


def no_costs(events: Iterable[AnyEvent]) -> dict[str, dict[str, float]]:
    return {}


def nothing_void(run: AnyRun, sent: Sent) -> tuple[str, ...]:
    return ()


def no_claims(event: AnyEvent, chain: "Chain") -> "list[Proved]":
    return []


def no_limits(settings: "Settings") -> dict[str, int]:
    return {}


def not_laid(root: Path, run: AnyRun) -> None:
    pass


def not_redone(world: "RepoWorld", run: AnyRun) -> None:
    pass


def nothing_brought(world: "RepoWorld", old: AnyRun, run: AnyRun) -> None:
    pass


def nothing_protected(briefing: Briefing) -> tuple[str, ...]:
    return ()


class Notes(NamedTuple):
    """The git notes of a workflow: their ref, and `write`, which rewrites a run's notes from the journal and returns how many changed."""

    ref: str
    write: Callable[["RepoWorld", AnyRun], int]


class Items(NamedTuple):
    """How a workflow whose runs are executions handles items."""

    starter: Callable[["App", Sent, "Terms"], Callable[[str], str]]  # given the terms, a function from an item to a new run
    last_of: Callable[["App", str], Head | None]  # the newest execution of an item
    review: Callable[["App", str, str, bool], dict[str, Any]]  # review a branch by hand: branch, agent, again
    waiting_for: Callable[["App", str], AnyRun | None]  # the execution that waits for a better review of a branch


class Workflow(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """A workflow. `effects` and `jobs` may be `Late` mappings, which are checked when loaded, before a run begins."""

    table: Table[T]
    folder: Path  # contains briefings/STATE.md
    effects: "Effects"
    jobs: "Jobs"
    start: Start | None = None  # None: its runs are only children of others
    prompts: Path | None = None  # contains ROLE.md for each role, and hand-in.md; None: `folder`/prompts
    hand_in: str = HAND_IN
    options: tuple[str, ...] = ()  # the fields of Terms that are its own options
    doors: tuple[str, ...] = ("start", "run", "page")  # where people may start it
    read: Reader = read_summary  # parses what an agent's last message hands in
    title: Callable[[AnyRun], str] = lambda run: run.id
    plan: Callable[[AnyRun], tuple[Part, ...]] = no_plan
    files: Callable[[AnyRun], Mapping[str, str | None]] = no_files  # the published files as they should be; None: no such file
    being_written: Callable[[AnyRun], tuple[str, ...]] = none_written  # published files that the agent is to write now
    claims: "Fold" = no_claims  # what an event proves, for the evidence notes
    whole_branch: bool = False  # all steps of a branch end in one commit
    known: Callable[[Briefing, str], dict[str, str]] = nothing_known  # fields of a submit that the machine fills in
    pause: Callable[[AnyRun], float] = no_pause  # seconds before a driven agent tries again
    failures: Mapping[str, str] = {}  # sort of an agent's failure -> event, where it differs from the default
    tests: Callable[[AnyRun], dict[str, list[str]]] = no_tests  # the tests of its list: completed, pending
    gives_up: tuple[str, ...] = ()  # causes of a halt that count as failure, not as a question to a person
    result: Callable[["App", AnyRun], dict[str, Any]] = nothing_more  # further fields of a driven run's result
    lay: Callable[[Path, AnyRun], None] = not_laid  # puts files into a new workspace
    stages: tuple[str, ...] = ()  # stages that a person may have done again; none: its runs have no documents to revise
    papers: Callable[[AnyRun], tuple[str, ...]] = none_written  # the documents that people may revise, by path
    edited: Callable[["App", AnyRun], Mapping[str, str]] = nothing_edited  # documents that a person changed and that are not applied yet
    asks: Callable[["App", AnyRun, "PersonDecision"], str] = as_asked  # a question with its context, as markdown
    means: Callable[[AnyRun, "PersonDecision"], Mapping[str, str]] = no_meanings  # answer as typed -> what it does
    costs: Callable[[Iterable[AnyEvent]], dict[str, dict[str, float]]] = no_costs  # role -> turns, seconds, tokens, usd so far
    void: Callable[[AnyRun, Sent], tuple[str, ...]] = nothing_void  # what a revision makes void, in words
    before_rollback: Callable[["RepoWorld", AnyRun, AnyRun], None] = nothing_brought  # the old run as it stood, and the new one
    as_new: Callable[[AnyRun], AnyRun] = lambda run: (
        run
    )  # a run that begins from an event of another: its data must name no event of that one
    after_rollback: Callable[["RepoWorld", AnyRun], None] = not_redone
    forget: Callable[["RepoWorld", AnyRun], None] = not_redone  # removes what a failed turn wrote outside the tree
    protected: Callable[[Briefing], tuple[str, ...]] = nothing_protected  # paths that the agent may not write
    documents: str = ""  # the folder of documents, for a role that may write nothing else
    in_workspace: tuple[str, ...] | None = None  # the effects that need the run's workspace; None: all of them
    at_start: Callable[[AnyRun], tuple[str, ...]] = no_sentences  # sentences for a person before the first step
    merge: str = "auto"  # the default of [git] merge
    findings: Callable[[AnyRun], str] = no_findings  # the review's findings that the run waits for
    shown: Callable[["App", AnyRun, Iterable[str]], dict[str, str]] = nothing_shown  # documents that a question is about, by path
    inner: Callable[[Inner], Child] | None = None  # makes the inner run of an execution
    wants_plan: bool = False  # whether that inner run wants the item's text as a plan file
    limits: Callable[["Settings"], dict[str, int]] = no_limits  # configured limits of failures
    items: Items | None = None  # if its runs are executions of work items
    from_notes: Callable[["App", Sent, str], str] | None = None  # continues in a clone that has only notes
    notes: Notes | None = None  # the notes that it writes on commits

    def __post_init__(self) -> None:
        _raise(self.table.name, _form(self))
        if not isinstance(self.effects, Late) and not isinstance(self.jobs, Late):
            self.check()

    def check(self) -> None:
        """Check that all effects and jobs of its table exist and its texts can be rendered; loads what is late."""
        _raise(self.table.name, [*_undone(self), *_undriven(self), *_unfilled(self)])

    @property
    def has_decisions(self) -> bool:
        """Whether its runs record questions to people as decisions."""
        return "decisions" in self.table.data.__struct_fields__

    @property
    def prompt_folder(self) -> Path:
        return self.prompts or self.folder / "prompts"


class Late(dict[str, Any]):
    """A mapping defined in a module, which is imported at the first lookup."""

    def __init__(self, module: str, name: str) -> None:
        super().__init__()
        self._named = module, name

    def __missing__(self, name: str) -> Any:
        return dict(self.all())[name]

    def all(self) -> Mapping[str, Any]:
        module, name = self._named
        self.update(getattr(import_module(module), name))
        return self


def _raise(name: str, faults: list[str]) -> None:
    if faults:
        raise ValueError(f"the workflow {name} is incomplete:\n" + "\n".join(f"- {fault}" for fault in faults))


def _form(flow: Workflow[Any]) -> list[str]:
    """Faults that show without loading effects and jobs."""
    table = flow.table
    faults = [
        f"state {name} has no briefing: {flow.folder / 'briefings' / name}.md is not there"
        for name, state in table.states.items()
        if state.actor != "system" and not (flow.folder / "briefings" / f"{name}.md").is_file()
    ]
    roles = {state.role for state in table.states.values() if state.actor == "agent"}
    prompts = sorted({flow.hand_in, *(role.lower() for role in roles)}) if roles else []
    faults += [
        f"there is no prompt {flow.prompt_folder / name}.md" for name in prompts if not (flow.prompt_folder / f"{name}.md").is_file()
    ]
    if ERRORS not in table.limits:
        faults.append(f"its limits have no {ERRORS}: how often in a row the machine may be unable to tell")
    return faults + _unfit_data(table.data)


def _unfit_data(data: type[Any]) -> list[str]:
    """Faults of the data type of its runs."""
    fields = set(data.__struct_fields__)
    faults = [f"its data {data.__name__} has no field {name}" for name in NEEDED if name not in fields]
    try:
        empty = data()
    except TypeError:
        return [*faults, f"its data {data.__name__} has a field without a default"]
    if "setup" in fields and not isinstance(empty.setup, Ground):
        faults.append(f"the field setup of its data {data.__name__} is not a Ground")
    return faults


def _undone(flow: Workflow[Any]) -> list[str]:
    table = flow.table
    effects, jobs = (m.all() if isinstance(m, Late) else m for m in (flow.effects, flow.jobs))
    ways = [way for row in table.rows for way in row.ways] + [table.broken]
    owed = {effect.name for way in ways for effect in way.owes} | {effect.name for effect in table.always}
    faults = [f"nobody does the effect {name}, which its rows owe" for name in sorted(owed - set(effects) - {STOP_CHILDREN})]
    wanted = {(name, state.job.name) for name, state in table.states.items() if state.job}
    return faults + [f"nobody does the job {job} of state {name}" for name, job in sorted(wanted) if job not in jobs]


def _undriven(flow: Workflow[Any]) -> list[str]:
    """Faults of driven states: events of agents without a row."""
    states = [name for name, state in flow.table.states.items() if state.actor == "agent" and not state.end and "run" in flow.doors]
    return [
        f"state {name} has no row for {event}; blocks.common.driven makes them"
        for name in states
        for event in OF_AGENTS
        if flow.table.row(name, event) is None
    ]


def _unfilled(flow: Workflow[Any]) -> list[str]:
    """Names in its briefings that its facts lack, tried with the data of a new run."""
    faults = []
    for name in flow.table.states:
        try:
            missing = not_given(
                flow.table, flow.folder, Run("", flow.table.name, name, 1, flow.table.data(), limits=dict(flow.table.limits))
            )
        except (KeyError, IndexError, AttributeError, TypeError, ValueError):
            continue  # facts that need more than an empty run cannot be checked here
        faults += [f"the briefing of {name} uses {each}, which its facts do not have" for each in missing]
    return faults
