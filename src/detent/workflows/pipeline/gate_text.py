"""What a person reads before deciding: the question and everything it is about, as markdown, the same for every interface. Pure; knows no git, no rows."""

from collections.abc import Callable, Mapping

from detent.gates.documents import TaskEntry, recommended
from detent.gates.human import PICKING, PersonDecision
from detent.workflows.pipeline.pipeline_data import PipelineData, Session
from detent.workflows.pipeline.task_data import list_points

STRATEGIES = (
    "`per-batch`: Reviewer, QA and Security look at every task as soon as it is coded, and the Reviewer once more at all of them. Slower, but finds problems early.",
    "`single-final`: all tasks are coded first, then Reviewer, QA and Security look once at everything. Faster, but problems found late may cost more rework.",
)
STAYS = "What was done for it stays in the branch. To have it removed, send the plan back and say so."
LONGEST_DIFF = 6000


def gate_text(run: Session, asked: PersonDecision, since: str | None = None) -> str:
    """The question with what is decided by it. `since`: the diff of the documents since it was last asked; None if it was not computed."""
    made = TEXTS.get(asked.kind)
    if asked.kind == "notes" and asked.points:
        return f"{asked.question}\n\n{PICKING}"
    return made(run, asked, since) if made and isinstance(run.data, PipelineData) else asked.question


def _round(asked: PersonDecision, since: str | None) -> list[str]:
    """In a later round: what the person asked for, and what changed since."""
    if since is None:
        return [f"### What was asked for\n\n{asked.wanted}\n\n`detent decisions` shows what changed since."] if asked.wanted else []
    short = since if len(since) <= LONGEST_DIFF else since[:LONGEST_DIFF].rpartition("\n")[0] + "\n[…] the documents have the rest"
    parts = [f"### What was asked for\n\n{asked.wanted}"] if asked.wanted else []
    same = "Nothing: the documents are unchanged."
    seen = f"```diff\n{short}\n```" if since else same if asked.wanted and asked.before else ""
    return parts + ([f"### What changed since you were last asked\n\n{seen}"] if seen else [])


def _approval(run: Session, asked: PersonDecision, since: str | None) -> str:
    data = run.data
    criteria = list_points(tuple(f"{c.id} {c.description} (`{'`; `'.join(c.verify)}`)" for c in data.criteria))
    parts = [asked.question, *_round(asked, since), f"### The design, in its own words\n\n{asked.summary}"]
    parts += [f"### Acceptance criteria\n\n{criteria}", f"### What the specification assumes\n\n{list_points(data.assumptions)}"]
    return "\n\n".join(parts)


def _strategy(run: Session, asked: PersonDecision, since: str | None) -> str:
    data = run.data
    which = recommended(data.tasks)[0]
    choices = tuple(f"{line} Recommended." if line.startswith(f"`{which}`") else line for line in STRATEGIES)
    parts = [asked.question, *_round(asked, since), f"### The tasks\n\n{list_points(tuple(_task(t) for t in data.tasks))}"]
    if data.left_out:
        parts += [f"### Done before, and not in this plan\n\n{list_points(data.left_out)}\n\n{STAYS}"]
    parts += [f"### The two strategies\n\n{list_points(choices)}"]
    return "\n\n".join(parts)


def _clarify(run: Session, asked: PersonDecision, since: str | None) -> str:
    return f"{asked.question}\n\nAnswer in your own words, or `skip`: the SpecAgent then decides and lists its assumptions."


def _task(task: TaskEntry) -> str:
    stands = [
        *([task.status] if task.status != "not-started" else []),
        *([f"after {', '.join(task.depends_on)}"] if task.depends_on else []),
    ]
    about = f" [{', '.join(stands)}]" if stands else ""
    goal = f": {task.goal}" if task.goal.strip(" .").lower() != task.title.strip(" .").lower() else ""
    risks = f" Risks: {', '.join(task.risk_flags)}." if task.risk_flags else ""
    files = f" Files: {', '.join(task.files_expected)}." if task.files_expected else ""
    return f"**{task.id}** {task.title}{about}{goal}.{files}{risks}".replace("..", ".")


def _manual(run: Session, asked: PersonDecision, since: str | None) -> str:
    data = run.data
    of = [f"{c.id} {c.description}" for c in data.criteria if asked.question in c.verify]
    of += [f"{t.id} {t.title}" for t in data.tasks if asked.question in t.acceptance_checks]
    how = [note for note in data.report_notes[1:] if "run" in note.lower()] or ["run it: as the project's README says"]
    rows = (
        f"The check: {asked.question.removeprefix('manual:').strip()}",
        f"It is for: {'; '.join(of) or 'the session as a whole'}",
        f"Branch: `{data.branch.removeprefix('refs/heads/') or 'as checked out'}`",
        f"Folder: `{data.setup.workspace or run.worktree}`",
        *(f"How to {note[0].lower()}{note[1:]}" if note.lower().startswith("run it") else note for note in how),
    )
    return "\n\n".join(
        (
            "Only a person can check this. Does it hold?",
            f"### What to check by hand\n\n{list_points(rows)}",
            *_seen_before(run, asked),
        )
    )


def _seen_before(run: Session, asked: PersonDecision) -> list[str]:
    """In a later round: what the person reported last time, and where to find the fix."""
    earlier = [d for d in run.data.decisions if d.question == asked.question and d.answer == "failed"]
    if not earlier:
        return []
    where = run.data.branch.removeprefix("refs/heads/")
    fixed = f" Fixed since: `git log -p -1 {where}`" if where else ""
    return [f"### What you saw last time\n\n{earlier[-1].note or 'It failed, without a note.'}\n\n{fixed.strip()}".rstrip()]


TEXTS: Mapping[str, Callable[[Session, PersonDecision, str | None], str]] = {
    "approval": _approval,
    "strategy": _strategy,
    "manual": _manual,
    "clarify": _clarify,
}
