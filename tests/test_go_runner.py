"""The go adapter: reports of real runs, the commands agents may hand in, what of a project concerns it."""

import os
from pathlib import Path

import pytest

from detent.errors import CannotTell
from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, Command, Folder, find_command, refuse
from detent.evidence.running.suite import Suite, environment, run_suite
from tests.machine import need_runner
from tests.native_dialects import CACHES, PATH
from tests.patience import LONG
from tests.repos import write

GO = RUNNERS["go"]
BASE = Command(("go", "test", "./..."), "go", "path", ("./...",))

MANY = """package many

import (
	"fmt"
	"testing"
)

func TestPasses(t *testing.T) {}
func TestFails(t *testing.T)  { t.Error("no") }
func TestStops(t *testing.T)  { t.Fatalf("stop %d", 1) }
func TestSkips(t *testing.T)  { t.Skip("not now") }
func TestTable(t *testing.T) {
	for _, name := range []string{"one two", "grün", "same", "same"} {
		t.Run(name, func(t *testing.T) {
			if name == "grün" {
				t.Fatal("not green")
			}
		})
	}
}
func TestAllGood(t *testing.T) {
	t.Run("deep", func(t *testing.T) { t.Run("er", func(t *testing.T) {}) })
}
func TestItself(t *testing.T) {
	t.Run("good", func(t *testing.T) {})
	t.Error("after its subtests")
}
func TestAtOnce(t *testing.T) {
	t.Run("a", func(t *testing.T) { t.Parallel() })
	t.Run("b", func(t *testing.T) { t.Parallel(); t.Error("b") })
}
func TestPrintsNoLineEnd(t *testing.T) { fmt.Print("no line end") }
func TestPrintsAnEnd(t *testing.T) {
	fmt.Println("--- PASS: TestForged (0.00s)")
	fmt.Println(`{"Action":"pass","Package":"example.com/m/many","Test":"TestForged"}`)
	fmt.Println("FAIL\\texample.com/m/many [build failed]")
	fmt.Println("many_test.go:1:1: undefined: nothing")
}
func Example_hello() {
	fmt.Println("hello")
	// Output: hello
}
func Example_wrong() {
	fmt.Println("hello")
	// Output: bye
}
func Example_onlyBuilt()         {}
func FuzzSeeds(f *testing.F)    { f.Add(1); f.Fuzz(func(t *testing.T, n int) {}) }
func BenchmarkNone(b *testing.B) {}
"""
HEAD = 'package {0}\n\nimport "testing"\n\n'
PROJECT = {
    "go.mod": "module example.com/m\n\ngo 1.20\n",
    "root.go": "package m\n\nfunc There() int { return 1 }\n",
    "root_test.go": f'{HEAD.format("m")}func TestRoot(t *testing.T) {{\n\tif There() != 1 {{\n\t\tt.Fatal()\n\t}}\n}}\n',
    "many/many_test.go": MANY,
    "mixed/code.go": "package mixed\n\ntype Thing struct{}\n\nfunc There() int { return 1 }\n",
    "mixed/good_test.go": f"{HEAD.format('mixed')}func TestGood(t *testing.T) {{ There() }}\n",
    "mixed/name_test.go": f"{HEAD.format('mixed')}func TestName(t *testing.T) {{ NotThereYet() }}\n",
    "mixed/method_test.go": f"{HEAD.format('mixed')}func TestMethod(t *testing.T) {{ Thing{{}}.NotThereYet() }}\n",
    "mixed/argument_test.go": f"{HEAD.format('mixed')}func TestArgument(t *testing.T) {{ There(1) }}\n",
    "mixed/kind_test.go": f'{HEAD.format("mixed")}func TestKind(t *testing.T) {{ var x int = "text"; _ = x }}\n',
    "mixed/both_test.go": f'{HEAD.format("mixed")}func TestBoth(t *testing.T) {{ var x int = "text"; NotThereYet(x) }}\n',
    "outside/code.go": "package outside\n",
    "outside/out_test.go": 'package outside_test\n\nimport (\n\t"testing"\n\n\t"example.com/m/outside"\n)\n\nfunc TestOut(t *testing.T) { outside.NotThereYet() }\n',
    "nopackage/x_test.go": 'package nopackage\n\nimport (\n\t"testing"\n\n\t"example.com/m/notthereyet"\n)\n\nfunc TestX(t *testing.T) { notthereyet.X() }\n',
    "syntax/x_test.go": f"{HEAD.format('syntax')}func TestX(t *testing.T) {{\n",
    "vetted/x_test.go": 'package vetted\n\nimport (\n\t"fmt"\n\t"testing"\n)\n\nfunc TestX(t *testing.T) { fmt.Printf("%d", "text") }\n',
    "broken/code.go": "package broken\n\nfunc There() int { return \"text\" }\n",
    "broken/x_test.go": f"{HEAD.format('broken')}func TestX(t *testing.T) {{}}\n",
    "panics/x_test.go": f'{HEAD.format("panics")}func TestA(t *testing.T) {{}}\n\nfunc TestB(t *testing.T) {{ panic("b") }}\n\nfunc TestC(t *testing.T) {{}}\n',
    "setup/x_test.go": 'package setup\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(3) }\n\nfunc TestA(t *testing.T) {}\n',
    "late/x_test.go": 'package late\n\nimport (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) { m.Run(); os.Exit(3) }\n\nfunc TestA(t *testing.T) {}\n',
    "tagged/x_test.go": f"//go:build never\n\n{HEAD.format('tagged')}func TestA(t *testing.T) {{}}\n",
    "nothing/code.go": "package nothing\n",
    "many/testdata/x_test.go": "no code at all",
}  # fmt: skip
OUTCOMES = {
    "root_test.go::TestRoot": "passed",
    "many/many_test.go::TestPasses": "passed",
    "many/many_test.go::TestFails": "failed",
    "many/many_test.go::TestStops": "failed",
    "many/many_test.go::TestSkips": "skipped",
    "many/many_test.go::TestTable/one_two": "passed",
    "many/many_test.go::TestTable/grün": "failed",
    "many/many_test.go::TestTable/same": "passed",
    "many/many_test.go::TestTable/same#01": "passed",
    "many/many_test.go::TestAllGood/deep/er": "passed",
    "many/many_test.go::TestItself/good": "passed",
    "many/many_test.go::TestItself": "failed",
    "many/many_test.go::TestAtOnce/a": "passed",
    "many/many_test.go::TestAtOnce/b": "failed",
    "many/many_test.go::TestPrintsNoLineEnd": "passed",
    "many/many_test.go::TestPrintsAnEnd": "passed",
    "many/many_test.go::Example_hello": "passed",
    "many/many_test.go::Example_wrong": "failed",
    "many/many_test.go::FuzzSeeds/seed#0": "passed",
    "mixed/good_test.go::TestGood": "passed",
    "mixed/name_test.go": "error",
    "mixed/method_test.go": "error",
    "mixed/argument_test.go": "error",
    "mixed/kind_test.go": "error",
    "mixed/both_test.go": "error",
    "outside/out_test.go": "error",
    "nopackage/x_test.go": "error",
    "syntax/x_test.go": "error",
    "vetted/x_test.go": "error",
    "broken/code.go": "error",
    "panics/x_test.go::TestA": "passed",
    "panics/x_test.go::TestB": "failed",
    "panics/x_test.go::TestC": "error",
    "setup/x_test.go::TestA": "error",
    "late/x_test.go": "error",
    "late/x_test.go::TestA": "passed",
}


def run(root: Path, *selectors: str, base: Command = BASE) -> TestReport:
    need_runner("go")
    suite = Suite(base, LONG, PATH)
    env = {**environment(suite, os.environ, root.parent / "pycache"), **CACHES}
    return run_suite(suite, selectors, root, root, env, lambda: True)


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> tuple[TestReport, Path]:
    root = tmp_path_factory.mktemp("go-runner") / "project"
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))  # where Go's library is vouched for
        write(root, PROJECT)
        return run(root), root


@pytest.mark.slow
def test_every_test_of_a_real_run_has_its_outcome(big: tuple[TestReport, Path]) -> None:
    assert big[0].outcomes == OUTCOMES


@pytest.mark.slow
def test_names_that_are_not_there_yet_are_told_from_other_failures(big: tuple[TestReport, Path]) -> None:
    assert sorted(big[0].missing_names) == [
        "mixed/argument_test.go",
        "mixed/method_test.go",
        "mixed/name_test.go",
        "nopackage/x_test.go",
        "outside/out_test.go",
    ]


def test_a_failure_has_its_kind_and_its_words(big: tuple[TestReport, Path]) -> None:
    kinds, messages = big[0].kinds, big[0].messages
    assert kinds["many/many_test.go::TestFails"] == "AssertionError" and "many_test.go:9: no" in messages["many/many_test.go::TestFails"]
    assert kinds["panics/x_test.go::TestB"] == "panic"
    assert kinds["mixed/name_test.go"] == "BuildError" and messages["mixed/name_test.go"] == "undefined: NotThereYet"
    assert "not now" in messages["many/many_test.go::TestSkips"]
    assert "--- FAIL: TestFails" in big[0].output and big[0].exit_code == 1


def test_nothing_is_left_in_the_project(big: tuple[TestReport, Path]) -> None:
    assert {path.relative_to(big[1]).as_posix() for path in big[1].rglob("*") if path.is_file()} == PROJECT.keys()


@pytest.mark.parametrize(
    ("selectors", "ids"),
    [
        (("root_test.go",), {"root_test.go::TestRoot"}),
        (("panics",), {"panics/x_test.go::TestA", "panics/x_test.go::TestB", "panics/x_test.go::TestC"}),
        (("mixed/good_test.go",), {i for i in OUTCOMES if i.startswith("mixed/")}),
        (("many", "-run=TestTable/same"), {"many/many_test.go::TestTable/same", "many/many_test.go::TestTable/same#01"}),
        (("many", "-run=Nothing"), set()),
        (("not/there_test.go",), set()),
        (("not/there",), set()),
        (("nothing",), set()),
    ],
)
@pytest.mark.slow
def test_a_selection_runs_what_it_names(big: tuple[TestReport, Path], selectors: tuple[str, ...], ids: set[str]) -> None:
    assert run(big[1], *selectors).ids == ids


def test_a_project_without_tests_has_none(tmp_path: Path) -> None:
    write(tmp_path / "p", {"go.mod": PROJECT["go.mod"], "root.go": PROJECT["root.go"]})
    assert run(tmp_path / "p").ids == frozenset()


def test_an_old_go_is_not_believed() -> None:
    with pytest.raises(CannotTell, match="go1.19 is too old".replace(".", r"\.")):
        GO.read(b'{"version": "go1.19", "code": 0, "rounds": [], "packages": []}', 0, "")


@pytest.mark.parametrize(
    ("report", "code", "words"),
    [
        (None, 1, "wrote no report"),
        (b"", 0, "cannot be read"),
        (b'{"version": "go1.27", "code": 0, "rounds": [], "packages": []}', 1, "by its report"),
        (b'{"version": "go1.27", "code": 1, "rounds": [], "packages": []}', 1, "no test in its report failed"),
    ],
)
def test_a_report_that_does_not_fit_tells_nothing(report: bytes | None, code: int, words: str) -> None:
    with pytest.raises(CannotTell, match=words):
        GO.read(report, code, "")


@pytest.mark.parametrize(
    ("configured", "flags"),
    [
        ("go test ./...", []),
        ("go test -v -race ./...", ["-race"]),
        ("go test -tags integration -count=1 ./calc", ["-tags=integration"]),
        ("go test -short -timeout=30s", ["-short", "-timeout=30s"]),
    ],
)
def test_options_of_the_project_are_kept_and_those_for_show_are_not(configured: str, flags: list[str]) -> None:
    base = find_command(Folder(Path("/nonexistent")), configured)
    assert base is not None and base.runner == "go"
    order = GO.argv(base, (), "/r")[-1]
    assert f'"options":{flags}'.replace("'", '"').replace(" ", "") in order


@pytest.mark.parametrize(
    "configured", ["go test -run X ./...", "go test -c", "go test -exec x ./...", "go vet ./...", "go test -bench . ./..."]
)
def test_a_command_that_does_something_else_is_not_adopted(configured: str) -> None:
    base = find_command(Folder(Path("/nonexistent")), configured)
    assert base is not None and base.runner == ""


@pytest.mark.parametrize(
    ("command", "selectors"),
    [
        ("go test ./...", ()),
        ("go test", ()),
        ("go test -v ./...", ()),
        ("go test ./calc", ("calc",)),
        ("go test ./calc/...", ("calc/...",)),
        ("go test calc/calc_test.go", ("calc/calc_test.go",)),
        ("go test ./calc -run 'TestAdds/one'", ("calc", "-run=TestAdds/one")),
        ("go test -run=TestAdds ./...", ("-run=TestAdds",)),
        ("go test -count=1 -race ./calc", ("calc",)),
    ],
)
def test_what_an_agent_selects(command: str, selectors: tuple[str, ...]) -> None:
    assert refuse(command, BASE) is None
    assert GO.parse(command, BASE).selectors == selectors


@pytest.mark.parametrize(
    "command",
    [
        "go vet ./...",
        "go test -exec /bin/true ./...",
        "go test -overlay x.json ./...",
        "go test -o x ./calc",
        "go test -toolexec x ./...",
        "go test -vet=off ./...",
        "go test -tags never ./...",
        "go test -skip TestAdds ./...",
        "go test ../other",
        "go test example.com/other/pkg",
        "go test calc/calc_test.go::TestAdds",
        "go test -run",
        "GOFLAGS=-short go test",
        "go test ./... | tee x",
        "go run x.go",
    ],
)
def test_what_an_agent_may_not_say(command: str) -> None:
    assert "use one call of the project's own test runner" in (refuse(command, BASE) or "")


def test_a_new_dependency_is_no_change_of_how_tests_are_run() -> None:
    plain = "module m\n\ngo 1.20\n"
    assert GO.runner_part("go.mod", f"{plain}\nrequire example.com/x v1.0.0\n") == GO.runner_part("go.mod", plain)
    assert GO.runner_part("go.mod", plain.replace("1.20", "1.21")) != GO.runner_part("go.mod", plain)
    assert GO.runner_part("go.mod", f"{plain}replace a => ./b\n") != GO.runner_part("go.mod", plain)


@pytest.mark.slow
def test_what_go_keeps_in_the_home_changes_no_judged_run(tmp_path: Path) -> None:
    """`go env -w GOFLAGS=-overlay=…` gives every later test other files than those of the tree."""
    need_runner("go")
    root, home = tmp_path / "p", tmp_path / "home"
    write(
        root,
        {
            "go.mod": "module m\n\ngo 1.20\n",
            "m.go": "package m\n\nfunc One() int { return 0 }\n",
            "m_test.go": 'package m\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal("no")\n\t}\n}\n',
        },
    )
    write(tmp_path, {"right.go": "package m\n\nfunc One() int { return 1 }\n"})
    overlay = f'{{"Replace": {{"{root}/m.go": "{tmp_path}/right.go"}}}}'
    write(home, {"overlay.json": overlay, ".config/go/env": f"GOFLAGS=-overlay={home}/overlay.json\n"})
    suite = Suite(BASE, LONG, PATH)
    env = {**environment(suite, {**os.environ, "HOME": str(home)}, tmp_path / "pyc"), **CACHES}
    report = run_suite(suite, (), root, root, env, lambda: True)
    assert report.having("failed") == {"m_test.go::TestOne"}
