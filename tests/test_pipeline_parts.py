"""The parts of a session by themselves: policies, replies of roles, what may be written, documents that are kept and brought back, checks at a tree."""

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from detent.app.conversation import may_write
from detent.app.policy import answer_of, read_policies
from detent.app.registry import brief_of as brief
from detent.blocks.briefs import hand_in, read_status
from detent.blocks.common import Ground
from detent.errors import CannotTell, DetentError
from detent.gates.human import PersonDecision
from detent.git.place import find_place
from detent.git.repo import Git
from detent.kernel.model import Briefing, Run
from detent.workflows.pipeline.pipeline_data import PipelineData
from detent.workflows.pipeline.pipeline_table import PIPELINE
from detent.workflows.pipeline.session_changes import changed_files
from detent.workflows.pipeline.session_folder import (
    bring_back,
    documents_diff,
    keep_documents,
    kept_documents,
    read_document,
    show,
    take_back,
    write_document,
)
from detent.workflows.pipeline.task_data import TaskData
from detent.workflows.pipeline.task_table import TASK
from tests.repos import PLAIN, make_repo

S = ".agents-work/s"


# -- policies ------------------------------------------------------------------------------------------------------------------


def test_policies_are_read_and_what_is_not_known_is_named() -> None:
    assert read_policies(["approve-design, review-strategy", "notes=fix"]) == {
        "approve-design": "approved", "review-strategy": "recommended", "notes": "fix"
    }  # fmt: skip
    with pytest.raises(DetentError, match="no policy 'everything'"):
        read_policies(["everything"])
    with pytest.raises(DetentError, match="does not take 'maybe'"):
        read_policies(["review-strategy=maybe"])


def asked(kind: str, security: bool = False, **policies: str) -> Run[Any]:
    made = PersonDecision("UD-1", kind, "?", ("accept", "fix"), "REVIEW", 3, security=security)  # type: ignore[arg-type]
    return Run("r", "task", "ASK_USER", 7, TaskData(session=S, decisions=(made,), policies=policies))


def test_a_policy_answers_its_kind_of_question_and_says_that_it_was_one() -> None:
    sent = answer_of(asked("notes", notes="accept"))
    assert sent and (sent.by, sent.channel, sent.decision, sent.value) == ("human", "policy", "UD-1", "accept")
    assert sent.facts["who"] and "notes=accept" in sent.note


@pytest.mark.parametrize("run", [asked("notes"), asked("question", notes="accept"), asked("notes", security=True, notes="accept")])
def test_a_policy_answers_nothing_else_and_never_a_question_about_security(run: Run[Any]) -> None:
    assert answer_of(run) is None


def test_a_policy_answers_the_questions_of_roles_twice_for_each_and_never_one_about_security() -> None:
    assert read_policies(["questions"]) == {"questions": "own-judgement"}
    run = asked("question", questions="own-judgement")
    sent = answer_of(run)
    assert sent and sent.channel == "policy" and "Nobody can be asked now" in sent.value
    assert answer_of(asked("question", True, questions="own-judgement")) is None
    old = tuple(PersonDecision(f"UD-{i}", "question", "?", (), "REVIEW", 1, "answered", "x", resolved=2, channel="policy") for i in (7, 8))
    again = msgspec.structs.replace(run, data=msgspec.structs.replace(run.data, decisions=(*old, *run.data.decisions)))
    assert answer_of(again) is None
    elsewhere = tuple(msgspec.structs.replace(d, state_context="CODE") for d in old)
    assert answer_of(msgspec.structs.replace(run, data=msgspec.structs.replace(run.data, decisions=(*elsewhere, *run.data.decisions))))


# -- replies -------------------------------------------------------------------------------------------------------------------


def handed_in(text: str) -> str:
    return hand_in(read_status, Briefing("r", "pipeline", "INTAKE", "agent", "SpecAgent", "", "", ""), text, {}).reply


def test_the_last_object_with_a_status_is_handed_in_as_it_stands() -> None:
    assert (
        handed_in('First {"status": "FAIL"}\n```json\n{"status": "OK", "status": "OK"}\n```\n{"other": 1}')
        == '{"status": "OK", "status": "OK"}'
    )
    assert handed_in("I am done.") == ""


# -- what may be written -------------------------------------------------------------------------------------------------------


def allowed(table: Any, data: Any, state: str, path: str) -> bool:
    return may_write(brief(table, Run("r", table.name, state, 7, data, limits=dict(table.limits))), None)(path) is None


@pytest.mark.parametrize(
    ("state", "path", "may"),
    [
        ("INTAKE", f"{S}/spec.md", True), ("INTAKE", f"{S}/architecture.md", False), ("INTAKE", "src/a.py", False), ("INTAKE", f"{S}/status.json", False),
        ("DESIGN", f"{S}/adr/ADR-001.md", True), ("PLAN", f"{S}/tasks.yaml", True), ("PLAN", f"{S}/report.md", False),
        ("FIX_BUILD_CODE", "src/a.py", True), ("FIX_BUILD_CODE", f"{S}/spec.md", False), ("RELEASE", "README.md", True), ("RELEASE", "src/a.py", False),
        ("INTEGRATE", "VERSION", True), ("INTEGRATE", "web/package.json", True), ("INTEGRATE", ".github/workflows/ci.yml", True), ("INTEGRATE", "src/a.py", False),
    ],
)  # fmt: skip
def test_a_role_may_write_its_own_documents_or_files_and_nothing_else(state: str, path: str, may: bool) -> None:
    assert allowed(PIPELINE, PipelineData(session=S), state, path) is may


@pytest.mark.parametrize(
    ("state", "path", "may"), [("CODE", "src/a.py", True), ("CODE", f"{S}/tasks.yaml", False), ("REVIEW", "src/a.py", False)]
)
def test_the_roles_of_a_task_never_write_documents(state: str, path: str, may: bool) -> None:
    assert allowed(TASK, TaskData(session=S), state, path) is may


# -- documents -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def world(tmp_path: Path) -> Any:
    root = make_repo(tmp_path / "p", {"a.txt": "a"})
    (root / ".git/detent").mkdir()
    (root / ".git/info/exclude").write_text("/.agents-work/\n")
    git = Git(find_place(root), {**os.environ, **PLAIN})
    return SimpleNamespace(git=git, place=git.place)


RUN: Run[Any] = Run("r", "pipeline", "PLAN", 7, PipelineData(session=S))


def test_documents_are_kept_outside_every_tree_and_brought_back(world: Any) -> None:
    root = world.place.root
    write_document(root, f"{S}/adr/one.md", "first")
    keep_documents(world, RUN)
    (root / S / "adr" / "one.md").unlink()
    (root / S / "adr").rmdir()
    bring_back(world, RUN)
    assert read_document(root, f"{S}/adr/one.md") == "first"
    assert world.git.run("status", "--porcelain").text == "" and world.git.run("ls-files").text == "a.txt"


def test_what_changed_since_leaves_out_how_far_the_tasks_have_come(world: Any) -> None:
    root, path = world.place.root, f"{S}/tasks.yaml"
    for seq, text in (
        (3, "tasks:\n- id: T-001\n  status: not-started\n"),
        (7, "tasks:\n- id: T-001\n  status: completed\n- id: T-002\n  status: not-started\n"),
    ):
        write_document(root, path, text)
        keep_documents(world, msgspec.structs.replace(RUN, seq=seq))
    assert documents_diff(world.git, RUN, 3, 7, (path,)).splitlines() == ["+++ tasks.yaml", "@@ -2 +2,2 @@", " - id: T-001", "+- id: T-002"]


def test_a_document_of_another_role_is_taken_back_and_the_edited_copy_stays_beside_it(world: Any) -> None:
    root = world.place.root
    for name in ("spec.md", "tasks.yaml"):
        write_document(root, f"{S}/{name}", "as it was")
    keep_documents(world, RUN)
    for name in ("spec.md", "tasks.yaml"):
        (root / S / name).write_text("edited")
    take_back(world, RUN, (f"{S}/tasks.yaml",))
    found = {f.name: f.read_text() for f in (root / S).iterdir()}
    assert found == {"spec.md": "as it was", "spec.md.rejected": "edited", "tasks.yaml": "edited"}


def test_changed_files_are_told_with_what_became_of_each(world: Any) -> None:
    git, root = world.git, world.place.root
    long = "".join(f"line {i}\n" for i in range(40))
    for name, text in {"gone.txt": "x", "old.txt": long, "kept.txt": "k"}.items():
        (root / name).write_text(text)
    git.run("add", "-A"), git.run("commit", "-q", "-m", "base")
    run = msgspec.structs.replace(RUN, data=PipelineData(session=S, base=git.head()))
    (
        (root / "gone.txt").unlink(),
        (root / "old.txt").rename(root / "new.txt"),
        (root / "a.txt").write_text("b"),
        (root / "add.txt").write_text("+"),
    )
    git.run("add", "-A")
    found = {f.path: (f.change_type, f.old_path) for f in changed_files(world, run, git.run("write-tree").text)}
    assert found == {"a.txt": ("modified", ""), "add.txt": ("added", ""), "gone.txt": ("deleted", ""), "new.txt": ("renamed", "old.txt")}


def test_what_a_person_wrote_into_the_documents_of_their_own_checkout_stays_as_they_left_it(world: Any, tmp_path: Path) -> None:
    home, root = tmp_path / "home", world.place.root
    home.mkdir()
    run = msgspec.structs.replace(RUN, worktree=str(home), data=PipelineData(session=S, setup=Ground(workspace=str(root))))

    def shown(text: str) -> dict[str, str]:
        write_document(root, f"{S}/spec.md", text)
        keep_documents(world, run)
        show(world, run)
        return {f.name: f.read_text() for f in (home / S).iterdir()}

    assert shown("one") == {"spec.md": "one"}
    assert shown("two") == {"spec.md": "two"}  # the machine's own older text is no edit
    (home / S / "spec.md").write_text("mine")
    assert shown("two") == {"spec.md": "mine"}
    assert shown("three") == {"spec.md": "mine", "spec.md.new": "three"}
    assert shown("four") == {"spec.md": "mine", "spec.md.new": "four"}


def test_nothing_is_read_or_written_through_a_link(world: Any, tmp_path: Path) -> None:
    root = world.place.root
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "spec.md").write_text("a secret")
    (root / ".agents-work").mkdir()
    (root / S).symlink_to(tmp_path / "elsewhere")
    assert read_document(root, f"{S}/spec.md") is None
    with pytest.raises(CannotTell, match="not a plain folder"):
        write_document(root, f"{S}/status.json", "{}")
    assert [f.name for f in (tmp_path / "elsewhere").iterdir()] == ["spec.md"]


def test_a_lock_that_is_left_beside_the_documents_does_not_hold_them_up(world: Any) -> None:
    (world.place.common_dir / "detent" / "documents.r.lock").touch()
    write_document(world.place.root, f"{S}/spec.md", "kept")
    keep_documents(world, RUN)
    assert [*kept_documents(world.git, RUN)] == [f"{S}/spec.md"]


def test_a_run_survives_the_journal_with_its_policies(tmp_path: Path) -> None:
    data = PipelineData(session=S, policies={"notes": "fix"})
    assert msgspec.json.decode(msgspec.json.encode(data), type=PipelineData) == data
    assert json.loads(msgspec.json.encode(data))["policies"] == {"notes": "fix"}


def test_runs_of_other_workflows_have_no_policies() -> None:
    from detent.workflows.tdd.tdd_data import TddData

    assert answer_of(Run("r", "tdd", "HALTED", 7, TddData())) is None
