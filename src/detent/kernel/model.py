"""The values that all rooms share: run, sent, found, verdict, briefing, event, flags and their kinds, a project's own gates. No I/O."""

from collections.abc import Callable, Mapping
from typing import Generic, Literal, NamedTuple, TypeVar

import msgspec

By = Literal["agent", "human", "system"]
Actor = Literal["agent", "human", "system", "none"]
Status = Literal["SUCCESS", "FAILURE", "NEEDS_ANALYSIS", "REFUSED", "LOCKED", "ERROR", "BUSY", "STALE", "HALTED"]


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A frozen struct that rejects unknown fields."""


class Data(Value, frozen=True):
    """What a workflow keeps about a run. Each workflow defines its own."""

    def asked_for(self, read: Callable[[str], str | None], setting: Callable[[str], str]) -> str:
        """What people asked for, in their own words. `read` returns the text of a file; `BASE:path` reads it from the base commit."""
        return ""

    def step_words(self) -> str:
        """What the plan or the test list says about the current step, in the agent's words."""
        return ""

    def file_to_write(self) -> str:
        """The source file that the current step should write, if its test list names one."""
        return ""


class OnBranch(Data, frozen=True):
    """The data of a run that works on a branch."""

    branch: str = ""  # the full ref of the branch the run works on; empty: whatever is checked out


D = TypeVar("D", bound=Data, covariant=True)


class Flag(Value, frozen=True, omit_defaults=False):
    """Something a good engineer would want to look at. It fails no step; a branch with open ones does not land by itself."""

    kind: str  # a key of KINDS
    sentence: str
    place: str = ""  # `path`, `path:line` or `path::test`
    before: str = ""  # both versions, if the flag is about a change
    after: str = ""
    level: Literal["note", "ask", "fail"] = "ask"  # only shown, a question before the branch lands, or a failure
    stays: bool = False  # it is about what was done, not about the tree's content: no later tree clears it


class Run(Value, Generic[D], frozen=True):
    """One run, as it is after its newest event."""

    id: str
    workflow: str
    state: str
    seq: int
    data: D
    counts: dict[str, int] = {}
    limits: dict[str, int] = {}
    back: str = ""  # the state to return to after a halt, a question or a repair
    cause: str = ""  # why the run waits for a person
    parent: str = ""  # the id of the parent run
    joined: tuple[str, ...] = ()  # the children whose end was reported to this run
    worktree: str = ""  # the checkout it is bound to
    steers: tuple[str, ...] = ()  # what people said meanwhile, shown in the next briefing
    guidance: str = ""  # what a person said when they released the run
    last_error: str = ""  # the verbatim output of the last failure
    last_reason: str = ""  # what was wrong, in one sentence
    not_before: str = ""  # parked until this time (a usage limit)
    flags: tuple[Flag, ...] = ()  # the open flags of this branch
    asked: str = ""  # the tree whose flags a person is asked about
    accepted: str = ""  # the tree whose flags a person accepted
    fixed: tuple[str, ...] = ()  # tests and commands that failed before the work began and have passed since
    refused: str = ""  # why the last call was refused; empty if it was not
    refusals: tuple[int, int] = (0, 0)  # consecutive refused calls: with this reason, with any
    said: tuple[str, ...] = ()  # what people said to let the run go on, each with its channel; shown again when the branch lands


class Sent(Value, frozen=True):
    """What someone handed in: the verb, who sent it, and the fields of the call."""

    verb: str
    by: By = "agent"
    channel: str = ""
    attempt_id: str = ""
    summary: str = ""
    test_command: str = ""
    expectation: str = ""
    analysis_decision: str = ""
    commit_hash: str = ""
    findings: str = ""  # JSON text
    reply: str = ""  # JSON text
    no_pr_left: bool = False
    report: str = ""
    guidance: str = ""
    decision: str = ""  # the id of the question answered
    value: str = ""
    note: str = ""
    to: str = ""
    documents: dict[str, str] = {}  # documents that a person wrote: path -> text
    outcome: str = ""  # of a job or a child
    child: str = ""
    output: str = ""
    not_before: str = ""
    facts: dict[str, str] = {}  # what a job reports besides its outcome


class Tally(Value, frozen=True, omit_defaults=False):
    """How many tests ended how."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0


class Evidence(Value, frozen=True, omit_defaults=False):
    """What a verdict rests on."""

    kind: Literal["report", "exit-code", "none"] = "none"
    command: str = ""
    exit_code: int | None = None
    counts: Tally = Tally()
    tree: str = ""
    canary: Literal["held", "broken", "unsupported"] = "unsupported"
    sandbox: str = "none"


class Record(Value, frozen=True):
    """What an event keeps about its test run beyond the printed evidence. All test ids and outcomes are in the reports it points to."""

    runner: str = ""  # its name, with the version if known
    seconds: float = 0.0  # the time spent in tests, as the runner reports it
    wall: float = 0.0  # the time that the whole test run took
    output: str = ""  # the SHA-256 of everything the tests printed
    ids: tuple[str, ...] = ()  # the first few tests; those that did not pass come first
    reports: dict[str, str] = {}  # tree -> the SHA-256 of the report kept for it


class Found(Value, frozen=True):
    """What the gates found about one submit. At most one of refused, failed and unclear is set."""

    refused: tuple[str, ...] = ()
    locked: bool = False
    failed: tuple[str, ...] = ()
    gate: str = ""  # the gate that failed
    unclear: str = ""
    away: str = ""  # what is unavailable, if that is why nothing could be judged
    flagged: tuple[Flag, ...] = ()  # what should be seen but stops nothing
    held: tuple[str, ...] = ()  # the gates that passed
    late: bool = False  # the tests were stopped at their time limit
    fixed: tuple[str, ...] = ()  # what failed before the work began and passes now
    documents: dict[str, str] = {}  # documents read from the judged tree, for changes to keep
    heard: int = 0  # how many steers were in the briefing that this answers
    output: str = ""
    tree: str = ""
    evidence: Evidence | None = None
    record: Record | None = None


class Verdict(Value, frozen=True, omit_defaults=False):
    """The answer to a submit."""

    status: Status
    state: str
    output: str = ""
    instruction: str = ""
    allowed_actions: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()  # raised by this step; fix them now unless they are intended
    evidence: Evidence | None = None


class StepShown(Value, frozen=True, omit_defaults=False):
    """The step a briefing is about."""

    task: str
    index: int
    type: str
    description: str


class Briefing(Value, frozen=True, omit_defaults=False):
    """What the one who acts gets to read, complete in itself."""

    run: str
    workflow: str
    state: str
    actor: Actor
    role: str
    goal: str
    briefing: str
    instruction: str
    step: StepShown | None = None
    guidance: str | None = None
    last_error: str | None = None
    writes: tuple[str, ...] = ()
    allowed_actions: tuple[str, ...] = ()
    attempt: int = 1
    attempt_id: str = ""
    not_before: str | None = None
    budget: dict[str, str] = {}


class Event(Value, Generic[D], frozen=True):
    """One row of the journal: what came in, what was found, what was decided, and the run after it."""

    run: Run[D]
    on: str
    was: str  # the state before
    at: str
    sent: Sent
    found: Found
    status: Status
    verdict: Verdict
    owes: tuple[str, ...] = ()
    briefing: Briefing | None = None


PROVED, LAND, CHECK = (
    "proved",
    "land",
    "check",
)  # named steps besides states and events: where all tests must pass, where a branch lands, in `detent check`
DEFAULT = (PROVED, LAND, CHECK)


class OwnGate(Value, frozen=True):
    """A gate of the project's own: one [[gate]] section of its configuration."""

    name: str
    command: str  # a shell command line
    at: tuple[str, ...] = DEFAULT
    then: Literal["fail", "flag"] = msgspec.field(default="fail", name="as")  # what a failing command means
    says: str = ""  # a sentence for whoever fails it
    timeout: int = 0  # seconds; unset: test.timeout

    @property
    def known_as(self) -> str:
        """Its name among the gates that passed and among what failed before the work began."""
        return f"gate {self.name}"

    def is_at(self, *steps: str) -> bool:
        return not set(self.at).isdisjoint(steps)


def gates_at(gates: tuple[OwnGate, ...], *steps: str) -> tuple[OwnGate, ...]:
    return tuple(gate for gate in gates if gate.is_at(*steps))


def commands_of(gates: tuple[OwnGate, ...]) -> tuple[str, ...]:
    return tuple(gate.command for gate in gates)


Level = Literal["allow", "note", "ask", "fail"]
LEVELS: tuple[Level, ...] = ("allow", "note", "ask", "fail")


class Kind(NamedTuple):
    """One kind of flag. The gate that raises it may choose another level for a case; `[flags]` in the configuration overrides both."""

    level: Level
    when: str


KINDS: Mapping[str, Kind] = {
    "weak-evidence": Kind("note", "only the exit code of the tests is read, or Detent could not add its own tests to their run"),
    "no-proof": Kind("ask", "code changed, but no test needs the change: none fails without it and passes with it"),
    "unnoticed": Kind("ask", "no test notices most of the changed code, or a check that was removed"),
    "unfinished": Kind(
        "ask", "changed lines of the product say of themselves that they are a placeholder, hard-coded, or not implemented yet"
    ),
    "vacuous-test": Kind("ask", "a new test that no small change to the code and no other expectation makes fail"),
    "rewritten-test": Kind("ask", "the expectation of an older test was changed or removed"),
    "knows-the-tests": Kind(
        "ask",
        "changed lines of the product look at the runner, the caller, the stack, source files, the environment of tests or a fixed date, or their results depend on a test's name",
    ),
    "knows-the-examples": Kind("ask", "the changed code lists the tests' own values as cases, or returns the same for everything else"),
    "clock-red": Kind("fail", "a test that failed without the change later passes without it, or on another date"),
    "toolchain": Kind("fail", "an installed package of the test runner changed since the run began, but no lock file did"),
    "judged-by": Kind(
        "ask", "something that decides how the work is judged changed: configuration, scripts, CI, or many lines that silence it"
    ),
    "shadow": Kind("ask", "a file or a fixture replaces a module; replacing one of the test runner's own is a failure"),
    "own-review": Kind("note", "only the agent that did the work reviewed it"),
    "secrets": Kind("ask", "a key was added, or code that reads keys or sends them away"),
    "binaries": Kind("ask", "a binary file changed, or text does not read as it runs"),
    "big-files": Kind("ask", "a file of more than 1 MB was added, or code is too large to be read"),
    "executable-bits": Kind("ask", "a file became executable, or starts a program by itself"),
    "new-dependencies": Kind("ask", "a third-party package is new to the project, or comes from a different source than before"),
    "ci-permissions": Kind("ask", "a CI file may do more than before"),
    "gate": Kind("ask", 'a gate that the project configured as a flag failed: [[gate]] with as = "flag"'),
}
