"""Settings: every key and its row in the docs, the order of the sources, and every kind of mistake by its text."""

import json
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from detent.config import Settings, kinds, variable
from detent.config.settings import LEVEL, Endpoint, TestProject, TokenPrice
from detent.config.sources import load
from detent.errors import DetentError
from detent.kernel.model import KINDS

DOCS = Path(__file__).parent.parent / "docs" / "configuration.md"
Files = dict[str, str]


def settings(files: Files | str | None = None, env: dict[str, str] | None = None, **flags: str) -> Settings:
    """The settings of a project that consists of these files; a text stands for its detent.toml."""
    held = {"detent.toml": files} if isinstance(files, str) else files or {}
    return load(held.get, env or {}, {name.replace("__", "."): value for name, value in flags.items()})


def told(files: Files | str | None = None, env: dict[str, str] | None = None) -> tuple[str, str]:
    """The two lines a person is told."""
    with pytest.raises(DetentError) as error:
        settings(files, env)
    assert error.value.hint, "every error names the way out"
    return error.value.message, error.value.hint


# The list of keys.


def rows() -> dict[str, list[str]]:
    lines = [line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    assert all(len(row) == 4 for row in cells), [row for row in cells if len(row) != 4]
    return {row[0].strip("` "): row for row in cells}


@pytest.mark.parametrize("name", kinds())
def test_every_key_has_its_row_in_the_docs(name: str) -> None:
    _, meaning, default, env = rows()[name]
    assert meaning
    assert env == f"`{variable(name)}`"
    shown = Settings().flat()[name]
    assert default == ("unset" if name == "preflight.commands" else f"`{shown}`" if shown else '`""`')


def test_the_docs_have_no_row_for_a_key_that_is_not_there() -> None:
    assert set(rows()) - set(kinds()) == {"agents.<role>"}


def test_the_keys_are_those_of_the_contract() -> None:
    sections: dict[str, list[str]] = {}
    for name in kinds():
        sections.setdefault(name.partition(".")[0], []).append(name.partition(".")[2])
    assert sections == {
        "project": ["name", "tech_stack"], "test": ["command", "report", "files", "timeout", "env"], "bash": ["timeout"], "preflight": ["commands"],
        "pr": ["plan", "entries"], "tdd": ["retries"], "pipeline": ["keep_documents"],
        "git": ["main", "branching", "checkpoint", "squash", "merge", "pr_command", "push", "wait_for_ci", "remote"],
        "debug": ["hypothesize", "instrument", "reduce_scope", "escalate"], "review": ["agent", "block_at", "max_rounds", "require_independent"],
        "agents": ["model", "escalate.after", "escalate.to"],
        "evidence": ["mutation", "clean", "seconds"], "flags": ["answered_by", *KINDS], "limits": ["tokens", "usd", "minutes", "turns", "files"],
        "sandbox": ["level", "pull", "cpus", "memory", "network", "mounts", "image"], "workspace": ["setup", "copy"],
        "queue": ["url", "slots", "timeout", "silence", "strategy", "retry_from", "free_disk", "usd", "tokens", "hours", "window"],
        "notify": ["command", "webhook", "form", "desktop", "events", "every"], "tracker": ["kind", "query", "ready", "branch", "commit"], "forge": ["kind", "project"],
        "decisions": ["require"],
    }  # fmt: skip


def test_nothing_configured_gives_the_defaults() -> None:
    assert settings() == Settings()
    found = settings()
    assert (found.bash.timeout, found.test.timeout, found.tdd.retries, found.pr.plan) == (120, 120, 3, "docs/Plan_Doc/Active_Plan.md")
    assert (found.git.squash, found.git.remote, found.preflight.commands) == ("", "origin", None)
    assert found.agents.model == "claude-opus-4-5-20251101"


def test_every_key_can_be_set_in_the_file_and_in_the_environment() -> None:
    texts = {name: _another(name) for name in kinds()}
    by_env = settings(env={variable(name): text for name, text in texts.items()}).flat()
    sections = sorted({name.partition(".")[0] for name in kinds()})
    file = "\n".join(
        f"[{section}]\n" + "\n".join(f"{n.partition('.')[2]} = {_toml(n, texts[n])}" for n in kinds() if n.startswith(f"{section}."))
        for section in sections
    )
    assert settings(file).flat() == by_env == {**Settings().flat(), **texts}
    assert all(Settings().flat()[name] != text for name, text in texts.items())


def _another(name: str) -> str:
    """A value that is not the default, as text."""
    special = {
        "git.checkpoint": "agent", "git.squash": "auto", "git.merge": "branch", "git.branching": "false", "review.block_at": "MAJOR",
        "evidence.mutation": "off", "sandbox.level": "none", "sandbox.pull": "none", "sandbox.memory": "1g", "queue.strategy": "tdd", "tracker.kind": "beads",
        "queue.retry_from": "main", "forge.kind": "gitlab", "forge.project": "acme/shop", "tracker.query": "labels=x", "tracker.branch": "work/{id}", "tracker.commit": "{title}",
        "decisions.require": "terminal", "limits.usd": "2.5", "debug.hypothesize": "2", "debug.escalate": "11", "debug.reduce_scope": "7",
        "debug.instrument": "4", "flags.answered_by": "reviewer", "queue.window": "22:00-07:00", "notify.webhook": "https://x.example/", "notify.form": "slack",
        "notify.events": '["over"]',
    }  # fmt: skip
    by_kind = {str: "x", int: "77", float: "7.5", bool: "true", tuple[str, ...]: '["x", "ü"]', LEVEL: "note"}
    if name == "test.env":
        return '["X"]'
    return special.get(name) or by_kind[kinds()[name]]


def _toml(name: str, text: str) -> str:
    return text if kinds()[name] in (int, float, bool, tuple[str, ...]) else json.dumps(text)


def test_flat_names_are_texts_for_gates() -> None:
    found = settings('[preflight]\ncommands = ["a b", "ü"]\n[limits]\nusd = 2\n[agents]\nQA = "codex"\n').flat()
    assert found["preflight.commands"] == '["a b", "ü"]'
    assert (found["git.branching"], found["sandbox.network"], found["limits.usd"], found["agents.qa"]) == ("true", "false", "2", "codex")
    assert settings().flat()["preflight.commands"] == ""
    assert settings("[preflight]\ncommands = []").flat()["preflight.commands"] == "[]"


def test_folders_that_are_tested_by_themselves_are_rows_of_their_own() -> None:
    found = settings("[[test.project]]\npath = './api/'\ncommand = 'pytest -q'\nfiles = ['x']\ntimeout = 5\n[[test.project]]\npath = '.'\n")
    assert found.test.project == (TestProject("api", "pytest -q", ("x",), 5), TestProject(""))
    assert msgspec.json.decode(msgspec.json.encode(found), type=Settings) == found, "a run keeps them"
    shown = DOCS.read_text(encoding="utf-8").partition("## Several projects")[2]
    assert all(f"\n| {key} |" in shown for key in TestProject.__struct_fields__)


def test_services_and_prices_are_tables_by_names_of_the_projects_own() -> None:
    toml = (
        '[services.mine]\nurl = "https://models.example/v1"\nkey = "MINE"\nusage = false\n[prices]\n"a/b:c" = { input = 1, output = 2.5 }\n'
    )
    found = settings(toml)
    assert found.services == {"mine": Endpoint("https://models.example/v1", "MINE", False)}
    assert found.prices == {"a/b:c": TokenPrice(1, 2.5)}
    assert msgspec.json.decode(msgspec.json.encode(found), type=Settings) == found, "a run keeps them"
    shown = DOCS.read_text(encoding="utf-8")
    for title, row in (("## Services of models", Endpoint), ("## Prices", TokenPrice)):
        assert all(f"\n| {key} |" in shown.partition(title)[2] for key in row.__struct_fields__)


def test_roles_are_free_names_and_know_no_case() -> None:
    found = settings('[agents]\nmodel = "m"\nSpecAgent = "claude"\n', {"DETENT_AGENTS_REVIEWER": "human"})
    assert (found.agents.model, found.agents.of("specagent"), found.agents.of("Reviewer"), found.agents.of("coder")) == (
        "m",
        "claude",
        "human",
        "",
    )


# Flags.


def test_a_kind_of_flag_has_its_own_default_until_its_level_is_set() -> None:
    assert {settings().flat()[f"flags.{kind}"] for kind in KINDS} == {""}
    found = settings('[flags]\nno-proof = "note"\njudged-by = "fail"\n', {"DETENT_FLAGS_NO_PROOF": "allow"}).flat()
    assert (found["flags.no-proof"], found["flags.judged-by"], found["flags.unnoticed"]) == ("allow", "fail", "")


@pytest.mark.parametrize(("mutation", "level"), [("off", "allow"), ("warn", ""), ("require", "fail")])
def test_what_mutation_says_holds_for_its_two_kinds_unless_flags_say_otherwise(mutation: str, level: str) -> None:
    found = settings(f'[evidence]\nmutation = "{mutation}"\n').flat()
    assert (found["flags.vacuous-test"], found["flags.unnoticed"], found["flags.no-proof"]) == (level, level, "")
    own = settings(f'[evidence]\nmutation = "{mutation}"\n[flags]\nunnoticed = "note"\n').flat()
    assert (own["flags.vacuous-test"], own["flags.unnoticed"]) == (level, "note")


def test_levels_survive_being_kept_with_a_run() -> None:
    found = settings('[flags]\nno-proof = "note"\n')
    assert msgspec.json.decode(msgspec.json.encode(found), type=Settings) == found


def test_a_reviewer_who_is_to_answer_must_be_configured() -> None:
    message, hint = told('[flags]\nanswered_by = "reviewer"\n')
    assert message == 'detent.toml: flags.answered_by is "reviewer", and no reviewer is configured'
    assert "[review] agent" in hint
    assert settings('[flags]\nanswered_by = "reviewer"\n[review]\nagent = "codex"\n').flags.answered_by == "reviewer"


# The order of the sources.


def test_a_stronger_source_wins() -> None:
    files = {"tdd.properties": "bash.timeout=1\ntest.command=one\n"}
    assert (settings(files).bash.timeout, settings(files).test.command) == (1, "one")
    files["detent.toml"] = '[bash]\ntimeout = 2\n[tdd]\nretries = 2\n[agents]\nmodel = "two"\n'
    assert (settings(files).bash.timeout, settings(files).test.command) == (2, "one")
    env = {"TDD_MAX_RETRIES": "4", "TDD_MODEL": "three"}
    assert (settings(files, env).tdd.retries, settings(files, env).agents.model) == (4, "three")
    env |= {"DETENT_TDD_RETRIES": "5", "DETENT_AGENTS_MODEL": "four", "DETENT_BASH_TIMEOUT": "6"}
    assert (settings(files, env).tdd.retries, settings(files, env).agents.model, settings(files, env).bash.timeout) == (5, "four", 6)
    assert settings(files, env, tdd__retries="9").tdd.retries == 9


def test_the_time_for_tests_is_that_for_commands_unless_it_is_set() -> None:
    assert settings("[bash]\ntimeout = 7").test.timeout == 7
    assert settings(None, {"DETENT_BASH_TIMEOUT": "8"}).test.timeout == 8
    assert settings("[bash]\ntimeout = 7\n[test]\ntimeout = 9").test.timeout == 9


def test_the_table_in_pyproject_is_the_same_as_the_file() -> None:
    assert settings({"pyproject.toml": '[project]\nname = "x"\n[tool.detent.test]\ncommand = "pytest"\n'}).test.command == "pytest"
    assert settings({"pyproject.toml": '[project]\nname = "x"\n'}) == Settings()
    assert settings({"pyproject.toml": "[tool.detent]\n"}) == Settings()


def test_a_broken_pyproject_that_is_not_ours_is_not_our_trouble() -> None:
    assert settings({"pyproject.toml": 'name = "detent-friend'}) == Settings()
    assert settings({"pyproject.toml": 'name = "detent-friend', "detent.toml": "[bash]\ntimeout = 3"}).bash.timeout == 3


def test_both_files_at_once_are_refused() -> None:
    message, hint = told({"pyproject.toml": "[tool.detent]\n", "detent.toml": ""})
    assert message == "both detent.toml and [tool.detent] in pyproject.toml exist"
    assert hint == "move everything into detent.toml and remove the other"


def test_properties_are_read_as_java_reads_them() -> None:
    text = "# a comment\n! another\n\n  bash.timeout : 9\r\ntest.command=mvn \\\n    test -Dx\\=y\n"
    found = settings({"tdd.properties": text})
    assert (found.bash.timeout, found.test.command) == (9, "mvn test -Dx=y")
    assert settings({"tdd.properties": "bash.timeout 9"}).bash.timeout == 9


# The environment.


@pytest.mark.parametrize(
    ("key", "text", "name", "flat"),
    [
        ("DETENT_BASH_TIMEOUT", " 30 ", "bash.timeout", "30"),
        ("DETENT_LIMITS_USD", "1.25", "limits.usd", "1.25"),
        ("DETENT_GIT_BRANCHING", "False", "git.branching", "false"),
        ("DETENT_GIT_BRANCHING", "off", "git.branching", "false"),
        ("DETENT_SANDBOX_NETWORK", "1", "sandbox.network", "true"),
        ("DETENT_SANDBOX_NETWORK", "YES", "sandbox.network", "true"),
        ("DETENT_PREFLIGHT_COMMANDS", '["a, b", "c"]', "preflight.commands", '["a, b", "c"]'),
        ("DETENT_PREFLIGHT_COMMANDS", "ruff check --select E,F", "preflight.commands", '["ruff check --select E,F"]'),
        ("DETENT_PREFLIGHT_COMMANDS", "", "preflight.commands", "[]"),
        ("DETENT_GIT_REMOTE", "", "git.remote", ""),
        ("DETENT_DEBUG_REDUCE_SCOPE", "5", "debug.reduce_scope", "5"),
    ],
)
def test_the_environment_holds_numbers_truths_and_lists_as_text(key: str, text: str, name: str, flat: str) -> None:
    assert settings(None, {key: text}).flat()[name] == flat


def test_what_detent_tells_its_agents_is_not_a_setting() -> None:
    assert settings(None, {"DETENT_RUN": "r", "DETENT_STATE": "s", "DETENT_ROLE": "x", "DETENTION": "y", "PATH": "z"}) == Settings()


# Mistakes.

MISTAKES = (
    ("[tests]\n", "detent.toml: there is no section [tests]", "did you mean [test]?"),
    ("[zebra]\n", "detent.toml: there is no section [zebra]", "known: [project], [test], [bash]"),
    ("[test]\ncomand = 'x'", "detent.toml: [test] has no key comand", "did you mean command?"),
    ("[git]\nretries = 1", "detent.toml: [git] has no key retries", "did you mean [tdd] retries?"),
    ("[bash]\nzebra = 1", "detent.toml: [bash] has no key zebra", "known: timeout"),
    ("[agents]\n'a b' = 'x'", "detent.toml: [agents] has no key a b", "known: model"),
    ("[agents]\nescalate = 'x'", 'detent.toml: agents.escalate is the text "x"; expected a table', "write [agents.escalate]"),
    ("[agents.escalate]\nafer = 1", "detent.toml: [agents] has no key escalate.afer", "did you mean escalate.after?"),
    ("[agents.escalate]\nafter = -1\nto = 'x'", "detent.toml: agents.escalate.after is -1; it must be at least 0", "default, 0"),
    ("[agents.escalate]\nafter = 2", "detent.toml: agents.escalate.after is set, and agents.escalate.to is not", "set both"),
    ("[agents.escalate]\nto = 'x'", "detent.toml: agents.escalate.to is set, and agents.escalate.after is not", "set both"),
    ("services = 1", "detent.toml: services is a section, not 1", "write [services]"),
    ("[services]\nmine = 'x'", 'detent.toml: [services] mine is the text "x"; expected a table', "[services.local]"),
    ("[services.mine]\nkey = 'X'", "detent.toml: [services] mine has no url", "[services.local]"),
    ("[services.mine]\nurl = 1", "detent.toml: [services] mine: url is 1; expected a text", "text"),
    ("[services.mine]\nurl = 'ftp://x'", "[services] mine: url is the text \"ftp://x\"; expected an address that begins with", "[services.local]"),
    ("[services.mine]\nurl = 'https://me:pass@x/v1'", "expected an address that begins with", "[services.local]"),
    ("[services.mine]\nurl = 'http://x'\nkey = 'sk-123-456'", "[services] mine: key is not the name of an environment variable", "MY_API_KEY"),
    ("[services.mine]\nurl = 'http://x'\ntoken = 'X'", "detent.toml: [services] mine has no key token", "known: url, key, usage"),
    ("[services.'a b']\nurl = 'http://x'", "is not a name", "[services.local]"),
    ("[prices]\nm = 3", "detent.toml: [prices] m is 3; expected a table", "dollars per million tokens"),
    ("[prices]\nm = { input = 1 }", "detent.toml: [prices] m has no output", "dollars per million tokens"),
    ("[prices]\nm = { input = -1, output = 1 }", "detent.toml: [prices] m: input is -1; it must be at least 0", "dollars"),
    ("[prices]\nm = { input = nan, output = 1 }", "detent.toml: [prices] m: input is nan; expected a number", "2.5"),
    ("[prices]\nm = { input = 1, output = 1, read = 1 }", "detent.toml: [prices] m has no key read", "known: input, output, cached, written"),
    ("timeout = 3", "detent.toml: timeout is outside of a section", "write it under [test] or [bash] or [queue]"),
    ("zebra = 3", "detent.toml: zebra is outside of a section", "put every key in a section such as [test]"),
    ("test = 'pytest'", 'detent.toml: test is a section, not the text "pytest"', "write [test], and its keys below it"),
    ("[bash]\ntimeout = '9'", 'detent.toml: bash.timeout is the text "9"; expected a whole number', "for example: 120"),
    ("[bash]\ntimeout = 1.5", "detent.toml: bash.timeout is 1.5; expected a whole number", "for example: 120"),
    ("[bash]\ntimeout = true", "detent.toml: bash.timeout is true; expected a whole number", "for example: 120"),
    ("[bash]\ntimeout = 2001-01-01", "detent.toml: bash.timeout is a date or time; expected a whole number", "120"),
    ("[git]\nbranching = 1", "detent.toml: git.branching is 1; expected true or false", "for example: true"),
    ("[git]\nmain = ['a']", "detent.toml: git.main is a list; expected a text", 'for example: "text"'),
    ("[preflight]\ncommands = 'a'", 'detent.toml: preflight.commands is the text "a"; expected a list of texts', '["first", "second"]'),
    ("[preflight]\ncommands = [1]", "detent.toml: preflight.commands is a list; expected a list of texts", '["first", "second"]'),
    ("[preflight]\ncommands = ['']", "detent.toml: preflight.commands is a list; expected a list of texts", '["first", "second"]'),
    ("[limits]\nusd = nan", "detent.toml: limits.usd is nan; expected a number", "for example: 2.5"),
    ("[git.main]\nx = 1", "detent.toml: git.main is a table; expected a text", 'for example: "text"'),
    ("[bash]\ntimeout = 0", "detent.toml: bash.timeout is 0; it must be at least 1", "leave it out for the default, 120"),
    ("[test]\ntimeout = -5", "detent.toml: test.timeout is -5; it must be at least 1", "default, 120"),
    ("[queue]\nslots = 0", "detent.toml: queue.slots is 0; it must be at least 1", "default, 3"),
    ("[queue]\nusd = -1", "detent.toml: queue.usd is -1; it must be at least 0", "default, 0"),
    ("[queue]\nwindow = '22-7'", 'detent.toml: queue.window has the text "22-7"; expected a part of the day', '"22:00-07:00"'),
    ("[queue]\nwindow = '07:00-07:00'", 'detent.toml: queue.window has the text "07:00-07:00"; expected a part', '"22:00-07:00"'),
    ("[queue]\nwindow = '24:00-07:00'", 'detent.toml: queue.window has the text "24:00-07:00"; expected a part', '"22:00-07:00"'),
    ("[notify]\nevents = ['never']", 'detent.toml: notify.events has the text "never"; expected some of person', '["person", "over"]'),
    ("[notify]\nwebhook = 'ftp://x'", 'detent.toml: notify.webhook has the text "ftp://x"; expected an address', "https://"),
    ("[limits]\nusd = -0.1", "detent.toml: limits.usd is -0.1; it must be at least 0", "default, 0"),
    ("[tdd]\nretries = -1", "detent.toml: tdd.retries is -1; it must be at least 0", "default, 3"),
    ("[debug]\nreduce_scope = 11", "detent.toml: debug.reduce_scope (11) is more than debug.escalate (10)", "they must increase: hypothesize, instrument"),
    ("[debug]\nescalate = 2", "detent.toml: debug.reduce_scope (6) is more than debug.escalate (2)", "they must increase"),
    ("[git]\nmerge = 'squash'", 'detent.toml: git.merge is the text "squash"; expected one of "auto", "branch", "pull-request"', "take one of these"),
    ("[git]\nmerge = 'pull_request'", 'detent.toml: git.merge is the text "pull_request"', 'did you mean "pull-request"?'),
    ("[review]\nblock_at = 'minor'", 'detent.toml: review.block_at is the text "minor"; expected one of "CRITICAL", "MAJOR"', 'did you mean "MINOR"?'),
    ("[flags]\nno_proof = 'ask'", "detent.toml: [flags] has no key no_proof", "did you mean no-proof?"),
    ("[flags]\nunotice = 'ask'", "detent.toml: [flags] has no key unotice", "did you mean unnoticed?"),
    ("[flags]\nno-proof = 'warn'", 'detent.toml: flags.no-proof is the text "warn"; expected one of "allow", "note", "ask", "fail"', "take one"),
    ("[evidence]\nmutation = true", 'detent.toml: evidence.mutation is true; expected one of "off", "warn", "require"', "take one"),
    ("[pr]\nplan = '../plan.md'", 'detent.toml: pr.plan has the text "../plan.md"; expected a path below the project', '"docs/plan.md"'),
    ("[pr]\nplan = '/plan.md'", "expected a path below the project", '"docs/plan.md"'),
    ("[pr]\nplan = ''", "expected a path below the project", '"docs/plan.md"'),
    ("[sandbox]\nmemory = 'much'", 'detent.toml: sandbox.memory has the text "much"; expected a size such as 512m or 8g', '"8g"'),
    ("[test]\nenv = ['A=1']", 'detent.toml: test.env has the text "A=1"; expected names of environment variables', '["CI", "DATABASE_URL"]'),
    ("[test]\nproject = 'a'", 'detent.toml: test.project is the text "a"; expected rows, each under [[test.project]]', '[[test.project]], and below it path = "packages/api"'),
    ("[test]\nproject = ['a']", "detent.toml: test.project is a list; expected rows", "[[test.project]]"),
    ("[[test.projects]]\npath = 'a'", "detent.toml: [test] has no key projects", "did you mean project?"),
    ("[[test.project]]\ncommand = 'x'", "detent.toml: [[test.project]] 1 has no path", 'path = "packages/api"'),
    ("[[test.project]]\npath = 'a'\ncomand = 'x'", "detent.toml: [[test.project]] 1 has no key comand", "did you mean command?"),
    ("[[test.project]]\npath = 1", "detent.toml: [[test.project]] 1: path is 1; expected a text", 'for example: "text"'),
    ("[[test.project]]\npath = ''", '[[test.project]] 1: path is the text ""; expected a path below the project', '"." is all of it'),
    ("[[test.project]]\npath = '../a'", "[[test.project]] 1: path is the text \"../a\"; expected a path below", "is all of it"),
    ("[[test.project]]\npath = '/a'", "expected a path below the project", "is all of it"),
    ("[[test.project]]\npath = 'a'\nfiles = 'x'", "[[test.project]] 1: files is the text \"x\"; expected a list of texts", "first"),
    ("[[test.project]]\npath = 'a'\ntimeout = 0", "[[test.project]] 1: timeout is 0; it must be at least 1", "that of [test]"),
    ("[[test.project]]\npath = 'a'\n[[test.project]]\npath = './a/'", "[[test.project]] 2 has the path of another one, a", "keep only one"),
    ("[test\n", "detent.toml, line 1, column 6: not TOML: ", "fix that line"),
    ("[test]\ncommand = pytest\n", "detent.toml, line 2, column 11: not TOML: Invalid value", "text needs quotes"),
    ("[test]\n[test]\n", "detent.toml, line 2, column 6: not TOML: Cannot declare", "fix that line"),
    ("a = " + "[" * 5000, "detent.toml, ", "fix"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "message", "hint"), MISTAKES)
def test_a_mistake_in_the_file_is_named_with_its_place_and_the_way_out(text: str, message: str, hint: str) -> None:
    said = told(text)
    assert message in said[0]
    assert hint in said[1]
    assert "\n" not in said[0]


@pytest.mark.parametrize(
    ("env", "message", "hint"),
    [
        ({"DETENT_TEST_COMAND": "x"}, "the environment variable DETENT_TEST_COMAND is not a setting", "did you mean DETENT_TEST_COMMAND?"),
        ({"DETENT_ZEBRA": "x"}, "the environment variable DETENT_ZEBRA is not a setting", "unset it; docs/configuration.md lists"),
        ({"DETENT_BASH_TIMEOUT": "soon"}, 'DETENT_BASH_TIMEOUT is the text "soon"; expected a whole number', "for example: 120"),
        ({"DETENT_BASH_TIMEOUT": ""}, 'DETENT_BASH_TIMEOUT is the text ""; expected a whole number', "for example: 120"),
        ({"DETENT_BASH_TIMEOUT": "-1"}, "DETENT_BASH_TIMEOUT is -1; it must be at least 1", "default, 120"),
        ({"DETENT_GIT_BRANCHING": "maybe"}, 'DETENT_GIT_BRANCHING is the text "maybe"; expected true or false', "for example: true"),
        ({"DETENT_GIT_MERGE": "x"}, 'DETENT_GIT_MERGE is the text "x"; expected one of "auto"', "take one of these"),
        (
            {"DETENT_TEST_ENV": "A,B"},
            'DETENT_TEST_ENV has the text "A,B"; expected names of environment variables',
            '["CI", "DATABASE_URL"]',
        ),
        ({"DETENT_TEST_FILES": '["a'}, 'DETENT_TEST_FILES is the text "[\\"a"; expected a list of texts', '["first", "second"]'),
        ({"DETENT_TEST_FILES": "[1]"}, "DETENT_TEST_FILES is a list; expected a list of texts", '["first", "second"]'),
        (
            {"DETENT_DEBUG_ESCALATE": "3"},
            "DETENT_DEBUG_ESCALATE: debug.reduce_scope (6) is more than debug.escalate (3)",
            "they must increase",
        ),
        ({"TDD_MAX_RETRIES": "many"}, 'TDD_MAX_RETRIES is the text "many"; expected a whole number', "for example: 120"),
    ],
)
def test_a_mistake_in_the_environment_is_named_by_its_variable(env: dict[str, str], message: str, hint: str) -> None:
    said = told(None, env)
    assert message in said[0]
    assert hint in said[1]


@pytest.mark.parametrize(
    ("files", "message", "hint"),
    [
        ({"tdd.properties": "\nbash.timeut=3"}, "tdd.properties, line 2: there is no key bash.timeut", "did you mean bash.timeout?"),
        ({"tdd.properties": "bash.timeout=x"}, 'tdd.properties: bash.timeout is the text "x"; expected a whole number', "120"),
        ({"pyproject.toml": "[tool.detent.bash]\ntimeout = 'x'"}, "pyproject.toml [tool.detent]: bash.timeout is the text", "120"),
        (
            {"pyproject.toml": "[tool]\ndetent = 3"},
            "pyproject.toml [tool.detent]: expected sections, found 3",
            "write sections such as [test]",
        ),
        ({"pyproject.toml": "[tool.detent\n"}, "pyproject.toml, line 1", "fix that line"),
    ],
)
def test_a_mistake_in_another_file_is_named_by_that_file(files: Files, message: str, hint: str) -> None:
    said = told(files)
    assert message in said[0]
    assert hint in said[1]


def test_a_value_that_a_stronger_source_hides_is_checked_all_the_same() -> None:
    assert "bash.timeout" in told({"detent.toml": "[bash]\ntimeout = 'x'"}, {"DETENT_BASH_TIMEOUT": "3"})[0]


def test_settings_cost_no_import_of_click_or_rich() -> None:
    code = "import sys, detent.config; print(sorted({'click', 'rich', 'difflib', 'asyncio'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=DOCS.parent.parent / "src")
    assert done.stdout == "[]\n"


def test_every_hint_is_one_line() -> None:
    for text, _, _ in MISTAKES:
        assert not re.search(r"[\n\r]", told(text)[1])
