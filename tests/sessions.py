"""Helpers for tests of sessions: a small project, a scripted team for every role, and sessions driven in this process or by the command line."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from detent.app import App, open_app
from detent.app.driver_lock import only_driver
from detent.app.push import result
from detent.app.run_driver import whole_driver
from detent.blocks.terms import Terms
from detent.door import AnyRun
from detent.drive import Seen
from detent.kernel.model import Sent, Verdict
from detent.workflows.pipeline.pipeline_start import start_pipeline
from tests.driven import instead, project, scripted
from tests.project import Project

Json = dict[str, Any]
REQUEST = "a till"
ADD = "add prices"
SUBTRACT = "take discounts off"
SPEC = "# Goals\nprices are added\n# Acceptance criteria\n- AC-001\n# Definition of done\nall tests pass\n"
ARCHITECTURE = "# Overview\none module\n# Modules\ncalc\n# Risks\nnone known\n"
CRITERION = {"id": "AC-001", "description": "prices are added", "verify": ["cmd: pytest -q tests/test_add.py"]}
CODE_ADD = "def add(a, b):\n    return a + b\n"
CODE_BOTH = CODE_ADD + "\n\ndef subtract(a, b):\n    return a - b\n"
TEST_ADD = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
TEST_SUBTRACT = "from calc import subtract\n\n\ndef test_subtract():\n    assert subtract(3, 2) == 1\n"
OWN: dict[str, Json] = {
    "Reviewer": {"review_comments": []},
    "QA": {"test_results": {}, "coverage_gaps": []},
    "Security": {"findings": []},
    "Researcher": {"options": ["this"], "confidence": "high"},
}


DAY = {"SOURCE_DATE_EPOCH": "1767225600"}  # the start date of sessions in tests


def session_of(request: str) -> str:
    """The folder of a session started on that day."""
    return f".agents-work/2026-01-01_{request.replace(' ', '-')}"


S = session_of("a till")


def reply(role: str = "", status: str = "OK", notes: tuple[str, ...] = (), **more: Any) -> Json:
    """A valid reply of a role."""
    gates = {"meets_definition_of_done": True, "needs_review": True, "needs_tests": False, "security_concerns": []}
    body = {"status": status, "summary": f"{role or 'the role'} is done", "artifacts": {"files": [], "notes": list(notes)}, "gates": gates}
    return {**body, **OWN.get(role, {}), **more}


def task(id: str, title: str, goal: str, check: str, *needs: str, **more: Any) -> Json:
    made = {"id": id, "title": title, "goal": goal, "acceptance_checks": [f"cmd: {check}"], "done_when": ["its test passes"]}
    return {**made, "depends_on": list(needs), **more}


FIRST = task("T-001", "add", ADD, "pytest -q tests/test_add.py")
SECOND = task("T-002", "subtract", SUBTRACT, "pytest -q tests/test_subtract.py", "T-001", risk_flags=["input"])


def tasks_text(*tasks: Json) -> str:
    return json.dumps({"project": {"name": "till", "definition_of_done": ["all tests pass"]}, "tasks": list(tasks)})  # JSON is YAML


def acceptance_text(*criteria: Json) -> str:
    return json.dumps({"acceptance_criteria": list(criteria or (CRITERION,))})


def plays(state: str, role: str = "", again: bool = True, **more: Any) -> Json:
    """One entry of a script; by default it can be played any number of times."""
    return {"state": state, "again": again, "reply": reply(role), **more}


INTAKE = plays("INTAKE", write={f"{S}/spec.md": SPEC, f"{S}/acceptance.json": acceptance_text()})
DESIGN = plays("DESIGN", write={f"{S}/architecture.md": ARCHITECTURE})
PLAN = plays("PLAN", write={f"{S}/tasks.yaml": tasks_text(FIRST, SECOND)})
CODES = (
    plays("CODE", step=ADD, write={"calc.py": CODE_ADD, "tests/test_add.py": TEST_ADD}),
    plays("CODE", step=SUBTRACT, write={"calc.py": CODE_BOTH, "tests/test_subtract.py": TEST_SUBTRACT}),
)
JUDGES = (plays("REVIEW", "Reviewer"), plays("QA", "QA"), plays("SECURITY", "Security"))
INTEGRATE = plays("INTEGRATE")
RELEASE = (
    plays("RELEASE", reply=reply(notes=("run it: python calc.py", "test it: pytest")), write={"README.md": "# Till\n\nAdds prices.\n"}),
    plays("RELEASE_FILES"),
)
LEAN = plays("INTAKE_LEAN", write={f"{S}/spec.md": SPEC, f"{S}/acceptance.json": acceptance_text(), f"{S}/tasks.yaml": tasks_text(FIRST)})
TEAM = (INTAKE, DESIGN, PLAN, *CODES, *JUDGES, INTEGRATE, *RELEASE, LEAN)
ROUGH_ASKS = reply(status="NEEDS_INFO", summary="in cents?")
ROUGH_MAJOR = {"severity": "major", "category": "bug", "file": "calc.py", "line": 1, "message": "no types"}
ROUGH_GRAVE = {"severity": "high", "category": "input", "file": "calc.py", "description": "prices are trusted"}
ROUGH_VERSION = {"id": "AC-002", "description": "the version is told", "verify": ["cmd: test -s VERSION"]}
ROUGH_WANTS = {"research": True, "ui": True, "complexity": "low", "reason": ""}
ROUGH_CODE = (  # a task on which everything goes wrong once
    plays("CODE", again=False, reply=ROUGH_ASKS),
    plays("CODE", write={"calc.py": "def add(a, b):\n    return a\n", "tests/test_add.py": TEST_ADD}),
    plays("FIX_TESTS", write={"calc.py": CODE_ADD}),
    plays("REVIEW", again=False, reply=reply("Reviewer", "BLOCKED", review_comments=[ROUGH_MAJOR])),
    plays("FIX_REVIEW", write={"calc.py": CODE_ADD + "\n\nTYPES = int\n"}),
    *(plays("QA", again=False, reply=reply("QA", "FAIL")) for _ in range(3)),
    plays("SECURITY", again=False, reply=reply("Security", "BLOCKED", findings=[ROUGH_GRAVE])),
    plays("FIX_SECURITY", write={"calc.py": CODE_ADD + "\n\nTYPES = (int,)\n"}),
)
ROUGH_SPEC = {f"{S}/spec.md": SPEC, f"{S}/acceptance.json": acceptance_text(CRITERION, ROUGH_VERSION)}
ROUGH = (  # a full session with questions, blocks, every repair, research, design and a correction
    plays("INTAKE", again=False, reply=ROUGH_ASKS),
    plays("INTAKE", write=ROUGH_SPEC, reply=reply(next=ROUGH_WANTS)),
    plays("INTAKE_LEAN", write={**ROUGH_SPEC, f"{S}/tasks.yaml": tasks_text(FIRST)}),
    plays("DESIGN_RESEARCH", write={f"{S}/research/r.md": "# This\n"}, reply=reply("Researcher", artifacts={"files": [f"{S}/research/r.md"], "notes": []})),
    plays("DESIGN_UI", write={f"{S}/design-specs/d.md": "# A page\n"}, reply=reply(artifacts={"files": [f"{S}/design-specs/d.md"], "notes": []})),
    plays("PLAN", again=False, reply="I am done."),
    plays("PLAN", write={f"{S}/tasks.yaml": tasks_text(FIRST)}),
    *ROUGH_CODE,
    plays("FIX_BUILD", write={"Makefile": "all:\n"}),
    plays("FIX_BUILD_CODE", write={"VERSION": "1\n"}),
    *TEAM,
)  # fmt: skip
BY_HAND = {"id": "AC-002", "description": "a receipt is readable", "verify": ["manual: print a receipt and read it"]}
SUMS = {"add": "a + b", "subtract": "a - b", "double": "a + a + b", "refund": "b - a", "scale": "a * b"}  # what each module does
RESULTS = {"add": 7, "subtract": 3, "double": 12, "refund": -3, "scale": 10}  # with 5 and 2


def planned(number: int, name: str) -> Json:
    return task(f"T-00{number}", name, f"{name} prices", f"pytest -q tests/test_{name}.py", files_expected=[f"{name}.py"])


def coded(name: str, **more: Any) -> Json:
    code = f"def {name}(a, b):\n    return {SUMS[name]}\n"
    test = f"from {name} import {name}\n\n\ndef test_{name}():\n    assert {name}(5, 2) == {RESULTS[name]}\n"
    return plays("CODE", step=f"{name} prices", write={f"{name}.py": code, f"tests/test_{name}.py": test}, **more)


FOUR = [planned(n, name) for n, name in enumerate(("add", "subtract", "double", "refund"), 1)]
FIVE = [*FOUR, planned(5, "tax")]
UNSURE = reply(status="NEEDS_INFO", summary="Which currency are prices in?")
LED = (  # a session of five tasks with everything that a person may do in it; led in a terminal and on the page
    plays("INTAKE", again=False, reply=reply(status="NEEDS_INFO", summary="one thing", notes=("Are prices whole cents?",))),
    plays("INTAKE", write={f"{S}/spec.md": SPEC, f"{S}/acceptance.json": acceptance_text(CRITERION, BY_HAND)}),
    DESIGN,
    plays("PLAN", again=False, write={f"{S}/tasks.yaml": tasks_text(*FOUR)}),
    plays("PLAN", write={f"{S}/tasks.yaml": tasks_text(*FIVE)}),
    plays("CODE", step="double prices", again=False, reply=UNSURE),
    *map(coded, SUMS),
    *JUDGES,
    INTEGRATE,
    plays("FIX_BUILD_CODE", write={"add.py": "def add(a, b):\n    return b + a\n"}),
    *RELEASE,
)
YES = {"approve-design": "approved", "review-strategy": "per-batch"}


class Driven:
    """A session driven in this process, without real waits."""

    def __init__(self, p: Project, *entries: Json, **terms: Any) -> None:
        self.project, self.seen = p, list[Seen]()
        self.app: App = open_app(p.root, create=True, env=p.env)
        self.id = start_pipeline(self.app, Sent("start", by="human"), Terms(REQUEST, agent=scripted(p, *(entries or TEAM)), **terms))

    def go(self) -> Json:
        with only_driver(self.app, self.id), whole_driver(self.app, self.id, self.seen.append) as made:
            briefing = instead(made, sleep=lambda seconds: None).drive(self.id)
        return result(self.app, self.id, briefing, 0.0)

    def answer(self, decision: str, value: str, **more: str) -> Verdict:
        sent = Sent("answer", by="human", channel="terminal", decision=decision, value=value, **more)  # type: ignore[arg-type]
        return self.app.door.submit(self.id, sent)

    def resume(self, **more: str) -> Sent:
        return Sent("resume", by="human", channel="terminal", **more)  # type: ignore[arg-type]

    @property
    def run(self) -> AnyRun:
        return self.app.door.load(self.id).run

    @property
    def acting(self) -> AnyRun:
        return self.app.door.acting(self.id)

    @property
    def workspace(self) -> Path:
        return Path(self.run.data.setup.workspace)

    def turns(self) -> list[tuple[str, str]]:
        """The turns in order: state and task."""
        return [(s.run.state, s.run.data.task_id) for s in self.seen if s.kind == "turn"]

    def subjects(self) -> list[str]:
        branch = self.run.data.branch
        return self.project.git("log", "--reverse", "--format=%s", f"{self.run.data.base}..{branch}").splitlines()


@contextmanager
def session(p: Project, *entries: Json, **terms: Any) -> Iterator[Driven]:
    made = Driven(p, *entries, **terms)
    try:
        yield made
    finally:
        made.app.journal.close()


def till(folder: Path, config: str = "[git]\nremote = ''\n") -> Project:
    made = project(folder, config)
    made.env |= DAY
    return made
