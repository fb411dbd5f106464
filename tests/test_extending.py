"""Extending Detent from outside: the example package works beside an installed Detent, and a package that does not fit is named in a sentence."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from detent.extensions import GROUPS
from tests.beside import EXAMPLE, Beside, Installed, Points, fresh_environment
from tests.project import ROOT
from tests.webbed import served

PAGE = (ROOT / "docs" / "extending.md").read_text()
CALC = "def add(a, b):\n    return a + b\n"
README = "# Calc\n\n## Start\n\n    >>> from calc import add\n    >>> add(1, 1)\n    2\n"
FILES = {"calc.py": CALC, "README.md": README, "detent.toml": "[git]\nremote = ''\n"}
GUIDE = "# Guide\n\n## Adding\n\n    >>> from calc import add\n    >>> add(1, 2)\n    3\n"
WRONG = GUIDE.replace("    3\n", "    4\n")
BARE = f"{GUIDE}\n## Why\n\nBecause.\n"


# -- the example, installed ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("beside")
    yield fresh_environment(folder)
    shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.needs("uv", "loopback")
def test_an_installed_package_is_pulled_through_its_workflow_and_shown(tmp_path: Path, environment: Path) -> None:
    p = Installed(tmp_path / "p", FILES, environment)
    assert "guide     a guide whose examples are run" in p.run("graph").out
    drawn = p.run("graph", "guide").out
    assert "| WRITE (start) | agent | writer |" in drawn and "| sections_have_examples | Every section shows an example" in drawn
    started = p.run("start", "--workflow", "guide", "how to add")
    assert started.code == 0 and started.out.startswith("# Write guide.md: how to add"), started
    assert p.task()["role"] == "writer"
    p.write({"guide.md": WRONG})
    failed = p.submit()
    assert failed["status"] == "FAILURE" and "add(1, 2) Expected: 4 Got: 3" in failed["reasons"][0], failed
    assert failed["evidence"]["kind"] == "report" and failed["evidence"]["counts"]["failed"] == 1
    p.write({"guide.md": GUIDE, "calc.py": f"{CALC}\n"})
    assert p.submit()["reasons"] == ["calc.py changed; write guide.md and nothing else"]
    p.write({"guide.md": GUIDE, "calc.py": CALC})
    assert p.submit()["status"] == "SUCCESS"
    assert p.task()["state"] == "DONE"
    assert p.git("log", "-1", "--format=%s") == "docs: how to add"
    with served(p) as page:
        shown = page.get("/api/workflows/guide")
        assert [state["name"] for state in shown["states"]] == ["WRITE", "LANDING", "HALTED", "DONE", "ABORTED"]
        [row] = page.get("/api/runs")["runs"]
        assert (row["workflow"], row["state"], row["title"]) == ("guide", "DONE", "how to add")
        assert page.get(f"/api/runs/{row['run']}")["run"]["state"] == "DONE"


@pytest.mark.slow
@pytest.mark.needs("uv")
def test_an_installed_package_is_driven_and_a_person_is_asked_about_its_flag(tmp_path: Path, environment: Path) -> None:
    p = Installed(tmp_path / "p", FILES, environment)
    script = tmp_path / "script.json"
    entry = {"state": "WRITE", "role": "writer", "write": {"guide.md": BARE}, "reply": "It is written."}
    script.write_text(json.dumps([entry]))
    halted = p.run("run", "--workflow", "guide", "how to add", "--agent", f"scripted:{script}", "--json").json
    assert (halted["outcome"], halted["state"]) == ("halted", "HALTED"), halted
    [question] = p.run("decisions", "--run", halted["run"], "--json").json["decisions"]
    assert "no-example  guide.md::Why  the section 'Why' has no example" in question["question"]
    accepted = p.run("answer", "FLAGS", "accept", "--run", halted["run"])
    assert accepted.code == 0, accepted
    done = p.run("run", "--run", halted["run"], "--json").json
    assert (done["outcome"], done["state"]) == ("done", "DONE"), done
    assert p.git("show", f"{done['branch']}:guide.md") + "\n" == BARE
    assert not (p.root / "guide.md").exists()


@pytest.mark.slow
@pytest.mark.needs("uv")
def test_the_agent_of_a_package_works_and_its_flag_is_weighed_by_the_configuration(tmp_path: Path, environment: Path) -> None:
    p = Installed(tmp_path / "p", {**FILES, "detent.toml": f"{FILES['detent.toml']}[flags]\nno-example = 'allow'\n"}, environment)
    (tmp_path / "guide.txt").write_text(BARE)
    done = p.run("run", "--workflow", "guide", "how to add", "--agent", f"template:{tmp_path / 'guide.txt'}", "--json").json
    assert (done["outcome"], done["state"]) == ("done", "DONE"), done
    gone = p.run("run", "--workflow", "guide", "once more", "--agent", f"template:{tmp_path / 'gone.txt'}")
    assert gone.code == 2 and "gone.txt cannot be read" in gone.err, gone
    known = p.run("run", "x", "--agent", "nobody")
    assert known.code == 2 and "human, template" in known.err, known
    checked = p.run("doctor", "--json").json["checks"]
    assert [c for c in checks_of(checked) if not c["ok"]] == [], checked
    assert [c["says"] for c in checks_of(checked)] == [
        "pr, tdd, execute, pipeline, task, guide",
        "agent template, test runner doctest, kind of flag no-example",
    ]


def checks_of(checks: list[dict[str, object]]) -> list[dict[str, object]]:
    return [c for c in checks if c["name"] in ("workflows", "extensions")]


def test_the_page_shows_every_file_of_the_example_as_it_is() -> None:
    files = [path for path in sorted(EXAMPLE.rglob("*")) if path.suffix in (".py", ".toml", ".md") and path.name != "README.md"]
    named = [path for path in files if f"`{path.relative_to(EXAMPLE).as_posix()}`" not in PAGE]
    assert files and named == [], "each file has its place in docs/extending.md"
    blocks = [part.partition("\n")[2] for part in PAGE.split("```")[1::2] if part.startswith(("python", "toml", "text"))]
    whole = "\n".join(path.read_text() for path in files)
    assert blocks and [block for block in blocks if block not in whole] == [], "what the page shows is what the example says"
    assert [group.name for group in GROUPS if f"`{group.name}`" not in PAGE] == []


# -- packages that do not fit --------------------------------------------------------------------------------------------------

TABLE = (EXAMPLE / "detent_guide" / "guide" / "guide_table.py").read_text()
DRIVEN = TABLE[TABLE.index("    *driven(") : TABLE.index("    *people(")]
WORKFLOW: Points = {"detent.workflows": {"guide": "detent_guide.guide:WORKFLOW"}}
Change = Callable[[Path], None]


def edit(path: str, old: str, new: str) -> Change:
    def change(site: Path) -> None:
        file = site / "detent_guide" / path
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    return change


def remove(path: str) -> Change:
    return lambda site: (site / "detent_guide" / path).unlink()


def without_driven(site: Path) -> None:
    for old in (DRIVEN, "    **DRIVEN,\n"):
        edit("guide/guide_table.py", old, "")(site)


UNFIT: dict[str, tuple[Change, str]] = {
    "a module that raises": (edit("guide/__init__.py", "WORKFLOW = ", "1 / 0\nWORKFLOW = "), "ZeroDivisionError: division by zero"),
    "a module that leaves": (edit("guide/__init__.py", "WORKFLOW = ", "raise SystemExit('no')\nWORKFLOW = "), "SystemExit: no"),
    "a module that needs another": (edit("guide/__init__.py", "WORKFLOW = ", "import nowhere\nWORKFLOW = "), "ModuleNotFoundError"),
    "text that is no Python": (edit("guide/__init__.py", "WORKFLOW = ", "WORKFLOW == = "), "SyntaxError"),
    "another name for it": (edit("guide/__init__.py", "WORKFLOW = ", "FLOW = "), "has no attribute 'WORKFLOW'"),
    "no workflow": (edit("guide/__init__.py", "WORKFLOW = Workflow(", "WORKFLOW = dict("), "it is a dict, not a Workflow"),
    "a table of another name": (edit("guide/guide_table.py", 'name="guide"', 'name="book"'), "its table has the name 'book'"),
    "a state without a briefing": (remove("guide/briefings/HALTED.md"), "state HALTED has no briefing"),
    "a role without a prompt": (remove("guide/prompts/writer.md"), "there is no prompt"),
    "no word on how to hand in": (remove("guide/prompts/hand-in.md"), "hand-in.md"),
    "data without a field": (edit("guide/guide_data.py", "    reds: tuple", "    redder: tuple"), "its data GuideData has no field reds"),
    "a field without a default": (
        edit("guide/guide_data.py", "frozen=True):", "frozen=True, kw_only=True):\n    more: str"),
        "its data GuideData has a field without a default",
    ),
    "another setup": (
        edit("guide/guide_data.py", "setup: Ground = Ground()", 'setup: str = ""'),
        "setup of its data GuideData is not a Ground",
    ),
    "no limit for errors": (edit("guide/guide_table.py", "{**ERRORS, ", "{'agent': 3, "), "its limits have no errors"),
    "a table that does not hold": (
        edit("guide/guide_table.py", '    "landed": by_system', '    "lost": by_system'),
        "event lost has a move",
    ),
}
UNDONE: dict[str, tuple[Change, str]] = {
    "an effect nobody does": (
        edit("guide/guide_effects.py", '"commit_judged_tree": _commit, ', ""),
        "nobody does the effect commit_judged",
    ),
    "a job nobody does": (edit("guide/guide_effects.py", '"land_branch": _land', ""), "nobody does the job land_branch of state LANDING"),
    "effects that cannot be imported": (edit("guide/guide_effects.py", "EFFECTS: ", "import nowhere\nEFFECTS: "), "ModuleNotFoundError"),
    "a name in a briefing": (edit("guide/briefings/HALTED.md", "$request", "$wish"), "the briefing of HALTED uses $wish"),
    "a lone dollar in a briefing": (edit("guide/briefings/DONE.md", "Nothing", "It cost $5. Nothing"), "the briefing of DONE uses $,"),
    "no rows for driven agents": (
        without_driven,
        "state WRITE has no row for agent-failed; blocks.common.driven makes them",
    ),
}


def laid(tmp_path: Path, change: Change, points: Points = WORKFLOW) -> Beside:
    p = Beside(tmp_path, FILES)
    p.install("detent-guide", points)
    shutil.copytree(EXAMPLE / "detent_guide", p.site / "detent_guide", ignore=shutil.ignore_patterns("__pycache__"))
    change(p.site)
    return p


def two_lines(code: int, err: str) -> tuple[str, str]:
    """The sentence and the way out."""
    assert code == 2, err
    sentence, way_out = err.splitlines()
    return sentence, way_out


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", UNFIT)
def test_a_workflow_that_is_not_whole_is_named_before_anything_is_written(tmp_path: Path, case: str) -> None:
    change, said = UNFIT[case]
    p = laid(tmp_path, change)
    ran = p.run("start", "--workflow", "guide", "x")
    sentence, way_out = two_lines(ran.code, ran.err)
    assert sentence.startswith("detent: the workflow 'guide' of the package detent-guide cannot be used: ") and said in sentence, ran
    assert way_out == "  fix detent_guide.guide:WORKFLOW, or uninstall detent-guide (docs/extending.md)"
    assert "No runs yet" in p.run("runs", "--all").out


@pytest.mark.slow
@pytest.mark.parametrize("case", UNDONE)
def test_what_is_found_out_when_everything_is_loaded_is_named_before_a_run_begins(tmp_path: Path, case: str) -> None:
    change, said = UNDONE[case]
    p = laid(tmp_path, change)
    ran = p.run("start", "--workflow", "guide", "x")
    sentence, _ = two_lines(ran.code, ran.err)
    assert "the workflow 'guide' of the package detent-guide cannot be used: " in sentence and said in sentence, ran
    assert "No runs yet" in p.run("runs", "--all").out
    [row] = [c for c in p.run("doctor", "--json").json["checks"] if c["name"] == "workflows"]
    assert not row["ok"] and not row["needed"] and said in row["says"], row


@pytest.mark.slow
def test_a_workflow_that_cannot_be_used_stands_in_no_others_way(tmp_path: Path) -> None:
    p = laid(tmp_path, edit("guide/__init__.py", "WORKFLOW = ", "1 / 0\nWORKFLOW = "))
    listed = p.run("graph").out
    assert "tdd       red, green" in listed and "ZeroDivisionError" in listed
    rows = p.run("graph", "--json").json["workflows"]
    assert {row["workflow"]: bool(row["error"]) for row in rows} == {
        "pr": False, "tdd": False, "execute": False, "pipeline": False, "task": False, "guide": True,
    }  # fmt: skip
    ran = p.run("start", "--workflow", "tdd", "--lean", "x")
    assert ran.err.startswith("detent: --lean belongs to pipeline, not to tdd"), ran


@pytest.mark.slow
def test_a_built_in_name_stays_detents_own_and_that_is_said(tmp_path: Path) -> None:
    p = Beside(tmp_path)
    p.install("greedy", {"detent.workflows": {"tdd": "greedy:WORKFLOW"}}, {"greedy.py": "1 / 0\n"})
    said = "the package greedy names its workflow 'tdd', which is built in; it is not used"
    assert p.run("graph", "tdd").code == 0
    assert f"Ignored: {said}." in p.run("graph").out
    assert p.run("graph", "--json").json["ignored"] == [said]
    assert said in p.run("doctor").out


def test_a_name_that_two_packages_use_is_nobodys(tmp_path: Path) -> None:
    p = laid(tmp_path, lambda site: None)
    p.install("other-guide", {"detent.workflows": {"guide": "other:WORKFLOW"}})
    ran = p.run("graph", "guide")
    assert two_lines(ran.code, ran.err) == (
        "detent: detent-guide and other-guide each bring a workflow 'guide'",
        "  uninstall all but one of them",
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["Guide", "../guide", "my guide", "my-guide"])
def test_a_name_that_runs_cannot_have_is_refused(tmp_path: Path, name: str) -> None:
    p = laid(tmp_path, lambda site: None, {"detent.workflows": {name: "detent_guide.guide:WORKFLOW"}})
    ran = p.run("graph", name)
    assert "its name " in two_lines(ran.code, ran.err)[0]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("gide", "did you mean guide?"), ("night", "known: pr, tdd, execute, pipeline, task, guide; a package may provide others")],
)
def test_a_name_that_nobody_has_is_answered_with_the_nearest_or_with_those_that_there_are(tmp_path: Path, name: str, hint: str) -> None:
    p = laid(tmp_path, lambda site: None)
    ran = p.run("start", "--workflow", name, "x")
    assert two_lines(ran.code, ran.err) == (f"detent: there is no workflow '{name}' here", f"  {hint}")


YES_TO_ODD = ("run", "x", "--yes-to", "flags=odd")
ODD: Points = {"detent.flags": {"odd": "odd:ODD"}}
OTHERS: dict[str, tuple[Points, str, tuple[str, ...], str]] = {
    "an agent that is no function": (
        {"detent.agents": {"mute": "odd:VALUE"}},
        "VALUE = 1\n",
        ("run", "x", "--agent", "mute"),
        "the agent 'mute' of the package odd cannot be used: it is not a function",
    ),
    "an agent that cannot be imported": (
        {"detent.agents": {"mute": "odd.nowhere:ask"}},
        "",
        ("run", "x", "--agent", "mute:1"),
        "ModuleNotFoundError",
    ),
    "a runner that lacks something": (
        {"detent.runners": {"odd": "odd:Odd"}},
        "class Odd:\n    name = 'odd'\n",
        ("start", "--workflow", "tdd", "x"),
        "the test runner 'odd' of the package odd cannot be used: it is not a Runner",
    ),
    "a runner of another name": (
        {"detent.runners": {"odd": "detent.evidence.runners.python.pytest:RUNNER"}},
        "",
        ("start", "--workflow", "tdd", "x"),
        "it calls itself 'pytest'; runner and entry point must have the same name",
    ),
    "a kind of flag that is none": (
        ODD,
        "ODD = 'ask'\n",
        YES_TO_ODD,
        "the kind of flag 'odd' of the package odd cannot be used: it is a str, not a Kind",
    ),
    "a kind of flag of no level": (
        ODD,
        "from detent.kernel.model import Kind\nODD = Kind('loud', 'x')\n",
        YES_TO_ODD,
        "its level is 'loud'; it must be one of allow, note, ask, fail",
    ),
    "a kind of flag that nobody brings": ({}, "", YES_TO_ODD, "--yes-to: there is no kind of flag 'odd'"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", OTHERS)
def test_an_agent_a_runner_or_a_flag_that_does_not_fit_is_named(tmp_path: Path, case: str) -> None:
    points, text, call, said = OTHERS[case]
    p = Beside(tmp_path, {"calc.py": CALC})
    p.install("odd", points, {"odd.py": text})
    ran = p.run(*call)
    assert said in two_lines(ran.code, ran.err)[0], ran
    if points:
        [row] = [c for c in p.run("doctor", "--json").json["checks"] if c["name"] == "extensions"]
        assert not row["ok"] and said in row["says"], row


FLAG: Points = {"detent.flags": {"no-example": "detent_guide.guide_gates:NO_EXAMPLE"}}


@pytest.mark.slow
def test_a_kind_of_flag_is_a_setting_with_the_levels_of_any_other(tmp_path: Path) -> None:
    p = laid(tmp_path, lambda site: None, FLAG)
    for level, code in (("allow", 0), ("note", 0), ("loud", 2)):
        p.write({"detent.toml": f"[flags]\nno-example = '{level}'\n"})
        ran = p.run("check", "HEAD..HEAD", DETENT_FLAGS_NO_EXAMPLE=level)
        assert (ran.code == 2 and "expected one of" in ran.err) == (code == 2), ran
    p.write({"detent.toml": "[flags]\nno-exampel = 'allow'\n"})
    ran = p.run("doctor")
    assert "[flags] has no key no-exampel" in ran.out and "did you mean no-example?" in ran.out, ran
    p.write({"detent.toml": ""})
    ran = p.run("doctor", DETENT_FLAGS_NOTHING="allow")
    assert "the environment variable DETENT_FLAGS_NOTHING is not a setting" in ran.out + ran.err, ran


# -- packages that are gone ----------------------------------------------------------------------------------------------------

EVERYTHING: Points = {**WORKFLOW, "detent.runners": {"doctest": "detent_guide.doctest_runner:RUNNER"}}
AS_A_FILE = edit(
    "doctest_runner.py", '"-m", "detent_guide.doctest_run"', '__file__.replace("doctest_runner", "doctest_run")'
)  # -I finds only what is installed


@pytest.mark.slow
@pytest.mark.needs("loopback")
def test_a_run_of_a_workflow_that_is_gone_is_listed_and_stands_in_no_others_way(tmp_path: Path) -> None:
    p = laid(tmp_path, AS_A_FILE, EVERYTHING)
    assert p.run("start", "--workflow", "guide", "how to add").code == 0
    shutil.rmtree(p.site)
    [run] = p.run("runs", "--json").json["runs"]
    assert run["workflow"] == "guide" and run["run"] in p.run("runs").out
    assert re.search(r"SUCCESS +start +→ WRITE", p.run("show", run["run"]).out)
    for call in ("status", "history", "get-task", "submit-work", "abort"):
        ran = p.run(call, *(("--summary", "s") if call == "submit-work" else ()))
        assert ran.code == 2 and ran.err.startswith("detent: ") and "workflow 'guide'" in ran.err, (call, ran)
    assert p.run("decisions", "--json").code == 2, "it is the run of this checkout"
    p.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    p.root = tmp_path / "other"
    assert p.run("decisions", "--json").json["decisions"] == []
    p.write({"pytest.ini": "[pytest]\n", "test_a.py": "def test_a():\n    assert True\n"})
    p.git("add", "-A")
    p.git("commit", "-qm", "tests")
    started = p.run("start", "--workflow", "tdd", "add numbers")
    assert started.code == 0, started
    assert p.run("steer", "be quick").code == 0
    with served(p) as page:
        assert [row["workflow"] for row in page.get("/api/runs")["runs"]] == ["tdd"]
        assert page.get("/api/decisions")["decisions"] == []
        assert page.ask(f"/api/runs/{run['run']}")[0] != 500
        assert page.ask("/api/workflows/guide")[0] == 404


@pytest.mark.slow
def test_a_run_whose_test_runner_is_gone_says_so(tmp_path: Path) -> None:
    p = laid(tmp_path, AS_A_FILE, EVERYTHING)
    assert p.run("start", "--workflow", "guide", "how to add").code == 0
    (p.site / "detent_guide-1.0.dist-info" / "entry_points.txt").write_text("[detent.workflows]\nguide = detent_guide.guide:WORKFLOW\n")
    p.write({"guide.md": GUIDE})
    ran = p.run("submit-work", "--summary", "s")
    assert "there is no test runner 'doctest' here" in ran.err + ran.out, ran


# -- what is asked when --------------------------------------------------------------------------------------------------------


WATCHED = """
from detent.interfaces.cli.main import main
try:
    main()
finally:
    from detent.extensions import installed
    assert not installed.cache_info().misses
"""


@pytest.mark.slow
def test_what_is_installed_is_not_read_where_everything_is_built_in(tmp_path: Path) -> None:
    p = Beside(tmp_path)
    p.install("trap", {group.name: {"trap": "trap:X"} for group in GROUPS}, {"trap.py": "1 / 0\n"})
    for call in (("get-task",), ("submit-work", "--summary", "s"), ("status",), ("hook", "claude")):
        done = subprocess.run(
            [sys.executable, "-c", WATCHED, *call], cwd=p.root, env=p.env, input="{}", capture_output=True, text=True, check=False
        )
        assert "AssertionError" not in done.stderr, (call, done.stderr)
    named = subprocess.run(
        [sys.executable, "-c", WATCHED, "graph", "trap"], cwd=p.root, env=p.env, capture_output=True, text=True, check=False
    )
    assert "AssertionError" in named.stderr, "a name that is not built in is looked up there"
