"""One run of tests as the machine saw it. Values only; the adapters of the runners make them."""

from typing import Literal

from detent.kernel.model import Value

Outcome = Literal["passed", "failed", "error", "skipped"]


class TestReport(Value, frozen=True):
    """One run of tests as the machine saw it: the outcome of each test by id."""

    __test__ = False

    outcomes: dict[str, Outcome] = {}
    files: dict[str, str] = {}  # test id -> the file it stands in
    missing_names: tuple[str, ...] = ()  # ids that failed only because a name is not there yet
    output: str = ""
    exit_code: int | None = None
    command: str = ""
    runner: str = ""
    version: str = ""  # of the runner, where that can be seen
    tree: str = ""  # what it ran on; empty for a part of the tests, or with other files laid over the tree
    complete: bool = True  # the runner finished and wrote its report
    partial: bool = False  # only some files were run; the rest is as the tree before said
    fault: str = ""  # why it did not, if that came with the change
    late: bool = False  # it did not finish in time and was stopped
    messages: dict[str, str] = {}  # test id -> what the runner says of it, bounded
    kinds: dict[str, str] = {}  # test id -> the type of the exception that ended it
    places: dict[str, str] = {}  # test id -> `file:line` of the project where the exception came up, the innermost there is
    seconds: float = 0.0  # the time the tests took, by the report
    wall: float = 0.0  # the time the whole run took, by the clock
    canary: Literal["held", "broken", "unsupported"] = "unsupported"  # whether tests that must pass and fail came back so
    canary_said: str = ""  # what differed, or why there was none

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(self.outcomes)

    def having(self, *outcomes: Outcome) -> frozenset[str]:
        return frozenset(i for i, o in self.outcomes.items() if o in outcomes)

    @property
    def bad(self) -> frozenset[str]:
        return self.having("failed", "error")
