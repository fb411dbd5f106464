"""What roles of a session, and repairs that came to nothing, have people asked: the words of the questions and what they are about. Pure; knows no rows."""

import msgspec

from detent.gates.human import ANSWERS, PersonDecision, ask, pending, question
from detent.gates.reply import ReviewPoint, noted
from detent.kernel.model import Found, Run, Sent
from detent.kernel.table import Change
from detent.workflows.pipeline.task_data import DD, META, ROLES, TaskData, reply_of

replace = msgspec.structs.replace
ATTEMPTS, LONGEST_ATTEMPT = 4, 600  # what a person is told of repairs that came to nothing


# Repairs that are tried again and again


def tried(loop: str) -> Change[DD]:
    """Remember what was wrong when a repair began, for whoever is asked once they are spent."""

    def keep(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
        told = (*run.data.tried.get(loop, ()), run.last_error[:LONGEST_ATTEMPT])
        return replace(run, data=replace(run.data, tried={**run.data.tried, loop: told[-ATTEMPTS:]}))

    keep.__name__ = f"tried({loop})"
    return keep


def _attempts(run: Run[DD], loop: str, count: int) -> str:
    """Each repair of this round: what it began from."""
    told = run.data.tried.get(loop, ())[-count:] if count else ()
    return "".join(f"\n\nRepair {i} began with:\n{said}" for i, said in enumerate(told, 1))


# Questions

ASKS = {"PASS_WITH_NOTES": "passes the work with notes", "BLOCKED": "cannot continue"}  # how a reply that a person is asked about is told


def _who(run: Run[DD]) -> str:
    """Who asks, and about which task."""
    task, role = getattr(run.data, "task", None), ROLES.get(run.state, "role")
    named = f"The {role} role" if role in ("QA", "Security", "Docs") else f"The {role}"
    return named + (f" of {run.data.task_id} ({task.title})" if task and run.data.task_id != META else "")


def ask_question(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
    """A role cannot go on without a person's word."""
    reply = reply_of(run, sent)
    words = f"{_who(run)} {ASKS.get(reply.status, 'asks')}: {reply.summary}" if reply else f"{_who(run)} asks for a decision."
    more = "".join(f"\n- {note}" for note in (reply.artifacts.notes if reply else ()))
    return question(run, "question", words + more, security=bool(reply and reply.gates.security_concerns))


def ask_notes(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
    """A role passes the work, or leaves it open, with notes: the person decides which are fixed."""
    reply = reply_of(run, sent)
    found_notes = [f"[{p.id}] {p.text}" for p in noted(reply)] if reply else []
    words = f"{_who(run)} {ASKS.get(reply.status, 'asks')}: {reply.summary}" if reply else ""
    text = words + "".join(f"\n- {note}" for note in found_notes)
    return question(run, "notes", text, about=reply, security=bool(reply and (reply.findings or reply.gates.security_concerns)))


def ask_instructions(run: Run[TaskData], sent: Sent, found: Found) -> Run[TaskData]:
    """Instructions to agents were changed: later agents would follow them, so a person looks first, whatever the policies say."""
    changed = instructions_open(run, sent)
    words = f"This work changes the project's instructions to agents, in {', '.join(changed)}. Is that wanted?"
    fix = ReviewPoint(
        "INSTRUCTIONS",
        f"restore {', '.join(changed)}: you may not change the project's instructions to agents",
        blocks=True,
    )
    made = PersonDecision(
        "", "instructions", words, tuple(ANSWERS["instructions"]), run.back, 0, security=True, shown=changed, points=(fix,)
    )
    return ask(run, made)


def keep_instructed(run: Run[TaskData], sent: Sent, found: Found) -> Run[TaskData]:
    """A person takes the instructions as they stand now; another change is asked about again."""
    asked = pending(run.data)
    taken = tuple(f"{path} {held}" for path, held in asked.shown.items()) if asked else ()
    return replace(run, data=replace(run.data, instructed=(*run.data.instructed, *taken)))


def ask_after_findings(run: Run[TaskData], sent: Sent, found: Found) -> Run[TaskData]:
    """The loop is spent, and what is open is a finding: it may be fixed, waived, or the scope cut down."""
    tries = run.limits.get(run.back, 0)
    words = f"The findings on {run.data.task_id} were worked on {tries} times, and these remain:\n{run.last_error}"
    words += _attempts(run, run.back, run.counts.get(run.back, 0))
    takes = ("different-approach", "guidance", "accept-known-issues", "simplify-scope")
    return question(run, "budget", words, takes, about=reply_of(run, sent), security=run.back == "FIX_SECURITY")


def ask_after_failure(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
    """The loop is spent, and what is open is a failing test or check: it is never waived."""
    words = f"The repair of {run.data.task_id or 'the build'} has no attempts left, and this still fails:\n{run.last_error}"
    loop = "FIX_BUILD" if run.back == "FIX_BUILD_CODE" else run.back
    words += _attempts(run, loop, run.counts.get(loop, 0))
    more = ("change-acceptance",) if run.back == "FIX_BUILD_CODE" else ()  # the command that fails may be the wrong one
    return question(run, "budget", words, ("different-approach", "guidance", *more, "simplify-scope"))


def instructions_open(run: Run[TaskData], sent: Sent) -> dict[str, str]:
    """Changes of the project's instructions to agents that no person has seen: what each file holds now, by its path."""
    lines = [line for line in sent.facts.get("instructions_changed", "").splitlines() if line not in run.data.instructed]
    return {path: held for path, _, held in (line.rpartition(" ") for line in lines)}
