"""Older tests that a new warning stops, where warnings are errors: a deprecation is a note, and another answer behind a warning is asked about."""

from pathlib import Path

import pytest

from tests.test_branch_look import BASE, card

STRICT = {**BASE, "pytest.ini": f"{BASE.get('pytest.ini', '[pytest]')}\nfilterwarnings = error\n"}
WARNS = '    import warnings\n\n    warnings.warn("use times instead", {sort}, stacklevel=2)\n'
OLD = "def double(n):\n"
NEW = "\n\ndef times(n, by):\n    return n * by\n"
TESTS = BASE["tests/test_calc.py"]
MOVED = TESTS.replace("double(2)", "times(2, 2)").replace("import double", "import times")
PROOF = "from calc import times\n\n\ndef test_times():\n    assert times(2, 3) == 6\n"


def deprecated(sort: str, answer: str = "n * 2") -> dict[str, str | None]:
    """The change: `double` warns, its tests use `times`, and a new test asks for that."""
    code = BASE["calc.py"].replace(OLD, OLD + WARNS.format(sort=sort)).replace("n * 2", answer) + NEW
    return {"calc.py": code, "tests/test_calc.py": MOVED, "tests/test_times.py": PROOF}


@pytest.mark.sample(1)
@pytest.mark.parametrize("sort", ["DeprecationWarning", "FutureWarning", "UserWarning"])
def test_a_test_that_only_leaves_what_is_deprecated_is_a_note(tmp_path: Path, sort: str) -> None:
    found = card(tmp_path, deprecated(sort), STRICT)
    told = [flag for flag in found.flags if flag.kind == "rewritten-test"]
    assert [flag.level for flag in told] == ["note"] and sort in told[0].sentence, found
    assert not found.failed and "tests/test_times.py::test_times" in found.proved, found


@pytest.mark.slow
def test_another_answer_behind_a_warning_is_asked_about(tmp_path: Path) -> None:
    found = card(tmp_path, deprecated("DeprecationWarning", "n * 3"), STRICT)
    assert "rewritten-test" in {flag.kind for flag in found.asks}, found
