"""API shapes of a run's proof card. No behaviour."""

from detent.evidence.outcomes.card import Answer
from detent.interfaces.http.shape import Shape
from detent.kernel.model import Flag


class CardShown(Shape, frozen=True, kw_only=True):
    """What a branch proves, as it was found before it landed."""

    answer: Answer
    range: str
    commits: int
    files: int
    proved: tuple[str, ...]  # tests that fail without the change and pass with it
    pins: tuple[str, ...]  # new tests that pass on both sides
    kept: int  # old tests that pass as before
    out: int  # old tests that were removed
    known: tuple[str, ...]  # tests that failed before and still fail
    left_out: int  # names not listed
    failed: tuple[str, ...]
    flags: tuple[Flag, ...]  # questions first
    unclear: str  # why it could not be verified
    accepted: bool  # its flags were accepted
    moved_on: bool  # the branch has another tree by now
    command: str
    sandbox: str
    test_runs: float
    seconds: float


class BranchCard(Shape, frozen=True, kw_only=True):
    card: CardShown | None  # None before the branch is about to land
