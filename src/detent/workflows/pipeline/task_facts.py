"""The names that the briefings of sessions and tasks share, computed from a run alone. Texts used by several briefings are files in parts/; texts that
depend on the role, a cause or the open question are here. Knows no git and no rows."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template

import msgspec

from detent.blocks.briefs import RUN_TESTS, filled
from detent.blocks.common import is_driven
from detent.gates.documents import ChangedFile, KnownIssue, TaskEntry
from detent.gates.human import DecisionData, PersonDecision, pending
from detent.gates.reply import OF_ROLE
from detent.kernel.model import Run, Value
from detent.workflows.pipeline.session import Grounded, KnownDecision, answered_decisions
from detent.workflows.pipeline.task_data import DD, META, ROLES, TaskData, context_files, findings_lines, list_points, result, unproven

PARTS = Path(__file__).parent / "parts"
JUDGES = ("REVIEW", "SECURITY")  # they write nothing, and what they judge was already tested
READ = (
    "INTAKE",
    "INTAKE_LEAN",
    "FIX_ACCEPTANCE",
    "DESIGN_RESEARCH",
    "DESIGN",
    "DESIGN_UI",
    "PLAN",
    "RELEASE",
)  # their submits are read, not tested
TESTED = "The machine runs them itself when you hand in; what you say about a result is not evidence."
ONLY_READ = "Nothing is tested when you hand in: the machine reads what you wrote."
NO_WORD = "What you say about a result is not evidence."
ASKING = "If you need one, hand in NEEDS_INFO or NEEDS_DECISION."
ASKING_FIRST = "Ask them with NEEDS_INFO before you write, once."
ASKED_ALREADY = "You have asked yours; what is still open, decide yourself and list it below **Assumptions**."
ASKS = "- `NEEDS_INFO` or `NEEDS_DECISION`: you cannot continue without an answer from a person; put the question in `summary`, the choices in `artifacts.notes`."
ASKS_DECISION = (
    "- `NEEDS_DECISION`: you cannot continue without a person's choice; put the question in `summary`, the choices in `artifacts.notes`."
)
ASKS_FIRST = (
    "- `NEEDS_INFO`: before you write anything, ask what the request leaves open and only a person can know: at most five short questions, each an entry of "
    "`artifacts.notes`. You ask once; the person answers, or skips them. What is open after that, decide yourself and list it below **Assumptions**."
)
OWN_KEYS: Mapping[str, str] = {  # keys that only one role's reply has, with a sample
    "review_comments": '[{"severity": "minor", "category": "correctness", "file": "src/a.py", "line": 12, "message": "what is wrong", "suggested_fix": "how to fix it"}]',
    "test_results": '{"passed": 0, "failed": 0, "summary": "what you looked at"}',
    "coverage_gaps": '["behaviour that no test covers"]',
    "findings": '[{"severity": "low", "category": "injection", "file": "src/a.py", "description": "what can happen", "recommended_fix": "how to fix it"}]',
    "options": '["each option, with what speaks for and against it"]',
    "confidence": '"medium"',
}  # fmt: skip
DOCS_NOTES = '"run it: the command that starts it", "test it: the command that tests it", "why the README needs no change, if it does not"'
HANDED_IN = (
    "When you hand in OK, the machine runs the whole test suite and preflight: all must pass, and something must have changed. `needs_tests` brings in QA where "
    "nothing else does."
)
COMPLEX = ' Set `next.complexity` to "high" as soon as the task turns out not to be small: the session then goes the full way, and nothing is lost.'
LAID = (
    "It could not be merged with the work of the other tasks: your checkout has the current state of the session, with this task's earlier work on top, and "
    "conflicts are marked in the files. Resolve them so that both work."
)
INCREMENTAL = "Read the files of this task deeply. Follow the other changed files only along dependencies and callers of what this task changed, to see how they meet."
FINAL = (
    "This is the final review of the whole session. Read every changed file in full, and deleted ones by their diff: was the removal intended, does a reference "
    "dangle? Look for interfaces that do not match, duplicated logic, assumptions that contradict each other, and regressions between tasks."
)
BREACH = "Check the work against the project's constitution (below): a breach of it is at least `major`."
NEXT = ',\n  "next": {"research": false, "ui": false, "complexity": "low", "reason": ""}'
WAYS_OUT: Mapping[str, str] = {  # of BLOCKED, by cause: what happened, and what a person can do
    "subagent_failure": "The role failed, or gave no readable reply, three times. `detent resume` asks it again.",
    "mandatory_user_decision_missing": "A question was cancelled, or three answers to it could not be understood. `detent resume` asks it again.",
    "context_missing": "A document that the role must read is missing; its path is below. Restore it, then `detent resume`.",
    "errors": "Something could not be judged three times in a row. Fix what is below, then `detent resume`.",
    "model": "The configured model is not available, and no other one is tried. `detent resume --agent SPEC` continues with another agent; `[agents]` in "
    "detent.toml sets one for all runs.",
    "budget": "A limit of [limits] is reached. `detent resume` grants the same amount again, or what [limits] then says.",
    "task_aborted": "A task was ended. `detent resume` starts it again.",
    "task_unproved": "A task ended without saying what it proved. `detent resume` starts it again.",
    "tree_moved": "Files changed while the checks ran, so the result does not count. `detent resume` runs them again.",
    "design_unsound": "The documents to approve are not consistent; the reason is below. Fix them, then `detent resume`: you are asked again, and can send them back.",
    "design_changed": "The design changed again and again after it was approved. `detent resume` asks about it as it is now.",
    "open_ends": "Not everything is proved; what is missing is below. Fix that, then `detent resume`.",
}
UNMERGED = "Tasks that ran in parallel could not be merged, three times. `detent resume --guidance TEXT` tries again with your words."
NOT_LANDED = "The branch could not land. The output below says why and what to type; the last step is `detent resume`."
REPLAN = " Or `detent answer CONTEXT replan`: the Planner plans the tasks again, without it."
CHANGES = "changes-requested: TEXT"
ANSWERS_MEAN: Mapping[tuple[str, str], str] = {  # what an answer does, by kind of question
    ("notes", "accept"): "continue with the work as it is; the notes become known issues.",
    ("notes", "fix"): "they are fixed. Name codes in the note to have only those fixed; the others become known issues.",
    ("flags", "accept"): "the branch lands as it is.",
    ("flags", "fix"): "the Coder works on it, with your words; everything is checked and reviewed again.",
    ("instructions", "accept"): "they stay as this work changed them.",
    ("instructions", "fix"): "the Coder restores them.",
    ("budget", "different-approach"): "the repair starts again with your words, and its attempts count from 0.",
    ("budget", "guidance"): "the repair starts again, as your words say.",
    (
        "budget",
        "accept-known-issues",
    ): "the findings whose codes the note names, or all of them, become known issues. A failing test is never waived.",
    (
        "budget",
        "change-acceptance",
    ): "the check that fails is the wrong one: the SpecAgent corrects acceptance.json, you approve it, and the work continues.",
    ("manual", "passed"): "it holds. If files change afterwards, you are asked again.",
    ("manual", "failed"): "it does not; the Coder gets your note, and everything is checked again.",
    ("clarify", "skip"): "the SpecAgent decides and lists its assumptions.",
    ("approval", "approved"): "the tasks are planned next.",
    ("approval", CHANGES): "STAGE is spec, research, architecture or design (default: spec): its role and those after it run again with "
    "your words; then you are asked again, and shown what changed.",
    ("strategy", "per-batch"): "the tasks are worked on, and each is reviewed as soon as it is coded.",
    ("strategy", "single-final"): "the tasks are worked on, and reviewed together at the end.",
    ("strategy", "changes-requested: TEXT"): "the plan goes back to the Planner with your words; then you are asked again.",
}
SIMPLIFY = {
    "full": "the Planner plans the tasks again, smaller.",
    "lean": "the session becomes a full one and is specified again.",
}
WITH_NOTE = {"fix": " [--note TEXT]", "different-approach": " [--note TEXT]", "guidance": " --note TEXT", "change-acceptance": " [--note TEXT]", "failed": " --note TEXT",
             "accept-known-issues": " [--note 'CODE …']", "simplify-scope": " [--note TEXT]"}  # fmt: skip
ASKED_AGAIN = "Any other answer is asked again, at most three times. "
NO_HURRY = "Without an answer, the run waits as long as it takes."


class Dispatch(Value, frozen=True, omit_defaults=False):
    """The whole input of a role, as JSON in its briefing."""

    role: str
    session: str
    mode: str
    task: TaskEntry | None
    context_files: tuple[str, ...]
    session_changed_files: tuple[ChangedFile, ...]
    known_issues: tuple[KnownIssue, ...]
    user_decisions: tuple[KnownDecision, ...]
    project_instructions: tuple[str, ...]


# For both tables


def session_facts(run: Run[DD], task: TaskEntry | None = None) -> dict[str, str]:
    """The names that the briefings of both tables use."""
    data, asked = run.data, pending(run.data)
    return {
        "session": data.session,
        "given": _given(run, task),
        "last_attempt": last_seen(run),
        "rules": part("rules", run_tests=RUN_TESTS[is_driven(data)], tested=_tested(run.state), asking=_asking(run)),
        "reply_form": _reply_form(run),
        "statuses": part("statuses", asks="\n".join(_asks(run))),
        "changed_files": titled_list("All files that the session changed, by any role:", tuple(f"{f.path} ({f.change_type})" for f in data.changed_files)),
        "decision_id": asked.decision_id if asked else "",
        "question": asked.question if asked else "",
        "answers": answers(data, asked) if asked else "",
        "wrong_answer": _section("Why it is asked again", run.last_error if run.counts.get("answers") else ""),
        "way_out": way_out(run),
        "seen_last": _section("What was seen last", run.last_error),
    }  # fmt: skip


def titled_list(title: str, lines: tuple[str, ...]) -> str:
    """A list with a heading; empty if there is nothing to list."""
    return f"{title}\n\n{list_points(lines)}" if lines else ""


def part(name: str, **names: str) -> str:
    """A text from parts/ that several briefings share."""
    return filled(_template(name), names).strip()


@cache
def _template(name: str) -> Template:
    return Template((PARTS / f"{name}.md").read_text("utf-8"))


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n~~~~text\n{text}\n~~~~" if text else ""


def _given(run: Run[DD], task: TaskEntry | None) -> str:
    """What a role gets to read, and its whole input as JSON."""
    data, role = run.data, ROLES.get(run.state, "")
    decisions = (*(data.earlier if isinstance(data, Grounded) else ()), *answered_decisions(data))
    files, law = context_files(data, role), law_of(data)
    made = Dispatch(role, data.session, data.mode, task, files, data.changed_files, data.known_issues, decisions, data.instructions)
    return part(
        "given",
        read_first=titled_list("Read these files first; they are all there:", files),
        constitution=f"The project's constitution is `{law}`. Every role keeps to it; where the request or a document breaks it, say so."
        if law
        else "",
        instructions=titled_list("The project's own instructions:", data.instructions),
        input=msgspec.json.format(msgspec.json.encode(made), indent=2).decode(),
    )


def law_of(data: DecisionData) -> str:
    """The path of the project's constitution: its own file, else AGENTS.md."""
    named = {path.rpartition("/")[2]: path for path in data.instructions}
    return named.get("constitution.md") or named.get("AGENTS.md", "")


def last_seen(run: Run[DD]) -> str:
    """Why the last attempt failed, or what must be fixed; empty if it only repeats the findings listed above."""
    if isinstance(run.data, TaskData) and run.last_error == findings_lines(run.data.points):
        return ""
    return _section("What the machine saw last" if run.state.startswith("FIX_") else "What came of the last attempt", run.last_error)


def _tested(state: str) -> str:
    return ONLY_READ if state in READ else NO_WORD if state in JUDGES else TESTED


def _asking(run: Run[DD]) -> str:
    if run.state not in ("INTAKE", "INTAKE_LEAN"):
        return ASKING
    return ASKED_ALREADY if getattr(run.data, "clarified", False) else ASKING_FIRST


def _asks(run: Run[DD]) -> tuple[str, ...]:
    """The statuses by which a role asks a person. The SpecAgent may ask its questions only once."""
    if run.state not in ("INTAKE", "INTAKE_LEAN"):
        return (ASKS,)
    return (ASKS_DECISION,) if getattr(run.data, "clarified", False) else (ASKS_FIRST, ASKS_DECISION)


def _reply_form(run: Run[DD]) -> str:
    """The keys of a reply. `next` is only for the SpecAgent and for the Coder in lean mode."""
    state, role = run.state, ROLES.get(run.state, "")
    knows_next = state == "INTAKE" or (role == "Coder" and run.data.mode == "lean")
    summary = (
        "what was built, in a few sentences"
        if role == "Docs"
        else "what you found"
        if state in JUDGES
        else "what you did, in a few sentences"
    )
    return part(
        "reply",
        told=summary,
        files="" if state in JUDGES else '"every file you wrote"',
        notes=DOCS_NOTES if role == "Docs" else '"what others should know"',
        next=NEXT if knows_next else "",
        own="".join(f',\n  "{name}": {OWN_KEYS[name]}' for name in OF_ROLE.get(role, ())),
    )


# What people are told


def meanings(data: DecisionData, asked: PersonDecision) -> dict[str, str]:
    """The answers that a question takes: how each is typed, and what it does."""
    free = ("'TEXT'",) if _is_free(asked) else ()
    only = " Since it is about security, only in a terminal or on the page." if asked.security else ""
    return {
        **{f"{_typed(asked, value)}": _does(data, asked, value) for value in (*free, *asked.options)},
        "--cancel REASON": f"you do not decide; the run is blocked until `detent resume`.{only}",
    }


def answers(data: DecisionData, asked: PersonDecision) -> str:
    """The answers as a list of commands."""
    lines = tuple(f"`detent answer {asked.decision_id} {typed}`: {does}" for typed, does in meanings(data, asked).items())
    return f"{list_points(lines)}\n\n{'' if _is_free(asked) else ASKED_AGAIN}{NO_HURRY}"


def _is_free(asked: PersonDecision) -> bool:
    """Whether free text is an answer."""
    return not asked.options or asked.kind == "clarify"


def _typed(asked: PersonDecision, value: str) -> str:
    if value == CHANGES:
        return f"'{CHANGES}'" + (" [--to STAGE]" if asked.kind == "approval" else "")
    wants_why = asked.security and asked.kind != "instructions" and value in ("accept", "accept-known-issues")
    return value + (" --note WHY" if wants_why else WITH_NOTE.get(value, ""))


def _does(data: DecisionData, asked: PersonDecision, value: str) -> str:
    if value == "simplify-scope":
        return SIMPLIFY[data.mode]
    if value == "'TEXT'":
        return f"your own words; the {ROLES.get(asked.state_context, 'role')} gets them."
    return ANSWERS_MEAN[asked.kind, value]


def way_out(run: Run[DD]) -> str:
    """Why a run is blocked, and what a person can do."""
    if run.cause == "conflict":
        return NOT_LANDED if run.back == "LANDING" else UNMERGED
    replan = REPLAN if run.cause == "context_missing" and isinstance(run.data, TaskData) else ""
    return WAYS_OUT.get(run.cause, "`detent resume` goes back to where it stopped.") + replan


# For the briefings of a task


def facts(run: Run[TaskData]) -> Mapping[str, str]:
    """The names that the briefings of a task use."""
    data, task = run.data, run.data.task
    return {
        **session_facts(run, task),
        **{name: text for name, text in result(run).items() if name in ("tree", "roles", "reason")},
        "request": data.request,
        "task_id": data.task_id,
        "title": task.title if task else data.goal,
        "task": _task_text(task, data.goal),
        "breach": BREACH if law_of(data) else "",
        "known_issues": titled_list("A person has accepted these as known issues; do not report them again:", _issues(data)),
        "issues": list_points(_issues(data)),
        "depth": FINAL if data.task_id == META else INCREMENTAL,
        "findings": titled_list("What was found:", tuple(f"[{p.id}] {p.text}" for p in data.points)),
        "laid": LAID if data.laid else "",
        "handed_in": HANDED_IN + (COMPLEX if data.mode == "lean" else ""),
        "open": list_points(unproven(run)),
    }


def _issues(data: DecisionData) -> tuple[str, ...]:
    return tuple(f"[{i.finding}] {i.text}" for i in data.known_issues)


def _task_text(task: TaskEntry | None, goal: str) -> str:
    if task is None:
        return f"Goal: {goal}"
    rows = (
        f"Goal: {task.goal}",
        titled_list("Not part of it:", task.non_goals),
        titled_list("It is done when:", task.done_when),
        titled_list("Its checks, run by the machine later:", task.acceptance_checks),
        titled_list("Files it is expected to touch:", task.files_expected),
    )
    return "\n\n".join(filter(None, rows))
