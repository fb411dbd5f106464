"""The report of one test run, in the same form for every runner. Values only; the runners' adapters make them."""

from typing import Literal

from detent.kernel.model import Value

Outcome = Literal["passed", "failed", "error", "skipped"]


class TestReport(Value, frozen=True):
    """The report of one test run: the outcome of each test by id."""

    __test__ = False

    outcomes: dict[str, Outcome] = {}
    files: dict[str, str] = {}  # test id -> the file it is defined in
    missing_names: tuple[str, ...] = ()  # ids that failed only because a name does not exist yet
    output: str = ""
    exit_code: int | None = None
    command: str = ""
    runner: str = ""
    version: str = ""  # of the runner, where known
    tree: str = ""  # the tree it ran on; empty for a selection of tests, or with an overlay
    complete: bool = True  # the runner finished and wrote its report
    partial: bool = False  # only some files were run; the other outcomes are from the tree before
    fault: str = ""  # why it did not finish, if the change is to blame
    late: bool = False  # it hit the timeout and was stopped
    messages: dict[str, str] = {}  # test id -> the runner's message, bounded
    kinds: dict[str, str] = {}  # test id -> the type of the exception that failed it
    places: dict[str, str] = {}  # test id -> innermost `file:line` of the project where the exception was raised
    seconds: float = 0.0  # duration of the tests, by the report
    wall: float = 0.0  # duration of the whole run, by the clock
    canary: Literal["held", "broken", "unsupported"] = "unsupported"  # whether the canary's tests came back as they must
    canary_said: str = ""  # what differed, or why no canary ran

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(self.outcomes)

    def having(self, *outcomes: Outcome) -> frozenset[str]:
        return frozenset(i for i, o in self.outcomes.items() if o in outcomes)

    @property
    def bad(self) -> frozenset[str]:
        return self.having("failed", "error")
