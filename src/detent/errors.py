"""The tree of expected trouble. Owns no behaviour; knows nothing of the rest.

DetentError            expected trouble: two lines for a person, exit 2
├── Busy               another caller works on this run
├── NoRun              there is no run that a call could be about
├── Moved              the run is no longer where the caller saw it (compare-and-swap missed)
├── RedStart           tests or preflight fail before the run begins, and nobody accepted that
├── Unwanted           whoever asked no longer waits for the answer; nothing was recorded
├── Unreached          something outside does not answer; where it says when it will, that is kept
│   └── Outage         something that every run needs is away, and the run is left for later
└── JournalError       the journal cannot be used as it is
    ├── NoJournal      there is none yet
    ├── JournalAway    the database that it is in does not answer
    ├── JournalNewer   written by a newer Detent
    ├── JournalOlder   written by an older Detent, in a form that is read no more
    ├── JournalForeign not a journal of ours
    └── JournalDamaged truncated, altered or unreadable
CannotTell             a gate or a job could not judge: ERROR, moves nothing
├── Parted             main moved here and at the remote: a person brings them together
├── Away               something that every run needs is away: no verdict on this one
├── Disturbed          the world moved while it was judged, so that nothing can be told
└── NotYet             somebody has to act before a job can be done: shown, and counts nothing
ToolError              a tool call that cannot be done as it was asked: told to the model, which goes on

A refusal is never an exception: it is a value (see kernel.model.Verdict).
"""


class DetentError(Exception):
    """Expected trouble, told in a plain sentence, with the way out."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Busy(DetentError):
    """Another caller holds the run."""


class Moved(DetentError):
    """The run moved between reading it and writing to it."""


class Unwanted(DetentError):
    """Whoever asked went away or took the call back before it was decided."""


class Unreached(DetentError):
    """A tracker or a forge cannot be reached or will not answer now. Says nothing about the work. `until`: when to ask again, if that is known."""

    def __init__(self, message: str, hint: str = "", until: str = "") -> None:
        super().__init__(message, hint)
        self.until = until


class Outage(Unreached):
    """Something that every run needs is away: `thing` names it. Nothing was marked, and the run continues from its last event."""

    def __init__(self, thing: str, message: str) -> None:
        super().__init__(message, "it continues once that answers again")
        self.thing = thing


class RedStart(DetentError):
    """What a run would be judged by fails before it begins."""

    def __init__(self, failing: tuple[str, ...], more: str = "") -> None:
        rest = f" and {len(failing) - 1} more" if len(failing) > 1 else ""
        super().__init__(
            f"the project is red before the run begins: {failing[0]}{rest}",
            "fix it first, or let a person accept what fails as it is: detent start --baseline (or detent run --baseline)" + more,
        )
        self.failing = failing


class JournalError(DetentError):
    """The journal cannot be used as it is. Nothing was written."""


class NoRun(DetentError):
    """There is no run that a call could be about."""


class NoJournal(JournalError):
    """There is no journal here yet."""


class JournalAway(JournalError):
    """The database that the journal is in does not answer."""


class JournalNewer(JournalError):
    """A newer Detent wrote this journal."""


class JournalOlder(JournalError):
    """An older Detent wrote this journal, in a form that is read no more."""


class JournalForeign(JournalError):
    """The file is a database, but not a journal."""


class JournalDamaged(JournalError):
    """The journal is truncated, altered or unreadable."""


class CannotTell(Exception):
    """A gate or a job could not judge. It is neither a pass nor a fail. `facts` are for the event: what the try took."""

    def __init__(self, message: str = "", facts: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.facts = facts or {}


class Parted(CannotTell):
    """A branch moved here and at the remote, so that neither is the newest."""


TESTS = "tests"  # what is away where no tests can be run


class Away(CannotTell):
    """Something that every run needs is away: remote, disk, tracker, tests. No verdict on this one, whoever is asked."""

    def __init__(self, thing: str, message: str) -> None:
        super().__init__(message)
        self.thing = thing


class Disturbed(CannotTell):
    """The world moved while it was judged. Looking again may help; blaming the change would be wrong."""


class NotYet(CannotTell):
    """A job of the machine waits until somebody has acted."""


class ToolError(Exception):
    """A tool call cannot be done as it was asked. The sentence is for the model, and says what to do instead."""
