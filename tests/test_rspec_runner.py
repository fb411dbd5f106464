"""The RSpec adapter: reports of real runs, the commands agents may hand in, what of a project concerns it."""

import os
from pathlib import Path

import pytest

from detent.errors import CannotTell
from detent.evidence.report import TestReport
from detent.evidence.runners import RUNNERS, Command, Folder, find_command, refuse
from detent.evidence.running.suite import Suite, environment, run_suite
from tests.machine import need_runner
from tests.native_dialects import PATH
from tests.patience import LONG
from tests.repos import write

RSPEC = RUNNERS["rspec"]
BASE = Command(("rspec",), "rspec", "path")
MANY = """require_relative "../lib/calc"

RSpec.describe Calc do
  it("passes") { expect(1).to eq 1 }
  it("fails") { expect(1).to eq 2 }
  it("raises") { raise ArgumentError, "x" }
  it("has no method") { Calc.new.not_there_yet }
  it("has no name") { not_there_yet }
  it("has no constant") { NotThereYet.new }
  it("has no file") { require "not/there/yet" }
  it("has no argument") { Calc.new.one(1) }
  it("asks nil") { nil.not_there_yet }
  it("asks a number") { 1.not_there_yet }
  it "is to be written"
  xit("is skipped") { }
  it("is skipped inside") { skip "not now" }
  it("may fail") { pending "later"; expect(1).to eq 2 }
  it("may fail and does not") { pending "later"; expect(1).to eq 1 }
  it { expect(1).to eq 1 }
  it { not_there_yet }
  it("same") { }
  it("same") { raise "second" }
  it("prints") { puts '{"examples":[]}', "2 examples, 0 failures" }
  it("grün \\"quoted\\"") { }
  it("mocks") { calc = double; expect(calc).to receive(:add) }
  it("fails twice", :aggregate_failures) { expect(1).to eq 2; expect(1).to eq 3 }
  context("inside") { it("is deeper") { } }
  context("set-up") { before(:context) { raise "up" }; it("a") { } }
  include_examples "shared" rescue nil
end
"""
PROJECT = {
    ".rspec": "--require spec_helper\n--format progress\n--out spec/left_behind\n",
    "spec/spec_helper.rb": "RSpec.configure { |c| c.fail_fast = true }\n",
    "lib/calc.rb": "class Calc\n  def one = 1\nend\n",
    "spec/many_spec.rb": MANY,
    "spec/down_spec.rb": 'RSpec.describe "down" do\n  after(:context) { raise "down" }\n  it("a") { }\nend\n',
    "spec/no_constant_spec.rb": 'RSpec.describe NotThereYet do\n  it("a") { }\nend\n',
    "spec/no_file_spec.rb": 'require_relative "../lib/not_there_yet"\n',
    "spec/syntax_spec.rb": 'RSpec.describe "x" do\n',
    "spec/raises_spec.rb": 'raise "at load"\n',
    "spec/none_spec.rb": "puts 1\n",
    "spec/plain.rb": 'RSpec.describe("x") { it("is not run") { } }\n',
}
IN_MANY = {
    "passes": "passed", "fails": "failed", "raises": "failed", "has no method": "failed", "has no name": "failed", "has no constant": "failed",
    "has no file": "failed", "has no argument": "failed", "asks nil": "failed", "asks a number": "failed", "is to be written": "skipped",
    "is skipped": "skipped", "is skipped inside": "skipped", "may fail": "skipped", "may fail and does not": "failed", "[1:16]": "passed",
    "[1:17]": "failed", "same": "passed", "same (2)": "failed", "prints": "passed", 'grün "quoted"': "passed", "mocks": "failed",
    "fails twice": "failed", "inside is deeper": "passed", "set-up a": "failed",
}  # fmt: skip
OUTCOMES = {
    **{f"spec/many_spec.rb::Calc {name}": outcome for name, outcome in IN_MANY.items()},
    "spec/down_spec.rb::down a": "passed",
    **{f"spec/{name}_spec.rb": "error" for name in ("down", "no_constant", "no_file", "syntax", "raises")},
}


def run(root: Path, *selectors: str, base: Command = BASE) -> TestReport:
    need_runner("rspec")
    suite = Suite(base, LONG, PATH)
    return run_suite(suite, selectors, root, root, environment(suite, os.environ, root.parent / "pycache"), lambda: True)


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> tuple[TestReport, Path]:
    root = tmp_path_factory.mktemp("rspec-runner") / "project"
    write(root, {**PROJECT, "spec/spec_helper.rb": ""})
    return run(root), root


def test_every_test_of_a_real_run_has_its_outcome(big: tuple[TestReport, Path]) -> None:
    assert big[0].outcomes == OUTCOMES


def test_names_that_are_not_there_yet_are_told_from_other_failures(big: tuple[TestReport, Path]) -> None:
    inside = ("[1:17]", "has no argument", "has no constant", "has no file", "has no method", "has no name")
    assert sorted(big[0].missing_names) == [
        *(f"spec/many_spec.rb::Calc {name}" for name in inside),
        "spec/no_constant_spec.rb",
        "spec/no_file_spec.rb",
    ]


def test_a_failure_has_its_kind_and_its_words(big: tuple[TestReport, Path]) -> None:
    kinds = {test.rpartition("Calc ")[2]: kind for test, kind in big[0].kinds.items()}
    assert {name for name, kind in kinds.items() if kind == "AssertionError"} == {"fails", "may fail and does not", "mocks", "fails twice"}
    assert kinds["raises"] == "ArgumentError" and kinds["spec/syntax_spec.rb"] == "SyntaxError"
    assert big[0].messages["spec/many_spec.rb::Calc is skipped inside"] == "not now"
    assert "expected: 2" in big[0].output


def test_nothing_is_left_in_the_project(big: tuple[TestReport, Path]) -> None:
    assert {path.relative_to(big[1]).as_posix() for path in big[1].rglob("*") if path.is_file()} == PROJECT.keys()


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("selectors", "ids"),
    [
        (("spec/many_spec.rb",), {i for i in OUTCOMES if i.startswith("spec/many_spec.rb")}),
        (("--location=spec/many_spec.rb:4",), {"spec/many_spec.rb::Calc passes"}),
        (("spec/many_spec.rb", "--example=Calc same"), {"spec/many_spec.rb::Calc same", "spec/many_spec.rb::Calc same (2)"}),
        (("spec/not_there_spec.rb",), set()),
        (("spec/none_spec.rb",), set()),
        (("spec/no_file_spec.rb",), {"spec/no_file_spec.rb"}),
    ],
)
def test_a_selection_runs_what_it_names(big: tuple[TestReport, Path], selectors: tuple[str, ...], ids: set[str]) -> None:
    assert run(big[1], *selectors).ids == ids


def test_the_projects_wish_to_stop_at_the_first_failure_cannot_hide_the_rest(tmp_path: Path) -> None:
    spec = 'RSpec.describe("x") { it("a") { raise "a" }; it("b") { raise "b" } }\n'
    write(tmp_path / "p", {".rspec": "--fail-fast\n--order defined\n", "spec/x_spec.rb": spec})
    assert run(tmp_path / "p").outcomes == {"spec/x_spec.rb::x a": "failed", "spec/x_spec.rb::x b": "failed"}


@pytest.mark.parametrize(
    ("report", "code", "words"),
    [
        (None, 1, "wrote no report"),
        (b"", 0, "cannot be read"),
        (b'{"code": 0, "runs": []}', 1, "exited with code 1"),
        (b'{"code": 1, "runs": []}', 1, "no test in its report failed"),
        (b'{"code": 0, "runs": [{"dry": true}]}', 0, "dry run"),
    ],
)
def test_a_report_that_does_not_fit_tells_nothing(report: bytes | None, code: int, words: str) -> None:
    with pytest.raises(CannotTell, match=words):
        RSPEC.read(report, code, "")


@pytest.mark.parametrize(
    ("configured", "runner"),
    [
        ("rspec", "rspec"),
        ("bundle exec rspec spec/models", "rspec"),
        ("bin/rspec --format doc", "rspec"),
        ("rspec --dry-run", ""),
        ("rspec -e x", ""),
        ("rake spec", ""),
    ],
)
def test_which_commands_are_adopted(configured: str, runner: str) -> None:
    base = find_command(Folder(Path("/nonexistent")), configured)
    assert base is not None and base.runner == runner


@pytest.mark.parametrize(
    ("command", "selectors"),
    [
        ("rspec", ()),
        ("bundle exec rspec", ()),
        ("rspec ./spec/calc_spec.rb", ("spec/calc_spec.rb",)),
        ("rspec spec/calc_spec.rb:12", ("--location=spec/calc_spec.rb:12",)),
        ("rspec 'spec/calc_spec.rb[1:2]'", ("--location=spec/calc_spec.rb[1:2]",)),
        ("rspec -e 'Calc adds' -f d", ("--example=Calc adds",)),
    ],
)
def test_what_an_agent_selects(command: str, selectors: tuple[str, ...]) -> None:
    assert refuse(command, BASE) is None
    assert RSPEC.parse(command, BASE).selectors == selectors


@pytest.mark.parametrize(
    "command",
    [
        "ruby x.rb",
        "rspec --dry-run",
        "rspec -r ./x.rb",
        "rspec --require ./x.rb",
        "rspec -O x",
        "rspec --tag ~slow",
        "rspec --failure-exit-code 0",
        "rspec --out x",
        "rspec --only-failures",
        "rspec ../x_spec.rb",
        "rspec /etc/x_spec.rb:1",
        "rspec -e",
        "SPEC_OPTS=--dry-run rspec",
        "rspec || true",
    ],
)
def test_what_an_agent_may_not_say(command: str) -> None:
    assert "use one call of the project's own test runner" in (refuse(command, BASE) or "")
