"""Flags as values and words: every kind has its page, hunks and lists read well, policies are read, and who lacks a field is told."""

import re
from pathlib import Path

import msgspec
import pytest

from detent.app.policy import kinds_of, only_flags, read_policies
from detent.app.registry import all_tables
from detent.blocks.open_flags import (
    briefing_flags,
    hunk_of,
    keep_accepted,
    keep_flagged,
    keep_to_fix,
    line_of,
    list_flags,
    question_of,
)
from detent.door import _stay
from detent.errors import DetentError
from detent.kernel.decide import flagged, machine_flags
from detent.kernel.model import KINDS, LEVELS, Data, Flag, Found, Run, Sent

PAGE = (Path(__file__).parent.parent / "docs" / "flags.md").read_text("utf-8")
VAT = Flag(
    "rewritten-test",
    "what this test expects was changed",
    "tests/test_tax.py::test_vat",
    "assert vat(100) == 19\n",
    "assert vat(100) == 20\n",
)
DONE = Flag("judged-by", "ci.yml changed", "ci.yml", stays=True)


def a_run(*flags: Flag, **more: str) -> Run[Data]:
    return Run("r", "tdd", "LANDING", 7, Data(), flags=flags, **more)  # type: ignore[arg-type]


def sections() -> dict[str, str]:
    return {part.partition("\n")[0]: part for part in PAGE.split("\n## ")[1:]}


def test_every_kind_has_its_section_and_no_other_has_one() -> None:
    assert list(sections()) == list(KINDS)


def test_the_overview_has_a_row_for_every_kind_with_its_level() -> None:
    rows = re.findall(r"^\| \[([\w-]+)\]\(#([\w-]+)\) \| `(\w+)` \| \S", PAGE, re.MULTILINE)
    assert rows == [(kind, kind, each.level) for kind, each in KINDS.items()]


@pytest.mark.parametrize("kind", KINDS)
def test_a_section_says_its_level_an_honest_and_a_dishonest_example_and_the_way_out(kind: str) -> None:
    text = sections()[kind]
    assert f"\nLevel: `{KINDS[kind].level}`" in text and KINDS[kind].level in LEVELS
    assert all(f"\n- {word}: " in text for word in ("Honest", "Dishonest", "Get rid of it"))


def test_a_flag_reads_as_one_line_and_a_small_diff() -> None:
    assert line_of(VAT) == "rewritten-test  tests/test_tax.py::test_vat  what this test expects was changed"
    assert hunk_of(VAT) == ("- assert vat(100) == 19", "+ assert vat(100) == 20")
    assert hunk_of(DONE) == ()
    long = msgspec.structs.replace(VAT, before="".join(f"line {n}\n" for n in range(20)))
    assert hunk_of(long, 3) == ("- line 0", "- line 1", "- line 2", "- [17 more lines]", "+ assert vat(100) == 20")
    assert line_of(Flag("no-proof", "two\nlines")) == "no-proof  two lines"


def test_the_question_counts_and_names_kinds() -> None:
    assert question_of((VAT,)) == "The branch is ready to land and has 1 flag to look at: rewritten-test. Do you accept it?"
    assert "2 flags to look at: rewritten-test, judged-by. Do you accept them?" in question_of((VAT, DONE))


def test_a_look_at_the_branch_takes_the_place_of_what_steps_raised_but_for_what_was_done() -> None:
    old, new = Flag("no-proof", "an old one", "a.py"), VAT
    run = flagged(a_run(old, DONE), (new,))
    after = keep_flagged(run, Sent("outcome", by="system", facts={"tree": "abc"}), Found(flagged=(new,)))
    assert set(after.flags) == {DONE, new} and after.asked == "abc" and "2 flags" in after.last_reason


def test_an_answer_holds_for_the_tree_that_was_asked_about() -> None:
    run = a_run(VAT, asked="abc", cause="flags")
    after = keep_accepted(run, Sent("answer", by="human", value="accept"), Found())
    assert (after.accepted, after.asked, after.cause) == ("abc", "", "")
    fixing = keep_to_fix(run, Sent("answer", by="human", value="fix", note="keep 19"), Found())
    assert fixing.accepted == "" and "keep 19" in fixing.guidance and "- assert vat(100) == 19" in fixing.guidance


def test_only_the_machine_brings_flags_with_what_it_says() -> None:
    facts = {"flags": msgspec.json.encode((VAT,)).decode()}
    assert machine_flags(Sent("outcome", by="system", facts=facts)) == (VAT,)
    assert machine_flags(Sent("submit", by="agent", facts=facts)) == () == machine_flags(Sent("answer", by="human", facts=facts))


def test_a_child_passes_on_what_no_tree_takes_back() -> None:
    told = _stay(a_run(VAT, DONE))
    assert machine_flags(Sent("child", by="system", facts=told)) == (DONE,) and _stay(a_run(VAT)) == {}


def test_briefings_say_what_their_reader_needs() -> None:
    run = a_run(VAT, DONE)
    assert "- assert vat" not in briefing_flags(run, "agent", "engineer") and line_of(VAT) in briefing_flags(run, "agent", "engineer")
    assert "- assert vat(100) == 19" in briefing_flags(run, "agent", "Reviewer")
    assert briefing_flags(a_run(), "agent", "engineer") == "" == briefing_flags(run, "human", "")
    waiting = msgspec.structs.replace(run, cause="flags")
    assert "- assert vat(100) == 19" in briefing_flags(waiting, "human", "")
    many = a_run(*(msgspec.structs.replace(VAT, place=f"t{n}.py") for n in range(13)))
    assert "and 3 more" in briefing_flags(many, "agent", "engineer")


def test_flags_are_listed_with_both_versions() -> None:
    assert list_flags(()) == "" and "- assert vat(100) == 19" in list_flags((VAT,)) and list_flags((DONE,)) == f"- {line_of(DONE)}"


@pytest.mark.parametrize("workflow", ["pr", "tdd", "execute"])
def test_a_run_that_waits_because_of_flags_is_told_to_answer_not_to_resume(workflow: str) -> None:
    table = all_tables()[workflow]
    run: Run[Data] = Run("r", workflow, "HALTED", 7, table.data(), cause="flags", limits=dict(table.limits))
    assert table.instruction(run).startswith("detent answer FLAGS accept")
    assert "answer" in table.allowed(run) and "resume" not in table.allowed(run)


def test_policies_name_kinds_in_every_way_a_person_may_write_them() -> None:
    both = {"flags": "no-proof+unnoticed"}
    for words in (["flags=no-proof,unnoticed"], ["flags=no-proof+unnoticed"], ["flags=no-proof", "flags=unnoticed"]):
        assert read_policies(words) == both
    assert kinds_of(both) == ("no-proof", "unnoticed") and only_flags(both) and only_flags({})
    mixed = read_policies(["notes,flags=no-proof,judged-by,approve-design"])
    assert mixed == {"notes": "accept", "flags": "no-proof+judged-by", "approve-design": "approved"} and not only_flags(mixed)


@pytest.mark.parametrize(
    ("word", "message"),
    [("flags", "flags needs the kinds"), ("flags=", "flags needs the kinds"), ("flags=noproof", "no kind of flag 'noproof'")],
)
def test_a_policy_without_a_kind_that_exists_is_refused(word: str, message: str) -> None:
    with pytest.raises(DetentError, match=message) as error:
        read_policies([word])
    assert "no-proof" in str(error.value.hint)
