"""Files that lie among the tests and are the product's all the same, and files that are read otherwise than they are shown."""

from collections.abc import Mapping

import pytest

from tests.test_static_flags import CALC, JS, PY, PYTEST, VITEST, Ground

DATA = '{"ann": 1}\n'
TAKEN: dict[str, tuple[Mapping[str, str], str]] = {
    "by an import": ({"shop/rights.py": "from tests.support import USERS\n", "tests/support.py": "USERS = 1\n"}, "tests/support.py"),
    "by another import": (
        {"shop/rights.py": "from shop.tests import support\n", "shop/tests/__init__.py": "", "shop/tests/support.py": "U = 1\n"},
        "shop/tests/support.py",
    ),
    "by its path": ({"shop/rights.py": "USERS = open('tests/data/users.json')\n", "tests/data/users.json": DATA}, "tests/data/users.json"),
    "by a program of JavaScript": ({**JS, "src/rights.ts": "import { users } from '../test/users'\n", "test/users.ts": "export const users = 1\n"}, "test/users.ts"),
}  # fmt: skip


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return Ground(tmp_path_factory.mktemp("used") / "p")


@pytest.mark.parametrize("how", TAKEN)
def test_what_the_product_takes_in_from_among_the_tests_is_flagged(ground: Ground, how: str) -> None:
    more, path = TAKEN[how]
    base = {**PY, **more}
    found = ground.flags(base, {path: base[path].replace("1", "2")}, VITEST if path.endswith(".ts") else PYTEST)
    assert [(flag.place, "imports it" in flag.sentence) for flag in found["shadow"]] == [(path, True)], found


HONEST = {
    "a helper that tests alone use": {"tests/support.py": "USERS = 2\n", "tests/test_more.py": "from tests.support import USERS\n"},
    "a program about tests": {"tests/support.py": "USERS = 2\n", "noxfile.py": "FILES = ['tests.support']\n"},
    "a list of what is packed": {
        "tests/support.rb": "U = 2\n",
        "shop.gemspec": "files = ['tests/support.rb']\n",
        "MANIFEST.in": "include tests/support.rb\n",
    },
    "a test that the product names": {"tests/test_calc.py": "def test_a():\n    assert 1\n", "shop/doc.py": "SEE = 'tests/test_calc.py'\n"},
}


@pytest.mark.parametrize("name", HONEST)
def test_what_only_tests_take_in_is_left_alone(ground: Ground, name: str) -> None:
    assert "shadow" not in ground.flags({**PY, "tests/support.py": "USERS = 1\n"}, HONEST[name])


def test_settings_of_a_linter_take_nothing_in(ground: Ground) -> None:
    base = {**PY, "tests/support/users.rb": "U = 1\n", ".rubocop_todo.yml": "Style/A:\n  Exclude:\n    - 'tests/support/users.rb'\n"}
    assert "shadow" not in ground.flags(base, {"tests/support/users.rb": "U = 2\n"})


@pytest.mark.parametrize("coding", ["unicode_escape", "utf-7", "raw_unicode_escape", "rot13", "punycode", "idna"])
@pytest.mark.parametrize("line", ["# coding: {}\n", "#!/usr/bin/python\n# -*- coding: {} -*-\n", "\n# vim: set fileencoding={} :\n"])
def test_code_that_python_reads_otherwise_than_it_is_shown_is_flagged(ground: Ground, coding: str, line: str) -> None:
    found = ground.flags(PY, {"calc.py": line.format(coding) + CALC})
    assert [flag.sentence for flag in found["binaries"]] == [f"calc.py is read as {coding} by Python, so what runs is not what is shown"]


@pytest.mark.parametrize(
    "coding", ["utf-8", "UTF8", "latin-1", "iso-8859-15", "ascii", "cp1252", "windows-1251", "euc-jp", "shift_jis", "gbk", "koi8-r"]
)
def test_encodings_that_people_write_in_are_left_alone(ground: Ground, coding: str) -> None:
    assert "binaries" not in ground.flags(PY, {"calc.py": f"# -*- coding: {coding} -*-\n{CALC}"})
    assert "binaries" not in ground.flags(PY, {"calc.py": f"import os\nx = 1\n# coding: unicode_escape\n{CALC}"}), (
        "in the third line it is a comment"
    )
