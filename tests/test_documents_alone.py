"""A change of documents alone runs no tests, unless something in the project may read them."""

from pathlib import Path

import pytest

from tests.test_check import BASE, Branch

DOCUMENTS = {"README.md": "# Calc\n\nIt halves numbers.\n", "docs/use.md": "Call half().\n"}
READS = {
    "a test names it": {"tests/test_readme.py": "from pathlib import Path\n\n\ndef test_it():\n    assert 'halves' in Path('README.md').read_text()\n"},
    "code names its ending": {"pages.py": "ENDS = ('.md', '.html')\n"},
    "code names its folder": {"pages.py": "from pathlib import Path\n\nHERE = Path('docs')\n"},
    "the runner reads it": {"pytest.ini": "[pytest]\naddopts = --doctest-glob=*.md\n"},
    "a test walks through all files": {"tests/test_all.py": "import os\n\n\ndef test_all():\n    assert list(os.walk('.'))\n"},
    "attributes hide who reads it": {".gitattributes": "*.py binary\n", "pages.py": "open('README.md')\n"},
}  # fmt: skip


def test_a_change_of_documents_alone_runs_no_tests_and_says_so(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, **DOCUMENTS, "pyproject.toml": '[project]\nname = "calc"\nversion = "1"\nreadme = "README.md"\n'})
    p.commit({"README.md": "# Calc\n\nIt halves whole numbers.\n", "docs/more.md": "More.\n"})
    ran = p.run("check", "--json")
    assert (ran.code, ran.json["answer"], ran.json["test_runs"]) == (0, "clean", 0.0), ran
    (flag,) = ran.json["flags"]
    assert (flag["kind"], flag["level"]) == ("no-proof", "note") and "no tests were run" in flag["says"]


@pytest.mark.sample(2)
@pytest.mark.parametrize("reads", READS.values(), ids=READS.keys())
def test_where_something_may_read_a_document_the_tests_run(tmp_path: Path, reads: dict[str, str]) -> None:
    p = Branch(tmp_path / "p", {**BASE, **DOCUMENTS, **reads})
    p.commit({"README.md": "# Calc\n\nIt does nothing.\n", "docs/use.md": "Call nothing.\n"})
    ran = p.run("check", "--json")
    assert ran.json["test_runs"] > 0, ran
    assert (ran.code == 1) == ("tests/test_readme.py" in reads), ran


@pytest.mark.sample(1)
@pytest.mark.parametrize("more", [{"calc.py": BASE["calc.py"] + "\n# more\n"}, {"tests/data/a.md": "data\n"}, {"docs/conf.py": "x = 1\n"}])
def test_a_document_among_other_files_changes_nothing(tmp_path: Path, more: dict[str, str]) -> None:
    p = Branch(tmp_path / "p", {**BASE, **DOCUMENTS})
    p.commit({"README.md": "# Calc\n", **more})
    assert p.run("check", "--json").json["test_runs"] > 0


def test_a_document_that_goes_away_may_be_missed(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, **DOCUMENTS})
    p.git("rm", "-q", "README.md")
    p.git("commit", "-qm", "away")
    assert p.run("check", "--json").json["test_runs"] > 0
