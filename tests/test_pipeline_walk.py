"""Random teams in real sessions: real git, real tests, real commands. What is not finished, verified, decided and reviewed never becomes DONE."""

import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from detent.app import App, open_app
from detent.blocks.terms import Terms
from detent.door import AnyEvent, AnyRun
from detent.gates.human import pending
from detent.kernel.model import Briefing, Sent
from detent.workflows.pipeline.pipeline_data import unproven
from detent.workflows.pipeline.pipeline_start import start_pipeline
from tests.project import Project
from tests.repos import sh
from tests.sessions import CODE_ADD, CODE_BOTH, DESIGN, INTAKE, LEAN, PLAN, REQUEST, TEST_ADD, TEST_SUBTRACT, reply, till
from tests.teams import STYLES

WRITES = {"INTAKE": INTAKE, "INTAKE_LEAN": LEAN, "DESIGN": DESIGN, "PLAN": PLAN}
BLOCKER = {"severity": "blocker", "category": "bug", "file": "calc.py", "line": 1, "message": "no"}
SPOILS = ("delete", "skip", "weaken", "break", "config", "documents")
PASSED_REVIEW = ("reviewed", "reviewed-qa", "reviewed-security")
FORGED = (
    Sent("submit", summary="all tests pass"), Sent("submit", summary="done", reply="{broken"), Sent("outcome", outcome="green"),
    Sent("outcome", outcome="landed"), Sent("child", child="T-001", outcome="COMPLETED", facts={"tree": "0" * 40}), Sent("resume"), Sent("abort"),
    Sent("answer", decision="UD-APPROVE-DESIGN", value="approved"), Sent("answer", decision="UD-REVIEW-STRATEGY", value="single-final"), Sent("due"),
)  # fmt: skip
pytestmark = pytest.mark.timeout(600)  # whole sessions, also on a busy machine


class Team:
    """Every role of a session in a person's own checkout, in a style chosen anew for each turn."""

    def __init__(self, app: App, id: str, rng: random.Random, demanding: bool = False) -> None:
        self.app, self.id, self.rng, self.root, self.turn, self.demanding = app, id, rng, app.place.root, 0, demanding

    def act(self, briefing: Briefing, style: str) -> Sent:
        self.turn += 1
        if style == "lying":
            return self.rng.choice((*FORGED, *(self._says(role) for role in ("Coder", "Reviewer", "QA", "Security"))))
        if style == "wrong":
            self._spoil()
        if style == "honest":
            self._clean()
            self._work(briefing)
        if style == "lazy" and briefing.role == "Reviewer":
            return self._says("Reviewer", review_comments=[BLOCKER])
        return self._says(briefing.role, notes=("run it: python calc.py", "test it: pytest", "nothing else"))

    def _says(self, role: str, **more: Any) -> Sent:
        return Sent("submit", summary="s", reply=json.dumps(reply(role, **more)))

    def _clean(self) -> None:
        """Back to the last good tree, as an honest agent who undoes what another one spoiled."""
        tree = self.app.door.acting(self.id).data.good_tree
        sh(self.root, "git", "clean", "-fdq")
        sh(self.root, "git", "read-tree", "-u", "--reset", tree)
        sh(self.root, "git", "read-tree", "HEAD")

    def _work(self, briefing: Briefing) -> None:
        for path, text in WRITES.get(briefing.state, {"write": {}})["write"].items():
            (self.root / path).write_text(text)
        if briefing.role == "Coder":
            second = briefing.step is not None and briefing.step.task not in ("T-001", "")
            code, tests = (
                (CODE_BOTH, {"test_add": TEST_ADD, "test_subtract": TEST_SUBTRACT}) if second else (CODE_ADD, {"test_add": TEST_ADD})
            )
            both = (self.root / "tests/test_subtract.py").exists()
            (self.root / "calc.py").write_text(f"{CODE_BOTH if both else code}\n\nTURN = {self.turn}\n")
            for name, text in tests.items():
                (self.root / f"tests/{name}.py").write_text(text)
        if briefing.state == "RELEASE":
            (self.root / "README.md").write_text("# Till\n\nAdds prices.\n")

    def _spoil(self) -> None:
        tests, how = sorted((self.root / "tests").glob("test_*.py")), self.rng.choice(SPOILS)
        test = self.rng.choice(tests) if tests else self.root / "tests/test_start.py"
        if how == "delete":
            test.unlink(missing_ok=True)
        elif how == "skip":
            test.write_text("import pytest\n\npytestmark = pytest.mark.skip\n" + (test.read_text() if test.exists() else ""))
        elif how == "weaken":
            test.write_text("def test_start():\n    assert True\n")
        elif how == "break":
            (self.root / "calc.py").write_text("def add(a, b):\n    return 'wrong'\n")
        elif how == "config":
            (self.root / "conftest.py").write_text("collect_ignore_glob = ['tests/test_a*']\n")
        else:
            for file in (self.root / ".agents-work").glob("*/*.*"):
                file.write_text("{}")

    def person(self, run: AnyRun) -> Sent:
        """Answers what is asked, now and then with words that are no answer; releases what is stuck."""
        asked = pending(run.data)
        if run.state == "BLOCKED" or asked is None:
            return Sent("resume", by="human", channel="terminal")
        if self.demanding and asked.kind in ("approval", "budget") and self.rng.random() < 0.5:
            to = self.rng.choice(("", "spec", "architecture"))
            value = "changes-requested: in cents" if asked.kind == "approval" else "simplify-scope"
            return Sent("answer", by="human", channel="terminal", decision=asked.decision_id, value=value, to=to)
        good = [value for value in asked.options if not value.startswith(("changes", "simplify"))] or ["yes"]
        value = "hm" if self.rng.random() < 0.1 and asked.options else self.rng.choice(good)
        return Sent("answer", by="human", channel="terminal", decision=asked.decision_id, value=value, note="go on")


def play(p: Project, seed: int, turns: int, weights: tuple[int, ...], lean: bool, demanding: bool = False) -> tuple[App, str]:
    rng = random.Random(seed)
    app = open_app(p.root, create=True, env=p.env)
    id = start_pipeline(app, Sent("start", by="human"), Terms(REQUEST, lean=lean))
    team = Team(app, id, rng, demanding)
    for _ in range(turns):
        briefing = app.door.next(id)
        if briefing.actor in ("none", "system"):
            break
        acting = app.door.acting(id)
        sent = team.person(acting) if briefing.actor == "human" else team.act(briefing, rng.choices(STYLES, weights)[0])
        app.door.submit(acting.id, sent)
    return app, id


def events_of(app: App, id: str) -> Iterator[AnyEvent]:
    for run in app.worlds.runs.family(id):
        yield from app.worlds.runs.history(run.id)


def assert_done_is_deserved(p: Project, app: App, id: str, scratch: Path) -> bool:
    """Whether it is DONE; and if so, that everything holds when somebody else looks."""
    run = app.door.load(id).run
    events = list(events_of(app, id))
    people = [e for e in events if e.on in ("approved", "per-batch", "single-final", "accept", "answered", "resume", "manual-passed")]
    assert all(e.sent.by == "human" for e in people if e.status == "SUCCESS")
    if run.state != "DONE":
        assert p.git("log", "--format=%s", "main") == "start"
        return False
    data = run.data
    assert unproven(run) == () and data.tasks and {t.status for t in data.tasks} == {"completed"}
    assert not [d for each in app.worlds.runs.family(id) for d in each.data.decisions if d.status == "pending"]
    assert p.git("rev-parse", "main^{tree}") == data.good_tree
    assert any(e.on in PASSED_REVIEW and e.status == "SUCCESS" and e.found.tree == data.good_tree for e in events), "reviewed as it is"
    scratch.mkdir()
    sh(p.root, "sh", "-c", f"git archive main | tar -x -C {scratch}")
    for line in (*(v for c in data.criteria for v in c.verify), "cmd: pytest -q tests/test_start.py"):
        ran = subprocess.run(line.removeprefix("cmd: "), shell=True, cwd=scratch, env=p.env, capture_output=True, text=True)
        assert ran.returncode == 0, f"{line}: {ran.stdout}"
    return True


@pytest.fixture
def p(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return till(tmp_path / "p", "[git]\nremote = ''\n[preflight]\ncommands = []\n")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, *(pytest.param(s, marks=pytest.mark.slow) for s in range(2, 20))])
def test_a_mixed_team_reaches_done_only_with_proven_work(p: Project, tmp_path: Path, seed: int) -> None:
    app, id = play(p, seed, 40, (7, 1, 2, 1), lean=True)
    done = assert_done_is_deserved(p, app, id, tmp_path / "again")
    app.journal.close()
    assert done or seed != 1, "the sample that always runs gets to the end"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, *(pytest.param(s, marks=pytest.mark.slow) for s in range(2, 10))])
def test_a_team_that_never_works_never_reaches_done(p: Project, tmp_path: Path, seed: int) -> None:
    app, id = play(p, seed, 14, (0, 1, 1, 1), lean=True)
    assert not assert_done_is_deserved(p, app, id, tmp_path / "again")
    app.journal.close()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(1, 9))
def test_a_mixed_team_of_a_full_session_reaches_done_only_with_proven_work(p: Project, tmp_path: Path, seed: int) -> None:
    app, id = play(p, seed, 160, (9, 1, 1, 1), lean=False)
    done = assert_done_is_deserved(p, app, id, tmp_path / "again")
    app.journal.close()
    assert done or seed > 2, "not all of them are stopped"


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [1, *(pytest.param(s, marks=pytest.mark.slow) for s in range(2, 9))])
def test_a_full_session_with_a_person_who_sends_things_back_reaches_done_only_with_proven_work(
    p: Project, tmp_path: Path, seed: int
) -> None:
    app, id = play(p, seed, 16 if seed == 1 else 160, (12, 1, 1, 1), lean=False, demanding=True)
    assert_done_is_deserved(p, app, id, tmp_path / "again")
    events = [e.on for e in events_of(app, id)]
    app.journal.close()
    assert seed != 1 or any(on.startswith("correct-") for on in events), "the sample that always runs sends the design back"
