"""What goes over the wire: every request and every answer of the API, as values. The OpenAPI page is made of these. No behaviour."""

from typing import Literal

from detent.app.registry import FOR_REQUESTS
from detent.interfaces.http.shape import Group, Line, Most, Number, Offset, Shape, Text
from detent.kernel.model import Evidence, Flag, Status

# -- what is asked -------------------------------------------------------------------------------------------------------------


class RunsAsked(Shape, frozen=True, kw_only=True):
    group: Literal["", "waiting", "working", "ended"] = ""
    workflow: str = ""
    q: Line = ""  # words of the title, the id, the state or the branch
    children: bool = False
    sort: Literal["changed", "group"] = "changed"  # group: what waits for a person first, what has ended last
    ended: Number | None = None  # at most so many that have ended; without it, all of them
    limit: Most = 100
    offset: Number = 0


class EventsAsked(Shape, frozen=True, kw_only=True):
    after: Number = 0  # the newest event that is known
    limit: Most = 200


class StreamAsked(Shape, frozen=True, kw_only=True):
    after: Offset = -1  # -1: from now on; the header Last-Event-ID comes first


class EverythingAsked(Shape, frozen=True, kw_only=True):
    run: str = ""  # the run whose events and output are told too
    execution: str = ""  # the execution whose output is told too
    after: Offset = -1  # the newest event of the run, or piece of the execution, that is known


class DiffAsked(Shape, frozen=True, kw_only=True):
    event: Number = 0  # 0: the whole branch


class OutputAsked(Shape, frozen=True, kw_only=True):
    after: Offset = 0  # in bytes; negative: from the end
    limit: Most = 1_000_000


class TranscriptsAsked(Shape, frozen=True, kw_only=True):
    limit: Most = 100
    offset: Number = 0


class TestsAsked(Shape, frozen=True, kw_only=True):
    __test__ = False
    event: Number


class Nothing(Shape, frozen=True, kw_only=True):
    """Nothing is asked for beside the address."""


class StartAsked(Shape, frozen=True, kw_only=True):
    request: Text = ""  # what is wanted; for pr the path of the plan
    workflow: Line = FOR_REQUESTS
    agent: Line = ""  # who works; empty: as [agents] says
    baseline: bool = False
    lean: bool = False
    yes_to: tuple[str, ...] = ()


class ResumeAsked(Shape, frozen=True, kw_only=True):
    guidance: Text = ""


class SteerAsked(Shape, frozen=True, kw_only=True):
    text: Text


class AbortAsked(Shape, frozen=True, kw_only=True):
    reason: Text = ""


class AnswerAsked(Shape, frozen=True, kw_only=True):
    """An answer to a question. `shown` is the digest that came with the question: it binds the answer to what was shown."""

    shown: str
    value: Text = ""
    note: Text = ""
    to: Line = ""
    cancel: Text = ""


class DecisionsAsked(Shape, frozen=True, kw_only=True):
    all: bool = False  # also those that were answered
    limit: Most = 200
    offset: Number = 0


class TokenAsked(Shape, frozen=True, kw_only=True):
    """A link's word for the token. It is taken once; who names itself by a secret of its own may repeat it, should the answer get lost."""

    once: str
    by: str = ""


# -- what is answered ----------------------------------------------------------------------------------------------------------


class Health(Shape, frozen=True, kw_only=True):
    status: str
    version: str


class ErrorAnswer(Shape, frozen=True, kw_only=True):
    """What went wrong, in a sentence, and the way out."""

    error: str
    hint: str = ""


class Token(Shape, frozen=True, kw_only=True):
    token: str


class TokenUse(Shape, frozen=True, kw_only=True):
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0
    turns: int = 0


class StepRow(Shape, frozen=True, kw_only=True):
    kind: str
    text: str
    status: str
    proof: int = 0


class PartRow(Shape, frozen=True, kw_only=True):
    name: str
    title: str
    status: str
    steps: tuple[StepRow, ...] = ()
    needs: tuple[str, ...] = ()


class RunRow(Shape, frozen=True, kw_only=True):
    """A run on the board. `group` says whom it waits for."""

    run: str
    workflow: str
    state: str
    title: str
    plan: str  # the path of the plan that it works through, where it does
    group: Group
    outcome: Literal["", "done", "aborted"]
    cause: str
    at: str
    started: str
    events: int
    parent: str
    acting: str  # the child that is at work, where one is
    acting_state: str
    step: str
    branch: str
    pull_request: str  # where it is
    pushed: bool  # driven by the machine
    driven: bool  # a process drives it now
    done: int  # parts of its plan that are done
    parts: int
    usage: TokenUse
    last: str  # the newest verdict
    checkout: str


class RunList(Shape, frozen=True, kw_only=True):
    runs: tuple[RunRow, ...]
    total: int
    counts: dict[str, int]  # by group, whatever is filtered
    next: int | None
    project: str
    agent: str  # the agent that is configured


class Limit(Shape, frozen=True, kw_only=True):
    name: str
    used: float
    most: float


class PathTaken(Shape, frozen=True, kw_only=True):
    at: str
    to: str
    times: int


class CommitRow(Shape, frozen=True, kw_only=True):
    hash: str
    phase: str
    subject: str


class RunShown(Shape, frozen=True, kw_only=True):
    """Everything about one run but its events."""

    run: RunRow
    request: str
    briefing: str
    actor: str
    role: str
    instruction: str
    counts: dict[str, int]
    limits: dict[str, int]
    budget: tuple[Limit, ...]
    plan: tuple[PartRow, ...]
    children: tuple[RunRow, ...]
    path: tuple[PathTaken, ...]
    commits: tuple[CommitRow, ...]
    base: str
    workspace: str
    agent: str
    sandbox: str
    guidance: str
    last_error: str
    unproven: tuple[str, ...]
    flags: tuple[Flag, ...]  # open ones of its branch
    held_by: str
    trouble: str  # why the process that should drive it ended
    edited: tuple[str, ...] = ()  # documents that a person changed in their checkout, and that do not count yet
    stages: tuple[str, ...] = ()  # what a person may have done again; none: the run has no documents to revise
    roles: dict[str, dict[str, float]] = {}  # what each role took so far: turns, seconds, tokens, usd
    has_documents: bool = False  # whether it is a session, with documents and a report
    merged_into: str = ""  # the main branch, where the run has ended and its branch is in it
    asks: tuple[str, ...]  # the ids of its open questions
    output_size: int


class EventRow(Shape, frozen=True, kw_only=True):
    seq: int
    at: str
    by: str
    channel: str
    on: str
    was: str
    state: str
    status: Status
    reasons: tuple[str, ...]
    flags: tuple[Flag, ...]
    summary: str
    about: str = ""  # the task that it is of, what a person answered or changed
    tree: str
    evidence: Evidence | None
    usage: TokenUse | None
    attempt: str  # whose transcript can be read
    step: str
    output_size: int


class Events(Shape, frozen=True, kw_only=True):
    run: str
    events: tuple[EventRow, ...]
    last: int


class EventShown(Shape, frozen=True, kw_only=True):
    event: EventRow
    output: str
    report: str
    note: str
    held: tuple[str, ...]  # the gates that passed
    command: str
    instruction: str


class TestRow(Shape, frozen=True, kw_only=True):
    __test__ = False
    id: str
    outcome: str
    new: bool
    message: str


class Tests(Shape, frozen=True, kw_only=True):
    __test__ = False
    tree: str
    known: bool
    tests: tuple[TestRow, ...]
    left_out: int


class Diff(Shape, frozen=True, kw_only=True):
    base: str
    tip: str
    text: str
    left_out: int  # bytes


class Output(Shape, frozen=True, kw_only=True):
    text: str
    next: int
    size: int


class TranscriptRow(Shape, frozen=True, kw_only=True):
    attempt: str
    at: str
    state: str
    role: str
    size: int
    open: bool  # its turn is not judged yet
    usage: TokenUse | None
    status: str


class Transcripts(Shape, frozen=True, kw_only=True):
    transcripts: tuple[TranscriptRow, ...]
    total: int
    next: int | None


class ProofRow(Shape, frozen=True, kw_only=True):
    commit: str
    subject: str
    claim: str  # JSON, as the note on the commit holds it


class Proof(Shape, frozen=True, kw_only=True):
    branch: str
    commits: tuple[ProofRow, ...]
    verify: str  # the command that proves it again


class StateRow(Shape, frozen=True, kw_only=True):
    name: str
    actor: str
    role: str
    end: str
    start: bool


class Arrow(Shape, frozen=True, kw_only=True):
    at: str
    to: str
    on: tuple[str, ...]


class WorkflowShown(Shape, frozen=True, kw_only=True):
    name: str
    title: str
    states: tuple[StateRow, ...]
    arrows: tuple[Arrow, ...]
    table: str


class Workflows(Shape, frozen=True, kw_only=True):
    workflows: tuple[str, ...]
