"""The words of the command line: typical mistakes get an answer that helps, help teaches, and every call is named as it can be typed."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from detent.app.plain_text import typed
from detent.app.registry import all_tables
from detent.app.starting import workflow_for
from detent.config.sources import load
from detent.errors import DetentError
from detent.installation import CHECKOUT, EXTRAS, PIP, PIPX, UV_PIP, UV_TOOL, UVX, way_of
from detent.interfaces.cli.group import run
from detent.interfaces.cli.help_rows import COMMANDS, GROUPS, MEANT
from detent.interfaces.hooks.words import OURS
from detent.workflows.execute.execute_data import subject_of
from detent.workflows.execute.execute_effects import branch_wanted
from tests.project import PLAN, Project
from tests.repos import make_repo
from tools.messages import GOLDEN

TOOL_NAMES = re.compile(r"\b(get_task|submit_work|request_scope_reduction|escalate_for_external_help)\b")
FIELDS = r"\b(test_command|analysis_decision|commit_hash|no_pr_left|markdown_report)\b|(?<!-)\b(expectation|reply) (is missing|\"|\{\")"


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {"docs/plan.md": "# Plan\n", "tests/test_a.py": "def test_a():\n    assert True\n", "pytest.ini": "[pytest]\n"}
    return make_repo(tmp_path_factory.mktemp("words") / "shop", files)


@pytest.mark.slow
def test_init_without_a_plan_says_what_must_be_committed_before_a_run(tmp_path: Path) -> None:
    p = Project(tmp_path / "p", {"tests/test_a.py": "def test_a():\n    assert True\n", "pytest.ini": "[pytest]\n"})
    said = p.run("init").out
    assert "git add detent.toml && git commit -m 'Set up Detent'" in said.replace("\n  ", " "), said
    assert "a run begins from what is committed" in said
    refused = p.run("start", "--workflow", "tdd", "add numbers").err
    assert "not committed: detent.toml\n  commit it with `git add detent.toml && git commit -m 'Set up Detent'`" in refused, refused
    assert "stash" not in refused, "a run without its settings is not what was set up"
    p.git("add", "detent.toml")
    p.git("commit", "-qm", "Set up Detent")
    assert "git add" not in p.run("init").out
    assert p.run("start", "--workflow", "tdd", "add numbers").code == 0


# What is typed, and words of the answer. None of it starts anything, and none of it is a traceback.
MISTAKES = [
    ("get-task", "there is no run in this repository yet", "detent start"),
    ("start", "no request, and no plan at docs/Plan_Doc/Active_Plan.md", "detent start docs/plan.md"),
    ("start docs/pln.md", "there is no plan docs/pln.md", "did you mean docs/plan.md?"),
    (f"start --workflow pr {'x' * 300}", "[…] does not exist", "detent init --entry"),
    ("start docs/plan.md", "the plan docs/plan.md has no entries", "detent init --entry"),
    ("start ./nowhere/at-all.md", "there is no plan", "did you mean docs/plan.md?"),
    ("run", "no request, and no plan at", "detent start docs/plan.md"),
    ("run docs/plna.md", "there is no plan docs/plna.md", "did you mean docs/plan.md?"),
    ("run add-a-thing", "no agent is named", "--agent claude"),
    ("run x --agent foo", "there is no agent 'foo'", "known: anthropic"),
    ("run x --workflow foo", "there is no workflow 'foo' here", "known: pr, tdd"),
    ("run x --yes-to foo", "there is no policy 'foo'", "known: approve-design"),
    ("run x --agent cluade:opus", "there is no agent 'cluade:opus'", "did you mean claude?"),
    ("run x --workflow pipline", "there is no workflow 'pipline' here", "did you mean pipeline?"),
    ("run x --yes-to aprove-design", "there is no policy 'aprove-design'", "did you mean approve-design?"),
    ("demo pipelin", "there is no demo 'pipelin'", "did you mean detent demo pipeline?"),
    ("start something --lean", "--lean belongs to pipeline, not to tdd", "add --workflow pipeline"),
    ("start x --workflow execute", "no agent calls by itself", "detent run --workflow execute"),
    ("show", "there is no run", "detent start"),
    ("show pr-1", "there is no run", "detent "),
    ("status", "there is no run", "detent start"),
    ("history", "there is no run", "detent start"),
    ("abort", "there is no run", "detent start"),
    ("answer", "Missing argument 'DECISION'", "for example: detent answer FLAGS accept"),
    ("answer FLAGS", "say what the answer is", "detent answer --help"),
    ("answer FLAGS accept", "there is no run", "detent start"),
    ("steer", "Missing argument 'TEXT'", 'for example: detent steer "leave the parser alone"'),
    ("submit-work", "--summary is missing", "detent submit-work --help"),
    ("submit-work --sumary x", "No such option '--sumary'", "Did you mean '--summary'?"),
    ("submit-work --summary x", "there is no run", "detent start"),
    ("rollback", "Missing argument", "for example: detent rollback 12"),
    ("graph foo", "there is no workflow 'foo'", "known: pr, tdd, execute"),
    ("verify", "is the first commit", "detent verify main..HEAD"),
    ("verify foo", "there is no commit 'foo' here", "name another one"),
    ("check nope", "there is no commit 'nope' here", "name another one"),
    ("check", "there is nothing to check", "detent check --worktree"),
    ("items add", "an item needs a title", "--file"),
    ("items show it-9", "there is no item 'it-9'", "detent items list"),
    ("queue add", "name the items, or use --ready", "detent items list"),
    ("queue add it-9", "there is no item 'it-9'", "detent items list"),
    ("queue show it-9", "there is no it-9 in the queue", "detent queue list"),
    ("work --slots 0", "Invalid value for '--slots'", "detent work --help"),
    ("land nope", "there is no branch 'nope'", "git branch"),
    ("review", "Missing argument 'BRANCH'", "for example: detent review"),
    ("hook", "Missing argument 'CLIENT'", "detent hook claude"),
    ("bench", "Missing argument 'WHAT'", "detent bench gates"),
    ("serve --host 1.2.3.4", "is not loopback", "--open-to-network"),
    ("demo foo", "there is no demo 'foo'", "there are: "),
    ("init --client foo", "'foo' is not one of 'claude'", "detent init --help"),
    ("init --client cladue", "'cladue' is not one of 'claude'", "did you mean claude?"),
    ("init --hook prepush", "'prepush' is not", "did you mean pre-push?"),
    ("escalate-for-external-help", "Missing option '--report'", "detent escalate-for-external-help --report"),
    ("escalate-for-external-help --report gone.md", "gone.md cannot be read", "name a file that exists"),
    ("-C nowhere status", "cannot work in nowhere", "name a folder that exists"),
    ("status extra", "unexpected extra argument", "detent status --help"),
    ("answer UD-1 yes, whole cents", "unexpected extra arguments", "put words with spaces in quotes"),
    ("get-task --run nope", "there is no run", "detent "),
    ("stop", "there is no command 'stop'; did you mean 'abort'?", "detent --help"),
    ("submit_work", "did you mean 'submit-work'?", "detent --help"),
    ("lgo", "did you mean 'history'?", "detent --help"),
    ("version", "did you mean 'detent --version'?", "detent --help"),
    ("xyzzy", "there is no command 'xyzzy'\n", "detent --help"),
    ("--foo", "No such option '--foo'", "detent --help"),
]


@pytest.mark.sample(6)
@pytest.mark.parametrize(("line", "wrong", "way"), MISTAKES, ids=[line for line, *_ in MISTAKES])
def test_a_typical_mistake_is_answered_with_the_way_out(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, wrong: str, way: str
) -> None:
    monkeypatch.chdir(repo)
    for name in ("ANTHROPIC_API_KEY", "DETENT_AGENTS_MODEL"):
        monkeypatch.delenv(name, raising=False)
    code = run(line.split())
    said = capsys.readouterr()
    assert code == 2, said
    assert said.out == ""
    assert wrong in said.err and way in said.err
    assert not TOOL_NAMES.search(said.err.replace(line, ""))
    assert "\n".join(said.err.splitlines()[:1]).startswith(("detent: ", "detent check: ")), "one sentence first"


HIDES = """
import sys
for name in {hidden!r}:
    sys.modules[name] = None
from detent.interfaces.cli.group import run
for words in {lines!r}:
    print(words, run(words.split()), flush=True)
"""
ALONE = {  # how each command is called where it could do something by itself
    "demo": "graph pr", "serve": "serve --no-open --port 0", "work": "work --once", "queue": "queue list", "items": "items list", "run": "run x --agent anthropic",
    "verify": "verify HEAD", "bench": "bench gates --list", "mcp": "mcp --http --help", "uninstall": "uninstall --json", "init": "init --json",
}  # fmt: skip


@pytest.mark.slow
def test_no_command_is_a_bug_where_only_the_packages_that_all_need_are_installed(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    lines = [ALONE.get(name, name) for name in COMMANDS]
    program = HIDES.format(hidden=sorted(EXTRAS), lines=lines)
    said = subprocess.run([sys.executable, "-c", program], cwd=project.root, env=project.env, input="", capture_output=True, text=True)
    codes = dict(line.rsplit(" ", 1) for line in said.stdout.splitlines() if line.rsplit(" ", 1)[0] in lines)
    assert codes.keys() == set(lines) and "3" not in codes.values() and "a bug in Detent" not in said.stderr, said.stderr
    assert said.stderr.count("is not installed, and this command needs it") == 2, "serve and work"
    assert codes["work --once"] == codes["serve --no-open --port 0"] == "2"


def test_asking_for_work_starts_nothing(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    assert project.run("get-task").code == 2
    assert not (project.root / ".git" / "detent" / "journal.db").exists()
    assert project.git("status", "--short") == ""
    started = project.run("start", "--json").json
    assert project.run("get-task", "--json").json["run"] == started["run"]
    assert project.run("show").out.startswith(started["run"]), "show takes the run of this checkout"
    assert "did you mean" in project.run("show", started["run"][:-1]).err


# -- start and run agree -------------------------------------------------------------------------------------------------------


def test_the_request_says_which_workflow_it_is_for(repo: Path) -> None:
    assert workflow_for("docs/plan.md", repo, PLAN) == "pr"
    assert workflow_for("", repo, "docs/plan.md") == "pr"
    assert workflow_for("add a longest length to slugify", repo, PLAN) == "tdd"
    assert workflow_for("either/or in names", repo, PLAN) == "tdd"
    assert workflow_for("# A longest length\n\n" + "- slugs are cut\n" * 300, repo, PLAN) == "tdd", "longer than any name of a file"
    assert workflow_for("docs/plan.md", repo, PLAN, "pipeline") == "pipeline"
    with pytest.raises(DetentError, match="there is no plan"):
        workflow_for("plans/mine.md", repo, PLAN)


# -- help ----------------------------------------------------------------------------------------------------------------------


def test_help_has_four_groups_and_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    said = capsys.readouterr().out
    assert [line for line in said.splitlines() if line in {f"{group}:" for group in GROUPS}] == [f"{group}:" for group in GROUPS]
    assert all(row.example in said for row in COMMANDS.values())
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_has_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert COMMANDS[name].example.startswith(f"detent {name}")
    assert run(["help", name]) == 0
    assert f"detent {name}" in capsys.readouterr().out.partition("\n")[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_is_broken_at_a_hyphen(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["help", name]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if re.search(r"\w-$", line)] == [], "nobody can copy it"


def test_what_people_may_mean_is_a_command() -> None:
    assert set(MEANT.values()) <= set(COMMANDS) and not set(MEANT) & set(COMMANDS)


# -- the calls in the words of the door ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Call get_task.", "Run `detent get-task`."),
        ("Wait, then call get_task.", "Wait, then run `detent get-task`."),
        (
            'call submit_work with summary, test_command and expectation "FAIL"',
            "run `detent submit-work --summary … --test-command … --expectation FAIL`",
        ),
        (
            'call submit_work with summary and analysis_decision "SUCCESS" or "FAILURE"',
            "run `detent submit-work --summary … --analysis-decision SUCCESS|FAILURE`",
        ),
        ("call submit_work with summary and no_pr_left true.", "run `detent submit-work --summary … --no-pr-left`."),
        (
            'then call submit_work with summary and reply {"a": {"b": …}}, or',
            'then run `detent submit-work --summary … --reply FILE`, where FILE has {"a": {"b": …}}, or',
        ),
        ("call submit_work with summary and findings (JSON)", "run `detent submit-work --summary … --findings FILE` (JSON)"),
        ("call escalate_for_external_help with markdown_report", "run `detent escalate-for-external-help --report FILE`"),
        ("- request_scope_reduction: open", "- `detent request-scope-reduction`: open"),
        (
            "submit_work is not possible in CREATING_BRANCH. Next: call get_task",
            "`detent submit-work` is not possible in CREATING_BRANCH. Next: run `detent get-task`",
        ),
        ("test_command is missing; words alone are not evidence", "--test-command is missing; words alone are not evidence"),
        (
            'expectation is missing; this is a RED step: pass expectation "FAIL" together with test_command',
            "--expectation is missing; this is a RED step: pass --expectation FAIL together with --test-command",
        ),
        (
            'a RED step expects FAIL, not PASS; submit again with expectation "FAIL"',
            "a RED step expects FAIL, not PASS; submit again with --expectation FAIL",
        ),
        ('If the test itself is wrong, say so with reply "TEST_WRONG".', "If the test itself is wrong, say so with --reply TEST_WRONG."),
        (
            'reply is missing; pass reply {"currentTest": {"a": …}}, or',
            '--reply is missing; pass --reply \'{"currentTest": {"a": …}}\', or',
        ),
        ("commit_hash is abc, but HEAD is def", "--commit-hash is abc, but HEAD is def"),
        ("- `test_command` is the project's own test runner", "- `--test-command` is the project's own test runner"),
        ("def get_task(): return submit_work", "def get_task(): return submit_work"),
        ("tests/test_cli.py::test_command passed before and fails now", "tests/test_cli.py::test_command passed before and fails now"),
    ],
)
def test_a_call_is_named_as_it_is_typed(said: str, shown: str) -> None:
    assert typed(said) == shown


def test_no_sentence_of_a_gate_names_a_field_of_a_tool_at_the_command_line() -> None:
    """Every text of the gates, the tables and the door, as the file that has them all."""
    lines = (GOLDEN / "gates.txt").read_text("utf-8").splitlines()
    texts = [
        line.partition(": ")[2].replace("⏎", "\n")
        for line in lines
        if line.startswith(("gates/", "kernel/", "workflows/", "door", "evidence/"))
    ]
    assert len(texts) > 1000
    left = [typed(text) for text in texts if re.search(TOOL_NAMES.pattern + "|" + FIELDS, typed(text))]
    assert left == []


def test_no_instruction_of_any_table_names_a_tool_at_the_command_line() -> None:
    moves = [(table.name, move.how) for table in all_tables().values() for move in table.moves.values()]
    assert len(moves) > 50
    assert [(name, typed(says)) for name, says in moves if TOOL_NAMES.search(typed(says))] == []


def test_what_was_said_last_is_named_as_it_is_typed(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    project.run("start")
    refused = project.run("request-scope-reduction", "--json").json
    assert TOOL_NAMES.search(" ".join(refused["reasons"])), "as the journal has it"
    for command, after in (("status", "Last:"), ("history", "REFUSED")):
        said = project.run(command).out.partition(after)[2]
        assert "detent submit-work" in said and not TOOL_NAMES.search(said), said


# -- names of branches and commits -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fits"),
    [("work/{id}-{title}", True), ("{id}", True), ("{title}", False), ("../{id}", False), ("-{id}", False), ("{id}.lock", False), ("{id} x", False)],
)  # fmt: skip
def test_a_template_for_branches_is_checked(text: str, fits: bool) -> None:
    def read(name: str) -> str | None:
        return f'[tracker]\nbranch = "{text}"\n' if name == "detent.toml" else None

    if fits:
        assert load(read, {}).tracker.branch == text
    else:
        with pytest.raises(DetentError, match=r"tracker\.branch"):
            load(read, {})


def test_a_template_makes_a_safe_name() -> None:
    assert branch_wanted("work/{id}-{title}", "it-4", "Show; $(totals)") == "work/it-4-show-totals"
    assert branch_wanted("{id}-{title}", "it-4", "…") == "it-4"
    assert subject_of("{title} (#{id})", "12", "Round {id}") == "Round {id} (#12)", "a title is no template"


# -- how Detent was installed --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prefix", "source", "installer", "way"),
    [
        ("/home/a/.local/share/pipx/venvs/detent", "lib/python3.12/site-packages/detent/installation.py", "pip", PIPX),
        ("/home/a/.local/share/uv/tools/detent", "lib/python3.12/site-packages/detent/installation.py", "uv", UV_TOOL),
        ("/home/a/.cache/uv/archive-v0/abc", "lib/python3.12/site-packages/detent/installation.py", "uv", UVX),
        ("/srv/venv", "lib/python3.12/site-packages/detent/installation.py", "uv", UV_PIP),
        ("/usr", "lib/python3/dist-packages/detent/installation.py", "pip", PIP),
    ],
)
def test_a_hint_names_the_way_detent_was_installed(prefix: str, source: str, installer: str, way: object) -> None:
    assert way_of(Path(prefix), Path(prefix) / source, installer) is way


def test_an_extra_is_named_by_its_packages_since_an_index_may_have_another_detent() -> None:
    from detent.installation import requires_of

    assert [re.split(r"[<>=]", each)[0] for each in requires_of("queue")] == ["dbos"]
    assert requires_of("nothing") == ()


def test_in_a_checkout_the_hint_is_its_own_script() -> None:
    root = Path(__file__).parent.parent
    assert way_of(root / ".venv", root / "src" / "detent" / "installation.py", "uv") is CHECKOUT


def test_the_name_of_the_distribution_stands_in_one_place() -> None:
    from detent.installation import DISTRIBUTION

    root = Path(__file__).parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["name"] == DISTRIBUTION and set(project["scripts"]) == set(OURS) == {"detent", DISTRIBUTION}
    found = subprocess.run(
        ["git", "grep", "-nE", r"pip install|pipx|uv tool", "--", "src/**/*.py"], cwd=root, capture_output=True, text=True
    ).stdout
    left = [line for line in found.splitlines() if DISTRIBUTION in line.partition(":")[2] and "installation.py" not in line]
    assert left == [], os.linesep.join(left)
