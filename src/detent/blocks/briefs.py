"""Briefings are files, one per state, rendered strictly: an unknown name is an error. First line: the goal; the rest: the text."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template

from detent.blocks.driven_words import RUN_TESTS, for_driven, is_driven
from detent.blocks.open_flags import told_in_briefing
from detent.kernel.model import Briefing, Run
from detent.kernel.rows import T
from detent.kernel.table import Table

TOGETHER = "attempts"  # the counter of what other counters count each for itself


@cache
def template(folder: Path, state: str, actor: str) -> Template:
    """The briefing file of a state; the states that are the machine's own share one."""
    file = Path(__file__).parent / "briefings" / "system.md" if actor == "system" else folder / "briefings" / f"{state}.md"
    return Template(file.read_text("utf-8"))


def brief(table: Table[T], folder: Path, run: Run[T]) -> Briefing:
    """The finished briefing for whoever acts now. Pure: the same run gives the same text."""
    state = table.states[run.state]
    step = table.step(run)
    words = for_driven if is_driven(run.data) and state.actor == "agent" else str
    text = template(folder, run.state, state.actor).substitute(_names(table, run))
    goal, _, body = text.partition("\n")
    return Briefing(
        run=run.id,
        workflow=table.name,
        state=run.state,
        actor=state.actor,
        role=state.role,
        goal=goal.removeprefix("# ").strip(),
        briefing=words(f"{goal}\n{body}{_said(run)}{told_in_briefing(run, state.actor, state.role)}".strip()) + "\n",
        instruction=words(table.instruction(run)),
        step=step,
        guidance=run.guidance or None,
        last_error=run.last_error or None,
        writes=tuple(dict.fromkeys(Template(w).substitute(_names(table, run)) for w in state.writes)),
        allowed_actions=() if state.end else ("get_task", *table.allowed(run)),
        attempt=1 + sum(n for name, n in run.counts.items() if name != TOGETHER),
        attempt_id=f"{run.id}.{run.seq}",
        not_before=run.not_before or None,
        budget={name: f"{n} of {run.limits[name]}" for name, n in run.counts.items()},
    )


def not_given(table: Table[T], folder: Path, run: Run[T]) -> tuple[str, ...]:
    """What a briefing, and what may be written meanwhile, use as names and nobody gives; a lone $ too."""
    state = table.states[run.state]
    used, given = (template(folder, run.state, state.actor), *map(Template, state.writes)), _names(table, run)
    return tuple(
        f"${name}" for each in used for name in (*each.get_identifiers(), *(() if each.is_valid() else ("",))) if name not in given
    )


def _names(table: Table[T], run: Run[T]) -> Mapping[str, str]:
    step = table.step(run)
    common = {
        "run": run.id,
        "state": run.state,
        "instruction": table.instruction(run),
        "run_tests": RUN_TESTS[is_driven(run.data)],
        "cause": run.cause,
        "back": run.back,
        "last_error": run.last_error,
        "last_reason": run.last_reason,
        "step_type": step.type if step else "",
        "step_task": step.task if step else "",
        "step_description": step.description if step else "",
    }
    return {**common, **table.facts(run)}


def _said(run: Run[T]) -> str:
    """What people said, added to every briefing that an agent gets."""
    parts = [f"\n\n## Guidance from a person\n\n{run.guidance}\n"] if run.guidance else []
    if run.steers:
        parts.append("\n\n## Said by a person meanwhile\n\n" + "\n".join(f"- {s}" for s in run.steers) + "\n")
    return "".join(parts)
