"""What small changes to the code say, and when they say nothing."""

from typing import cast

import pytest

from detent.evidence.changes.changes import ReferenceTrees
from detent.evidence.mutate import bodies_on
from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.mutant_order import Mutant
from detent.evidence.probes.noticed_lines import _try
from detent.evidence.report import Outcome, TestReport
from detent.evidence.running.collect import Collects
from detent.git.repo import Git

FILE = "tests/tests.rs"
TEST = f"{FILE}::says"


class Built:
    """A repository whose tests come back so."""

    def __init__(self, outcomes: dict[str, Outcome]) -> None:
        self.outcomes = outcomes

    def probe(self, *asked: object) -> TestReport:
        return TestReport(outcomes=self.outcomes, files=dict.fromkeys(self.outcomes, FILE))


@pytest.mark.parametrize(
    ("outcomes", "bad"),
    [
        ({FILE: "error"}, None),  # it cannot be built: nobody was asked
        ({FILE: "error", "src/lib.rs::other": "passed"}, None),
        ({TEST: "passed"}, frozenset()),
        ({TEST: "failed"}, {TEST}),
        ({}, None),
    ],
)
def test_code_that_cannot_be_built_says_nothing_of_tests(outcomes: dict[str, Outcome], bad: set[str] | None) -> None:
    world = Built(outcomes)
    context = ProbeContext(
        cast(Git, world), cast(Collects, world), lambda: True, lambda path: "production", "tree", ReferenceTrees("good", (), "base"), ()
    )
    assert _try(context, Mutant("src/lib.rs", "fmt", lambda: "x"), (FILE,), 60).bad == bad


@pytest.mark.parametrize(
    ("out", "answer"),
    [
        ("-> fmt::Result", "return Ok(Default::default());"),
        ("-> Result<Vec<u8>, Error>", "return Ok(Default::default());"),
        ("-> std::io::Result<()>", "return Ok(Default::default());"),
        ("-> Option<u8>", "return Default::default();"),
        ("", "return;"),
    ],
)
def test_a_function_of_rust_that_answers_something_else_can_be_built(out: str, answer: str) -> None:
    text = f"fn told(n: u8) {out} {{\n    write(n)\n}}\n"
    (body,) = bodies_on("src/lib.rs", text, {2})
    assert answer in body.make()
