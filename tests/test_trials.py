"""What was tried, kept so that it can be repeated: patches that git takes byte for byte, places of tests, and nothing that must not be kept."""

import subprocess
from pathlib import Path

import pytest

from detent.app.explain import lines_that_repeat
from detent.evidence.outcomes.card import Card, Change, Trial, redacted
from detent.evidence.probes.trials import failure_messages, patch_of, result_in_words
from detent.evidence.report import TestReport
from detent.evidence.runners import Command
from detent.evidence.source.test_lines import line_of_test, line_of_word
from detent.kernel.model import Flag
from tests.repos import sh

BODY = b"def f(n):\n    return n\n"
VERSIONS: dict[str, tuple[bytes | None, bytes | None]] = {
    "one line": (BODY, BODY.replace(b"return n", b"return None")),
    "no newline at the end": (b"a\nb", b"a\nc"),
    "a newline more": (b"a", b"a\n"),
    "other line ends": (b"a\r\nb\r\n", b"a\r\nc\r\n"),
    "signs that only Python takes for line ends": ("a\x0cb\u2028c\nd\n".encode(), "a\x0cb\u2028c\ne\n".encode()),
    "tabs and umlauts": ("\tü\n".encode(), "\tö\n".encode()),
    "a new file": (None, BODY),
    "a file that goes": (BODY, None),
}


@pytest.mark.parametrize("path", ["calc.py", "a folder/the calc.py", "ü/calc.py"])
@pytest.mark.parametrize("how", VERSIONS)
def test_git_takes_the_patch_and_makes_the_very_same_file(tmp_path: Path, how: str, path: str) -> None:
    old, new = VERSIONS[how]
    sh(tmp_path, "git", "init", "-q", ".")
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if old is not None:
        file.write_bytes(old)
    patch = patch_of(lambda name: old, {path: new})
    assert patch
    done = subprocess.run(["git", "apply", "--whitespace=nowarn"], input=patch.encode(), cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done
    assert (file.read_bytes() if file.exists() else None) == new


def test_what_is_no_text_or_did_not_change_has_no_patch() -> None:
    assert patch_of(lambda path: b"\xff\xfe", {"a": b"x"}) is None
    assert patch_of(lambda path: BODY, {"a": BODY}) == ""


def test_what_came_of_a_run_is_told_in_words() -> None:
    report = TestReport(
        {"t.py::a": "passed", "t.py::b": "failed", "t.py": "error"}, messages={"t.py::b": "x" * 9000, "t.py": "no such name"}
    )
    assert result_in_words(report) == "1 passed, 2 failed" and result_in_words(TestReport()) == "no test ran"
    said = failure_messages(report, ["t.py::b", "t.py::gone", "u.py::quiet"])
    assert len(said["t.py::b"]) < 2000 and said["t.py::gone"] == "no such name" and "u.py::quiet" not in said


def test_no_key_is_kept_with_a_trial() -> None:
    trial = Trial(("t.py::a",), "what", "came: s3cret", patch="+s3cret", said={"t.py::a": "got s3cret"})
    card = Card(
        "b", "t", failed=("s3cret",), flags=(Flag("secrets", "s3cret", before="s3cret", after="s3cret"),), tried=(trial,), unclear="s3cret"
    )
    assert "s3cret" not in str(redacted(card, lambda text: text.replace("s3cret", "…")))


PYTHON = "class TestA:\n    def test_x(self): ...\n\n\nclass TestB:\n    async def test_x(self): ...\n"


@pytest.mark.parametrize(
    ("path", "text", "test", "line"),
    [
        ("t.py", PYTHON, "t.py::TestB::test_x", 6),
        ("t.py", PYTHON, "t.py::TestA::test_x[1-2]", 2),
        ("t.py", PYTHON, "t.py::test_y", 0),
        ("t.py", "def broken(", "t.py::test_x", 0),
        ("a.test.js", "// words\ntest('adds', () => {})\n", "a.test.js::math > adds", 2),
        ("a_test.go", "package a\n\nfunc TestAdd(t *testing.T) {}\n", "a_test.go::TestAdd/small", 3),
    ],
)
def test_a_test_is_found_in_its_file(path: str, text: str, test: str, line: int) -> None:
    assert line_of_test(path, text, test) == line


def test_a_word_is_found_where_it_is_defined_and_else_where_it_is_first_said() -> None:
    assert line_of_word("x = half(1)\n\n\ndef half(n): ...\n", "half") == 4
    assert line_of_word("[project]\ndependencies = [\n  'my-httpx',\n  'httpx',\n]\n", "httpx") == 4
    assert line_of_word("nothing\n", "half") == 0


CHANGE = Change("a…b", "a" * 40, "1" * 40, "2" * 40, (), "", ())


@pytest.mark.parametrize(
    ("runs", "line"),
    [
        (Command(("pytest", "-q", "tests"), "pytest", paths=("tests",)), "PYTHONPATH=.:src pytest -q 't a.py'"),
        (Command(("npx", "vitest", "run"), "vitest"), "npx vitest run 't a.py'"),
        (Command(("go", "test", "./..."), "go"), "go test ./..."),
        (Command(("sh", "-c", "make test && true")), "make test && true"),
        (None, "true  # no test framework is recognised here"),
    ],
)
def test_the_lines_call_the_tests_as_the_project_does(tmp_path: Path, runs: Command | None, line: str) -> None:
    (tmp_path / "node_modules").mkdir()
    lines = lines_that_repeat(Trial((), "", "", tests=("t a.py",)), CHANGE, runs, tmp_path)
    assert line in lines and f"ln -s {tmp_path}/node_modules node_modules" in lines
    assert lines[1].endswith(f"$(git commit-tree {'2' * 12} -p HEAD -m look)"), "what is not committed has no commit"


def test_what_is_too_long_to_keep_cannot_be_repeated(tmp_path: Path) -> None:
    assert lines_that_repeat(Trial((), "", "", whole=False), CHANGE, None, tmp_path) == []
