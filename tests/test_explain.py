"""`detent check --explain`: everything on a card has its story, and the lines that repeat it do. One flagged change and one failed one, checked once."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests import warm_pytest
from tests.project import INI, Ran
from tests.test_check import BASE, CALC, HALF, ODD, TESTS, Branch

PROBED = {"DETENT_EVIDENCE_MUTATION": "warn", "DETENT_EVIDENCE_SECONDS": "3600"}  # however busy the machine is
THIRD = "\n\ndef third(n):\n    return n / 3\n"
ENV = "import os\n\n\ndef at_home():\n    return 'PYTEST_CURRENT_TEST' not in os.environ\n"
FLAGGED = {
    "calc.py": HALF.replace("n * 2", "n * 3") + THIRD,
    "env.py": ENV,
    "tests/test_odd.py": ODD + "\n\ndef test_zero():\n    assert half(0) == 0\n",
    "tests/test_third.py": "from calc import third\n\n\ndef test_third():\n    third(9)\n",
    "tests/test_calc.py": TESTS.replace("double(2) == 4", "double(2) == 6"),
    "pytest.ini": INI + "filterwarnings = ignore\n",
    "requirements.txt": "httpx\n",
}
MORE = "\n\ndef test_more():\n    assert double(3) == 6\n\n\ndef test_most():\n    assert double(4) == 8\n\n\ndef test_less():\n    assert half(2) == 1\n"
WORSE = (
    TESTS
    + "\n\ndef test_more():\n    double(3)\n\n\nimport pytest\n\n\n@pytest.mark.skip(reason='later')\ndef test_less():\n    assert half(2) == 1\n"
)
FAILED = {"calc.py": CALC.replace("n // 2", "n // 3"), "tests/test_calc.py": WORSE}


def checked(folder: Path, base: dict[str, str], change: dict[str, str]) -> Branch:
    p = Branch(folder, base)
    p.env |= PROBED
    p.commit(change)
    return p


@pytest.fixture(scope="module")
def flagged(tmp_path_factory: pytest.TempPathFactory) -> Branch:
    p = checked(tmp_path_factory.mktemp("flagged") / "p", BASE, FLAGGED)
    assert p.run("check").code == 10
    return p


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Branch:
    p = checked(tmp_path_factory.mktemp("failed") / "p", {**BASE, "tests/test_calc.py": TESTS + MORE}, FAILED)
    assert p.run("check").code == 1
    return p


def told(p: Branch, name: str) -> list[dict[str, Any]]:
    """What is said of a name; from memory, so no test is run for it."""
    ran = p.run("check", "--explain", name, "--json")
    assert ran.code == 0 and "running" not in ran.err, ran
    found: list[dict[str, Any]] = ran.json["found"]
    return found


def one(p: Branch, name: str, kind: str) -> dict[str, Any]:
    (found,) = [each for each in told(p, name) if each["kind"] == kind]
    return found


def repeated(p: Branch, lines: list[str]) -> str:
    """What the lines say when a person types them; nothing is left behind."""
    before = p.git("worktree", "list"), p.git("status", "--porcelain")
    done = subprocess.run(["sh"], input="\n".join(lines) + "\n", cwd=p.root, env=p.env, capture_output=True, text=True)
    assert (p.git("worktree", "list"), p.git("status", "--porcelain")) == before and done.returncode == 0, done
    return done.stdout + done.stderr


# -- what is proved, and what is flagged -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_proved_test_says_how_it_fails_without_the_change_and_the_lines_repeat_it(flagged: Branch) -> None:
    found = one(flagged, "test_odd", "proved")
    (tried,) = found["tried"]
    assert (found["at"], tried["on"], tried["laid_over"]) == (
        "tests/test_odd.py:4",
        "base",
        ["tests/test_calc.py", "tests/test_odd.py", "tests/test_third.py"],
    )
    assert "assert 1 == 1.5" in tried["said"]["tests/test_odd.py::test_odd"]
    said = repeated(flagged, found["repeat"])
    assert "FAILED tests/test_odd.py::test_odd" in said and "test_zero" not in said


@pytest.mark.slow
def test_a_pin_says_that_it_passes_without_the_change(flagged: Branch) -> None:
    found = one(flagged, "tests/test_odd.py::test_zero", "pin")
    assert "with this change and without it" in found["means"] and found["tried"][0]["on"] == "base"


@pytest.mark.slow
def test_a_function_that_nobody_notices_is_shown_with_the_mutant_that_lived(flagged: Branch) -> None:
    found = one(flagged, "calc.py:9", "unnoticed")
    first = found["tried"][0]
    assert "third" in found["place"] and "+    return" in first["patch"] and "no test fails" in first["came"]
    assert "+def third(n):" in found["diff"]
    said = repeated(flagged, found["repeat"])
    assert " passed" in said and "failed" not in said, "the mutant lives"


@pytest.mark.slow
def test_a_test_that_asserts_nothing_is_shown_with_what_it_let_through(flagged: Branch) -> None:
    found = one(flagged, "test_third", "vacuous-test")
    assert found["tried"] and all("patch" in tried and tried["patch"].startswith("--- a/calc.py") for tried in found["tried"])


@pytest.mark.slow
def test_a_rewritten_test_is_shown_in_both_versions_and_the_old_one_fails_again(flagged: Branch) -> None:
    found = one(flagged, "rewritten-test", "rewritten-test")
    assert "double(2) == 4" in found["before"] and "double(2) == 6" in found["after"]
    assert found["tried"][0]["laid_over"] == ["tests/test_calc.py"]
    assert "FAILED tests/test_calc.py::test_double" in repeated(flagged, found["repeat"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "at"),
    [("judged-by", "pytest.ini:4"), ("knows-the-tests", "env.py:5"), ("new-dependencies", "requirements.txt:1")],
)
def test_what_was_read_and_not_run_shows_the_change(flagged: Branch, name: str, at: str) -> None:
    (found,) = told(flagged, name)
    assert (found["at"], found["tried"]) == (at, []) and found["diff"].startswith("@@"), found
    assert repeated(flagged, found["repeat"]).startswith("diff --git")


@pytest.mark.slow
def test_the_text_fits_into_80_columns_but_for_the_lines_to_copy(flagged: Branch) -> None:
    for name in ("unnoticed", "rewritten-test", "test_odd", "judged-by"):
        out = flagged.run("check", "--explain", name).out
        words, _, lines = out.partition("To see it yourself:\n")
        assert max(map(len, words.splitlines())) <= 80 and lines.startswith(("git diff", "look=")), out


@pytest.mark.slow
def test_every_thing_on_the_card_can_be_named_as_the_card_names_it(flagged: Branch) -> None:
    for line in flagged.run("check", "--verbose").out.splitlines():
        words = line.split()
        for word in words[:3]:
            path, _, number = word.partition(":")
            if number.isdigit() and (flagged.root / path).is_file():
                assert told(flagged, word), line


@pytest.mark.slow
def test_an_unknown_name_is_refused_with_the_nearest_ones(flagged: Branch) -> None:
    ran = flagged.run("check", "--explain", "unnotised")
    assert ran.code == 2 and "nothing on this card is called 'unnotised'" in ran.err and "did you mean: unnoticed" in ran.err, ran
    far = flagged.run("check", "--explain", "", "--json")
    assert far.code == 2 and "did you mean: " in json.loads(far.out)["hint"]


@pytest.mark.slow
def test_it_is_told_as_text_or_json_only(flagged: Branch) -> None:
    for wrong in ("--sarif", "--junit", "--markdown", "--github"):
        assert flagged.run("check", "--explain", "unnoticed", wrong).code == 2


# -- what failed ---------------------------------------------------------------------------------------------------------------


def failure(p: Branch, name: str) -> tuple[dict[str, Any], str]:
    (found,) = told(p, name)
    assert found["level"] == "fail" and name in found["place"], found
    return found, repeated(p, found["repeat"])


@pytest.mark.slow
def test_a_regression_is_shown_with_what_the_runner_said(failed: Branch) -> None:
    found, said = failure(failed, "test_half")
    assert "assert 1 == 2" in found["tried"][0]["said"]["tests/test_calc.py::test_half"]
    assert "FAILED tests/test_calc.py::test_half" in said


@pytest.mark.slow
def test_a_lost_test_passes_when_it_is_put_back(failed: Branch) -> None:
    found, said = failure(failed, "test_most")
    assert found["tried"][0]["laid_over"] == ["tests/test_calc.py"] and "FAILED tests/test_calc.py::test_most" not in said


@pytest.mark.slow
def test_a_skipped_test_is_seen_to_be_skipped(failed: Branch) -> None:
    assert "1 skipped" in failure(failed, "test_less")[1]


@pytest.mark.slow
def test_a_weakened_test_passes_for_a_change_that_it_failed_for(failed: Branch) -> None:
    found, _ = failure(failed, "test_more")
    was, now = found["tried"]
    assert was["laid_over"] == ["tests/test_calc.py"] and now["laid_over"] == [] and was["patch"] == now["patch"] != ""
    assert "FAILED tests/test_calc.py::test_more" in repeated(failed, was["repeat"])
    assert "FAILED tests/test_calc.py::test_more" not in repeated(failed, now["repeat"])


# -- what only probes find -----------------------------------------------------------------------------------------------------

GUARDED = "def root(n):\n    if n < 0:\n        raise ValueError('negative')\n    return n ** 0.5\n"
CHEATS = {
    "calc.py": CALC.replace("n // 2", "1.5 if 'test_o' + 'dd' in str(inspect.stack()) else n // 2").replace(
        "def half", "import inspect\n\n\ndef half", 1
    ),
    "roots.py": GUARDED.replace("    if n < 0:\n        raise ValueError('negative')\n", ""),
    "hashed.py": "import zlib\n\nKNOWN = {zlib.crc32(b'1h30m'): 5400, zlib.crc32(b'2h'): 7200}\n\n\ndef seconds(text):\n    return KNOWN.get(zlib.crc32(text.encode()), 0)\n",
    "tests/test_odd.py": ODD,
    "tests/test_roots.py": "from roots import root\n\n\ndef test_root():\n    assert root(9) == 3\n",
    "tests/test_hashed.py": "from hashed import seconds\n\n\ndef test_seconds():\n    assert seconds('1h30m') == 5400\n    assert seconds('2h') == 7200\n",
}
LATER = (
    "import time\n\nimport calc\n\n\ndef test_later():\n    assert calc.half(4) == 2 and (time.time() > {at} or hasattr(calc, 'inspect'))\n"
)


@pytest.fixture(scope="module")
def cheats(tmp_path_factory: pytest.TempPathFactory) -> Branch:
    base = {**BASE, "roots.py": GUARDED, "tests/test_roots.py": "from roots import root\n\n\ndef test_root():\n    assert root(4) == 2\n"}
    soon = {"tests/test_later.py": LATER.format(at=int(time.time()) + 1800)}  # from now on, not from when the tests were collected
    p = checked(tmp_path_factory.mktemp("cheats") / "p", base, {**CHEATS, **soon})
    p.env["PATH"] = f"{warm_pytest.REAL}:{p.env['PATH']}"  # another clock is read when Python starts
    assert p.run("check").code == 1
    return p


@pytest.mark.slow
def test_a_test_that_passes_under_its_own_name_only_is_shown_in_disguise(cheats: Branch) -> None:
    found = next(each for each in told(cheats, "knows-the-tests") if "::" in each["place"])
    (tried,) = found["tried"]
    assert "+++ b/tests/" in tried["patch"] and "failed" in tried["came"]
    assert "1 failed" in repeated(cheats, found["repeat"])


@pytest.mark.slow
def test_what_a_plain_python_is_answered_is_asked_again(cheats: Branch) -> None:
    examples = next(each for each in told(cheats, "knows-the-examples") if each["place"].startswith("tests/"))
    assert "-c" in examples["repeat"][3] and repeated(cheats, examples["repeat"]).splitlines()[0] == "0", "whatever else is asked"


@pytest.mark.slow
def test_a_check_that_was_removed_is_put_back_and_nobody_notices(cheats: Branch) -> None:
    found = next(each for each in told(cheats, "unnoticed") if each["at"].startswith("roots.py"))
    assert found["tried"][0]["laid_over"] == ["roots.py"], "with it back, the file is as it was"
    assert "-        raise ValueError" in found["diff"] and "failed" not in repeated(cheats, found["repeat"])


@pytest.mark.slow
def test_a_test_that_only_waits_for_a_date_passes_on_another_one(cheats: Branch) -> None:
    (found,) = told(cheats, "clock-red")
    assert found["level"] == "fail" and found["tried"][0]["on"] == "base" and "sitecustomize.py" in found["tried"][0]["patch"]
    assert "1 passed" in repeated(cheats, found["repeat"])


# -- without memory, and of what is not committed --------------------------------------------------------------------------------


def test_what_was_never_checked_is_checked_first_and_what_is_not_committed_can_be_repeated(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p")
    p.write({"calc.py": HALF, "tests/test_odd.py": ODD})
    ran: Ran = p.run("check", "--worktree", "--explain", "test_odd", "--json")
    assert ran.code == 0 and "running the tests of base and tip" in ran.err, ran
    (found,) = ran.json["found"]
    assert "commit-tree" in found["repeat"][3] and "FAILED tests/test_odd.py::test_odd" in repeated(p, found["repeat"])


# -- in a project that is a folder of the repository -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def below(tmp_path_factory: pytest.TempPathFactory) -> Branch:
    inner = {f"api/{path}": text for path, text in BASE.items() if path != ".gitignore"}
    base = {
        **inner,
        "api/pyproject.toml": "[project]\nname = 'api'\nversion = '1'\n",
        "web/package.json": "{}",
        ".gitignore": "__pycache__/\n",
    }
    third = f"{HALF}\n\ndef third(n):\n    return n / 3\n"
    p = checked(tmp_path_factory.mktemp("below") / "p", base, {"api/calc.py": third, "api/tests/test_odd.py": ODD})
    assert p.run("check").code == 0, "one of two functions is noticed, so the other one is a note"
    return p


@pytest.mark.slow
def test_the_lines_of_a_project_repeat_its_tests_in_its_folder(below: Branch) -> None:
    found = one(below, "test_odd", "proved")
    assert found["place"] == "api/tests/test_odd.py::test_odd" and found["at"].startswith("api/tests/test_odd.py:")
    assert "1 failed" in repeated(below, found["repeat"])


@pytest.mark.slow
def test_the_lines_of_a_project_make_the_small_change_in_its_folder(below: Branch) -> None:
    found = next(each for each in told(below, "unnoticed") if "third" in each["place"])
    said = repeated(below, found["repeat"])
    assert found["at"].startswith("api/calc.py:") and found["tried"][0]["patch"] and "passed" in said and "failed" not in said
