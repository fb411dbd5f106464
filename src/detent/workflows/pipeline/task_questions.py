"""The questions that a session's roles and failed repairs ask people: their words and what they are about. Pure; knows no rows."""

import msgspec

from detent.gates.human import ANSWERS, PersonDecision, ask, pending, question
from detent.gates.reply import ReviewPoint, points_of
from detent.kernel.model import Found, Run, Sent
from detent.kernel.table import Change
from detent.workflows.pipeline.task_data import DD, META, ROLES, TaskData, reply_of

replace = msgspec.structs.replace
ATTEMPTS, LONGEST_ATTEMPT = 4, 600  # limits of what a person is told about failed repairs


# Repairs that are tried repeatedly


def tried(loop: str) -> Change[DD]:
    """A change that remembers what was wrong when a repair began, for the question once the repairs are used up."""

    def keep(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
        errors = (*run.data.tried.get(loop, ()), run.last_error[:LONGEST_ATTEMPT])
        return replace(run, data=replace(run.data, tried={**run.data.tried, loop: errors[-ATTEMPTS:]}))

    keep.__name__ = f"tried({loop})"
    return keep


def _attempts(run: Run[DD], loop: str, count: int) -> str:
    """What each repair of this round began with."""
    errors = run.data.tried.get(loop, ())[-count:] if count else ()
    return "".join(f"\n\nRepair {i} began with:\n{error}" for i, error in enumerate(errors, 1))


# Questions

ASKS = {"PASS_WITH_NOTES": "passes the work with notes", "BLOCKED": "cannot continue"}  # how a question words the reply's status


def _who(run: Run[DD]) -> str:
    """The role that asks, and its task."""
    task, role = getattr(run.data, "task", None), ROLES.get(run.state, "role")
    named = f"The {role} role" if role in ("QA", "Security", "Docs") else f"The {role}"
    return named + (f" of {run.data.task_id} ({task.title})" if task and run.data.task_id != META else "")


def ask_question(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
    """Ask what a role must know before it can continue."""
    reply = reply_of(run, sent)
    words = f"{_who(run)} {ASKS.get(reply.status, 'asks')}: {reply.summary}" if reply else f"{_who(run)} asks for a decision."
    more = "".join(f"\n- {note}" for note in (reply.artifacts.notes if reply else ()))
    return question(run, "question", words + more, security=bool(reply and reply.gates.security_concerns))


def ask_notes(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
    """Ask which of a role's notes are to be fixed."""
    reply = reply_of(run, sent)
    found_notes = [f"[{p.id}] {p.text}" for p in points_of(reply)] if reply else []
    words = f"{_who(run)} {ASKS.get(reply.status, 'asks')}: {reply.summary}" if reply else ""
    text = words + "".join(f"\n- {note}" for note in found_notes)
    return question(run, "notes", text, about=reply, security=bool(reply and (reply.findings or reply.gates.security_concerns)))


def ask_instructions(run: Run[TaskData], sent: Sent, found: Found) -> Run[TaskData]:
    """Ask about changed agent instructions, whatever the policies say: later agents would follow them."""
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
    """Keep that a person accepted the instructions as they are now; another change is asked about again."""
    asked = pending(run.data)
    taken = tuple(f"{path} {held}" for path, held in asked.shown.items()) if asked else ()
    return replace(run, data=replace(run.data, instructed=(*run.data.instructed, *taken)))


def ask_after_findings(run: Run[TaskData], sent: Sent, found: Found) -> Run[TaskData]:
    """Ask how to continue when the repairs are used up and findings remain: fix, waive, or reduce the scope."""
    tries = run.limits.get(run.back, 0)
    words = f"The findings on {run.data.task_id} were worked on {tries} times, and these remain:\n{run.last_error}"
    words += _attempts(run, run.back, run.counts.get(run.back, 0))
    takes = ("different-approach", "guidance", "accept-known-issues", "simplify-scope")
    return question(run, "budget", words, takes, about=reply_of(run, sent), security=run.back == "FIX_SECURITY")


def ask_after_failure(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
    """Ask how to continue when the repairs are used up and a test or check still fails. It cannot be waived."""
    words = f"The repair of {run.data.task_id or 'the build'} has no attempts left, and this still fails:\n{run.last_error}"
    loop = "FIX_BUILD" if run.back == "FIX_BUILD_CODE" else run.back
    words += _attempts(run, loop, run.counts.get(loop, 0))
    more = ("change-acceptance",) if run.back == "FIX_BUILD_CODE" else ()  # the failing command may be the wrong one
    return question(run, "budget", words, ("different-approach", "guidance", *more, "simplify-scope"))


def instructions_open(run: Run[TaskData], sent: Sent) -> dict[str, str]:
    """Changes of the project's agent instructions that no person has accepted: path -> blob."""
    lines = [line for line in sent.facts.get("instructions_changed", "").splitlines() if line not in run.data.instructed]
    return {path: held for path, _, held in (line.rpartition(" ") for line in lines)}
