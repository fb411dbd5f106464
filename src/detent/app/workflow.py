"""A workflow as one value: its table and everything that the rooms around it need to know about it. Checked whole when it is constructed.

Whoever adds a workflow writes one of these (docs/extending.md). Functions that few calls need import their module when they are called.
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

NEEDED = ("setup", "base", "branch", "good_tree", "reds")  # what every room asks of a run's data
OF_AGENTS = ("agent-failed", "limited", "no-model", "over-budget")  # what can happen to an agent that the machine drives
HAND_IN = "hand-in"  # the prompt that says how an agent hands in


class Start(Protocol):
    """Create a run as it was asked for; its id."""

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


def nothing_said(run: AnyRun) -> tuple[str, ...]:
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


def not_said(run: AnyRun, asked: "PersonDecision") -> Mapping[str, str]:
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
    """The git notes that a workflow writes: their ref, and how to rewrite those of a run from the journal; `write` returns how many changed."""

    ref: str
    write: Callable[["RepoWorld", AnyRun], int]


class Items(NamedTuple):
    """What a workflow whose runs are executions of work items does with items."""

    starter: Callable[["App", Sent, "Terms"], Callable[[str], str]]  # how to queue items, one after another; each gives a run
    last_of: Callable[["App", str], Head | None]  # the newest execution of an item
    review: Callable[["App", str, str, bool], dict[str, Any]]  # a branch by hand: branch, agent, again
    waiting_for: Callable[["App", str], AnyRun | None]  # the execution that waits for a better review of a branch


class Workflow(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """Everything about a workflow. `effects` and `jobs` may be a `Late` mapping, which is checked when it is loaded: before a run begins."""

    table: Table[T]
    folder: Path  # has briefings/STATE.md
    effects: "Effects"
    jobs: "Jobs"
    start: Start | None = None  # None: such a run is only ever the child of another
    prompts: Path | None = None  # has ROLE.md for each role, and hand-in.md; None: the folder's own
    hand_in: str = HAND_IN
    options: tuple[str, ...] = ()  # the fields of Terms that only such a run is started with
    doors: tuple[str, ...] = ("start", "run", "page")  # where people may start it
    read: Reader = read_summary  # what an agent's last words hand in
    title: Callable[[AnyRun], str] = lambda run: run.id
    plan: Callable[[AnyRun], tuple[Part, ...]] = no_plan
    files: Callable[[AnyRun], Mapping[str, str | None]] = no_files  # the published files as they should be; None: none of that name
    being_written: Callable[[AnyRun], tuple[str, ...]] = none_written  # those of them that the agent is asked to write now
    claims: "Fold" = no_claims  # what an event proves, for the evidence notes
    whole_branch: bool = False  # all steps of a branch end in one commit
    known: Callable[[Briefing, str], dict[str, str]] = nothing_known  # fields of a submit that the machine fills by itself
    pause: Callable[[AnyRun], float] = no_pause  # seconds before a driven agent tries again
    failures: Mapping[str, str] = {}  # the event for a sort of an agent's failure, where it is not the usual one
    tests: Callable[[AnyRun], dict[str, list[str]]] = no_tests  # those of its list: completed, pending
    gives_up: tuple[str, ...] = ()  # the causes of a halt that are a failure, and no question to a person
    result: Callable[["App", AnyRun], dict[str, Any]] = nothing_more  # what the result of a driven run has besides
    lay: Callable[[Path, AnyRun], None] = not_laid  # what is put into a workspace that is made
    stages: tuple[str, ...] = ()  # what a person may have done again; none: its runs have no documents that people revise
    papers: Callable[[AnyRun], tuple[str, ...]] = none_written  # the documents that people may revise, by path
    edited: Callable[["App", AnyRun], Mapping[str, str]] = nothing_edited  # documents that a person changed and that do not count yet
    asks: Callable[["App", AnyRun, "PersonDecision"], str] = as_asked  # a question with everything that it is about, as markdown
    means: Callable[[AnyRun, "PersonDecision"], Mapping[str, str]] = (
        not_said  # the answers it takes, as they are typed, with what each does
    )
    costs: Callable[[Iterable[AnyEvent]], dict[str, dict[str, float]]] = no_costs  # what each role took so far: turns, seconds, tokens, usd
    void: Callable[[AnyRun, Sent], tuple[str, ...]] = nothing_void  # what a revision makes void, in words
    before_rollback: Callable[["RepoWorld", AnyRun, AnyRun], None] = nothing_brought  # the old run as it stood, and the new one
    as_new: Callable[[AnyRun], AnyRun] = lambda run: (
        run
    )  # a run that begins again from an event of another: what its data says of events is its own
    after_rollback: Callable[["RepoWorld", AnyRun], None] = not_redone
    forget: Callable[["RepoWorld", AnyRun], None] = not_redone  # takes away what a failed turn wrote outside of the tree
    protected: Callable[[Briefing], tuple[str, ...]] = nothing_protected  # what the agent never writes
    documents: str = ""  # the folder of documents that roles write, where a role may write nothing else
    in_workspace: tuple[str, ...] | None = None  # the effects that need the run's workspace; None: all of them
    at_start: Callable[[AnyRun], tuple[str, ...]] = nothing_said  # what a person is told before the first step
    merge: str = "auto"  # where [git] merge is not set
    findings: Callable[[AnyRun], str] = no_findings  # what a review found that the run waits because of
    shown: Callable[["App", AnyRun, Iterable[str]], dict[str, str]] = nothing_shown  # documents that a question is about, by path
    inner: Callable[[Inner], Child] | None = None  # how it works on an item for an execution
    wants_plan: bool = False  # and whether it then wants the item's text as a plan file
    limits: Callable[["Settings"], dict[str, int]] = no_limits  # how often it may fail, as a project configures it
    items: Items | None = None  # where its runs are executions of work items
    from_notes: Callable[["App", Sent, str], str] | None = None  # go on in a clone that has only notes
    notes: Notes | None = None  # notes that it writes on commits

    def __post_init__(self) -> None:
        _raise(self.table.name, _form(self))
        if not isinstance(self.effects, Late) and not isinstance(self.jobs, Late):
            self.check()

    def check(self) -> None:
        """Whether somebody does what its table owes and asks for, and its texts can be filled in; loads what is late."""
        _raise(self.table.name, [*_undone(self), *_undriven(self), *_unfilled(self)])

    @property
    def has_decisions(self) -> bool:
        """Whether its runs keep questions to people by name."""
        return "decisions" in self.table.data.__struct_fields__

    @property
    def prompt_folder(self) -> Path:
        return self.prompts or self.folder / "prompts"


class Late(dict[str, Any]):
    """A mapping of a module, by the names of both; imported when something is looked up in it."""

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
    """What can be seen without loading what is done for it."""
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
    """What the rooms need of the data of a run and it does not have."""
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
    """What a machine that drives its agents would have to say, and no row takes."""
    states = [name for name, state in flow.table.states.items() if state.actor == "agent" and not state.end and "run" in flow.doors]
    return [
        f"state {name} has no row for {event}; blocks.common.driven makes them"
        for name in states
        for event in OF_AGENTS
        if flow.table.row(name, event) is None
    ]


def _unfilled(flow: Workflow[Any]) -> list[str]:
    """Names in its briefings that its facts do not have, seen with the data of a run that has just begun."""
    faults = []
    for name in flow.table.states:
        try:
            missing = not_given(
                flow.table, flow.folder, Run("", flow.table.name, name, 1, flow.table.data(), limits=dict(flow.table.limits))
            )
        except (KeyError, IndexError, AttributeError, TypeError, ValueError):
            continue  # facts that need more than an empty run cannot be seen here
        faults += [f"the briefing of {name} uses {each}, which its facts do not have" for each in missing]
    return faults
