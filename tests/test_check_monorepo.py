"""`detent check` in repositories with several projects: only those that a change touches are tested, each by its own runner, and the answer is one."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from detent.evidence.changes.projects import chain, manifest_folders, nearest, owner, takes_in
from detent.evidence.runners import Command
from detent.evidence.runners.adapter import InnerProject
from tests.project import INI
from tests.test_check import CALC, HALF, ODD, TESTS, Branch

pytestmark = pytest.mark.needs("node")
PYPROJECT = f"[project]\nname = 'api'\nversion = '1'\n[tool.pytest.ini_options]\naddopts = '{INI.partition('addopts = ')[2].strip()}'\n"
PACKAGE = '{"type": "module", "scripts": {"test": "node --test"}}'
API = {"api/pyproject.toml": PYPROJECT, "api/calc.py": CALC, "api/tests/test_calc.py": TESTS}
HEAD = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { half } from './calc.js';\n"
WEB = {
    "web/package.json": PACKAGE,
    "web/calc.js": "export const half = (n) => Math.floor(n / 2);\n",
    "web/calc.test.js": f"{HEAD}test('half', () => {{ assert.equal(half(4), 2); }});\n",
}
BASE = {**API, **WEB, "README.md": "words\n", ".gitignore": "__pycache__/\n.venv\n"}
API_PROVED = {"api/calc.py": HALF, "api/tests/test_odd.py": ODD}
WEB_PROVED = {
    "web/calc.js": "export const half = (n) => n / 2;\n",
    "web/odd.test.js": f"{HEAD}test('odd', () => {{ assert.equal(half(3), 1.5); }});\n",
}


class Words:
    """Files as a dict of their texts."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def exists(self, path: str) -> bool:
        return path in self.texts

    def read(self, path: str) -> str | None:
        return self.texts.get(path)

    def paths(self) -> Iterator[str]:
        return iter(self.texts)

    def which(self, name: str) -> str | None:
        return None


def below(files: dict[str, str], folder: str) -> Words:
    return Words({path.removeprefix(f"{folder}/"): text for path, text in files.items() if path.startswith(f"{folder}/")})


# -- one answer ------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_languages_in_one_range_are_judged_each_by_its_runner_and_the_answer_is_one(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", BASE)
    p.commit({**API_PROVED, **WEB_PROVED, "web/calc.js": "export const half = (n) => 7;\n", ".github/workflows/ci.yml": "on: push\n"})
    ran = p.run("check")
    assert ran.code == 1, ran
    told = ran.out.splitlines()
    heads = [line.split()[1] for line in told if line.startswith("project")]
    assert heads == ["api", "web", "outside"] and told[-1].startswith("FAILED"), ran
    assert any(re.fullmatch(r" {13}api/tests/test_odd.py:\d+ test_odd", line) for line in told), told
    assert re.search(r"failed +web/calc.test.js:\d+ half passed before and\s+fails now", ran.out), ran
    found = p.run("check", "--json").json
    assert [(each["path"], each["answer"]) for each in found["projects"]] == [("api", "clean"), ("web", "failed"), ("", "flagged")], found
    assert found["proved"] == ["api/tests/test_odd.py::test_odd"] and found["kept"] == 2
    places = {
        each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for each in json.loads(p.run("check", "--sarif").out)["runs"][0]["results"]
    }
    assert {"web/calc.test.js", ".github/workflows/ci.yml"} <= places, places
    names = {case.attrib["classname"] for case in ElementTree.fromstring(p.run("check", "--junit").out)}
    assert {"api.proved", "web.failed", "judged-by"} <= names, names
    markdown = p.run("check", "--markdown").out
    assert [line for line in markdown.splitlines() if line.startswith("#### ")] == ["#### api", "#### web", "#### outside of all projects"]
    assert "::error file=web/calc.test.js," in p.run("check", "--github").out


@pytest.mark.slow
def test_only_the_projects_that_a_change_touches_are_tested(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, "web/calc.test.js": "throw new Error('nobody asked');\n"})
    p.commit({**API_PROVED, "web/README.md": "words about the other one\n"})
    found = p.run("check", "--json", DETENT_EVIDENCE_MUTATION="warn").json
    assert found["answer"] == "clean" and found["proved"] == ["api/tests/test_odd.py::test_odd"], found
    assert [each["path"] for each in found["projects"]] == ["api", ""] and "node" not in found["command"]


@pytest.mark.slow
def test_places_of_probes_are_seen_from_the_root(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", BASE)
    p.commit({**API_PROVED, "api/calc.py": HALF + "\n\ndef third(n):\n    return n / 3\n\n\ndef fourth(n):\n    return n / 4\n"})
    flags = p.run("check", "--json", DETENT_EVIDENCE_MUTATION="warn").json["flags"]
    unnoticed = [flag for flag in flags if flag["kind"] == "unnoticed"]
    assert {flag["place"] for flag in unnoticed} == {"api/calc.py: third", "api/calc.py: fourth"}, flags
    assert all(flag["place"] in flag["says"] for flag in unnoticed)


@pytest.mark.slow
def test_code_that_another_projects_tests_need_is_told_and_not_asked_about(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", BASE)
    p.commit({**WEB_PROVED, "api/calc.py": CALC.replace("n * 2", "n + n")})
    ran = p.run("check", "--json")
    (flag,) = [each for each in ran.json["flags"] if each["kind"] == "no-proof"]
    assert ran.code == 0 and (flag["place"], flag["level"]) == ("api/calc.py", "note"), ran


# -- where projects lie ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_project_at_the_root_and_one_below_it_have_their_own_files(tmp_path: Path) -> None:
    root = {"pytest.ini": INI, "calc.py": CALC, "tests/test_calc.py": TESTS, "tests/data/package.json": PACKAGE}
    p = Branch(tmp_path / "p", {**root, **WEB, ".gitignore": "__pycache__/\n"})
    p.commit({"calc.py": HALF, "tests/test_odd.py": ODD, "tests/data/x.js": "1\n", **WEB_PROVED})
    found = p.run("check", "--json").json
    assert [(each["path"], each["answer"]) for each in found["projects"]] == [("web", "clean"), (".", "clean")], found
    assert found["proved"] == ["web/odd.test.js::odd", "tests/test_odd.py::test_odd"]
    assert "tests/data/x.js" in found["projects"][1]["files"], "data of tests is no project"


def test_a_runner_at_the_root_that_collects_everything_makes_one_project(tmp_path: Path) -> None:
    p = Branch(
        tmp_path / "p",
        {**API, "pytest.ini": f"{INI.rstrip()} --import-mode=importlib\npythonpath = api\n".replace("pythonpath = .\n", "", 1)},
    )
    p.commit(API_PROVED)
    found = p.run("check", "--json").json
    assert found["projects"] == [] and found["proved"] == ["api/tests/test_odd.py::test_odd"], found


@pytest.mark.slow
def test_a_project_that_comes_or_goes_with_the_change_is_judged_too(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**API, ".gitignore": "__pycache__/\n"})
    p.git("rm", "-r", "-q", "api")
    p.commit(WEB)
    found = p.run("check", "--json")
    parts = {each["path"]: each for each in found.json["projects"]}
    assert found.code == 10 and parts["web"]["proved"] == ["web/calc.test.js::half"], found
    assert {"api/tests/test_calc.py::test_half", "api/tests/test_calc.py::test_double"} <= {flag["place"] for flag in parts["api"]["flags"]}


def test_tests_of_a_project_find_what_lies_beside_it(tmp_path: Path) -> None:
    shared = {
        "shared/data.txt": "2\n",
        "api/tests/test_shared.py": "def test_shared():\n    assert open('../shared/data.txt').read() == '2\\n'\n",
    }
    p = Branch(tmp_path / "p", {**BASE, **shared})
    p.commit({**API_PROVED})
    found = p.run("check", "--json").json
    assert found["answer"] == "clean" and found["kept"] == 3, found


@pytest.mark.slow
def test_a_package_of_the_repository_itself_is_that_of_the_checkout(tmp_path: Path) -> None:
    core = {"packages/core/package.json": PACKAGE.replace("{", '{"name": "@x/core", "main": "calc.js", ', 1)}
    cli = {"packages/cli/package.json": PACKAGE, "packages/cli/cli.test.js": WEB["web/calc.test.js"].replace("./calc.js", "@x/core")}
    files = {
        **core,
        **cli,
        "packages/core/calc.js": WEB["web/calc.js"],
        "package.json": '{"private": true}',
        ".gitignore": "node_modules\n",
    }
    p = Branch(tmp_path / "p", files)
    (p.root / "node_modules" / "@x").mkdir(parents=True)
    (p.root / "node_modules" / "@x" / "core").symlink_to("../../packages/core")
    odd = WEB_PROVED["web/odd.test.js"].replace("./calc.js", "@x/core")
    p.commit({"packages/core/calc.js": WEB_PROVED["web/calc.js"], "packages/cli/odd.test.js": odd})
    p.write({"packages/core/calc.js": "export const half = 'what somebody works on';\n"})
    found = p.run("check", "main..work", "--json", DETENT_EVIDENCE_MUTATION="off").json
    assert found["proved"] == ["packages/cli/odd.test.js::odd"] and found["kept"] == 1, found


@pytest.mark.slow
def test_what_is_installed_in_place_is_taken_from_the_checkout(tmp_path: Path) -> None:
    tests = ODD.replace("from calc import half", "from core.maths import half")
    p = Branch(tmp_path / "p", {**BASE, "shared/lib/core/maths.py": CALC, "api/tests/test_core.py": TESTS.replace("calc", "core.maths")})
    packages = p.root / ".venv" / "lib" / "python3" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "core.pth").write_text(f"{p.root}/shared/lib\n")
    p.commit({"shared/lib/core/maths.py": HALF, "api/tests/test_odd.py": tests})
    p.write({"shared/lib/core/maths.py": "what somebody works on\n"})
    found = p.run("check", "main..work", "--json").json
    assert found["proved"] == ["api/tests/test_odd.py::test_odd"] and found["kept"] == 4, found


@pytest.mark.slow
def test_an_environment_above_a_project_is_lent_to_it(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", BASE)
    (p.root / ".venv").symlink_to(sys.prefix)
    p.commit(API_PROVED)
    found = p.run("check", "--json", PATH="/usr/bin:/bin").json
    assert (found["command"], found["failed"]) == (".venv/bin/python -m pytest in api", []), found
    assert p.git("status", "--porcelain") == ""


@pytest.mark.slow
def test_a_folder_that_becomes_a_link_leads_nowhere(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, "tools/x": ""})
    (outside := tmp_path / "outside").mkdir()
    p.git("rm", "-r", "-q", "web")
    (p.root / "web").symlink_to(outside)
    (p.root / ".venv").symlink_to(sys.prefix)
    p.commit({"api/calc.py": HALF})
    ran = p.run("check")
    assert ran.code == 10 and not list(outside.iterdir()), ran


# -- as configured -----------------------------------------------------------------------------------------------------------------


def test_rows_of_the_base_say_what_is_a_project_and_how_it_is_tested(tmp_path: Path) -> None:
    rows = "[[test.project]]\npath = 'api/'\n[[test.project]]\npath = 'scripts'\ncommand = 'sh check.sh'\n"
    scripts = {
        "scripts/check.sh": "grep -q 2 tests/wanted.txt && grep -q 2 value.txt\n",
        "scripts/value.txt": "2\n",
        "scripts/tests/wanted.txt": "2\n",
    }
    p = Branch(tmp_path / "p", {**BASE, **scripts, "detent.toml": rows})
    p.commit(
        {
            "scripts/value.txt": "12\n",
            **API_PROVED,
            "web/calc.js": "export const half = 1;\n",
            "detent.toml": "[[test.project]]\npath = 'web'\n",
        }
    )
    found = p.run("check", "--json").json
    assert [each["path"] for each in found["projects"]] == ["api", "scripts", ""], "the change does not say how it is judged"
    assert found["projects"][1]["command"] == "sh check.sh" and found["projects"][1]["answer"] == "clean", found
    assert {"web/calc.js", "detent.toml"} <= set(found["projects"][2]["files"])
    assert "judged-by" in {flag["kind"] for flag in found["flags"]}


def test_words_about_a_project_need_no_run_of_its_tests(tmp_path: Path) -> None:
    p = Branch(tmp_path / "p", {**BASE, "detent.toml": "[[test.project]]\npath = 'api'\ncommand = 'false'\n"})
    p.commit({"api/README.md": "words\n"})
    found = p.run("check", "--json").json
    assert (found["answer"], found["command"], found["test_runs"], found["projects"]) == ("clean", "", 0.0, []), found


# -- what is a project -------------------------------------------------------------------------------------------------------------


def test_a_folder_with_a_manifest_is_a_project_unless_it_is_part_of_tests_tools_or_dependencies() -> None:
    paths = ["pyproject.toml", "api/pyproject.toml", "a/b/Cargo.toml", "a/x.csproj", "tests/p/package.json", "node_modules/x/package.json"]
    paths += ["examples/e/go.mod", "docs/package.json", ".hidden/setup.py", "src/README.md"]
    assert manifest_folders(paths) == {"api", "a/b", "a"}
    assert [nearest(path, ("a", "a/b")) for path in ("a/b/c.rs", "a/c.cs", "ab/c")] == ["a/b", "a", ""]
    assert chain("a/b", ("a", "a/b", "api")) == ["a/b", "a", ""]


@pytest.mark.parametrize(
    ("files", "whose"),
    [
        ({"a/pyproject.toml": "", "a/tests/test_a.py": ""}, "a"),
        ({"a/pyproject.toml": "", "a/code.py": ""}, ""),
        ({"a/package.json": "{}", "a/x.js": ""}, ""),
        ({"pytest.ini": "", "a/pyproject.toml": "", "a/tests/test_a.py": ""}, ""),
        ({"pytest.ini": "[pytest]\ntestpaths = tests\n", "a/pyproject.toml": "", "a/tests/test_a.py": ""}, "a"),
        ({"pytest.ini": "", "a/package.json": PACKAGE, "a/a.test.js": ""}, "a"),
        ({"package.json": '{"scripts": {"test": "turbo test"}}', "a/package.json": PACKAGE, "a/a.test.js": ""}, "a"),
        ({"package.json": PACKAGE, "a/package.json": PACKAGE, "a/a.test.js": ""}, ""),
        ({"go.mod": "", "a/go.mod": "module a\n", "a/a_test.go": ""}, "a"),
        ({"Cargo.toml": "[workspace]\nmembers = ['a']\n", "a/Cargo.toml": "[package]\n", "a/src/lib.rs": ""}, ""),
        ({"Cargo.toml": "[package]\n[workspace]\nmembers = ['a']\n", "a/Cargo.toml": "[package]\n", "a/src/lib.rs": ""}, "a"),
    ],
)
def test_a_folder_belongs_to_the_runner_that_runs_its_tests(files: dict[str, str], whose: str) -> None:
    root = Words({path: text for path, text in files.items() if not path.startswith("a/")})
    assert owner({"a": below(files, "a"), "": root}) == whose


@pytest.mark.parametrize(
    ("runner", "files", "paths", "reaches"),
    [
        ("pytest", {"pytest.ini": "[pytest]\ntestpaths = a/tests\n"}, (), True),
        ("pytest", {"pytest.ini": "[pytest]\nnorecursedirs = a\n"}, (), False),
        ("pytest", {}, ("b",), False),
        ("unittest", {"a/__init__.py": ""}, (), True),
        ("unittest", {}, (), False),
        ("vitest", {}, (), True),
        ("vitest", {"vitest.config.ts": "export default { test: { include: ['lib/**/*.test.ts'] } }"}, (), False),
        ("mocha", {}, (), False),
        ("mocha", {".mocharc.json": '{"spec": ["a/**/*_test.py"]}'}, (), True),
        ("maven", {"pom.xml": "<modules><module>a</module></modules>"}, (), True),
        ("maven", {"pom.xml": "<modules><module>b</module></modules>"}, (), False),
        ("gradle", {"settings.gradle": "include ':a'\ninclude 'lib:a'"}, (), True),
        ("gradle", {}, (), False),
        ("ctest", {"CMakeLists.txt": "add_subdirectory(a)\n"}, (), True),
        ("phpunit", {"phpunit.xml": "<directory>a/tests</directory>"}, (), True),
        ("phpunit", {"phpunit.xml": "<directory>tests</directory>"}, (), False),
        ("rspec", {".rspec": ""}, (), False),
        ("go", {"go.work": ""}, (), False),
        ("cargo", {"Cargo.toml": "not toml ["}, (), False),
    ],
)
def test_each_runner_has_its_reach(runner: str, files: dict[str, str], paths: tuple[str, ...], reaches: bool) -> None:
    outer, inner = Command((runner,), runner, paths=paths), Command((runner,), runner)
    assert takes_in(outer, Words(files), inner, InnerProject("a", ("a/tests/one_test.py",))) is reaches
