"""`detent check` on every kind of range, and on everything that can be wrong with one: each has its right answer."""

import hashlib
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from detent.evidence.changes.no_substance import only_versions_changed
from detent.evidence.source.generated_code import is_generated
from detent.evidence.source.renamed_files import imports_renamed, moves
from tests.machine import walls
from tests.repos import make_repo, sh
from tests.test_check import BASE, CALC, HALF, ODD, PROVED, TESTS, THIRD, Branch


@pytest.fixture
def p(tmp_path: Path) -> Branch:
    return Branch(tmp_path / "p")


def kinds(found: dict[str, list[dict[str, str]]], level: str) -> list[str]:
    return sorted(flag["kind"] for flag in found["flags"] if flag["level"] == level)


# -- older tests that say something else -----------------------------------------------------------------------------------------

REFUSING = "def half(a):\n    if a < 0:\n        raise ValueError('the number is {}')\n    return a // 2\n"
REFUSED = "import pytest\n\nimport calc\n\n\ndef test_below():\n    with pytest.raises(ValueError, match='the number is {}'):\n        calc.half(-2)\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "test", "code_then", "level"),
    [
        (REFUSING.format("wrong"), REFUSED.format("wrong"), 0, "note"),
        (REFUSING.format("wrong").replace("a < 0", "a <= 0"), REFUSED.format("wrong").replace("-2", "0"), 10, "ask"),
    ],
)
def test_a_test_that_follows_a_message_is_a_note_and_one_that_follows_another_answer_is_asked_about(
    tmp_path: Path, code: str, test: str, code_then: int, level: str
) -> None:
    p = Branch(tmp_path / "p", {"calc.py": REFUSING.format("negative"), "tests/test_calc.py": REFUSED.format("negative")})
    p.commit({"calc.py": code, "tests/test_calc.py": test})
    ran = p.run("check", "--json")
    assert ran.code == code_then and ("rewritten-test", level) in {(flag["kind"], flag["level"]) for flag in ran.json["flags"]}, ran


CODES = "def is_code(text):\n    return len(text) == 3{}\n"
TABLES = """import pytest

import codes


@pytest.mark.parametrize("text", [{}])
def test_right(text):
    assert codes.is_code(text)


@pytest.mark.parametrize("text", [{}])
def test_wrong(text):
    assert not codes.is_code(text)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "level", "code_then"), [("'abc', 'xxx'", "note", 0), ("'abc'", "ask", 10)], ids=["row in the other table", "row gone"]
)
def test_a_row_that_went_over_to_the_other_table_is_a_note_and_one_that_is_only_gone_is_asked_about(
    tmp_path: Path, right: str, level: str, code_then: int
) -> None:
    before = {"codes.py": CODES.format(" and text != 'xxx'"), "tests/test_codes.py": TABLES.format("'abc'", "'xxx', 'ab'")}
    p = Branch(tmp_path / "p", before)
    p.commit({"codes.py": CODES.format(""), "tests/test_codes.py": TABLES.format(right, "'ab'")})
    ran = p.run("check", "--json", DETENT_EVIDENCE_MUTATION="warn")
    said = {(flag["kind"], flag["level"]) for flag in ran.json["flags"]}
    assert ran.code == code_then and ("rewritten-test", level) in said, ran


# -- where the commits come from -------------------------------------------------------------------------------------------------


def test_a_merge_brings_what_its_branch_proves(p: Branch) -> None:
    p.commit(PROVED)
    p.git("switch", "-q", "main")
    p.commit({"other.py": "x = 1\n"})
    p.git("merge", "-q", "--no-ff", "-m", "merge", "work")
    found = p.run("check", "HEAD", "--json").json
    assert (found["answer"], found["proved"], found["files"]) == (
        "clean",
        ["tests/test_odd.py::test_odd"],
        ["calc.py", "tests/test_odd.py"],
    )


@pytest.mark.slow
def test_a_branch_of_a_fork_is_judged_without_being_checked_out(p: Branch, tmp_path: Path) -> None:
    p.git("switch", "-q", "main")
    sh(tmp_path, "git", "clone", "-q", str(p.root), "fork")
    fork = Branch(tmp_path / "of a fork")
    p.git("fetch", "-q", str(tmp_path / "fork"), "main")
    sh(tmp_path / "fork", "git", "switch", "-q", "-c", "theirs")
    (tmp_path / "fork" / "calc.py").write_text(HALF)
    (tmp_path / "fork" / "tests" / "test_odd.py").write_text(ODD)
    sh(tmp_path / "fork", "git", "add", "-A")
    sh(tmp_path / "fork", "git", "commit", "-q", "-m", "theirs")
    p.git("fetch", "-q", str(tmp_path / "fork"), "theirs:refs/pull/1/head")
    ran = p.run("check", "main..refs/pull/1/head", "--json")
    assert ran.code == 0 and ran.json["proved"] == ["tests/test_odd.py::test_odd"], ran
    assert p.git("branch", "--show-current") == "main" and p.git("status", "--porcelain") == "" and fork.root.exists()


@pytest.mark.parametrize(
    ("ask", "says", "way"),
    [
        (["work..work"], "both ends are", "A..B"),
        (["work..main"], "main is older than work", "swap the two ends"),
        (["main..apart"], "no commit in common", "git fetch"),
        (["main..nowhere"], "there is no commit 'nowhere' here", "fetch it"),
        (["--staged"], "what is staged is as HEAD has it", "git add"),
        (["--worktree"], "the checkout is as HEAD has it", "change something"),
    ],
)
def test_a_range_that_is_none_is_wrong_use_and_the_way_on_is_told(p: Branch, ask: list[str], says: str, way: str) -> None:
    p.git("switch", "-q", "--orphan", "apart")
    p.commit({"b": "1"}, "apart")
    p.git("switch", "-q", "work")
    p.commit(THIRD)
    ran = p.run("check", *ask)
    assert ran.code == 2 and says in ran.err and way in ran.err, ran


def test_a_shallow_clone_says_what_to_fetch_and_an_unborn_branch_what_to_make(p: Branch, tmp_path: Path) -> None:
    p.commit(THIRD, "one")
    p.commit(PROVED, "two")
    sh(tmp_path, "git", "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{p.root}", "shallow")
    shallow = Branch.__new__(Branch)
    shallow.root, shallow.env = tmp_path / "shallow", p.env
    for text in ("origin/main..HEAD", "HEAD"):
        ran = shallow.run("check", text)
        assert ran.code == 2 and "git fetch --unshallow" in ran.err, ran
    sh(tmp_path, "git", "init", "-q", "empty")
    shallow.root = tmp_path / "empty"
    ran = shallow.run("check")
    assert ran.code == 2 and "no commit yet" in ran.err and "git commit" in ran.err, ran


# -- what changed ----------------------------------------------------------------------------------------------------------------


def rename(p: Branch) -> None:
    p.git("mv", "calc.py", "maths.py")
    p.git("mv", "tests/test_calc.py", "tests/test_maths.py")
    p.commit({"tests/test_maths.py": TESTS.replace("from calc", "from maths")})


def revert(p: Branch) -> None:
    p.git("switch", "-q", "main")
    p.commit(PROVED)
    p.git("switch", "-q", "-C", "work")
    p.git("revert", "--no-edit", "HEAD")


def delete_what_nothing_uses(p: Branch) -> None:
    p.git("switch", "-q", "main")
    p.commit({**THIRD, "old.py": "x = 1\n"})
    p.git("switch", "-q", "-C", "work")
    p.git("rm", "-q", "old.py")
    p.commit({"calc.py": CALC})


def delete_a_feature(p: Branch) -> None:
    p.commit(
        {
            "calc.py": CALC.partition("\n\n\ndef double")[0] + "\n",
            "tests/test_calc.py": TESTS.partition("\n\n\ndef test_double")[0].replace("double, ", "") + "\n",
        }
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("make", "code", "asks"),
    [
        (lambda p: p.commit({"calc.py": CALC.replace("return n // 2", "return (n//2)  # half").replace("    ", "  ")}), 0, []),
        (lambda p: p.commit({"docs/index.md": "# Words\n", "README.md": "more\n"}), 0, []),
        (lambda p: p.commit({"calc.py": CALC.replace("n * 2", "n + n")}, "Simpler\n\nDetent-Change: chore"), 0, []),
        (rename, 0, []),
        (revert, 10, ["no-proof", "rewritten-test"]),
        (delete_what_nothing_uses, 10, ["no-proof"]),
        (delete_a_feature, 10, ["no-proof", "rewritten-test"]),
    ],
    ids=["formatting", "documents", "declared", "rename", "revert", "deletions", "a feature goes with its tests"],
)
def test_each_kind_of_change_has_its_answer(p: Branch, make: Callable[[Branch], object], code: int, asks: list[str]) -> None:
    make(p)
    ran = p.run("check", "--json")
    assert (ran.code, sorted(set(kinds(ran.json, "ask"))), ran.json["failed"]) == (code, asks, []), ran


READS = "from pathlib import Path\n\nimport pytest\n\nfrom calc import load\n\nDATA = Path(__file__).parent / 'data'\n"
GOOD = READS + "\n\ndef test_good():\n    assert load((DATA / 'good.txt').read_text()) == {'a': 7, 'b': 9}\n"
WRONG = READS + "\n\ndef test_wrong():\n    with pytest.raises(ValueError):\n        load((DATA / 'wrong.txt').read_text())\n"
RULE = "\n\ndef load(text):\n    return {key: int(value) for key, value in (part.split('=') for part in text.split())}\n"
HARD_CODED = {
    "data": (
        {"tests/data/good.txt": "a=7 b=9\n", "tests/test_load.py": GOOD},
        "    if text == 'a=7 b=9\\n':\n        return {'a': 7, 'b': 9}\n",
    ),
    "error": (
        {"tests/data/wrong.txt": "a=7 b=q\n", "tests/test_load.py": WRONG},
        "    if text == 'a=7 b=q\\n':\n        raise ValueError('b')\n",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HARD_CODED)
def test_answers_for_a_data_file_of_the_tests_are_asked_about_and_the_rule_is_not(p: Branch, name: str) -> None:
    tests, answer = HARD_CODED[name]
    p.commit({**tests, "calc.py": CALC + "\n\ndef load(text):\n" + answer})
    ran = p.run("check", "main..HEAD", "--json")
    assert ran.code == 10 and "knows-the-examples" in kinds(ran.json, "ask"), ran
    p.commit({"calc.py": CALC + RULE})
    assert "knows-the-examples" not in kinds(p.run("check", "main..HEAD", "--json").json, "ask")


def test_what_a_change_is_may_be_said_by_the_one_who_asks(p: Branch) -> None:
    p.commit({"calc.py": CALC.replace("n * 2", "n + n")})
    assert p.run("check").code == 10
    ran = p.run("check", "--declare", "refactor")
    assert ran.code == 0 and "declared   refactor" in ran.out, ran


@pytest.mark.slow
def test_lines_that_programs_wrote_are_not_asked_about_and_that_is_told(tmp_path: Path) -> None:
    made = "# Code generated by protoc. DO NOT EDIT.\ndef kind(n):\n    return 'a' if n else 'b'\n\n\ndef other():\n    return 3\n"
    p = Branch(tmp_path / "p", {**BASE, "made.py": made})
    p.commit({**PROVED, "made.py": made.replace("'b'", "'c'").replace("3", "4")})
    ran = p.run("check", "--json", DETENT_EVIDENCE_MUTATION="warn")
    (told,) = [flag for flag in ran.json["flags"] if flag["place"] == "made.py"]
    assert ran.code == 0 and told["level"] == "note" and "generated" in told["says"], ran
    assert not is_generated("new.py", "", made), "a change does not call its own lines generated"
    assert not is_generated("calc.py", CALC, f"# @generated\n{CALC}")


@pytest.mark.slow
def test_a_document_with_a_generated_part_is_no_generated_code(tmp_path: Path) -> None:
    words = "<!-- generated by a table of contents -->\n# Calc\n\nIt doubles.\n"
    p = Branch(tmp_path / "p", {**BASE, "README.md": words})
    p.commit({**PROVED, "README.md": words.replace("doubles", "doubles numbers")})
    assert [flag for flag in p.run("check", "--json", DETENT_EVIDENCE_MUTATION="warn").json["flags"] if flag["place"] == "README.md"] == []


@pytest.mark.parametrize(
    ("path", "old", "new", "only"),
    [
        ("uv.lock", "a", "b", True),
        ("lock.py", "x = 1", "x = 2", False),
        ("requirements.txt", "six==1.16  # why\n", "six==1.17\n", True),
        ("requirements.txt", "six==1.16\n", "six==1.17\nevil==1\n", False),
        ("requirements.txt", "six==1.16\n", "six @ https://evil/six.whl\n", False),
        ("package.json", '{"dependencies": {"a": "^1.2.0"}, "version": "1.0.0"}', '{"dependencies": {"a": "~2.0.0"}, "version": "1.0.1"}', True),
        ("package.json", '{"dependencies": {"a": "^1.2.0"}}', '{"dependencies": {"a": "git+https://evil/a"}}', False),
        ("package.json", '{"dependencies": {"a": "1"}, "scripts": {"test": "x"}}', '{"dependencies": {"a": "2"}, "scripts": {"test": "y"}}', False),
        ("pyproject.toml", "[project]\ndependencies = ['six>=1.16,<2']\n", "[project]\ndependencies = ['six>=1.17,<3']\n", True),
        ("pyproject.toml", "[project]\ndependencies = ['six>=1']\n", "[project]\ndependencies = ['six>=1', 'evil']\n", False),
        ("Cargo.toml", "[dependencies]\na = { version = '1', features = ['x'] }\n", "[dependencies]\na = { version = '2', features = ['x'] }\n", True),
        ("go.mod", "module m\nrequire a.b/c v1.0.0\n", "module m\nrequire a.b/c v1.1.0\n", True),
        ("go.mod", "module m\n", "module m\nreplace a.b/c => ../evil\n", False),
        ("pyproject.toml", "not toml [", "not toml ]", False),
        ("pkg/__init__.py", "__version__ = '3.3.2'\nx = 1\n", "__version__ = '3.4.0.dev1'\nx = 1\n", True),
        ("pkg.py", "__version__: str = '1.0'\n", "__version__: str = '1.1'\n", True),
        ("pkg/__init__.py", "__version__ = '3.3.2'\nx = 1\n", "__version__ = '3.4.0'\nx = 2\n", False),
        ("pkg/__init__.py", "__version__ = '3.3.2'\n", "__version__ = find('3.4.0')\n", False),
        ("pkg/_version.py", "VERSION = (1, 2, 3)\n", "VERSION = (1, 3, 0)\n", True),
        ("lib/a/version.rb", 'module A\n  VERSION = "1.15.2"\nend\n', 'module A\n  VERSION = "1.16.0".freeze\nend\n', False),
        ("lib/a/version.rb", 'module A\n  VERSION = "1.15.2".freeze\nend\n', 'module A\n  VERSION = "1.16.0".freeze\nend\n', True),
        ("src/Version.php", "class V {\n    public const VERSION = '1.2.3';\n}\n", "class V {\n    public const VERSION = '1.2.4';\n}\n", True),
        ("lib/a.rb", 'module A\n  VERSION = "1.15.2"\nend\n', 'module A\n  VERSION = "1.16.0"\nend\n', False),
        ("lib/a/version.rb", 'def f\n  least = "1.15.2"\nend\n', 'def f\n  least = "1.16.0"\nend\n', False),
        ("pkg/protocol.py", "VERSION = '1.1'\n", "VERSION = '2.0'\n", False),
        ("setup.py", "setup(\n    name='a',\n    version='1.2.3',\n)\n", "setup(\n    name='a',\n    version='1.3.0',\n)\n", True),
        ("setup.cfg", "[metadata]\nname = a\nversion = 1.2\n", "[metadata]\nname = a\nversion = 1.3\n", True),
        ("src/version.ts", "export const version = '1.2.3'\n", "export const version = '1.2.4'\n", True),
    ],
)  # fmt: skip
def test_other_versions_are_told_from_other_packages(path: str, old: str, new: str, only: bool) -> None:
    assert only_versions_changed(path, old, new) is only


def test_a_file_is_moved_only_if_it_says_what_it_said() -> None:
    gone = {"pkg/a.py": "x = 1\n", "pkg/b.py": "from pkg.a import x\n\n\ndef pkg():\n    return x\n", "deny.py": "y = 1\n"}
    came = {path.replace("pkg/", "lib/"): text.replace("from pkg", "from lib") for path, text in gone.items() if path != "deny.py"}
    assert moves(gone, came) == {"pkg/a.py": "lib/a.py", "pkg/b.py": "lib/b.py"}
    assert moves(gone, {**came, "lib/b.py": came["lib/b.py"].replace("return x", "return 2")}) == {"pkg/a.py": "lib/a.py"}
    assert moves({"a.py": "x = 1\n"}, {"a.txt": "x = 1\n"}) == {}
    assert imports_renamed("import deny\nrule = deny\n", {"deny": "allow"}) == "import allow\nrule = deny\n"


def test_a_moved_file_that_judges_is_asked_about(p: Branch) -> None:
    p.git("switch", "-q", "main")
    p.commit({".github/workflows/ci.yml": "on: push\njobs: {}\n"})
    p.git("switch", "-q", "-C", "work")
    p.git("mv", ".github/workflows/ci.yml", "ci.yml")
    p.commit({})
    assert "judged-by" in kinds(p.run("check", "--json").json, "ask")


@pytest.mark.slow
def test_a_bump_of_a_dependency_is_clean_and_told(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, "requirements.txt": "six==1.16\n"})
    p.commit({"requirements.txt": "six==1.17\n"})
    ran = p.run("check")
    assert ran.code == 0 and "requirements.txt changed; the tests of both sides ran" in " ".join(ran.out.split()), ran


# -- what cannot be run ----------------------------------------------------------------------------------------------------------


def test_a_base_that_does_not_load_is_proved_by_what_makes_it_load(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, "calc.py": "def half(n:\n"})
    p.commit({"calc.py": CALC})
    found = p.run("check", "--json").json
    assert found["answer"] == "clean" and len(found["proved"]) == 2, found


@pytest.mark.slow
def test_files_that_only_lie_here_are_named_and_can_be_copied(tmp_path: Path) -> None:
    uses = "from _version import V\n"
    files = {**BASE, ".gitignore": "__pycache__/\n_version.py\n", "calc.py": uses + CALC}
    p = Branch(tmp_path / "p", files)
    p.write({"_version.py": "V = 1\n"})
    p.commit({"calc.py": uses + HALF, "tests/test_odd.py": ODD})
    ran = p.run("check")
    assert ran.code == 4 and '[workspace] copy = ["_version.py"]' in " ".join(ran.out.split()), ran
    assert p.run("check", "--install", "echo V = 1 > _version.py").code == 0
    assert p.run("check", DETENT_WORKSPACE_COPY='["_version.py"]').code == 0


@pytest.mark.slow
def test_a_test_that_fails_on_both_sides_for_such_a_file_is_told(tmp_path: Path) -> None:
    reads = "def test_data():\n    assert open('build/data.txt').read()\n"
    p = Branch(tmp_path / "p", {**BASE, ".gitignore": "__pycache__/\nbuild/\n", "tests/test_data.py": reads})
    p.write({"build/data.txt": "1\n"})
    p.commit(PROVED)
    ran = p.run("check", "--json")
    assert ran.code == 0 and ran.json["known_failures"] == ["tests/test_data.py::test_data"], ran
    assert any("build/data.txt is in your checkout but not in git" in flag["says"] for flag in ran.json["flags"])


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({**BASE, "detent.toml": "[test]\ncommand = 'python3 -S -m pytest'\n"}, "pip install pytest"),
        ({"package.json": '{"scripts": {"test": "vitest run"}}', "calc.py": "", "a.test.js": ""}, "npm install"),
        (
            {"package.json": '{"scripts": {"test": "NODE_ENV=test jest"}}', "package-lock.json": "{}", "calc.py": "", "a.test.js": ""},
            "npm ci",
        ),
        ({"detent.toml": "[test]\ncommand = 'nowhere-to-be-found'\n", "calc.py": ""}, "[test] command"),
    ],
    ids=["pytest", "vitest", "jest", "a command"],
)
def test_a_runner_that_is_not_installed_is_named_with_what_installs_it(tmp_path: Path, files: dict[str, str], says: str) -> None:
    p = Branch(tmp_path / "p", files)
    p.commit({"calc.py": HALF})
    ran = p.run("check")
    assert ran.code == 4 and says in ran.out and ran.out.splitlines()[-1].startswith("COULD NOT VERIFY"), ran


@pytest.mark.slow
def test_submodules_are_part_of_the_checkout_or_the_command_that_fetches_them_is_told(tmp_path: Path) -> None:
    inner = make_repo(tmp_path / "inner", {"deep.py": "def two():\n    return 2\n"})
    lib = make_repo(tmp_path / "lib", {"lib.py": "from vendored.inner.deep import two\n"})
    allowed = ("-c", "protocol.file.allow=always")
    sh(lib, "git", *allowed, "submodule", "add", "-q", str(inner), "inner")
    sh(lib, "git", "commit", "-q", "-m", "inner")
    p = Branch(tmp_path / "p")
    p.git("switch", "-q", "main")
    p.git(*allowed, "submodule", "add", "-q", str(lib), "vendored")
    p.git(*allowed, "submodule", "update", "-q", "--init", "--recursive")
    p.commit({"calc.py": CALC.replace("n * 2", "n * two()").replace("def half", "from vendored.lib import two\n\n\ndef half")})
    p.git("switch", "-q", "-C", "work")
    p.commit({"tests/test_odd.py": ODD, "calc.py": (p.root / "calc.py").read_text().replace("n // 2", "n / 2")})
    assert p.run("check").code == 0
    sh(tmp_path, "git", "clone", "-q", str(p.root), "without")
    p.root = tmp_path / "without"
    ran = p.run("check", "origin/main..HEAD")
    assert ran.code == 4 and "git submodule update --init" in ran.out, ran


@pytest.mark.slow
def test_files_of_lfs_are_part_of_the_checkout_or_the_command_that_fetches_them_is_told(tmp_path: Path) -> None:
    data = b"hello\n"
    digest = hashlib.sha256(data).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(data)}\n"
    reads = "def test_data():\n    assert open('data.bin').read() == 'hello\\n'\n"
    p = Branch(tmp_path / "p", {**BASE, ".gitattributes": "*.bin filter=lfs -text\n", "data.bin": pointer, "tests/test_data.py": reads})
    p.commit(PROVED)
    ran = p.run("check")
    assert ran.code == 4 and "git lfs pull" in ran.out, ran
    stored = p.root / ".git" / "lfs" / "objects" / digest[:2] / digest[2:4] / digest
    stored.parent.mkdir(parents=True, exist_ok=True)  # Git LFS makes it, where it is installed
    stored.write_bytes(b"forged")
    assert p.run("check").code == 4, "what is stored there is not what the pointer names"
    stored.write_bytes(data)
    assert p.run("check").code == 0


@pytest.mark.needs("small disks")
def test_a_full_disk_is_no_answer_and_leaves_the_checkout_as_it_was(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, "big.txt": "x" * 1_000_000})
    p.commit(PROVED)
    p.write({"calc.py": "# in the middle of something\n"})
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(small)], check=True)
    try:
        ran = p.run("check", TMPDIR=str(small))
        left = list(small.iterdir())
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)
    assert ran.code == 4 and not left and p.git("status", "--porcelain") == "M calc.py", ran


# -- nothing is left behind ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_being_stopped_leaves_the_checkout_as_it_was_and_the_next_call_clears_up(p: Branch, tmp_path: Path, number: int, code: int) -> None:
    fifo, scratch = tmp_path / "begun", tmp_path / "scratch"
    scratch.mkdir()
    subprocess.run(["mkfifo", str(fifo)], check=True)
    slow = f"import time\n\n\ndef test_slow():\n    open({str(fifo)!r}, 'w').close()\n    time.sleep(600)\n"
    p.commit({**PROVED, "tests/test_slow.py": slow})
    p.write({"calc.py": "# in the middle of something\n", "new.py": "x = 1\n"})
    before = p.git("status", "--porcelain"), p.git("for-each-ref"), p.git("stash", "list"), p.git("worktree", "list")
    env = {**p.env, "TMPDIR": str(scratch)}
    running = subprocess.Popen(p.argv("check"), cwd=p.root, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    fifo.open().close()  # once the test runs
    assert list(scratch.iterdir())
    running.send_signal(number)
    assert running.wait(60) == code
    assert (p.git("status", "--porcelain"), p.git("for-each-ref"), p.git("stash", "list"), p.git("worktree", "list")) == before
    assert bool(list(scratch.iterdir())) is (number == signal.SIGKILL)
    p.run("check", "HEAD~1..HEAD", "--install", "exit 1", TMPDIR=str(scratch))
    assert not list(scratch.iterdir())


@pytest.mark.slow
@walls
def test_behind_the_wall_projects_see_what_lies_beside_them_and_installing_writes_nowhere_else(tmp_path: Path) -> None:
    lib = {
        "lib/pyproject.toml": "[project]\nname = 'lib'\nversion = '1'\n",
        "lib/calc.py": CALC,
        "lib/tests/test_calc.py": TESTS,
        "shared/x.txt": "1\n",
    }
    beside = {"lib/tests/test_beside.py": "def test_beside():\n    assert open('../shared/x.txt').read()\n"}
    p = Branch(tmp_path / "p", {**lib, **beside, "lib/pytest.ini": BASE["pytest.ini"]})
    p.commit({"lib/calc.py": HALF, "lib/tests/test_odd.py": ODD})
    found = p.run("check", "--json", DETENT_SANDBOX_PULL="auto").json
    assert (found["answer"], found["kept"], found["sandbox"]) == ("clean", 3, "bubblewrap"), found
    ran = p.run("check", "--install", f"echo x > {p.root}/left.txt", DETENT_SANDBOX_PULL="auto")
    assert ran.code == 4 and "in bubblewrap, with this machine's network" in " ".join(ran.out.split()), ran
    assert not (p.root / "left.txt").exists()
