"""What became of each test from one tree to another: every class of it, and which test is which when ids are not the same."""

import pytest

from detent.evidence.outcomes.outcomes import Outcomes, compare, file_of, laid_over, unstable_families
from detent.evidence.report import Outcome, TestReport

CLASSES = ("newly_failing", "regressions", "fixed", "still_failing", "pins", "kept", "skipped", "lost", "waiting")


def report(outcomes: dict[str, Outcome], unloaded: tuple[str, ...] = ()) -> TestReport:
    """A report whose tests stand in the files that their ids begin with; a file that could not be loaded is one id, itself."""
    every: dict[str, Outcome] = {**outcomes, **dict.fromkeys(unloaded, "error")}
    return TestReport(every, {test: test.partition("::")[0] for test in every})


def told(seen: Outcomes) -> dict[str, set[str]]:
    """The classes that hold something."""
    return {name: set(getattr(seen, name)) for name in CLASSES if getattr(seen, name)}


def became(before: dict[str, Outcome], now: dict[str, Outcome]) -> dict[str, set[str]]:
    return told(compare(report(before), report(now)))


A = "tests/test_a.py::test_a"


@pytest.mark.parametrize(
    ("before", "now", "classes"),
    [
        ("passed", "passed", ("kept",)),
        ("passed", "failed", ("newly_failing", "regressions")),
        ("passed", "error", ("newly_failing", "regressions")),
        ("passed", "skipped", ("skipped",)),
        ("failed", "passed", ("fixed",)),
        ("error", "passed", ("fixed",)),
        ("failed", "failed", ("still_failing",)),
        ("error", "failed", ("still_failing",)),
        ("failed", "skipped", ("skipped",)),
        ("skipped", "passed", ("pins",)),
        ("skipped", "failed", ("newly_failing",)),
        ("skipped", "skipped", ()),
        (None, "passed", ("pins",)),
        (None, "failed", ("newly_failing",)),
        (None, "error", ("newly_failing",)),
        (None, "skipped", ()),
        ("passed", None, ("lost",)),
        ("failed", None, ("lost",)),
        ("skipped", None, ()),
    ],
)
def test_a_test_is_what_became_of_it(before: Outcome | None, now: Outcome | None, classes: tuple[str, ...]) -> None:
    assert became({A: before} if before else {}, {A: now} if now else {}) == {name: {A} for name in classes}


def test_nothing_before_and_nothing_now_is_nothing() -> None:
    assert compare(TestReport(), TestReport()) == Outcomes()


# -- which test is which -------------------------------------------------------------------------------------------------------


def test_a_row_put_into_the_middle_of_a_table_is_the_only_new_one() -> None:
    rows = "tests/test_a.py::test_rows"
    before: dict[str, Outcome] = {f"{rows}[{n}-{v}]": "passed" for n, v in enumerate("abc")}
    now: dict[str, Outcome] = {f"{rows}[{n}-{v}]": "failed" if v == "x" else "passed" for n, v in enumerate("axbc")}
    assert became(before, now) == {"kept": {f"{rows}[0-a]", f"{rows}[2-b]", f"{rows}[3-c]"}, "newly_failing": {f"{rows}[1-x]"}}


@pytest.mark.parametrize("row", ["rows.test.js::adds %s to 4", "tests/RowTest.php::testRow with data set #%s"])
def test_a_row_put_into_a_table_of_another_language_is_the_only_new_one(row: str) -> None:
    now: dict[str, Outcome] = {row % 1: "passed", row % 2: "failed", row % 4: "passed"}
    assert became({row % 1: "passed", row % 3: "passed"}, now) == {"kept": {row % 1, row % 4}, "newly_failing": {row % 2}}


def test_a_row_that_is_taken_out_is_lost() -> None:
    rows = "tests/test_a.py::test_rows"
    assert became({f"{rows}[a]": "passed", f"{rows}[b]": "passed"}, {f"{rows}[a]": "passed"}) == {
        "kept": {f"{rows}[a]"},
        "lost": {f"{rows}[b]"},
    }


def test_a_renamed_row_that_breaks_is_a_regression() -> None:
    rows = "tests/test_a.py::test_rows"
    broken = {f"{rows}[1-b2]"}
    assert became({f"{rows}[1-b]": "passed"}, {f"{rows}[1-b2]": "failed"}) == {"newly_failing": broken, "regressions": broken}


def test_two_tests_whose_words_differ_are_never_rows_of_one() -> None:
    before: dict[str, Outcome] = {"a.test.js::cart > adds": "passed"}
    assert became(before, {"a.test.js::cart > removes": "passed"}) == {
        "lost": {"a.test.js::cart > adds"},
        "pins": {"a.test.js::cart > removes"},
    }


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("t.py::test_a[<object at 0x7f76eaec5740>]", "t.py::test_a[<object at 0x7f76eaec9990>]"),
        ("t.py::test_a[2026-11-17T02:22:24Z]", "t.py::test_a[2026-11-18T09:00:01Z]"),
        ("t.py::test_a[/tmp/pytest-of-me/pytest-7/a0/x.csv]", "t.py::test_a[/tmp/pytest-of-me/pytest-8/a0/x.csv]"),
        ("a.test.js::reads 1247f256-01e8-460d-9322-f62976b2d7bf", "a.test.js::reads 2247f256-01e8-460d-9322-f62976b2d7bf"),
    ],
)
def test_an_id_that_differs_between_runs_is_the_same_test(before: str, now: str) -> None:
    assert became({before: "passed"}, {now: "passed"}) == {"kept": {now}}
    assert became({before: "passed"}, {now: "failed"}) == {"newly_failing": {now}, "regressions": {now}}


def test_an_id_that_differs_between_runs_stays_in_its_file() -> None:
    before: dict[str, Outcome] = {
        "a.py::test_a[<object at 0x7f76eaec5740>]": "failed",
        "b.py::test_a[<object at 0x7f76eaec5741>]": "passed",
    }
    now: dict[str, Outcome] = {"a.py::test_a[<object at 0x7f76eaec5742>]": "passed", "b.py::test_a[<object at 0x7f76eaec5743>]": "failed"}
    assert became(before, now) == {"fixed": {min(now)}, "newly_failing": {max(now)}, "regressions": {max(now)}}


def test_ids_that_look_alike_are_paired_one_by_one() -> None:
    before: dict[str, Outcome] = {f"t.py::test_a[<object at 0x7f76eaec574{n}>]": "passed" for n in range(2)}
    now: dict[str, Outcome] = {"t.py::test_a[<object at 0x7f76eaec9990>]": "passed"}
    seen = compare(report(before), report(now))
    assert (len(seen.kept), len(seen.lost)) == (1, 1), "one that is there stands for one only"


def test_a_renamed_file_keeps_its_tests_and_says_where_they_went() -> None:
    before: dict[str, Outcome] = {"tests/test_a.py::test_one": "passed", "tests/test_a.py::T::test_two": "failed"}
    now: dict[str, Outcome] = {"tests/test_b.py::test_one": "passed", "tests/test_b.py::T::test_two": "failed"}
    seen = compare(report(before), report(now))
    assert told(seen) == {"kept": {"tests/test_b.py::test_one"}, "still_failing": {"tests/test_b.py::T::test_two"}}
    assert seen.moved == {old: old.replace("test_a.py", "test_b.py") for old in before}


def test_a_moved_test_is_the_same_test_and_one_that_breaks_on_the_way_is_a_regression() -> None:
    before: dict[str, Outcome] = {"tests/test_a.py::test_one": "passed", "tests/test_a.py::test_two": "passed"}
    kept: dict[str, Outcome] = {"tests/test_a.py::test_one": "passed", "tests/test_b.py::test_two": "passed"}
    seen = compare(report(before), report(kept))
    assert (told(seen), seen.moved) == ({"kept": set(kept)}, {"tests/test_a.py::test_two": "tests/test_b.py::test_two"})
    broken = {"tests/test_b.py::test_two"}
    assert became(before, {**kept, "tests/test_b.py::test_two": "failed"}) == {
        "kept": {"tests/test_a.py::test_one"},
        "newly_failing": broken,
        "regressions": broken,
    }


def test_a_test_of_the_same_name_in_another_file_takes_no_others_place() -> None:
    before: dict[str, Outcome] = {"tests/test_a.py::test_one": "passed"}
    assert became(before, {**before, "tests/test_b.py::test_one": "failed"}) == {
        "kept": {"tests/test_a.py::test_one"},
        "newly_failing": {"tests/test_b.py::test_one"},
    }


def test_sub_tests_stand_for_the_test_that_got_them() -> None:
    before: dict[str, Outcome] = {"cart_test.go::TestAdd": "passed"}
    assert became(before, {"cart_test.go::TestAdd/one": "passed", "cart_test.go::TestAdd/two": "failed"}) == {
        "pins": {"cart_test.go::TestAdd/one"},
        "newly_failing": {"cart_test.go::TestAdd/two"},
    }


def test_a_new_sub_test_beside_others_is_new_and_one_that_goes_is_lost() -> None:
    one, two = "cart_test.go::TestAdd/one", "cart_test.go::TestAdd/two"
    assert became({one: "passed"}, {one: "passed", two: "failed"}) == {"kept": {one}, "newly_failing": {two}}
    assert became({one: "passed", two: "passed"}, {one: "passed"}) == {"kept": {one}, "lost": {two}}


def test_an_id_that_stands_twice_is_a_test_each() -> None:
    before: dict[str, Outcome] = {"a.test.js::adds": "passed", "a.test.js::adds (2)": "passed"}
    assert became(before, before) == {"kept": set(before)}
    assert became(before, {"a.test.js::adds": "passed"}) == {"kept": {"a.test.js::adds"}, "lost": {"a.test.js::adds (2)"}}
    third: dict[str, Outcome] = {**before, "a.test.js::adds (3)": "failed"}
    assert became(before, third) == {"kept": set(before), "newly_failing": {"a.test.js::adds (3)"}}


# -- files that cannot be loaded -----------------------------------------------------------------------------------------------


def test_a_file_that_cannot_be_loaded_now_fails_itself_and_its_tests_wait() -> None:
    before = report({"tests/test_a.py::test_one": "passed", "tests/test_b.py::test_b": "passed"})
    now = report({"tests/test_b.py::test_b": "passed"}, unloaded=("tests/test_a.py",))
    assert told(compare(before, now)) == {
        "kept": {"tests/test_b.py::test_b"},
        "newly_failing": {"tests/test_a.py"},
        "waiting": {"tests/test_a.py::test_one"},
    }


def test_a_file_that_could_not_be_loaded_before_stood_for_its_tests() -> None:
    before = report({}, unloaded=("tests/test_a.py",))
    now = report({"tests/test_a.py::test_one": "passed", "tests/test_a.py::test_two": "failed", "tests/test_a.py::test_three": "skipped"})
    assert told(compare(before, now)) == {
        "fixed": {"tests/test_a.py::test_one"},
        "still_failing": {"tests/test_a.py::test_two"},
        "skipped": {"tests/test_a.py::test_three"},
    }


def test_a_file_that_could_not_be_loaded_before_and_is_gone_is_lost() -> None:
    assert told(compare(report({}, unloaded=("tests/test_a.py",)), report({A.replace("a", "b"): "passed"})))["lost"] == {"tests/test_a.py"}


def test_a_file_that_can_be_loaded_neither_before_nor_now_still_fails() -> None:
    broken = report({}, unloaded=("tests/test_a.py",))
    assert told(compare(broken, broken)) == {"still_failing": {"tests/test_a.py"}}


# -- ids that no two runs share ------------------------------------------------------------------------------------------------


def test_tests_whose_ids_differ_between_two_runs_of_one_tree_are_never_lost() -> None:
    one = report({"t.py::test_a[k7]": "passed", "t.py::test_a[q1]": "passed", "t.py::test_b": "passed"})
    other = report({"t.py::test_a[z3]": "passed", "t.py::test_b": "passed"})
    assert unstable_families(one, other) == {"t.py::test_a"}
    assert unstable_families(one, one) == frozenset()
    assert told(compare(one, other))["lost"], "without it, one of them is"
    assert "lost" not in told(compare(one, other, unstable_families(one, other)))
    gone = report({"t.py::test_a[z3]": "passed"})
    assert told(compare(one, gone, {"t.py::test_a"}))["lost"] == {"t.py::test_b"}, "the others are held to what they are"


# -- a part of the suite -------------------------------------------------------------------------------------------------------


def test_what_a_run_of_some_files_said_takes_the_place_of_what_was_known_of_them() -> None:
    whole = report({"a.py::one": "passed", "a.py::gone": "passed", "b.py::two": "failed", "c.py::deleted": "passed"})
    part = report({"a.py::one": "failed", "a.py::new": "passed"})
    joined = laid_over(whole, part, {"a.py", "c.py"})
    assert joined.outcomes == {"b.py::two": "failed", "a.py::one": "failed", "a.py::new": "passed"}
    assert joined.partial and not whole.partial
    assert told(compare(whole, joined)) == {
        "regressions": {"a.py::one"},
        "newly_failing": {"a.py::one"},
        "still_failing": {"b.py::two"},
        "pins": {"a.py::new"},
        "lost": {"a.py::gone", "c.py::deleted"},
    }


def test_the_file_of_a_test_is_the_reports_word_and_else_what_its_id_begins_with() -> None:
    assert file_of(TestReport({"suite::a": "passed"}, {"suite::a": "tests/a.c"}), "suite::a") == "tests/a.c"
    assert file_of(TestReport({"a.py::b": "passed"}), "a.py::b") == "a.py"
