"""Mutations: small, one at a time, and each of them changes what the code does."""

import ast

import pytest

from detent.evidence.mutate import mutants


@pytest.mark.parametrize(
    ("code", "mutant"),
    [
        ("def f(a, b):\n    return a + b", "return a - b"),
        ("def f(a, b):\n    return a + b", "return None"),
        ("x = a == b", "x = a != b"),
        ("x = a < b", "x = a >= b"),
        ("x = a and b", "x = a or b"),
        ("x = 1", "x = 2"),
        ("x = True", "x = False"),
        ("x = 'a'", "x = 'ax'"),
        ("x = not a", "x = a"),
    ],
)
def test_a_piece_of_code_has_this_mutant(code: str, mutant: str) -> None:
    assert any(mutant in text for text in mutants(code))


def test_every_mutant_parses_and_differs_in_one_place_only() -> None:
    code = "def f(a, b):\n    if a > 1 and b:\n        return a * 2\n    return 'x' + str(b)\n"
    plain = ast.unparse(ast.parse(code)).splitlines()
    found = list(mutants(code))
    assert len(found) == len(set(found)) >= 8
    for text in found:
        lines = ast.unparse(ast.parse(text)).splitlines()
        assert sum(a != b for a, b in zip(plain, lines, strict=True)) == 1


def test_what_cannot_be_parsed_has_no_mutants() -> None:
    assert list(mutants("def f(:")) == []
    assert list(mutants("")) == []
