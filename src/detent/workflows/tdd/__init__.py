"""The `tdd` workflow: red, green, refactor, with a separate agent for each and a handoff note after every phase."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from detent.app.workflow import Late, Notes, Workflow
from detent.blocks.briefs import last_object, summary_of
from detent.blocks.common import Inner, Part
from detent.blocks.proved import AnyEvent, Chain, Proved
from detent.door import AnyRun
from detent.git.notes import HANDOFFS
from detent.kernel.model import Briefing, Run, Sent
from detent.kernel.table import Child
from detent.workflows.tdd.tdd_data import TddData, backoff, first_data
from detent.workflows.tdd.tdd_table import TDD

if TYPE_CHECKING:
    from detent.app import App
    from detent.blocks.terms import Terms
    from detent.config import Settings
    from detent.world.work_tree import RepoWorld

WORDS = {"RED": "ALREADY_SATISFIED", "GREEN": "TEST_WRONG"}  # by phase, the word that an agent may say instead of handing in


def read(briefing: Briefing, text: str, known: Mapping[str, str]) -> Sent:
    summary = str(last_object(text, "summary").get("summary", "")) or summary_of(text)
    if briefing.state == "PLAN":
        named = last_object(text, "currentTest")
        return Sent("submit", summary=summary, reply=json.dumps({"currentTest": named["currentTest"]}) if named else "")
    words = [line.strip(" `*.\"'") for line in text.splitlines() if line.strip(" `*.\"'")]
    word = WORDS.get(briefing.state, "")
    return Sent("submit", summary=summary, reply=word if word in words[-3:] else "")


def _start(app: "App", sent: Sent, terms: "Terms") -> str:
    from detent.workflows.tdd.tdd_start import start_tdd

    return start_tdd(app, sent, terms)


def _claims(event: AnyEvent, chain: Chain) -> list[Proved]:
    from detent.workflows.tdd.tdd_claims import claims

    return claims(event, chain)


def _tick(world: "RepoWorld", run: AnyRun) -> None:
    from detent.workflows.tdd.tdd_effects import tick_list

    tick_list(world, run)


def _write_notes(world: "RepoWorld", run: AnyRun) -> int:
    from detent.workflows.tdd.tdd_effects import write_run_notes

    return write_run_notes(world, run)


def _from_notes(app: "App", sent: Sent, agent: str) -> str:
    from detent.workflows.tdd.tdd_notes import start_from_notes

    return start_from_notes(app, sent, agent)


def _limits(settings: "Settings") -> dict[str, int]:
    return {"retries": settings.tdd.retries}


def _plan(run: Run[TddData]) -> tuple[Part, ...]:
    now = run.data.current.description if run.data.current else ""
    return tuple(Part("", e.text, "done" if e.done else "now" if e.text == now else "open") for e in run.data.entries)


def _tests(run: Run[TddData]) -> dict[str, list[str]]:
    done = [e.text for e in run.data.entries if e.done]
    return {"completed": done, "pending": [e.text for e in run.data.entries if not e.done]}


def _inner(asked: Inner) -> Child:
    begun = first_data(asked.request, setup=asked.ground, base=asked.base, tree=asked.tree)
    return Child(asked.name, TDD.name, "PLAN", begun, limits=asked.limits)


WORKFLOW = Workflow(
    table=TDD,
    folder=Path(__file__).parent,
    effects=Late("detent.workflows.tdd.tdd_effects", "EFFECTS"),
    jobs=Late("detent.workflows.tdd.tdd_effects", "JOBS"),
    start=_start,
    read=read,
    title=lambda run: str(run.data.feature_request),
    plan=_plan,
    claims=_claims,
    pause=lambda run: float(backoff(run)),
    tests=_tests,
    gives_up=("retries", "agent"),
    after_rollback=_tick,
    merge="branch",
    inner=_inner,
    limits=_limits,
    from_notes=_from_notes,
    notes=Notes(HANDOFFS, _write_notes),
)
