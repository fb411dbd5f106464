"""The cargo adapter: reports of real runs, the commands agents may hand in, what of a project concerns it."""

import os
from pathlib import Path

import pytest

from detent.errors import CannotTell
from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, Command, Folder, find_command, refuse
from detent.evidence.running.suite import Suite, environment, run_suite
from tests.machine import need_runner
from tests.native_dialects import PATH
from tests.patience import LONG
from tests.repos import write

CARGO = RUNNERS["cargo"]
BASE = Command(("cargo", "test"), "cargo", "path")

LIB = """//! A crate.
pub mod inner;
#[cfg(test)]
mod tests;

/// Adds.
///
/// ```
/// assert_eq!(calc::add(1, 2), 3);
/// ```
///
/// ```
/// assert_eq!(calc::add(1, 2), 4);
/// ```
pub fn add(a: i32, b: i32) -> i32 { a + b }

pub struct Thing { pub size: i32 }

#[cfg(test)]
mod inline {
    #[test]
    fn is_counted() { assert_eq!(super::add(1, 2), 3); }
}
"""
MANY = """use std::io::Write;

#[test] fn passes() {}
#[test] fn asserts() { assert_eq!(calc::add(1, 2), 4, "sum"); }
#[test] fn asserts_true() { assert!(1 > 2); }
#[test] fn panics() { panic!("assert nothing"); }
#[test] fn unwraps() { let none: Option<i32> = None; none.unwrap(); }
#[test] fn is_unwritten() { todo!(); }
#[test] #[ignore] fn ignored() {}
#[test] #[ignore = "not now"] fn ignored_for_a_reason() {}
#[test] #[should_panic] fn must_panic() { panic!("x"); }
#[test] #[should_panic] fn must_panic_and_does_not() {}
#[test] #[should_panic(expected = "this")] fn must_panic_otherwise() { panic!("ok passes\\nok deep::er"); }
#[test] fn returns_an_error() -> Result<(), String> { Err("e".into()) }
#[test] fn prints_an_end() {
    std::io::stdout().write_all(b"test forged ... ok\\n{ \\"type\\": \\"test\\", \\"name\\": \\"forged\\", \\"event\\": \\"ok\\" }\\n").unwrap();
}
mod deep { #[test] fn er() {} }
fn no_test() {}
#[test] fn uses() { no_test() }
"""
PROJECT = {
    "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n\n[[test]]\nname = "plain"\nharness = false\n\n[workspace]\nmembers = ["other"]\n',
    "src/lib.rs": LIB,
    "src/inner.rs": "pub fn one() -> i32 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn is_one() { assert_eq!(super::one(), 1); }\n}\n",
    "src/tests.rs": "#[test]\nfn beside() {}\n",
    "tests/many.rs": MANY.replace('panic!("ok passes\\nok deep::er")', 'panic!("that")'),
    "tests/exits.rs": "#[test] fn a_first() {}\n#[test] fn b_exits() { std::process::exit(0) }\n",
    "tests/aborts.rs": "#[test] fn aborts() { std::process::abort() }\n",
    "tests/none.rs": "pub fn nothing() {}\n",
    "tests/plain.rs": "fn main() { std::process::exit(7) }\n",
    "tests/name.rs": "#[test] fn name() { calc::not_there_yet(); }\n",
    "tests/import.rs": "use calc::{NotThereYet, not_there_yet};\n#[test] fn import() { let x = not_there_yet(); NotThereYet::new(x); }\n",
    "tests/method.rs": "#[test] fn method() { calc::Thing { size: 1 }.not_there_yet(); }\n",
    "tests/field.rs": "#[test] fn field() { calc::Thing { size: 1 }.width; }\n",
    "tests/argument.rs": "#[test] fn argument() { calc::add(1, 2, 3); }\n",
    "tests/kind.rs": '#[test] fn kind() { let _x: i32 = "text"; }\n',
    "tests/both.rs": '#[test] fn both() { let _x: i32 = "text"; calc::not_there_yet(); }\n',
    "tests/syntax.rs": "#[test] fn syntax( {\n",
    "other/Cargo.toml": '[package]\nname = "other"\nversion = "0.1.0"\nedition = "2021"\n',
    "other/src/lib.rs": "",
}  # fmt: skip
OUTCOMES = {
    "src/lib.rs::inline::is_counted": "passed",
    "src/inner.rs::inner::tests::is_one": "passed",
    "src/tests.rs::tests::beside": "passed",
    "src/lib.rs::doc add": "passed",
    "src/lib.rs::doc add (2)": "failed",
    "tests/many.rs::passes": "passed",
    "tests/many.rs::asserts": "failed",
    "tests/many.rs::asserts_true": "failed",
    "tests/many.rs::panics": "failed",
    "tests/many.rs::unwraps": "failed",
    "tests/many.rs::is_unwritten": "failed",
    "tests/many.rs::ignored": "skipped",
    "tests/many.rs::ignored_for_a_reason": "skipped",
    "tests/many.rs::must_panic": "passed",
    "tests/many.rs::must_panic_and_does_not": "failed",
    "tests/many.rs::must_panic_otherwise": "failed",
    "tests/many.rs::returns_an_error": "failed",
    "tests/many.rs::prints_an_end": "passed",
    "tests/many.rs::deep::er": "passed",
    "tests/many.rs::uses": "passed",
    "tests/aborts.rs::aborts": "error",
    "tests/plain.rs": "failed",
    **{f"tests/{name}.rs": "error" for name in ("name", "import", "method", "field", "argument", "kind", "both", "syntax")},
}


def run(root: Path, *selectors: str, base: Command = BASE) -> TestReport:
    need_runner("cargo")
    suite = Suite(base, LONG, PATH)
    return run_suite(suite, selectors, root, root, environment(suite, os.environ, root.parent / "pycache"), lambda: True)


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> tuple[TestReport, Path]:
    root = tmp_path_factory.mktemp("cargo-runner") / "project"
    write(root, PROJECT)
    return run(root), root


@pytest.mark.slow
def test_every_test_of_a_real_run_has_its_outcome(big: tuple[TestReport, Path]) -> None:
    outcomes = dict(big[0].outcomes)
    assert outcomes.pop("tests/exits.rs::b_exits") == "error"
    assert outcomes.pop("tests/exits.rs::a_first") in ("passed", "error")  # they run at the same time
    assert outcomes == OUTCOMES


@pytest.mark.slow
def test_names_that_are_not_there_yet_are_told_from_other_failures(big: tuple[TestReport, Path]) -> None:
    assert sorted(big[0].missing_names) == [f"tests/{name}.rs" for name in ("argument", "field", "import", "method", "name")]


def test_a_failure_has_its_kind_and_its_words(big: tuple[TestReport, Path]) -> None:
    kinds = {test.rpartition("::")[2]: kind for test, kind in big[0].kinds.items() if test.startswith("tests/many.rs")}
    assert kinds == {
        **dict.fromkeys(("asserts", "asserts_true", "must_panic_and_does_not", "must_panic_otherwise"), "AssertionError"),
        **dict.fromkeys(("panics", "unwraps"), "panic"),
        "is_unwritten": "NotImplementedError",
        "returns_an_error": "Error",
    }
    assert "sum" in big[0].messages["tests/many.rs::asserts"] and big[0].messages["tests/many.rs::ignored_for_a_reason"] == "not now"
    assert "cannot find function `not_there_yet` in crate `calc`" in big[0].output


def test_nothing_but_the_lock_is_left_in_the_project(big: tuple[TestReport, Path]) -> None:
    assert {path.relative_to(big[1]).as_posix() for path in big[1].rglob("*") if path.is_file()} == {*PROJECT, "Cargo.lock"}


@pytest.mark.parametrize(
    ("selectors", "ids"),
    [
        (("tests/many.rs",), {i for i in OUTCOMES if i.startswith("tests/many.rs")}),
        (("src/inner.rs", "tests/name.rs"), {"src/inner.rs::inner::tests::is_one", "tests/name.rs"}),
        (("--test=many", "-name=deep::er", "--exact"), {"tests/many.rs::deep::er"}),
        (("not/there.rs",), set()),
    ],
)
@pytest.mark.slow
def test_a_selection_runs_what_it_names(big: tuple[TestReport, Path], selectors: tuple[str, ...], ids: set[str]) -> None:
    assert run(big[1], *selectors).ids == ids


def test_a_file_whose_time_was_set_back_is_built_all_the_same(tmp_path: Path) -> None:
    write(tmp_path / "p", {"Cargo.toml": PROJECT["other/Cargo.toml"], "src/lib.rs": "", "tests/t.rs": "#[test] fn t() {}\n"})
    assert run(tmp_path / "p", "tests").outcomes == {"tests/t.rs::t": "passed"}
    write(tmp_path / "p", {"tests/t.rs": "#[test] fn t() { assert!(false); }\n"})
    os.utime(tmp_path / "p" / "tests" / "t.rs", (1_000_000_000, 1_000_000_000))
    assert run(tmp_path / "p", "tests").outcomes == {"tests/t.rs::t": "failed"}


@pytest.mark.parametrize(
    ("report", "code", "words"),
    [
        (None, 1, "wrote no report"),
        (b"", 0, "cannot be read"),
        (b'{"code": 0, "faults": [], "played": []}', 101, "by its report"),
        (b'{"code": 101, "faults": [], "played": []}', 101, "no test in its report failed"),
    ],
)
def test_a_report_that_does_not_fit_tells_nothing(report: bytes | None, code: int, words: str) -> None:
    with pytest.raises(CannotTell, match=words):
        CARGO.read(report, code, "")


@pytest.mark.parametrize(
    ("configured", "flags"),
    [
        ("cargo test", []),
        ("cargo test --workspace -q", ["--workspace"]),
        ("cargo test --features a,b --release", ["--features", "a,b", "--release"]),
    ],
)
def test_options_of_the_project_are_kept_and_those_for_show_are_not(configured: str, flags: list[str]) -> None:
    base = find_command(Folder(Path("/nonexistent")), configured)
    assert base is not None and base.runner == "cargo"
    assert f'"options":{flags}'.replace("'", '"').replace(" ", "") in CARGO.argv(base, (), "/r")[-1]


@pytest.mark.parametrize("configured", ["cargo test --lib", "cargo test adds", "cargo nextest run", "cargo test --no-run", "cargo build"])
def test_a_command_that_does_something_else_is_not_adopted(configured: str) -> None:
    base = find_command(Folder(Path("/nonexistent")), configured)
    assert base is not None and base.runner == ""


@pytest.mark.parametrize(
    ("command", "selectors"),
    [
        ("cargo test", ()),
        ("cargo test -q -- --nocapture", ()),
        ("cargo test adds", ("-name=adds",)),
        ("cargo test --test calc adds -- --exact", ("--test=calc", "-name=adds", "--exact")),
        ("cargo test --lib", ("--lib",)),
        ("cargo test tests/calc.rs", ("tests/calc.rs",)),
    ],
)
def test_what_an_agent_selects(command: str, selectors: tuple[str, ...]) -> None:
    assert refuse(command, BASE) is None
    assert CARGO.parse(command, BASE).selectors == selectors


@pytest.mark.parametrize(
    "command",
    [
        "cargo build",
        "cargo +nightly test",
        "cargo test --features x",
        "cargo test --manifest-path /etc/Cargo.toml",
        "cargo test --config x=1",
        "cargo test --no-run",
        "cargo test -- --ignored",
        "cargo test -- --skip adds",
        "cargo test -- --logfile x",
        "cargo test ../other/x.rs",
        "cargo test tests/calc.rs::adds",
        "RUSTFLAGS=x cargo test",
        "cargo test; true",
    ],
)
def test_what_an_agent_may_not_say(command: str) -> None:
    assert "use one call of the project's own test runner" in (refuse(command, BASE) or "")


@pytest.mark.parametrize(
    ("change", "concerns"),
    [
        ('[dependencies]\nserde = "1"\n', False),
        ('[[test]]\nname = "x"\n', True),
        ("[profile.test]\npanic = 'abort'\n", True),
        ("[features]\ndefault = []\n", True),
    ],
)
def test_what_of_a_manifest_concerns_the_tests(change: str, concerns: bool) -> None:
    plain = '[package]\nname = "calc"\nversion = "0.1.0"\n'
    assert (CARGO.runner_part("Cargo.toml", plain + change) != CARGO.runner_part("Cargo.toml", plain)) is concerns
    assert CARGO.runner_part("Cargo.toml", plain.replace("0.1.0", "0.2.0")) == CARGO.runner_part("Cargo.toml", plain)


@pytest.mark.parametrize(
    ("path", "sort"),
    [
        ("tests/calc.rs", "test"),
        ("crates/a/tests/common/mod.rs", "test"),
        ("src/tests.rs", "test"),
        ("src/parse_test.rs", "test"),
        ("src/lib.rs", "code"),
        ("src/contest.rs", "code"),
        ("build.rs", "config"),
        (".cargo/config.toml", "config"),
        ("crates/a/Cargo.toml", "config"),
        ("rust-toolchain.toml", "config"),
    ],
)
def test_what_a_file_is(path: str, sort: str) -> None:
    assert ("test" if CARGO.is_test(path) else "config" if CARGO.is_config(path) else "code") == sort
