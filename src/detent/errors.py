"""The tree of expected errors. No behaviour; knows nothing of the rest.

DetentError            expected: two lines for a person, exit 2
├── Busy               another caller works on this run
├── NoRun              there is no run for a call
├── Moved              the run is no longer where the caller saw it (compare-and-swap missed)
├── RedStart           tests or preflight fail before the run begins, and nobody accepted that
├── Unwanted           the caller no longer waits; nothing was recorded
├── Unreached          something outside does not answer; `until` says when to retry, if known
│   └── Outage         something that every run needs is unavailable, and the run is parked
└── JournalError       the journal cannot be used as it is
    ├── NoJournal      there is none yet
    ├── JournalAway    its database does not answer
    ├── JournalNewer   written by a newer Detent
    ├── JournalOlder   written by an older Detent, in a format that is no longer supported
    ├── JournalForeign not a journal of ours
    └── JournalDamaged truncated, altered or unreadable
CannotTell             a gate or a job could not judge: ERROR, moves nothing
├── Parted             main has diverged from the remote: a person must merge them
├── Away               something that every run needs is unavailable: no verdict on this one
├── Disturbed          files changed while they were judged; a retry may help
└── NotYet             somebody must act before a job can be done: shown, and counts nothing
ToolError              a tool call failed: the model is told and continues

A refusal is never an exception: it is a value (see kernel.model.Verdict).
"""


class DetentError(Exception):
    """An expected error: a plain sentence, and a hint on what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Busy(DetentError):
    """Another caller holds the run."""


class Moved(DetentError):
    """The run moved between reading it and writing to it."""


class Unwanted(DetentError):
    """The caller disconnected or cancelled before the decision."""


class Unreached(DetentError):
    """A tracker or a forge does not answer now. Says nothing about the work. `until`: when to retry, if known."""

    def __init__(self, message: str, hint: str = "", until: str = "") -> None:
        super().__init__(message, hint)
        self.until = until


class Outage(Unreached):
    """`thing`, which every run needs, is unavailable. Nothing was recorded; the run continues from its last event."""

    def __init__(self, thing: str, message: str) -> None:
        super().__init__(message, "it continues once that answers again")
        self.thing = thing


class RedStart(DetentError):
    """Tests or preflight fail before a run begins."""

    def __init__(self, failing: tuple[str, ...], more: str = "") -> None:
        rest = f" and {len(failing) - 1} more" if len(failing) > 1 else ""
        super().__init__(
            f"the project is red before the run begins: {failing[0]}{rest}",
            "fix it first, or let a person accept what fails as it is: detent start --baseline (or detent run --baseline)" + more,
        )
        self.failing = failing


class JournalError(DetentError):
    """The journal cannot be used. Nothing was written."""


class NoRun(DetentError):
    """There is no run for a call."""


class NoJournal(JournalError):
    """There is no journal here yet."""


class JournalAway(JournalError):
    """The journal's database does not answer."""


class JournalNewer(JournalError):
    """A newer Detent wrote this journal."""


class JournalOlder(JournalError):
    """An older Detent wrote this journal, in a format that is no longer supported."""


class JournalForeign(JournalError):
    """The file is a database, but not a journal."""


class JournalDamaged(JournalError):
    """The journal is truncated, altered or unreadable."""


class CannotTell(Exception):
    """A gate or a job could not judge: neither a pass nor a fail. `facts`: the usage, for the event."""

    def __init__(self, message: str = "", facts: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.facts = facts or {}


class Parted(CannotTell):
    """A branch has diverged from the remote."""


TESTS = "tests"  # the `thing` of an outage in which no tests can be run


class Away(CannotTell):
    """Something that every run needs is unavailable (remote, disk, tracker, tests), so there is no verdict on this one."""

    def __init__(self, thing: str, message: str) -> None:
        super().__init__(message)
        self.thing = thing


class Disturbed(CannotTell):
    """Files changed while they were judged. A retry may help; the change is not to blame."""


class NotYet(CannotTell):
    """A job cannot be done until somebody has acted."""


class ToolError(Exception):
    """A tool call failed. The sentence tells the model what to do instead."""
