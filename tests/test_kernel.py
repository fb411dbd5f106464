"""The kernel's form: tables are refused when they do not hold together, decisions are pure, the walk finds what is wrong."""

from collections.abc import Collection, Mapping
from typing import Any

import pytest

from detent.app.registry import all_tables
from detent.gates.plain_values import spans_of
from detent.kernel.decide import decide, refusal
from detent.kernel.draw import as_mermaid, as_table
from detent.kernel.model import Data, Found, OwnGate, Run, Sent, commands_of, gates_at
from detent.kernel.table import (
    BACK,
    STAY,
    Because,
    Count,
    Effect,
    Go,
    Job,
    Lock,
    Row,
    State,
    Table,
    Zero,
    by_agent,
    by_human,
    by_system,
    go,
    no_children,
    no_facts,
)
from detent.kernel.walk import problems, walk


def holds(look: object) -> str | None:
    """A gate for tables that are only looked at."""
    return None


STATES = {
    "WORK": State("agent"),
    "BUILD": State("system", job=Job("build", "Build it.", ("built", "broken"))),
    "HALTED": State("human"),
    "DONE": State("none", end="proved"),
    "ABORTED": State("none", end="stopped"),
}
MOVES = {
    "hand-in": by_agent("submit_work", "call submit_work"),
    "built": by_system("it is built"),
    "broken": by_system("it does not build"),
    "resume": by_human("resume", "detent resume"),
    "abort": by_human("abort", "detent abort"),
}
HALT: Go[Data] = go("HALTED", Because("retries"), says="HALTED")
AGAIN: Go[Data] = go(STAY, Count("tries"), says="FAILURE", spent=HALT)
ROWS: tuple[Row[Data], ...] = (
    Row("WORK", "hand-in", (), (holds,), go("BUILD"), AGAIN),
    Row("BUILD", "built", (), (), go("DONE", owes=(Effect("publish", "Show it."),))),
    Row("BUILD", "broken", (), (), go("WORK")),
    Row("HALTED", "resume", (), (), go(BACK, Zero(("tries",)))),
    *(Row(at, "abort", (), (), go("ABORTED")) for at in ("WORK", "BUILD", "HALTED")),
)


FOR_EVER: Go[Data] = go(STAY, Count("tries"), says="FAILURE", spent=go(STAY))


def with_row(row: Row[Data]) -> tuple[Row[Data], ...]:
    return (*(r for r in ROWS if (r.at, r.on) != (row.at, row.on)), row)


def kind(run: Run[Data], sent: Sent) -> str:
    return {"submit": "hand-in", "due": "", "outcome": sent.outcome}.get(sent.verb, sent.verb)


def table(**other: Any) -> Table[Data]:
    parts: dict[str, Any] = {
        "name": "toy", "title": "a toy", "data": Data, "starts": ("WORK",), "states": STATES, "moves": MOVES, "rows": ROWS, "kind": kind,
        "limits": {"errors": 3, "tries": 2}, "broken": HALT, "unproven": lambda run: (),
    }  # fmt: skip
    return Table(**{**parts, **other})


def run_at(state: str, counts: Mapping[str, int] | None = None, **other: Any) -> Run[Data]:
    return Run("r", "toy", state, 7, Data(), dict(counts or {}), {"errors": 3, "tries": 2}, **other)


def test_a_table_that_holds_together_is_taken() -> None:
    assert problems(table()) == ()


@pytest.mark.parametrize(
    ("fault", "parts"),
    [
        ("state NOWHERE is used but not declared", {"rows": (*ROWS, Row("WORK", "built", (), (), go("NOWHERE")))}),
        ("event surprise is used but has no move", {"rows": (*ROWS, Row("WORK", "surprise", (), (), go("DONE")))}),
        ("event extra has a move but no row", {"moves": {**MOVES, "extra": by_system("x")}}),
        ("there are two rows for hand-in at WORK", {"rows": (*ROWS, Row("WORK", "hand-in", (), (), go("DONE")))}),
        ("must be proved, but has no way for a failed proof", {"rows": (*ROWS, Row("BUILD", "hand-in", (), (holds,), go("DONE")))}),
        ("has a way for a failed proof, but nothing to prove", {"rows": (*ROWS, Row("BUILD", "hand-in", (), (), go("DONE"), AGAIN))}),
        ("DONE is an end but has rows", {"rows": (*ROWS, Row("DONE", "hand-in", (), (), go("WORK")))}),
        ("HALTED has no exit", {"rows": (*(r for r in ROWS if r.at != "HALTED"), Row("HALTED", "resume", (), (), go(STAY)), Row("HALTED", "abort", (), (), go(STAY)))}),
        ("WORK waits for the agent, but has nothing the agent may do",
         {"rows": tuple(r for r in ROWS if r.on != "hand-in"), "moves": {k: v for k, v in MOVES.items() if k != "hand-in"}}),
        ("BUILD gives a person no way to intervene", {"rows": tuple(r for r in ROWS if (r.at, r.on) != ("BUILD", "abort"))}),
        ("can end in broken, which has no row there", {"rows": tuple(r for r in ROWS if r.on != "broken"), "moves": {k: v for k, v in MOVES.items() if k != "broken"}}),
        ("the outcome built of the job of BUILD is not open to the system", {"moves": {**MOVES, "built": by_human("x", "x")}}),
        ("counts tries, which has no limit", {"limits": {"errors": 3}}),
        ("has no way for when it is used up", {"rows": (*ROWS, Row("WORK", "built", (), (), go("DONE", Count("tries"))))}),
        ("broken at BUILD can fail again and again: no counter bounds it", {"rows": with_row(Row("BUILD", "broken", (), (), go("WORK", says="FAILURE")))}),
        ("hand-in at WORK can fail again and again", {"rows": with_row(Row("WORK", "hand-in", (), (holds,), go("BUILD"), go("BUILD")))}),
        ("hand-in at WORK stays there once its counter is spent", {"rows": with_row(Row("WORK", "hand-in", (), (holds,), go("BUILD"), FOR_EVER))}),
        ("LOST cannot be reached", {"states": {**STATES, "LOST": State("none", end="stopped")}}),
    ],
)  # fmt: skip
def test_a_table_with_a_fault_is_refused_by_name(fault: str, parts: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is not consistent") as e:
        table(**parts)
    assert fault in str(e.value)


def test_the_walk_finds_a_row_that_can_never_be_taken() -> None:
    never = Lock("never", "Never.", lambda run: "no")
    rows = (*ROWS, Row("WORK", "built", (never,), (), go("DONE")))
    assert "built at WORK (to) can never be taken" in problems(table(rows=rows))


def test_the_walk_finds_a_state_from_which_no_proven_end_can_be_reached() -> None:
    rows = (
        *(r for r in ROWS if r.at != "HALTED"),
        Row("HALTED", "resume", (), (), go("ABORTED")),
        Row("HALTED", "abort", (), (), go("ABORTED")),
    )
    assert any("no proven end" in p and "HALTED" in p for p in problems(table(rows=rows)))


def test_the_walk_finds_an_end_out_of_reach() -> None:
    rows = tuple(r if r.to.to != "DONE" else Row(r.at, r.on, r.ask, r.prove, go("WORK")) for r in ROWS)
    assert any("DONE" in f for f in _faults(rows))


def _faults(rows: tuple[Row[Data], ...]) -> tuple[str, ...]:
    try:
        return problems(table(rows=rows))
    except ValueError as e:
        return (str(e),)


def test_the_walk_finds_a_place_where_everything_is_locked() -> None:
    shut = Lock("shut", "Shut at the first try.", lambda run: None if run.counts.get("tries") else "no")
    rows = tuple(r if r.on != "hand-in" else Row(r.at, r.on, (shut,), r.prove, r.to, r.fail) for r in ROWS)
    assert any("no call is possible" in p for p in problems(table(rows=rows)))


def test_the_walk_sees_every_count_up_to_the_limit_and_none_beyond() -> None:
    counts = {dict(n.counts).get("tries", 0) for n in walk(table()).nodes}
    assert counts == {0, 1, 2}


def test_the_walk_finds_a_counter_that_goes_over_its_limit() -> None:
    twice: Go[Data] = go(STAY, Count("tries"), Count("tries"), says="FAILURE", spent=HALT)
    found = problems(table(rows=with_row(Row("WORK", "hand-in", (), (holds,), go("BUILD"), twice)), limits={"errors": 3, "tries": 3}))
    assert "the counter tries reaches 4 at WORK, over its limit of 3" in found


def test_what_failed_before_the_work_began_is_kept_as_fixed_once_it_passes() -> None:
    t = table()
    decision = decide(t, run_at("WORK", fixed=("b",)), Sent("submit"), t.row("WORK", "hand-in"), Found(fixed=("a", "b")))
    assert decision.run.fixed == ("a", "b")
    failed = decide(t, run_at("WORK"), Sent("submit"), t.row("WORK", "hand-in"), Found(fixed=("a",), failed=("wrong",)))
    assert failed.run.fixed == ()


def test_a_passed_proof_takes_the_row() -> None:
    t = table()
    decision = decide(t, run_at("WORK"), Sent("submit"), t.row("WORK", "hand-in"), Found())
    assert (decision.run.state, decision.run.seq, decision.status) == ("BUILD", 8, "SUCCESS")


def test_a_failed_proof_counts_and_takes_the_failing_way() -> None:
    t = table()
    decision = decide(t, run_at("WORK"), Sent("submit"), t.row("WORK", "hand-in"), Found(failed=("wrong",)))
    assert (decision.run.state, decision.run.counts, decision.status, decision.reasons) == ("WORK", {"tries": 1}, "FAILURE", ("wrong",))


def test_a_spent_counter_takes_the_spent_way_and_counts_no_further() -> None:
    t = table()
    decision = decide(t, run_at("WORK", {"tries": 2}), Sent("submit"), t.row("WORK", "hand-in"), Found(failed=("wrong",)))
    assert (decision.run.state, decision.run.counts["tries"], decision.status) == ("HALTED", 2, "HALTED")
    assert (decision.run.cause, decision.run.back) == ("retries", "WORK")


def test_a_refusal_marks_nothing() -> None:
    t = table()
    before = run_at("WORK", {"tries": 1})
    decision = decide(t, before, Sent("submit"), t.row("WORK", "hand-in"), Found(refused=("no",)))
    assert (decision.run.state, decision.run.counts, decision.status) == (before.state, before.counts, "REFUSED")


def test_an_error_moves_nothing_and_the_third_in_a_row_halts() -> None:
    t, run = table(), run_at("WORK", {"tries": 1})
    statuses = []
    for _ in range(3):
        decision = decide(t, run, Sent("submit"), t.row(run.state, "hand-in"), Found(unclear="no runner"))
        statuses.append((decision.status, decision.run.state, decision.run.counts.get("tries")))
        run = decision.run
    assert statuses == [("ERROR", "WORK", 1), ("ERROR", "WORK", 1), ("HALTED", "HALTED", 1)]


def test_a_judged_submit_ends_a_row_of_errors() -> None:
    t = table()
    decision = decide(t, run_at("WORK", {"errors": 2}), Sent("submit"), t.row("WORK", "hand-in"), Found(failed=("wrong",)))
    assert "errors" not in decision.run.counts


def test_resume_returns_to_the_remembered_state() -> None:
    t = table()
    halted = run_at("HALTED", {"tries": 2}, back="WORK", cause="retries")
    decision = decide(t, halted, Sent("resume", by="human"), t.row("HALTED", "resume"), Found())
    assert (decision.run.state, decision.run.counts) == ("WORK", {})


@pytest.mark.parametrize(
    ("state", "sent", "says"),
    [
        ("BUILD", Sent("submit"), "submit_work is not possible in BUILD. Next: call get_task"),  # the machine has the next move
        ("WORK", Sent("abort"), "The agent cannot use '"),
        ("WORK", Sent("outcome", by="agent", outcome="built"), "is not possible in WORK"),
        ("BUILD", Sent("outcome", by="agent", outcome="built"), "The agent cannot use '"),
        ("DONE", Sent("submit"), "The run has ended"),
    ],
)
def test_a_call_that_does_not_fit_is_refused_in_a_sentence(state: str, sent: Sent, says: str) -> None:
    t, run = table(), run_at(state)
    found = refusal(t, run, sent, t.kind(run, sent))
    assert found is not None
    assert says in found.refused[0]


def test_what_a_person_says_while_judging_is_not_lost() -> None:
    t = table()
    run = run_at("WORK", steers=("seen", "said meanwhile"))
    decision = decide(t, run, Sent("submit"), t.row("WORK", "hand-in"), Found(heard=1))
    assert decision.run.steers == ("said meanwhile",)


def test_a_drawing_shows_every_row_and_gate() -> None:
    text, diagram = as_table(table()), as_mermaid(table())
    assert "| WORK | hand-in | agent |  | holds | **BUILD** |" in text
    assert "once spent: **HALTED** (HALTED)" in text
    assert "| holds | A gate for tables that are only looked at. |" in text
    assert "| every state | abort |" in text
    assert "WORK --> BUILD: hand-in" in diagram
    assert "BUILD --> WORK: broken" in diagram
    assert "at every state: abort" in diagram


def test_a_drawing_has_no_note_where_no_event_stands_at_every_state() -> None:
    stop = {**MOVES, "stop": by_human("abort", "detent abort")}
    rows = tuple(r for r in ROWS if (r.at, r.on) != ("BUILD", "abort"))
    apart = table(moves=stop, rows=(*rows, Row("BUILD", "stop", (), (), go("ABORTED"))))
    assert "at every state" not in as_mermaid(apart)


def test_a_table_that_only_ends_needs_no_way_for_what_breaks() -> None:
    ended = table(starts=("DONE",), states={"DONE": State("none", end="proved")}, moves={}, rows=(), broken=go("DONE"))
    assert problems(ended) == ()


def test_a_workflow_that_keeps_nothing_has_nothing_to_say() -> None:
    assert Data().asked_for(lambda path: None, lambda name: "") == ""
    assert (no_children(run_at("WORK")), no_facts(run_at("WORK"))) == ((), {})


def test_the_gates_of_a_project_are_found_by_their_steps() -> None:
    lint, scan = OwnGate("lint", "ruff check", ("green",)), OwnGate("scan", "scan .", ("end",))
    assert gates_at((lint, scan), "end", "red") == (scan,)
    assert commands_of((lint, scan)) == ("ruff check", "scan .") and lint.known_as == "gate lint"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ('say {"a": 1} and {"b": {"c": 2}}', ['{"a": 1}', '{"b": {"c": 2}}']),
        ('{ no JSON, {"a": 1}', ['{"a": 1}']),
        ('{"cut": ', []),
        ("{" * 100_000, []),
    ],
    ids=["nothing", "two", "a brace before", "cut off", "deep"],
)
def test_the_objects_of_a_text_are_found_whatever_stands_around_them(text: str, found: list[str]) -> None:
    assert [text[at:end] for at, end, _ in spans_of(text)] == found


# What may stay where it is without a counter, and what bounds it instead
STAYS = {
    "steer": "a person says it", "steer-to": "a person says it", "resume": "a person says it",
    "limited": "the clock: nobody is asked again before the time that was named",
    "prepared": "the job does nothing for a run that is prepared",
    "flags-accepted": "the tree whose flags were accepted is remembered",
    "task-completed": "each child comes back once", "task-implemented": "each child comes back once",
    "final-review-passed": "each child comes back once", "old-child": "each child comes back once",
    "green": "each step is done once", "refactor": "each step is done once", "checkpoint": "each step has one checkpoint",
    "wait": "it changes nothing and is counted as the agent's own silence",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(all_tables()))
def test_no_row_of_any_workflow_repeats_without_a_bound(name: str) -> None:
    table = all_tables()[name]
    endless = [
        f"{row.on} at {row.at}"
        for row in table.rows
        for way in (row.to, row.fail)
        if way is not None and way.to in (STAY, row.at) and not way.counted and row.on not in STAYS and table.moves[row.on].call != "revise"
    ]
    assert not endless, endless
    failing = [way for row in table.rows for way in (row.to, row.fail) if way is not None and way.says == "FAILURE"]
    assert all(way.counted or table.states[way.to].end for way in failing)


# What leads round in a circle without a counter, and why that comes to an end
ADVANCES = {
    "merged": "each task is merged once",
    "unreviewed": "only a tree that a counted repair or the release changed since its review",
    "to-release": "a session is released once",
    "success": "each step is done once",
    "plan-done-here": "each entry of the plan is done once",
    "planned": "each entry of the list is done once",
}  # fmt: skip


def circle(table: Table[Any], advances: Collection[str]) -> set[str]:
    """States that lead to each other by what agents and the machine do, with nothing on the way that is counted or happens only so often."""
    ways = {name: set[str]() for name in table.states}
    for row in table.rows:
        for way in (row.to, row.fail):
            if (
                way is None
                or way.counted
                or row.on in advances
                or table.moves[row.on].by == ("human",)
                or table.states[row.at].actor == "human"
            ):
                continue
            if way.to not in (STAY, row.at):
                ways[row.at].add(way.to)
    while ends := [name for name, to in ways.items() if not to & ways.keys()]:
        for name in ends:
            del ways[name]
    return set(ways)


@pytest.mark.parametrize("name", sorted(all_tables()))
def test_no_circle_of_states_of_any_workflow_is_without_a_bound(name: str) -> None:
    assert circle(all_tables()[name], ADVANCES) == set()


@pytest.mark.parametrize(("name", "needed"), [("pipeline", "unreviewed"), ("pr", "success"), ("tdd", "planned")])
def test_a_circle_that_nothing_bounds_is_found(name: str, needed: str) -> None:
    assert circle(all_tables()[name], ADVANCES.keys() - {needed})
