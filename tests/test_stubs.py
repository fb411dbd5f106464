"""A RED step in a language that cannot compile otherwise: stubs that throw, in the file that is to be written, and nothing else."""

from pathlib import Path

import pytest

from detent.evidence.source.stubs import LANGUAGES, only_stubs
from tests.feature import LIST, Feature, named

RUST = "pub fn one() -> i32 {\n    1\n}\n"
GO = 'package sums\n\nimport "fmt"\n\nfunc One() int {\n\tfmt.Println("{ one }")\n\treturn 1\n}\n'
STUBS = [
    ("cargo", RUST, RUST + "\n/// Adds.\npub fn add(a: i32, b: i32) -> i32 {\n    todo!()\n}\n"),
    ("cargo", RUST, "use std::fmt;\n\n" + RUST + "\nfn add() -> Result<i32, String> { unimplemented!(\"later: {}\", 1) }\n"),
    ("cargo", "", "pub struct Till;\n\nimpl Till {\n    pub fn add(&self) -> i32 {\n        panic!(\"no\")\n    }\n}\n"),
    ("cargo", "impl A {\n    fn a() {\n        b();\n    }\n}\n", "impl A {\n    fn a() {\n        b();\n    }\n\n    fn c() {\n        todo!()\n    }\n}\n"),
    ("go", GO, GO + '\n// Add adds.\nfunc Add(a, b int) (int, error) {\n\tpanic("not there yet")\n}\n'),
    ("go", "", 'package sums\n\nfunc (t *Till) Add(a int) int { panic("no") }\n'),
    ("ctest", "#include <a.h>\nint one() { return 1; }\n", "#include <a.h>\n#include <cstdlib>\nint one() { return 1; }\nint add(int a, int b) { abort(); }\n"),
    ("ctest", "", "namespace sums {\nint add(int a, int b) {\n  throw std::logic_error(\"no\");\n}\n}\n"),
    ("maven", "", "package a;\n\npublic class Sums {\n  public static int add(int a, int b) {\n    throw new UnsupportedOperationException();\n  }\n}\n"),
]  # fmt: skip
NOT_ONLY = [
    ("cargo", RUST, RUST + "\npub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n"),
    ("cargo", RUST, RUST + "\npub fn add(a: i32) -> i32 {\n    if a > 0 { return 1; }\n    todo!()\n}\n"),
    ("cargo", RUST, RUST.replace("1\n", "2\n") + "\npub fn add() {\n    todo!()\n}\n"),
    ("cargo", RUST, "pub fn one() -> i32 {\n    todo!()\n}\n"),
    ("cargo", RUST, RUST + "\npub const N: i32 = 1;\npub fn add() {\n    todo!()\n}\n"),
    ("cargo", RUST, RUST),
    ("go", GO, GO + "\nfunc Add(a, b int) int {\n\treturn a + b\n}\n"),
    ("go", GO, GO + '\nvar x = func() int { panic("no") }()\n'),
    ("go", GO, GO + "\nfunc init() {\n\tdefer close()\n\tpanic(1)\n}\n"),
    ("ctest", "", "int add(int a, int b) { return a + b; }\n"),
    ("pytest", "", "def add(a, b):\n    raise NotImplementedError\n"),
]  # fmt: skip


@pytest.mark.parametrize(("runner", "before", "now"), STUBS)
def test_functions_that_only_throw_are_stubs(runner: str, before: str, now: str) -> None:
    assert only_stubs(runner, before, now)
    assert LANGUAGES[runner].shown_body


@pytest.mark.parametrize(("runner", "before", "now"), NOT_ONLY)
def test_anything_else_is_more_than_stubs(runner: str, before: str, now: str) -> None:
    assert not only_stubs(runner, before, now)


CRATE = {
    "Cargo.toml": '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": RUST,
    "tests/start.rs": "#[test]\nfn start() {\n    assert_eq!(sums::one(), 1);\n}\n",
    ".gitignore": "target/\nCargo.lock\n__pycache__/\n",
}
ADD = {"description": "adds two numbers", "testFile": "tests/add.rs", "implFile": "src/lib.rs"}
TEST = "#[test]\nfn adds() {\n    assert_eq!(sums::add(1, 2), 3);\n}\n"
STUB = RUST + "\npub fn add(_a: i32, _b: i32) -> i32 {\n    todo!()\n}\n"


@pytest.mark.slow
def test_red_in_rust_may_add_a_stub_that_throws_to_the_file_that_is_to_be_written_and_no_code(tmp_path: Path) -> None:
    f = Feature(tmp_path / "p", '[test]\ncommand = "cargo test"\n', CRATE).start()
    assert f.lay({"test-list.md": LIST}).submit(named(ADD)).state == "RED"
    assert "whose whole body is `todo!()`" in f.briefing
    assert "src/lib.rs" in f.app().door.next(f.run_id).writes
    verdict = f.lay({"tests/add.rs": TEST, "src/lib.rs": STUB.replace("todo!()", "_a + _b")}).submit()
    assert (verdict.status, verdict.reasons) == ("FAILURE", ("src/lib.rs changed; a RED step writes tests only",))
    verdict = f.lay({"src/lib.rs": STUB}).submit()
    assert (verdict.status, verdict.state) == ("SUCCESS", "GREEN"), verdict
    assert f.lay({"src/lib.rs": STUB.replace("todo!()", "_a + _b")}).submit().state == "REFACTOR"
