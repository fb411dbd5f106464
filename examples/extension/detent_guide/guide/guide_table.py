"""The workflow `guide`: an agent writes guide.md, the machine runs its examples, then the branch lands. The table is the specification."""

from detent.blocks.common import DRIVEN, ERRORS, PEOPLE, because, caused_by, count, driven, keep_error, keep_guidance, people, zero
from detent.blocks.open_flags import ACCEPTED, BY_MACHINE, FIXED, answered, event_of, fixed_in, flagged_at
from detent.effects.catalogue import commit_judged_tree, land_branch, leave_workspace
from detent.gates.branch_gates import on_its_branch
from detent.gates.tests import at_least_one_ran, none_is_lost, nothing_broke
from detent.gates.tree import no_keys_added
from detent.kernel.model import Run, Sent
from detent.kernel.table import BACK, STAY, Go, Move, Row, State, Table, by_agent, by_human, by_system, go
from detent_guide.guide.guide_data import GuideData, facts, unproven, written
from detent_guide.guide_gates import guide_is_there, only_the_guide_changed, sections_have_examples

STATES = {
    "WRITE": State("agent", "writer", ("guide.md",)),
    "LANDING": State("system", job=land_branch),
    "HALTED": State("human"),
    "DONE": State("none", end="proved"),
    "ABORTED": State("none", end="stopped"),
}

MOVES: dict[str, Move] = {
    "written": by_agent("submit_work", "write guide.md, then call submit_work with summary"),
    "landed": by_system("the branch is in main"),
    "offered": by_system("the branch is there for a person to merge"),
    "conflict": by_system("the branch conflicts with main"),
    "red-merge": by_system("what would land does not pass in a clean checkout"),
    "resume": by_human("resume", "detent resume [--guidance TEXT]"),
    **BY_MACHINE,
    **ACCEPTED,
    **FIXED,
    **DRIVEN,
    **PEOPLE,
}

ASK = (on_its_branch, no_keys_added)
PROVE = (only_the_guide_changed, guide_is_there, at_least_one_ran, none_is_lost, nothing_broke, sections_have_examples)
FRESH = zero("tries", "agent")
STUCK: Go[GuideData] = go("HALTED", because("tries"), keep_error, says="FAILURE")
AGAIN = go(STAY, count("tries"), keep_error, says="FAILURE", spent=STUCK)
END: Go[GuideData] = go("DONE", owes=(leave_workspace,))
UNLANDED: Go[GuideData] = go("HALTED", because("conflict"), keep_error, says="HALTED")

ROWS: tuple[Row[GuideData], ...] = (
    #   at         on           ask  prove  to                                                          failed proof
    Row("WRITE",   "written",   ASK, PROVE, go("LANDING", written, FRESH, owes=(commit_judged_tree,)),  AGAIN),
    Row("LANDING", "landed",    (),  (),    END),
    Row("LANDING", "offered",   (),  (),    END),
    Row("LANDING", "conflict",  (),  (),    UNLANDED),
    Row("LANDING", "red-merge", (),  (),    UNLANDED),
    Row("HALTED",  "resume",    (caused_by("tries", "errors", "agent", "model", "budget", "conflict"),), (), go(BACK, keep_guidance, FRESH)),
    *flagged_at("LANDING"),
    *answered(),
    *fixed_in("WRITE"),
    *driven(
        STATES,
        halt=go("HALTED", because("agent"), keep_error, says="HALTED"),
        unavailable=go("HALTED", because("model"), keep_error, says="HALTED"),
        over=go("HALTED", because("budget"), keep_error, says="HALTED"),
    ),
    *people(STATES, also=(leave_workspace,)),
)  # fmt: skip


def kind(run: Run[GuideData], sent: Sent) -> str:
    """The event that a call causes."""
    if sent.verb == "answer":
        return event_of(run, sent) or sent.verb
    return {"due": "", "submit": "written", "outcome": sent.outcome}.get(sent.verb, sent.verb)


GUIDE: Table[GuideData] = Table(
    name="guide",
    title="a guide whose examples are run",
    data=GuideData,
    starts=("WRITE",),
    states=STATES,
    moves=MOVES,
    rows=ROWS,
    kind=kind,
    limits={**ERRORS, "tries": 3},
    broken=go("HALTED", because("errors"), keep_error, says="HALTED"),
    unproven=unproven,
    facts=facts,
)
