"""A throw-away project with a run of `tdd`: a real repository, real tests and gates, called in this process where the command line adds nothing."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from detent.app import App, open_app
from detent.blocks.terms import Terms
from detent.interfaces.cli.tell import exit_code
from detent.journal.anchor import anchor_file
from detent.kernel.model import Flag, Run, Sent, Verdict
from detent.workflows.tdd.tdd_start import start_tdd
from tests.cases import project, runs
from tests.laid_out import home, vouch
from tests.project import INI, Project, Ran
from tests.repos import sh, write

LIST = "# Sums\n\n- [ ] adds two numbers\n- [ ] subtracts two numbers\n"
RED = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
GREEN = "def add(a, b):\n    return a + b\n"
WRONG = "def add(a, b):\n    return 0\n"
ADD = {"description": "adds two numbers", "testFile": "tests/test_add.py", "implFile": "calc.py"}
SUBTRACT = {"description": "subtracts two numbers", "testFile": "tests/test_sub.py", "implFile": "calc.py"}
NONE = json.dumps({"currentTest": None})
OTHER = "import other\n\n\ndef test_other():\n    assert other.ONE == 1\n"
FILES = {"tests/test_other.py": OTHER, "other.py": "ONE = 1\n", "pytest.ini": INI, ".gitignore": "__pycache__/\n.venv/\n"}
MANY = "[tdd]\nretries = 99\n"  # one run may meet many failures
NOTES = "tdd-handoffs"
Files = dict[str, str | None]


def named(test: dict[str, str]) -> str:
    """The reply that names a test."""
    return json.dumps({"currentTest": test})


class Feature:
    """A repository, a run of `tdd` in its checkout, and the submits of an agent."""

    def __init__(self, folder: Path, config: str = "", files: dict[str, str] | None = None, made: bool = False) -> None:
        self.project: Project = project(folder, config, {**FILES, **(files or {})}, made=made)
        self.root, self.env = self.project.root, self.project.env
        self._open: App | None = None
        for program in self.root.glob(".venv/bin/*"):
            program.chmod(0o755)
        head = self.app().newest() if made and (self.root / ".git/detent").is_dir() else None
        self.run_id = head.run if head else ""

    # -- the machine -----------------------------------------------------------------------------------------------------------

    def app(self) -> App:
        """A new app, as each call of the command line builds it."""
        self.close()
        self._open = open_app(self.root, True, self.env)
        return self._open

    def close(self) -> None:
        """Close the journal. Copying its file while it is open here would lose the locks on it, and another process could damage it."""
        if self._open is not None:
            self._open.journal.close()
        self._open = None

    def start(self, request: str = "sums", baseline: bool = False) -> "Feature":
        self.run_id = start_tdd(self.app(), Sent("start", by="human", channel="test"), Terms(request, baseline=baseline))
        return self

    def submit(self, reply: str = "", summary: str = "s", **more: Any) -> Verdict:
        """Submit what is in the checkout."""
        return self.app().door.submit(self.run_id, Sent("submit", channel="test", reply=reply, summary=summary, **more))

    def person(self, verb: str, **more: Any) -> Verdict:
        return self.app().door.submit(self.run_id, Sent(verb, by="human", channel="test", **more))

    def cli(self, *args: str, **fields: Any) -> Ran:
        return self.project.run(*args, **fields)

    @property
    def run(self) -> Run[Any]:
        return self.app().door.load(self.run_id).run

    @property
    def briefing(self) -> str:
        return self.app().door.next(self.run_id).briefing

    # -- the files -------------------------------------------------------------------------------------------------------------

    def lay(self, files: Files) -> "Feature":
        """Write these files; None deletes one."""
        write(self.root, {path: text for path, text in files.items() if text is not None})
        for path, text in files.items():
            if text is None:
                (self.root / path).unlink()
        return self

    def read(self, path: str) -> str:
        return (self.root / path).read_text()

    def git(self, *args: str) -> str:
        return sh(self.root, "git", *args)

    def afresh(self) -> None:
        """Discard everything written since the last commit."""
        self.git("checkout", "-q", "--", ".")
        self.git("clean", "-fdq")

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def subjects(self, branch: str = "HEAD") -> list[str]:
        """The subjects of the run's commits, oldest first."""
        return self.git("log", "--first-parent", "--reverse", "--format=%s", branch).splitlines()[1:]

    def note(self, commit: str = "HEAD") -> dict[str, Any]:
        """The handoff note, read with git."""
        value = json.loads(self.git("notes", f"--ref={NOTES}", "show", commit))
        assert isinstance(value, dict)
        return value

    def runs(self) -> int:
        return runs(self.project)

    def plan(self, test: dict[str, str] = ADD, text: str | None = LIST) -> Verdict:
        """Submit a list and the next test."""
        if text is not None:
            self.lay({"test-list.md": text})
        return self.submit(named(test))


# -- reaching a phase ----------------------------------------------------------------------------------------------------------

PHASES = ("START", "PLAN", "RED", "GREEN", "REFACTOR", "CLOSED")  # CLOSED: at the second PLAN, with the first entry done
STEPS: dict[str, Callable[[Feature], object]] = {
    "PLAN": Feature.start,
    "RED": Feature.plan,
    "GREEN": lambda f: f.lay({"tests/test_add.py": RED}).submit(),
    "REFACTOR": lambda f: f.lay({"calc.py": GREEN}).submit(),
    "CLOSED": Feature.submit,
}


def at(phase: str, config: str = "", files: dict[str, str] | None = None) -> Feature:
    """A project whose run is at a phase. Made once per process, and copied from then on."""
    key = hashlib.sha256(json.dumps([phase, config, files]).encode()).hexdigest()
    kept, place = home() / key, home() / "feature"
    if kept.is_dir():
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(kept, place, symlinks=True)
        vouch(place / "p")
        f = Feature(place / "p", config, files, made=True)
    elif phase == "START":
        shutil.rmtree(place, ignore_errors=True)
        anchor_file(place / "p" / ".git" / "detent" / "journal.db").unlink(missing_ok=True)  # of an earlier project of this test
        f = Feature(place / "p", config, files)
    else:
        f = at(PHASES[PHASES.index(phase) - 1], config, files)
        STEPS[phase](f)
        assert f.run.state == {"CLOSED": "PLAN"}.get(phase, phase)
    if not kept.is_dir():
        f.close()
        shutil.copytree(place, kept, symlinks=True)
    return f


def standing(f: Feature) -> dict[str, Any]:
    """Everything that a refusal must leave unchanged."""
    run = f.run
    notes = f.git("for-each-ref", "refs/notes")
    return {
        "state": run.state,
        "counts": run.counts,
        "data": run.data,
        "error": run.last_error,
        "head": f.head,
        "notes": notes,
        "runs": f.runs(),
    }


def refused(f: Feature, before: dict[str, Any], verdict: Verdict, says: str) -> None:
    """Assert a refusal with this sentence: nothing ran, nothing counted, nothing moved."""
    assert (verdict.status, verdict.state, exit_code(verdict)) == ("REFUSED", before["state"], 1), verdict
    assert any(says in reason for reason in verdict.reasons), verdict.reasons
    assert verdict.instruction
    assert verdict.evidence is None
    assert standing(f) == before


def flagged(verdict: Verdict, kind: str, says: str) -> Flag:
    """Assert that a step passed, and return its flag of this kind and sentence."""
    assert verdict.status == "SUCCESS", verdict
    found = [flag for flag in verdict.flags if flag.kind == kind and says in flag.sentence]
    assert found, verdict.flags
    return found[0]


def failed(f: Feature, verdict: Verdict, says: str | tuple[str, ...], sort: str, count: int, state: str) -> None:
    """Assert a failure with one of these sentences: counted, passed to the next attempt, written into the note, and nothing is committed."""
    either = (says,) if isinstance(says, str) else says
    assert (verdict.status, verdict.state, exit_code(verdict)) == ("FAILURE", state, 1), verdict
    assert any(each in reason for reason in verdict.reasons for each in either), (says, verdict.reasons)
    run = f.run
    assert run.counts == {"retries": count}
    note = f.note()
    assert (note["errorDetails"]["type"], note["retryCount"]) == (sort, count), (verdict.reasons, note["errorDetails"])
    assert any(each in note["error"] for each in either)
    assert note["nextPhase"] == state


def erred(f: Feature, before: dict[str, Any], verdict: Verdict, says: str, count: int = 1) -> None:
    """Assert an error with this sentence: no attempt counted, and nothing changed but the count of errors in a row."""
    assert (verdict.status, verdict.state, exit_code(verdict)) == ("ERROR", before["state"], 1), verdict
    assert says in " ".join(verdict.reasons), verdict.reasons
    now = standing(f)
    assert now.pop("counts") == {**before["counts"], "errors": count}
    assert now == {name: now["runs"] if name == "runs" else value for name, value in before.items() if name != "counts"}
