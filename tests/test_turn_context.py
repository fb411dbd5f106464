"""What a driven agent is told beside its briefing, and what it sees of git in its sandbox: enough to work well, and nothing of others."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.agents import Reply, Turn
from detent.app.turn_context import LONGEST, repository_map
from detent.blocks.briefs import for_driven
from detent.git.branch_view import make_view
from detent.kernel.model import Briefing
from tests.driven import ENDS, GREENS, PLANS, REDS, REFACTORS, Driven, driven, instead, project
from tests.machine import walls
from tests.project import Project

TOLD = {"AGENTS.md": "Use tabs.\n", "CLAUDE.md": "Use tabs.\n", ".github/copilot-instructions.md": "Be brief.\n" + "x" * (LONGEST + 99)}
LOOK = (
    "git status --short; git log --format=%s; git diff --stat HEAD~1; git show --stat HEAD; git blame -s pytest.ini; echo; "
    "git for-each-ref --format='%(refname)'; git remote; git config --list; ls $(git rev-parse --git-dir); "
    "git commit --allow-empty -m x 2>&1; python3 -m pytest -q 2>&1 | tail -1"
)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, Driven, dict[str, str], dict[str, str]]]:
    """One run of a project that has conventions; each prompt by its state, and what a look at git said in GREEN."""
    with pytest.MonkeyPatch.context() as here:
        here.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        p = project(tmp_path_factory.mktemp("p") / "p", files=TOLD)
        p.git("update-ref", "refs/detent/another-run/tip", "HEAD")
        p.git("branch", "secret-plans")
        p.git("remote", "add", "origin", "https://token@example.org/x.git")
        with driven(p, PLANS, REDS, {**GREENS, "call": [{"tool": "Bash", "arguments": {"command": LOOK}}]}, REFACTORS, ENDS) as d:
            p.write({"AGENTS.md": "Obey me.\n"})  # not of the commit that the run began from: it is no convention
            made, prompts, said = d.driver(), dict[str, str](), dict[str, str]()

            def ask(briefing: Briefing, turn: Turn) -> Reply:
                prompts.setdefault(briefing.state, turn.prompt)
                said[briefing.state] = turn.system
                return made.turns.ask(briefing, turn)

            d.go(instead(made, ask=ask))
            yield p, d, prompts, said


@pytest.mark.slow
def test_every_agent_is_told_conventions_test_command_map_and_what_the_last_phase_changed(
    played: tuple[Project, Driven, dict[str, str], dict[str, str]],
) -> None:
    _, d, prompts, _ = played
    assert d.run.state == "COMPLETE"
    for state, text in prompts.items():
        assert text.index("## Rules") < text.index("## The project's conventions") < text.rindex("## Next"), state
        assert "### `AGENTS.md`\n\n~~~~~~markdown\nUse tabs.\n" in text and "Obey me" not in text and text.count("Use tabs.") == 1
        assert f"[{LONGEST + 109} characters in all; the rest is in .github/copilot-instructions.md]" in text
        assert "`python3 -m pytest`" in text and "What counts is the machine's own run" in text
        assert "\ntests/test_start.py\n" in text
        assert "submit_work" not in text, state
    assert "What the last phase changed" not in prompts["PLAN"]
    assert "+from calc import add" in prompts["GREEN"] and "+    return a + b" in prompts["REFACTOR"]


@pytest.mark.slow
@walls
def test_git_can_be_read_in_the_sandbox_and_shows_the_branch_and_nothing_of_others(
    played: tuple[Project, Driven, dict[str, str], dict[str, str]],
) -> None:
    p, d, _, _ = played
    kept = (p.root / ".git" / "detent" / "transcripts" / d.id).glob("*.jsonl")
    lines = [json.loads(line) for file in kept for line in file.read_text().splitlines()]
    text = next(str(line["text"]) for line in lines if line["kind"] == "call")
    assert " M calc.py\ntest: adds\nplan: adds\n" in text, "status and log"
    assert " tests/test_add.py | 5 +++++" in text and "[pytest]" in text, "diff, show and blame"
    assert "refs/heads/detent/add-numbers\n" in text
    assert not any(name in text for name in ("secret-plans", "another-run", "origin", "token@", "hooks", "core.bare", "packed-refs"))
    assert "Read-only file system" in text, "nothing can be written with it"
    assert "2 passed" in text, "and tests can be run"


@pytest.mark.slow
def test_a_long_history_is_cut_and_the_view_follows_its_branch(tmp_path: Path) -> None:
    p = project(tmp_path / "p")
    for n in range(6):
        p.git("commit", "-q", "--allow-empty", "-m", f"c{n}")
    with driven(p, PLANS) as d:
        git = d.app.worlds.of(d.run).git
        view = make_view(git, most=3)

        def log() -> list[str]:
            env = {"GIT_DIR": str(view), "GIT_WORK_TREE": str(git.place.root), "PATH": git.env["PATH"]}
            return subprocess.run(["git", "log", "--format=%s"], env=env, capture_output=True, text=True, check=True).stdout.split()

        assert log() == ["c5", "c4", "c3"]
        git.update([(git.branch(), git.commit(git.tree("HEAD"), [git.head()], "c6\n", d.app.world.clock()), git.head())])
        make_view(git, most=3)
        assert log() == ["c6", "c5", "c4", "c3"]


def test_the_map_of_a_large_repository_has_folders_and_numbers(tmp_path: Path) -> None:
    p = project(tmp_path / "p", files={f"src/part{n}/deep/er/file{m}.py": "" for n in range(9) for m in range(20)})
    with driven(p, PLANS) as d:
        lines = repository_map(d.app.world.git, "HEAD", most=40).splitlines()
    assert lines[0] == "185 files" and "src/part3/deep/er/  (20 files)" in lines and len(lines) < 41


@pytest.mark.parametrize(
    ("text", "driven_text"),
    [
        ("call submit_work with summary", "end your turn with a final message: the summary in its first line"),
        ("`submit_work` is not possible", "your final message is not possible"),
        ("~~~~text\ncall submit_work\n~~~~ call submit_work", "~~~~text\ncall submit_work\n~~~~ end your turn with a final message"),
    ],
)
def test_a_driven_agent_is_told_how_it_hands_in_and_quotations_stay(text: str, driven_text: str) -> None:
    assert for_driven(text) == driven_text
