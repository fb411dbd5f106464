"""[[gate]]: a command of the project's own that judges the work by its exit code, in real projects: at steps, where branches land, in `check`."""

from pathlib import Path
from typing import Any

import pytest

from detent.app.gate_steps import proving_steps, steps_are_known
from detent.app.registry import all_tables
from detent.config import Settings
from detent.config.sources import load
from detent.config.table_rows import GATE_KEYS
from detent.errors import DetentError
from detent.gates.judge import steps_of
from detent.gates.tests import preflight_passes
from detent.kernel.model import PROVED as AT_PROOF
from detent.kernel.model import OwnGate
from tests.cases import project
from tests.driven import ALONE, CYCLE, GREEN, GREENS, PLANS, REDS, driven
from tests.driven import project as driven_project
from tests.executions import CONFIG, WORKS, Till
from tests.sessions import CODE_ADD, JUDGES, LEAN, TEST_ADD, plays, session, till
from tests.test_check import BASE as CHECKED
from tests.test_check import PROVED, Branch
from tests.test_land import adding, branch, outcomes

Json = dict[str, Any]
pytestmark = pytest.mark.timeout(600)
SAYS = "Take the TODO out, or file it."
LINT = {"lint.sh": "! grep -Hn TODO *.py\n"}
GATE = "[[gate]]\nname = 'todo'\ncommand = 'sh lint.sh'\n"
SAID = f"{GATE}says = '{SAYS}'\n"
FLAG = f"{GATE}as = 'flag'\n"
MARKED = f"{GREEN}# TODO\n"


def refused(text: str) -> tuple[str, str]:
    """The two lines a person is told about this detent.toml."""
    with pytest.raises(DetentError) as error:
        steps_are_known(load({"detent.toml": text}.get, {}))
    return error.value.message, error.value.hint


def failed(verdict: Json, says: str) -> None:
    assert verdict["status"] == "FAILURE" and says in verdict["reasons"][0], verdict


# -- the rows --------------------------------------------------------------------------------------------------------------------


def test_a_row_is_read_with_its_defaults() -> None:
    found = load(
        {
            "detent.toml": f"{GATE}[[gate]]\nname = 'api'\ncommand = 'x | y'\nat = ['red', 'land']\nas = 'flag'\nsays = 's'\ntimeout = 5\n"
        }.get,
        {},
    )
    assert found.gate == (
        OwnGate("todo", "sh lint.sh", ("proved", "land", "check")),
        OwnGate("api", "x | y", ("red", "land"), "flag", "s", 5),
    )
    assert Settings().gate == ()


BAD = {
    "[[gate]]\ncommand = 'x'": ("[[gate]] 1 has no name", 'name = "licences"'),
    "[[gate]]\nname = ''\ncommand = 'x'": ("[[gate]] 1: name is empty", 'name = "licences"'),
    "[[gate]]\nname = 'two words'\ncommand = 'x'": ('[[gate]] 1: name is the text "two words"; expected letters', 'name = "licences"'),
    "[[gate]]\nname = 1\ncommand = 'x'": ("[[gate]] 1: name is 1; expected a text", '"text"'),
    f"{GATE}{GATE}": ("[[gate]] 2 has the name of another one, todo", "another name"),
    "[[gate]]\nname = 'a'": ("[[gate]] 1 has no command", 'command = "reuse lint"'),
    "[[gate]]\nname = 'a'\ncommand = '  '": ("[[gate]] 1: command is empty", 'command = "reuse lint"'),
    "[[gate]]\nname = 'a'\ncommand = ['x']": ("[[gate]] 1: command is a list; expected a text", '"text"'),
    f"{GATE}comand = 'x'": ("[[gate]] 1 has no key comand", "did you mean command?"),
    f"{GATE}as = 'warn'": ('[[gate]] 1: as is the text "warn"; expected one of "fail", "flag"', "one of these"),
    f"{GATE}at = 'green'": ('[[gate]] 1: at is the text "green"; expected a list of texts', "first"),
    f"{GATE}at = []": ("[[gate]] 1: at is an empty list, so nothing would run it", "leave it out"),
    f"{GATE}at = ['gren']": ("[[gate]] todo: there is no step gren at which work is judged", "did you mean green?"),
    f"{GATE}at = ['MERGING_BRANCH']": ("[[gate]] todo: there is no step MERGING_BRANCH", ""),
    f"{GATE}timeout = 0": ("[[gate]] 1: timeout is 0; it must be at least 1", "that of [test]"),
    f"{GATE}timeout = 'long'": ("[[gate]] 1: timeout is the text", "120"),
    "[gate]\nname = 'a'\ncommand = 'x'": ("gate is a table; expected rows, each under [[gate]]", "[[gate]]"),
    "gate = 'x'": ('gate is the text "x"; expected rows', "[[gate]]"),
    "[[gates]]\nname = 'a'": ("gates is outside of a section", "did you mean [[gate]]?"),
}  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_a_row_that_is_wrong_is_named_with_the_way_out(text: str) -> None:
    message, hint = refused(text)
    assert BAD[text][0] in message and BAD[text][1] in hint, (message, hint)


def test_steps_are_the_states_and_events_at_which_something_is_proved() -> None:
    assert {"red", "green", "refactor", "coded", "done", "GREEN", "EXECUTING_TDD", "CODE"} <= proving_steps()
    assert not {"HALTED", "MERGING_BRANCH", "abort", "merged"} & proving_steps()


def test_by_default_a_gate_judges_wherever_all_tests_must_pass() -> None:
    rows = [(name, row) for name, table in all_tables().items() for row in table.rows]
    proved = {(name, row.at, row.on) for name, row in rows if AT_PROOF in steps_of(row)}
    assert proved >= {(name, row.at, row.on) for name, row in rows if preflight_passes in row.prove}, "wherever preflight does"
    assert proved >= {
        ("tdd", "GREEN", "green"),
        ("tdd", "REFACTOR", "refactor"),
        ("tdd", "PLAN", "complete"),
        ("execute", "RUNNING", "done"),
    }
    assert not any(on in ("red", "verify", "reviewed") for _, _, on in proved)


def test_every_key_of_a_row_stands_in_the_docs() -> None:
    page = (
        (Path(__file__).parent.parent / "docs" / "configuration.md")
        .read_text("utf-8")
        .partition("## Gates of your own")[2]
        .partition("\n## ")[0]
    )
    assert [line.split(" | ")[0].strip("| ") for line in page.splitlines() if line.startswith("| ") and "key of a row" not in line] == list(
        GATE_KEYS
    )


@pytest.mark.slow
def test_a_start_with_an_unknown_step_is_refused(tmp_path: Path) -> None:
    p = project(tmp_path / "p", f"{GATE}at = ['gren']\n", LINT)
    p.write({"README.md": "words\n"})
    for command in (["start", "--adopt"], ["check", "--worktree"]):
        ran = p.run(*command)
        assert ran.code == 2 and "there is no step gren" in ran.err and "did you mean green?" in ran.err, ran
    row = next(row for row in p.run("doctor", "--json").json["checks"] if row["name"] == "gates")
    assert not row["ok"] and "there is no step gren" in row["says"], row


# -- steps of pr -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_gate_that_fails_is_a_failure_of_the_step_with_its_sentence_and_its_output(tmp_path: Path) -> None:
    p = project(tmp_path / "p", SAID, LINT).reddened()
    verdict = p.green(MARKED)
    failed(verdict, "gate todo fails: `sh lint.sh`: ")
    assert verdict["state"] == "DEBUGGING" and verdict["reasons"][0].endswith(SAYS) and "calc.py:3:# TODO" in verdict["output"]
    assert "calc.py:3:# TODO" in (p.root / "error.log").read_text()
    assert p.green(GREEN)["status"] == "SUCCESS"


@pytest.mark.slow
def test_the_gates_of_a_run_are_those_of_the_commit_that_it_started_from(tmp_path: Path) -> None:
    p = project(tmp_path / "p", GATE, LINT).reddened()
    p.write({"detent.toml": ""})
    failed(p.green(MARKED), "detent.toml changed")
    p.git("checkout", "-q", "--", "detent.toml")
    p.write({"lint.sh": "true\n"})
    failed(p.green(MARKED), "lint.sh changed")
    p.git("checkout", "-q", "--", "lint.sh")
    failed(p.green(MARKED), "gate todo fails")


@pytest.mark.slow
def test_a_gate_is_run_at_the_steps_that_it_names_and_at_no_other(tmp_path: Path) -> None:
    p = project(tmp_path / "p", f"{GATE}at = ['red']\n", {"lint.sh": "! grep -rn TODO tests\n"}).planned()
    test = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3"
    failed(p.red(f"{test}  # TODO\n"), "gate todo fails")
    assert p.red(f"{test}\n")["status"] == "NEEDS_ANALYSIS"
    p.submit(analysis_decision="SUCCESS")
    assert p.green(MARKED)["status"] == "SUCCESS", "a GREEN is not a RED"


@pytest.mark.slow
def test_a_gate_that_fails_before_the_run_begins_is_accepted_by_a_person_and_held_against_no_step_until_it_passes(tmp_path: Path) -> None:
    p = project(tmp_path / "p", GATE, {**LINT, "old.py": "# TODO\n"})
    start = p.run("start")
    assert start.code == 2 and "the project is red before the run begins: gate todo" in start.err, start
    assert p.run("start", "--baseline").code == 0
    p.reddened("RED", "GREEN", "REFACTOR")
    p.write({"old.py": "\n"})
    assert p.green(GREEN)["status"] == "SUCCESS"
    assert p.run("status", "--json").json["known_failures"] == {"failing": ["gate todo"], "fixed": ["gate todo"]}
    p.write({"old.py": "# TODO\n"})
    failed(p.submit(test_command="pytest", expectation="PASS"), "gate todo fails")


@pytest.mark.slow
def test_what_a_known_gate_says_is_told_and_nothing_more(tmp_path: Path) -> None:
    p = project(tmp_path / "p", FLAG, {**LINT, "old.py": "# TODO\n"})
    assert p.run("start").code == 0, "one that only flags stops no start"
    verdict = p.reddened().green(GREEN)
    assert verdict["status"] == "SUCCESS" and not verdict["flags"]
    assert "`gate todo` failed before the work began, so it does not count" in verdict["output"]


def test_a_gate_whose_program_is_not_there_stops_the_start_and_is_no_pass(tmp_path: Path) -> None:
    ran = project(tmp_path / "p", "[[gate]]\nname = 'scan'\ncommand = 'no-such-scanner --all'\n").run("start")
    assert ran.code == 2 and "gate scan" in ran.err and "no-such-scanner" in ran.err and "take the gate out" in ran.err, ran


@pytest.mark.slow
def test_a_program_that_goes_away_meanwhile_is_no_verdict_and_one_that_the_change_took_away_is_a_failure(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "scanner"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nexit 0\n")
    tool.chmod(0o755)
    gates = "[[gate]]\nname = 'scan'\ncommand = 'scanner'\n[[gate]]\nname = 'own'\ncommand = 'a=check; ./$a.sh'\n[sandbox]\npull = 'none'\n"
    p = project(tmp_path / "p", gates, {"check.sh": "#!/bin/sh\nexit 0\n"})
    p.env["PATH"] = f"{tool.parent}:{p.env['PATH']}"
    (p.root / "check.sh").chmod(0o755)
    p.git("commit", "-qam", "a program")
    p.reddened()
    tool.unlink()
    verdict = p.green(GREEN)
    assert verdict["status"] == "ERROR" and "gate scan" in verdict["reasons"][0] and verdict["state"] == "EXECUTING_TDD", verdict
    tool.write_text("#!/bin/sh\nexit 0\n")
    tool.chmod(0o755)
    (p.root / "check.sh").chmod(0o644)
    failed(p.green(GREEN), "gate own fails")


@pytest.mark.slow
def test_a_command_that_hangs_is_stopped_and_fails(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[[gate]]\nname = 'slow'\ncommand = 'test ! -s calc.py || sleep 1000'\ntimeout = 3\n").reddened()
    failed(p.green(GREEN), "gate slow fails: `test ! -s calc.py || sleep 1000`: [it did not finish within 3 s and was stopped]")


@pytest.mark.slow
def test_a_million_lines_are_cut_and_their_end_is_shown(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[[gate]]\nname = 'loud'\ncommand = 'test ! -s calc.py || { seq 1000000; exit 4; }'\n").reddened()
    verdict = p.green(GREEN)
    failed(verdict, "1000000 [exit code 4]")
    assert len(verdict["reasons"][0]) < 500 and len(verdict["output"]) < 20_000


@pytest.mark.slow
def test_what_a_command_writes_is_written_beside_the_work(tmp_path: Path) -> None:
    p = project(tmp_path / "p", "[[gate]]\nname = 'tidy'\ncommand = 'echo x >> calc.py; touch made.txt; rm -r tests'\n").reddened()
    assert p.green(GREEN)["status"] == "SUCCESS"
    assert (p.root / "calc.py").read_text() == GREEN and not (p.root / "made.txt").exists() and (p.root / "tests").is_dir()


@pytest.mark.slow
def test_a_pass_on_the_same_tree_is_not_run_again(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    p = project(
        tmp_path / "p", f"[[gate]]\nname = 'seen'\ncommand = 'echo x >> {trace}'\n{GATE}[sandbox]\npull = 'none'\n", LINT
    ).reddened()
    failed(p.green(MARKED), "gate todo fails")
    runs = len(trace.read_text().splitlines())
    assert p.green(MARKED)["status"] == "REFUSED", "it failed just before"
    assert p.run("steer", "judge it again").code == 0
    failed(p.green(MARKED), "gate todo fails")
    assert len(trace.read_text().splitlines()) == runs


@pytest.mark.slow
def test_a_gate_as_flag_fails_no_step_and_says_what_it_found(tmp_path: Path) -> None:
    verdict = project(tmp_path / "p", FLAG, LINT).reddened().green(MARKED)
    assert verdict["status"] == "SUCCESS", verdict
    flag = next(flag for flag in verdict["flags"] if flag["kind"] == "gate")
    assert (flag["place"], flag["level"]) == ("todo", "ask") and "calc.py:3:# TODO [exit code 1]" in flag["sentence"]


# -- the other workflows -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_in_tdd_a_green_is_judged_by_the_gate(tmp_path: Path) -> None:
    p = driven_project(tmp_path / "p", ALONE + SAID, LINT)
    again = {**GREENS, "write": {"calc.py": GREEN}}
    with driven(p, PLANS, REDS, {**GREENS, "write": {"calc.py": MARKED}}, again, *CYCLE[3:]) as run:
        run.go()
        told = [event for event in run.events if event.on == "green"]
        assert [event.verdict.status for event in told] == ["FAILURE", "SUCCESS"] and "gate todo fails" in told[0].verdict.reasons[0]
        assert "gate todo" in told[1].found.held and run.run.state == "COMPLETE"


@pytest.mark.slow
def test_an_execution_is_judged_by_the_gate_and_its_flag_is_asked_about_where_it_lands(tmp_path: Path) -> None:
    shop = Till(tmp_path, f"{CONFIG}{GATE}[[gate]]\nname = 'words'\ncommand = '! grep -q price *.py'\nas = 'flag'\n", files=LINT)
    item = shop.file()
    bad, good = ({**WORKS, "write": {**WORKS["write"], "calc.py": text}} for text in (MARKED, f"{GREEN}# a price\n"))
    ran = shop.execute(item, bad, good)
    run = ran.json["execution"] if "execution" in ran.json else ran.json["run"]
    done = [event for event in shop.events(run) if event.on == "done"]
    assert [event.verdict.status for event in done] == ["FAILURE", "SUCCESS"] and "gate todo fails" in done[0].verdict.reasons[0]
    assert ran.code == 10 and shop.run(run).cause == "flags", ran
    assert [(flag.kind, flag.place) for flag in shop.run(run).flags if flag.level == "ask"] == [("gate", "words")]


@pytest.mark.slow
def test_a_task_of_a_pipeline_is_judged_by_the_gate(tmp_path: Path) -> None:
    p = till(tmp_path / "p", f"[git]\nremote = ''\n{GATE}")
    p.write(LINT)
    p.git("add", "-A")
    p.git("commit", "-qm", "lint")
    codes = (
        plays("CODE", write={"calc.py": f"{CODE_ADD}# TODO\n", "tests/test_add.py": TEST_ADD}),
        plays("FIX_TESTS", write={"calc.py": CODE_ADD}),
    )
    with session(p, LEAN, *codes, *JUDGES, lean=True) as run:
        run.go()
        tasks = [
            event for each in run.app.worlds.runs.family(run.id) for event in run.app.worlds.runs.history(each.id) if event.on == "coded"
        ]
        assert tasks[0].verdict.status == "FAILURE" and "gate todo fails" in tasks[0].verdict.reasons[0], tasks
        assert "gate todo" in tasks[1].found.held


# -- land ---------------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_land_judges_branch_and_merged_tree_and_asks_about_flags(tmp_path: Path) -> None:
    count = "[[gate]]\nname = 'few'\ncommand = 'test $(ls tests | wc -l) -lt 4'\nat = ['land']\n"
    shop = Till(
        tmp_path,
        f"{CONFIG}[flags]\nno-proof = 'note'\n{GATE}{count}[[gate]]\nname = 'x'\ncommand = 'test ! -e x.md'\nas = 'flag'\n",
        files=LINT,
    )
    branch(shop, "marked", {"calc.py": "# TODO\n"}, 1)
    branch(shop, "first", adding("first"), 2)
    branch(shop, "second", {**adding("second"), **adding("more")}, 3)
    branch(shop, "asks", {"x.md": "x\n"}, 4)
    ran = shop.project.run("land", "marked", "first", "second", "asks", "--json")
    assert outcomes(ran.json) == {"marked": "person", "first": "landed", "second": "person", "asks": "flagged"}, ran
    rows = {row["branch"]: row for row in ran.json["branches"]}
    assert "gate todo fails" in rows["marked"]["reason"] and "gate few fails" in rows["second"]["reason"], rows
    assert [flag["kind"] for flag in rows["asks"]["flags"]] == ["gate"]


# -- check --------------------------------------------------------------------------------------------------------------------------


def checked(folder: Path, config: str, change: dict[str, str], base: dict[str, str] | None = None) -> tuple[Branch, Json]:
    p = Branch(folder, {**CHECKED, **LINT, "detent.toml": config, **(base or {})})
    p.commit(change)
    return p, p.run("check", "--json").json


@pytest.mark.slow
def test_check_finds_a_gate_that_passes_on_the_base_and_fails_on_the_change(tmp_path: Path) -> None:
    p, found = checked(tmp_path / "p", SAID, {**PROVED, "todo.py": "# TODO\n"})
    assert found["answer"] == "failed" and found["failed"] == [
        f"gate todo fails: `sh lint.sh`: todo.py:1:# TODO [exit code 1]. {SAYS} (gate)"
    ], found
    told = p.run("check", "--explain", "gate todo")
    assert told.code == 0 and "sh lint.sh" in told.out, told
    assert "gate todo fails" in p.run("check").out


@pytest.mark.slow
def test_check_tells_a_gate_that_fails_on_both_sides_as_a_note(tmp_path: Path) -> None:
    _, found = checked(tmp_path / "p", GATE, PROVED, {"todo.py": "# TODO\n"})
    notes = [flag for flag in found["flags"] if flag["kind"] == "gate"]
    assert found["answer"] == "clean" and [flag["level"] for flag in notes] == ["note"], found
    assert "failed before the change" in notes[0]["says"]


@pytest.mark.slow
def test_check_asks_about_a_gate_as_flag_and_takes_its_level_from_the_settings(tmp_path: Path) -> None:
    _, found = checked(tmp_path / "p", FLAG, {**PROVED, "todo.py": "# TODO\n"})
    assert found["answer"] == "flagged" and [flag["kind"] for flag in found["flags"] if flag["level"] == "ask"] == ["gate"], found
    _, hard = checked(tmp_path / "q", f"{FLAG}[flags]\ngate = 'fail'\n", {**PROVED, "todo.py": "# TODO\n"})
    assert hard["answer"] == "failed" and "gate todo fails" in hard["failed"][0], hard


@pytest.mark.slow
def test_check_could_not_verify_where_the_program_is_not_there(tmp_path: Path) -> None:
    _, found = checked(tmp_path / "p", "[[gate]]\nname = 'scan'\ncommand = 'no-such-scanner'\n", PROVED)
    assert found["answer"] == "could-not-verify" and "gate scan" in found["unclear"], found


@pytest.mark.slow
def test_a_change_that_takes_the_gate_out_is_judged_by_it_and_flagged(tmp_path: Path) -> None:
    _, found = checked(tmp_path / "p", GATE, {**PROVED, "detent.toml": "", "todo.py": "# TODO\n"})
    assert found["answer"] == "failed" and "gate todo fails" in found["failed"][0]
    assert ("judged-by", "detent.toml") in {(flag["kind"], flag["place"]) for flag in found["flags"]}


@pytest.mark.slow
def test_a_change_of_the_program_that_a_gate_runs_is_flagged_and_one_that_brings_a_gate_is_too(tmp_path: Path) -> None:
    _, found = checked(tmp_path / "p", GATE, {**PROVED, "lint.sh": "true\n", "todo.py": "# TODO\n"})
    assert ("judged-by", "lint.sh") in {(flag["kind"], flag["place"]) for flag in found["flags"]}, found
    _, brings = checked(tmp_path / "q", "", {**PROVED, "detent.toml": "[[gate]]\nname = 'no'\ncommand = 'false'\n"})
    assert brings["answer"] == "flagged" and ("judged-by", "detent.toml") in {(f["kind"], f["place"]) for f in brings["flags"]}, brings


@pytest.mark.slow
def test_in_a_repository_of_several_projects_the_gates_run_once_over_all_of_it(tmp_path: Path) -> None:
    parts = {f"{name}/{path}": text for name in ("one", "two") for path, text in CHECKED.items() if path != ".gitignore"}
    rows = "[[test.project]]\npath = 'one'\n[[test.project]]\npath = 'two'\n"
    trace = tmp_path / "trace"
    config = f"{rows}[[gate]]\nname = 'todo'\ncommand = 'echo >> {trace}; ! grep -rn TODO --include=*.py .'\n[sandbox]\npull = 'none'\n"
    p = Branch(tmp_path / "p", {**parts, "detent.toml": config})
    p.commit({f"{name}/{path}": text for name in ("one", "two") for path, text in PROVED.items()} | {"two/todo.py": "# TODO\n"})
    found = p.run("check", "--json").json
    assert found["answer"] == "failed" and len([said for said in found["failed"] if "gate todo" in said]) == 1, found
    assert len(trace.read_text().splitlines()) == 2, "once on the change, once on the base"
