"""Briefings and system prompts for agents, and how their final message becomes a submit.

Briefings and prompts are files, one per state and one per role, rendered strictly: an unknown name is an error. A briefing's first line is
its goal. A final message is data: its last JSON object fills a submit, and the gates judge the tree. Each workflow reads its submit with a
function of its own. Decides nothing.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Template

import msgspec

from detent.blocks.common import is_driven
from detent.blocks.open_flags import briefing_flags
from detent.gates.plain_values import Object, last_span, spans_of
from detent.kernel.model import Briefing, Run, Sent
from detent.kernel.table import T, Table

STOP = "Agents stop here and tell their user."
ALONE = re.compile(r"^\$(\w+)\n(?:[ \t]*\n)?", re.MULTILINE)  # a placeholder that is a paragraph of its own
TOGETHER = "attempts"  # the counter that adds up attempts counted elsewhere as well
FENCE = "~~~~"  # text between two of these is quoted, and left unchanged
RUN_TESTS = {
    False: "Do not run tests through the shell.",
    True: "Run the project's tests in your sandbox as often as you like; what counts is the machine's own run.",
}
WORDS = (
    ("call escalate_for_external_help with markdown_report", 'end your turn with {"action": "escalate_for_external_help", "report": "…"}'),
    ("call request_scope_reduction", 'end your turn with {"action": "request_scope_reduction"}'),
    ("Call request_scope_reduction", 'End your turn with {"action": "request_scope_reduction"}'),
    ("call get_task again", "end your turn"),
    ("when you submit", "once your turn ends"),
    ("call submit_work with summary and reply", "end your turn with a final message: the summary in its first line, at its end the reply"),
    ("call submit_work with summary,", "end your turn with a final message that has summary,"),
    ("call submit_work with summary", "end your turn with a final message: the summary in its first line"),
    ("call submit_work with", "end your turn with a final message that has"),
    ("call submit_work", "end your turn with a final message"),
    ("Call submit_work", "End your turn with a final message"),
    ("`submit_work`", "your final message"),
    ("submit_work", "your final message"),
)


@cache
def template(folder: Path, state: str, actor: str) -> Template:
    """The briefing file of a state; states where the machine acts share one."""
    file = Path(__file__).parent / "briefings" / "system.md" if actor == "system" else folder / "briefings" / f"{state}.md"
    return Template(file.read_text("utf-8"))


def brief(table: Table[T], folder: Path, run: Run[T]) -> Briefing:
    """The complete briefing for whoever acts now. Pure: the same run gives the same text."""
    state = table.states[run.state]
    step = table.step(run)
    names = _names(table, run)
    text = filled(template(folder, run.state, state.actor), names)
    words = for_driven if is_driven(run.data) and state.actor == "agent" else str
    goal, _, body = text.partition("\n")
    return Briefing(
        run=run.id,
        workflow=table.name,
        state=run.state,
        actor=state.actor,
        role=state.role,
        goal=goal.removeprefix("# ").strip(),
        briefing=words(f"{goal}\n{_guidance(run)}{body.rstrip()}{briefing_flags(run, state.actor, state.role)}".strip()) + "\n",
        instruction=words(_next_call(table, run)),
        step=step,
        guidance=run.guidance or None,
        last_error=run.last_error or None,
        writes=tuple(dict.fromkeys(Template(w).substitute(names) for w in state.writes)),
        allowed_actions=table.open_to_agents(run),
        attempt=1 + sum(n for name, n in run.counts.items() if name != TOGETHER),
        attempt_id=f"{run.id}.{run.seq}",
        not_before=run.not_before or None,
        budget={name: f"{n} of {run.limits[name]}" for name, n in run.counts.items()},
    )


def filled(text: Template, names: Mapping[str, str]) -> str:
    """A template with its names filled in; a paragraph that is only an empty placeholder leaves no gap."""
    kept = ALONE.sub(lambda found: "" if names.get(found[1]) == "" else found[0], text.template)
    return Template(kept).substitute(names)


def not_given(table: Table[T], folder: Path, run: Run[T]) -> tuple[str, ...]:
    """Placeholders in a state's briefing and `writes` that have no value, including a lone $."""
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
        "instruction": _next_call(table, run),
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


def _next_call(table: Table[T], run: Run[T]) -> str:
    """The next call. Where a person has to act, the agent is told to stop and the person what to type."""
    instruction = table.instruction(run)
    return f"{STOP} A person continues it with: {instruction}" if instruction and table.states[run.state].actor == "human" else instruction


def _guidance(run: Run[T]) -> str:
    """What people said, placed before everything else in a briefing."""
    parts = [f"\n## Guidance from a person\n\n{run.guidance}\n"] if run.guidance else []
    if run.steers:
        parts.append("\n## What a person said in the meantime\n\n" + "\n".join(f"- {s}" for s in run.steers) + "\n")
    return "".join(parts)


# -- wording for driven agents: they make no calls, and may try things in their own sandbox ----------------------------------------


def for_driven(text: str) -> str:
    """Reword a text for an agent that hands in by its final message."""
    parts = text.split(FENCE)
    parts[::2] = map(_in_their_words, parts[::2])
    return FENCE.join(parts)


def _in_their_words(text: str) -> str:
    for ours, theirs in WORDS:
        text = text.replace(ours, theirs)
    return text


SHARED = Path(__file__).parent / "prompts"


@cache
def prompt(folder: Path, name: str) -> str:
    """One file of a prompt folder."""
    return (folder / f"{name}.md").read_text("utf-8").strip()


def system_prompt(folder: Path, role: str, hand_in: str, workspace: str) -> str:
    """The system prompt for a role. File names of roles are lower case, since file systems differ about case."""
    template = Template(prompt(SHARED, "agent"))
    return template.substitute(workspace=workspace, role=prompt(folder, role.lower()), hand_in=prompt(folder, hand_in)) + "\n"


def flags_prompt() -> str:
    """The prompt for a reviewer who answers about flags in a person's place."""
    return prompt(SHARED, "review-flags") + "\n"


LONGEST = 400_000  # characters at the end of a reply that are searched
SUMMARY = 500
TEXTS = ("summary", "test_command", "expectation", "analysis_decision", "commit_hash", "reply")

Reader = Callable[[Briefing, str, Mapping[str, str]], Sent]  # (briefing, text, fields that the machine knows) -> submit


def objects(text: str) -> Iterator[Object]:
    """The outermost JSON objects in a text, in order."""
    return (value for _, _, value in spans_of(text))


def last_object(text: str, *names: str) -> Object:
    """The last object with one of these keys; empty if there is none."""
    fitting = [o for o in objects(text) if any(n in o for n in names)]
    return fitting[-1] if fitting else {}


def summary_of(text: str) -> str:
    """The first line of a text that is not markup."""
    lines = (line.strip(" #*`>-\t") for line in text.splitlines())
    return next((line for line in lines if line and line[0] not in "{}[]"), "")[:SUMMARY]


def read_summary(briefing: Briefing, text: str, known: Mapping[str, str]) -> Sent:
    """A submit with a summary and the whole text."""
    summary = str(last_object(text, "summary").get("summary", "")) or summary_of(text)
    return Sent("submit", summary=summary, reply=text)


def read_status(briefing: Briefing, text: str, known: Mapping[str, str]) -> Sent:
    """A submit with the last JSON object that has a status, as raw text, so that a strict reader sees every key."""
    reply = last_span(text, "status")
    summary = json.loads(reply).get("summary", "") if reply else ""
    return Sent("submit", summary=str(summary)[:SUMMARY] or summary_of(text), reply=reply)


def hand_in(read: Reader, briefing: Briefing, text: str, known: Mapping[str, str]) -> Sent:
    """A submit from an agent's final message; `known` are fields that the machine fills in if the agent does not."""
    sent = read(briefing, text[-LONGEST:], known)
    whole = {name: getattr(sent, name).encode("utf-8", "backslashreplace").decode() for name in (*TEXTS, "report")}
    return msgspec.structs.replace(sent, **whole)  # lone surrogates could not be stored
