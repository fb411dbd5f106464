"""The test part of a file of code: told apart by the syntax of its language, compared, and laid over another version."""

import pytest

from detent.evidence.source.insource import holds_tests, lay_over, modules_for_tests, only_tests_differ, split_tests

RUST = """//! The crate.
const BRACES: &str = r#"}} mod tests { "# ;
/// Adds.
pub fn add(a: i32, b: i32) -> i32 { a + b /* } /* } */ */ }

pub fn brace<'a>(c: &'a char) -> bool { *c == '{' || *c == '\\'' } // }
"""
TESTS = """
#[cfg(test)]
#[allow(dead_code)]
mod tests {
    use super::*;
    const ODD: &str = "}\\" }";
    #[test]
    fn adds() { assert_eq!(add(1, 2), 3, "{}", '}'); }
}
"""


def test_the_tests_of_a_file_of_rust_are_the_items_under_cfg_test_whatever_braces_stand_in_strings() -> None:
    code, tests = split_tests("src/lib.rs", RUST + TESTS + "\npub fn last() {}\n")
    assert tests.strip() == TESTS.strip()
    assert code.split() == (RUST + "pub fn last() {}").split()


@pytest.mark.parametrize(
    ("item", "is_test"),
    [
        ("#[cfg(test)] use std::{fs, io};", True),
        ("#[cfg(test)]\nfn helper() -> [u8; 3] { [0; 3] }", True),
        ("#[cfg(test)]\nconst X: u8 = { 1 };", True),
        ("#[test]\nfn alone() {}", True),
        ("#[tokio::test(flavor = \"multi_thread\")]\nasync fn alone() {}", True),
        ("#[cfg(all(test, feature = \"x\"))]\nmod more {}", True),
        ("#[cfg(test)]\npub(crate) mod support;", True),
        ("#[cfg(not(test))]\nmod real {}", False),
        ("#[cfg(any(test, feature = \"x\"))]\nmod both {}", False),
        ("#[cfg(all(not(test), unix))]\nmod real {}", False),
        ("#[derive(Debug)]\nstruct Test;", False),
        ("struct A { #[cfg(test)] field: u8, other: u8 }", False),
        ('const S: &str = "#[cfg(test)] mod tests { }";', False),
        ("// #[cfg(test)] mod tests {}", False),
    ],
)  # fmt: skip
def test_what_is_for_tests_only_in_rust(item: str, is_test: bool) -> None:
    code, tests = split_tests("src/a.rs", f"fn a() {{}}\n{item}\nfn b() {{}}\n")
    assert bool(tests) is is_test
    assert "fn a() {}" in code and "fn b() {}" in code
    assert (item in code) is not is_test


def test_documentation_with_code_in_it_is_a_test_of_rust_and_plain_documentation_is_not() -> None:
    plain = "/// Adds.\npub fn add() {}\n"
    shown = "/// Adds.\n///\n/// ```\n/// assert_eq!(m::add(1, 2), 3);\n/// ```\npub fn add() {}\n"
    assert holds_tests("src/a.rs", shown) and not holds_tests("src/a.rs", plain)
    assert only_tests_differ("src/a.rs", plain, shown)
    assert not only_tests_differ("src/a.rs", plain, plain.replace("Adds", "Sums"))
    assert lay_over("src/a.rs", plain, shown.replace("{}", "{ 1 }")) is not None
    assert lay_over(
        "src/a.rs", "#[must_use]\npub fn add() {}\n", "/// ```\n/// x\n/// ```\n#[must_use]\npub fn add() {}\nfn more() {}\n"
    ) == ("/// ```\n/// x\n/// ```\n#[must_use]\npub fn add() {}\n")


def test_code_that_changes_beside_its_tests_is_seen_in_rust() -> None:
    assert only_tests_differ("src/lib.rs", RUST, RUST + TESTS)
    assert only_tests_differ("src/lib.rs", RUST + TESTS, RUST + TESTS.replace("3,", "4,"))
    assert only_tests_differ("src/lib.rs", RUST + TESTS, RUST)
    assert not only_tests_differ("src/lib.rs", RUST, RUST.replace("a + b", "a - b") + TESTS)
    assert not only_tests_differ("src/lib.rs", RUST + TESTS, RUST + TESTS), "nothing differs"
    assert not only_tests_differ("src/lib.rs", RUST, RUST + "#[cfg(not(test))]" + TESTS.replace("#[cfg(test)]", ""))


def test_the_tests_of_one_version_are_laid_over_the_code_of_another_in_rust() -> None:
    fixed = RUST.replace("a + b", "b + a")
    assert lay_over("src/lib.rs", RUST, fixed + TESTS) == RUST.rstrip("\n") + "\n\n" + TESTS.strip("\n") + "\n"
    changed = TESTS.replace("3,", "4,")
    assert lay_over("src/lib.rs", RUST + TESTS + "fn last() {}\n", fixed + changed) == RUST + changed + "fn last() {}\n"
    assert lay_over("src/lib.rs", RUST + TESTS, fixed) == RUST + "\n"


def test_a_test_inside_of_another_module_that_the_code_has_not_yet_cannot_be_laid_over() -> None:
    assert lay_over("src/lib.rs", RUST, RUST + "mod inner {\n    #[cfg(test)]\n    mod tests {}\n}\n") is None


def test_a_string_that_does_not_end_cannot_be_taken_apart() -> None:
    assert split_tests("src/a.rs", 'fn a() { "') == ('fn a() { "', "")
    assert lay_over("src/a.rs", 'fn a() { "', TESTS) is None and not only_tests_differ("src/a.rs", 'fn a() { "', TESTS)


def test_files_that_rust_loads_for_tests_only_are_named() -> None:
    text = '#[cfg(test)]\nmod proofs;\nmod real;\n#[cfg(test)]\n#[path = "odd/name.rs"]\nmod odd;\n#[cfg(test)]\nmod inline {}\n'
    assert modules_for_tests("src/lib.rs", text) == ("src/proofs.rs", "src/proofs/", "src/odd/name.rs")
    assert modules_for_tests("src/calc.rs", "#[cfg(test)] mod proofs;") == ("src/calc/proofs.rs", "src/calc/proofs/")


PYTHON = '''"""A module."""
import os


def add(a, b):
    return a + b


@cached
class Sum:
    """Grün: no example."""

    def of(self, *all): return sum(all)
'''
SHOWN = PYTHON.replace("def add(a, b):\n", 'def add(a, b):\n    """Adds.\n\n    >>> add(1, 2)\n    3\n    """\n')
INLINE = SHOWN.replace("def of(self, *all): return", 'def of(self, *all): ">>> Sum().of(1)"; return')


def test_docstrings_with_examples_are_the_tests_of_a_module_of_python() -> None:
    code, tests = split_tests("calc.py", INLINE)
    assert ">>>" not in code and "return a + b" in code and "no example" in code
    assert ">>> add(1, 2)" in tests and ">>> Sum().of(1)" in tests


def test_a_docstring_that_gets_an_example_changes_tests_only() -> None:
    assert only_tests_differ("calc.py", PYTHON, SHOWN) and only_tests_differ("calc.py", SHOWN, PYTHON)
    assert only_tests_differ("calc.py", PYTHON, PYTHON.replace("no example.", "now.\n\n    >>> Sum()\n    ..."))
    assert not only_tests_differ("calc.py", PYTHON, PYTHON.replace("no example", "other words"))
    assert not only_tests_differ("calc.py", PYTHON, SHOWN.replace("a + b", "a - b"))
    assert not only_tests_differ("calc.py", PYTHON, SHOWN + "def (")


def test_examples_are_laid_over_another_version_of_the_code() -> None:
    mixed = lay_over("calc.py", PYTHON, INLINE.replace("a + b", "b + a"))
    assert mixed is not None and "return a + b" in mixed and "\n    >>> add(1, 2)" in mixed
    compile(mixed, "calc.py", "exec")
    assert split_tests("calc.py", mixed)[1] == split_tests("calc.py", INLINE)[1]
    assert lay_over("calc.py", SHOWN, PYTHON) is not None and ">>>" not in (lay_over("calc.py", SHOWN, PYTHON) or ">>>")
    assert lay_over("calc.py", "def (", SHOWN) is None


def test_line_ends_and_letters_of_more_than_one_byte_do_not_shift_anything() -> None:
    text = 'X = "\\f ü"\r\ndef f(): "ü >>> f()"\r\n\x0c\r\ndef g():\r\n    """\r\n    >>> g()\r\n    """\r\n'
    code, tests = split_tests("a.py", text)
    assert tests == '"ü >>> f()"\n"""\r\n    >>> g()\r\n    """'
    assert code == 'X = "\\f ü"\r\ndef f(): \r\n\x0c\r\ndef g():\r\n    \r\n'


SCRIPT = "export const add = (a, b) => `${a}}` && /[}]/.test(b);\n"
IN_SOURCE = "\nif (import.meta.vitest) {\n  const { it } = import.meta.vitest;\n  it('adds }', () => { '}'; });\n}\n"


def test_a_block_for_vitest_is_the_test_part_of_a_script() -> None:
    assert split_tests("a.ts", SCRIPT + IN_SOURCE)[1] == IN_SOURCE.strip()
    assert split_tests("a.ts", SCRIPT) == (SCRIPT, "")
    assert only_tests_differ("a.js", SCRIPT, SCRIPT + IN_SOURCE) and not only_tests_differ("a.js", SCRIPT, SCRIPT + "x();" + IN_SOURCE)
    assert lay_over("a.js", SCRIPT, "other();\n" + IN_SOURCE) == SCRIPT + IN_SOURCE
    assert lay_over("a.js", SCRIPT + IN_SOURCE, SCRIPT) == SCRIPT + "\n\n"


def test_a_page_of_words_with_an_example_is_all_test_and_other_files_have_no_test_part() -> None:
    assert only_tests_differ("README.md", ">>> 1\n1\n", "More.\n\n>>> 2\n2\n") and not only_tests_differ("README.md", "a", "b")
    assert split_tests("a.go", "package a\n") == ("package a\n", "") and lay_over("a.go", "a", "b") is None
    assert not only_tests_differ("a.go", "a", "b")
