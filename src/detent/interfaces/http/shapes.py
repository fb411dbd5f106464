"""The requests and responses of the API, as values, from which the OpenAPI document is made. No behaviour."""

from typing import Literal

from detent.app.registry import FOR_REQUESTS
from detent.interfaces.http.shape import Group, Line, Most, Number, Offset, Shape, Text
from detent.kernel.model import Evidence, Flag, Status

# -- requests ------------------------------------------------------------------------------------------------------------------


class RunsAsked(Shape, frozen=True, kw_only=True):
    group: Literal["", "waiting", "working", "ended"] = ""
    workflow: str = ""
    q: Line = ""  # words to search in title, id, state and branch
    children: bool = False
    sort: Literal["changed", "group"] = "changed"  # group: runs that wait for a person first, ended ones last
    ended: Number | None = None  # the most ended runs to list; None: all
    limit: Most = 100
    offset: Number = 0


class EventsAsked(Shape, frozen=True, kw_only=True):
    after: Number = 0  # the newest event that the client has
    limit: Most = 200


class StreamAsked(Shape, frozen=True, kw_only=True):
    after: Offset = -1  # -1: from now on; the header Last-Event-ID takes precedence


class EverythingAsked(Shape, frozen=True, kw_only=True):
    run: str = ""  # a run whose events and output are streamed too
    execution: str = ""  # an execution whose output is streamed too
    after: Offset = -1  # the newest event or piece that the client has


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
    request: Text = ""  # the request; for pr the path of the plan
    workflow: Line = FOR_REQUESTS
    agent: Line = ""  # empty: as in [agents]
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
    all: bool = False  # answered ones too
    limit: Most = 200
    offset: Number = 0


class TokenAsked(Shape, frozen=True, kw_only=True):
    """A link's word for the token. It is taken once; who names itself by a secret of its own may repeat it, should the answer get lost."""

    once: str
    by: str = ""


# -- responses -----------------------------------------------------------------------------------------------------------------


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
    plan: str  # the path of its plan, if it has one
    group: Group
    outcome: Literal["", "done", "aborted"]
    cause: str
    at: str
    started: str
    events: int
    parent: str
    acting: str  # the child at work, if any
    acting_state: str
    step: str
    branch: str
    pull_request: str  # its URL
    pushed: bool  # in push mode
    driven: bool  # a process drives it now
    done: int  # finished parts of its plan
    parts: int
    usage: TokenUse
    last: str  # the newest verdict
    checkout: str


class RunList(Shape, frozen=True, kw_only=True):
    runs: tuple[RunRow, ...]
    total: int
    counts: dict[str, int]  # by group, before filtering
    next: int | None
    project: str
    agent: str  # the configured agents


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
    flags: tuple[Flag, ...]  # open flags of its branch
    held_by: str
    trouble: str  # the error of its last driver
    edited: tuple[str, ...] = ()  # documents that a person changed and that are not applied yet
    stages: tuple[str, ...] = ()  # stages that a person may have done again; empty: no documents to revise
    roles: dict[str, dict[str, float]] = {}  # role -> turns, seconds, tokens, usd so far
    has_documents: bool = False  # it is a session, with documents and a report
    merged_into: str = ""  # main, if the run has ended and main has its branch
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
    about: str = ""  # its task, or what a person answered or changed
    tree: str
    evidence: Evidence | None
    usage: TokenUse | None
    attempt: str  # the id of its transcript
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
    left_out: int  # in bytes


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
    claim: str  # the JSON of the note on the commit


class Proof(Shape, frozen=True, kw_only=True):
    branch: str
    commits: tuple[ProofRow, ...]
    verify: str  # the command that verifies it


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
