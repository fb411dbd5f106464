"""Questions to people: the record of a decision, the answers to each kind, the changes that ask and resolve, and the gates over answers.

The event that asks a question records it as pending, with hashes of what is shown. Agents never answer: only people can make these calls.
"""

import re
from collections.abc import Callable
from typing import Literal, TypeVar

import msgspec

from detent.evidence.look import FilesLook, SubmitLook
from detent.gates.documents import KnownIssue, SessionData, content_hash
from detent.gates.reply import ReviewPoint, RoleReply, points_of
from detent.gates.summary import design_summary
from detent.kernel.model import Found, Run, Sent, Value

replace = msgspec.structs.replace

Kind = Literal["approval", "strategy", "clarify", "question", "notes", "budget", "manual", "instructions", "flags"]
MISSING = "mandatory_user_decision_missing"
APPROVE, STRATEGY, FLAGS = "UD-APPROVE-DESIGN", "UD-REVIEW-STRATEGY", "FLAGS"
BY_A_PERSON = ("terminal", "web")  # channels on which silence cannot pass for an answer

# kind of question -> answer -> the event it causes. Kind "question" takes any text.
ANSWERS: dict[str, dict[str, str]] = {
    "approval": {"approved": "approved"},
    "strategy": {"per-batch": "per-batch", "single-final": "single-final"},
    "clarify": {"skip": "answered"},
    "question": {},
    "notes": {"accept": "accept", "fix": "fix"},
    "budget": {
        "different-approach": "again",
        "guidance": "again",
        "accept-known-issues": "waive",
        "simplify-scope": "simplify",
        "change-acceptance": "correct-acceptance",
    },
    "instructions": {"accept": "accept-instructions", "fix": "fix-instructions"},
    "flags": {"accept": "accept-flags", "fix": "fix-flags"},
    "manual": {"passed": "manual-passed", "failed": "manual-failed"},
}
NEED_WORDS = {
    "guidance": "the guidance is empty",
    "failed": "say what you saw, for whoever fixes it",
}  # answers that require a note
PICKING = (
    "Accept it as it is, or have it fixed. To have only some findings fixed, name their codes in the note; the others become known issues."
)
CORRECTIONS = {"": "correct-spec", **{role: f"correct-{role}" for role in ("spec", "research", "architecture", "design")}}


class PersonDecision(Value, frozen=True, omit_defaults=False):
    """A question to a person and its answer. `asked` and `resolved` are the numbers of events, which have the times."""

    decision_id: str
    kind: Kind
    question: str
    options: tuple[str, ...]
    state_context: str
    asked: int
    status: Literal["pending", "answered", "cancelled", "skipped"] = "pending"
    answer: str = ""
    note: str = ""
    resolved: int = 0
    task_id: str = ""
    resolution_reason: str = ""
    channel: str = ""
    who: str = ""  # the user who answered, or whose policy did
    security: bool = False
    shown: dict[str, str] = {}  # documents that the person is shown: path -> content hash
    summary: str = ""  # excerpts of those documents
    before: int = 0  # the event that asked the question in an earlier round
    wanted: str = ""  # what a person asked for in that round
    points: tuple[ReviewPoint, ...] = ()  # the findings that the question is about

    def __post_init__(self) -> None:
        want = {"pending": (False, False, False), "answered": (True, True, False)}.get(self.status, (False, True, True))
        if (bool(self.answer), bool(self.resolved), bool(self.resolution_reason)) != want:
            raise ValueError(f"{self.decision_id}: a decision that is {self.status} has the wrong fields set")


class DecisionData(SessionData, frozen=True):
    """The part of a run's data that this module needs."""

    decisions: tuple[PersonDecision, ...] = ()
    first_question: int = 0  # ad-hoc questions of this run are numbered from here
    task_id: str = ""
    held: RoleReply | None = None  # the reply that a person is asked about
    accepted: RoleReply | None = None  # the reply that a person accepted; it counts as the role's OK
    tried: dict[str, tuple[str, ...]] = {}  # kind of repair -> what was wrong in its last attempts


DD = TypeVar("DD", bound=DecisionData)


def pending(data: DecisionData) -> PersonDecision | None:
    """The open question, if there is one."""
    return next((d for d in data.decisions if d.status == "pending"), None)


def reopened(data: DecisionData) -> PersonDecision | None:
    """The ad-hoc question that a blocked run must ask again, if there is one."""
    return next((d for d in data.decisions if d.status in ("pending", "cancelled") and d.decision_id not in (APPROVE, STRATEGY)), None)


def waived(data: DecisionData) -> frozenset[str]:
    return frozenset(issue.finding for issue in data.known_issues)


def put(data: DD, decision: PersonDecision) -> DD:
    """Add a decision, or replace the one with the same id."""
    known = decision.decision_id in {d.decision_id for d in data.decisions}
    kept = tuple(decision if d.decision_id == decision.decision_id else d for d in data.decisions)
    return replace(data, decisions=kept if known else (*data.decisions, decision))


def ask(run: Run[DD], made: PersonDecision, about: RoleReply | None = None) -> Run[DD]:
    """Record a question as pending. An open one is skipped, since only one can be open at a time."""
    data = _skip(run.data, run.seq + 1)
    named = replace(made, decision_id=made.decision_id or _next_id(data), task_id=data.task_id, asked=run.seq + 1)
    return replace(run, data=replace(put(data, named), held=about, accepted=None))


def question(
    run: Run[DD], kind: Kind, words: str, options: tuple[str, ...] | None = None, about: RoleReply | None = None, security: bool = False
) -> Run[DD]:
    """Ask an ad-hoc question. Afterwards the run returns to the state that it remembers."""
    takes = tuple(ANSWERS[kind]) if options is None else options
    return ask(run, PersonDecision("", kind, words, takes, run.back, 0, security=security, points=points_of(about) if about else ()), about)


def _next_id(data: DecisionData) -> str:
    return f"UD-{data.first_question + 1 + sum(d.decision_id not in (APPROVE, STRATEGY, FLAGS) for d in data.decisions)}"


def _skip(data: DD, seq: int) -> DD:
    old = pending(data)
    return put(data, replace(old, status="skipped", resolved=seq, resolution_reason="superseded by another question")) if old else data


def close_question(run: Run[DD], why: str) -> Run[DD]:
    """Close the open question because something else answered it."""
    old = pending(run.data)
    return replace(run, data=put(run.data, replace(old, status="skipped", resolved=run.seq + 1, resolution_reason=why))) if old else run


def meant(decision: PersonDecision | None, value: str) -> str:
    """Normalise an answer to the question's spelling: case, quotes, a full stop, or a space instead of a hyphen do not matter."""
    words = value.strip()
    if decision is None or decision.kind == "question":
        return words
    if decision.kind == "clarify":
        return "skip" if words.casefold() == "skip" else words
    if decision.kind in ("approval", "strategy") and (found := re.match(r"changes?[\s_-]*requested\s*(?::|$)", words, re.IGNORECASE)):
        return f"changes-requested:{words[found.end() :]}"
    flat = re.sub(r"[\s_]+", "-", words.strip("'\"`").rstrip(".!").strip().casefold())
    return flat if flat in ANSWERS[decision.kind] or flat == "cancel" else words


def event_of(decision: PersonDecision | None, sent: Sent) -> str:
    """The event that an answer causes, decided by the kind of question alone. An empty answer is "silence"."""
    value = meant(decision, sent.value)
    if decision is None or not value:
        return "silence"
    if value == "cancel":
        return "cancelled"
    if decision.kind in ("question", "clarify"):
        return "answered"
    if decision.kind in ("approval", "strategy") and value.startswith("changes-requested:"):
        on = CORRECTIONS.get(sent.to, "invalid") if decision.kind == "approval" else "correct-plan"
        return on if value.partition(":")[2].strip() or sent.note.strip() else "invalid"
    if value not in decision.options or (value in NEED_WORDS and not sent.note.strip()):
        return "invalid"
    return ANSWERS[decision.kind].get(value, "invalid")


# Changes


def resolve(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
    """Record the answer, and put question and answer into the next briefing. The last error is cleared, since the question covers it."""
    asked = pending(run.data)
    if asked is None:
        return run
    done = replace(asked, status="answered", answer=meant(asked, sent.value), note=sent.note, resolved=run.seq + 1, **_by(sent))
    guidance = f"{asked.question}\n\nThe answer: {done.answer}" + (f"\n{sent.note}" if sent.note else "")
    return replace(run, data=replace(put(run.data, done), held=None), guidance=guidance, cause="", last_error="")


def _by(sent: Sent) -> dict[str, str]:
    """The channel of the answer, and the user."""
    return {"channel": sent.channel, "who": sent.facts.get("who", "")}


def accept(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
    """The person accepts the work with its findings or notes, which become known issues; the reply counts as the role's OK."""
    asked = pending(run.data)
    return resolve(_accepted(run, asked.points if asked else ()), sent, found)


def waive(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
    """The findings named in the note, or all, become known issues. The reply counts as OK once no blocking finding is left."""
    asked = pending(run.data)
    named = tuple(p for p in (asked.points if asked else ()) if p.id in sent.note)
    return resolve(_accepted(run, named or (asked.points if asked else ())), sent, found)


def _accepted(run: Run[DD], taken: tuple[ReviewPoint, ...]) -> Run[DD]:
    known = {issue.finding for issue in run.data.known_issues}
    issues = tuple(KnownIssue(p.id, p.text, run.data.task_id) for p in taken if p.id not in known)
    return replace(run, data=replace(run.data, known_issues=(*run.data.known_issues, *issues), accepted=run.data.held))


def forget(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
    """Drop an accepted reply that was used or is no longer needed."""
    return replace(run, data=replace(run.data, held=None, accepted=None))


def cancel(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
    """The person declines to decide and says why. The run keeps the state to return to."""
    asked = pending(run.data)
    if asked is None:
        return run
    done = replace(asked, status="cancelled", resolution_reason=sent.note, resolved=run.seq + 1, **_by(sent))
    return replace(run, data=put(run.data, done), cause=MISSING)


def unanswered(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
    """The question stays open and the run waits for it, keeping the state to return to."""
    return replace(run, cause=MISSING)


def reopen(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
    """Ask a cancelled question again."""
    data = run.data
    for old in data.decisions:
        if old.status == "cancelled":
            data = put(data, replace(old, status="pending", resolution_reason="", resolved=0, asked=run.seq + 1, channel="", who=""))
    return replace(run, data=data)


def keep_invalid(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
    """Say that an answer is invalid, what the valid ones are, and how many more tries are left."""
    asked = pending(run.data)
    takes = ", ".join(asked.options) if asked else ""
    left = run.limits.get("answers", 0) - run.counts.get("answers", 0)
    tries = f" {left} more answers like that, and the run waits for `detent resume`." if left > 0 else ""
    return replace(
        run, last_error=f"'{sent.value}' is not an answer to {asked.decision_id if asked else sent.decision}. It takes: {takes}.{tries}"
    )


def not_understood(look: SubmitLook[DecisionData]) -> str | None:
    """An answer that is understood but incomplete is refused with what is missing; only one that cannot be understood counts."""
    asked, sent = pending(look.run.data), look.sent
    if asked is None:
        return None
    value = meant(asked, sent.value)
    takes = f"{asked.decision_id} takes: {', '.join(asked.options)}"
    if value.startswith("changes-requested:") and not (value.partition(":")[2].strip() or sent.note.strip()):
        return f"say what must change, after the colon: detent answer {asked.decision_id} 'changes-requested: TEXT'"
    if value.startswith("changes-requested:") and asked.kind == "approval" and sent.to not in CORRECTIONS:
        return f"changes cannot be sent to '{sent.to}'; --to takes: {', '.join(name for name in CORRECTIONS if name)}"
    if value in NEED_WORDS and value in asked.options and not sent.note.strip():
        return f"{NEED_WORDS[value]}: detent answer {asked.decision_id} {value} --note TEXT"
    if value == "accept-known-issues" and value not in asked.options:
        return f"a failing test or criterion is never waived. {takes}"
    if value in ANSWERS[asked.kind] and value not in asked.options:
        return f"'{value}' does not answer this question. {takes}"
    near = _near(asked, value)
    return f"'{value}' is not quite an answer; did you mean: detent answer {asked.decision_id} {near}" if near else None


def _near(asked: PersonDecision, value: str) -> str:
    """The answer that was probably meant; empty if none is close."""
    from difflib import get_close_matches  # rarely needed

    if asked.kind in ("approval", "strategy") and re.match(r"changes?[\s_-]*requested\b", value, re.IGNORECASE):
        return "'changes-requested: TEXT' (a colon before what must change)"
    flat = re.sub(r"[\s_]+", "-", value.strip().casefold())
    plain = [
        o for o in asked.options if o in ANSWERS[asked.kind] and o[:1] == flat[:1] and flat.count("-") <= o.count("-")
    ]  # no "not approved"
    begun = [option for option in plain if len(flat) > 2 and option.startswith(flat)]
    return next(iter(begun or get_close_matches(flat, plain, 1, 0.75)), "")


def accepted_on_purpose(look: SubmitLook[DecisionData]) -> str | None:
    """A security finding is accepted by a person, with a reason; never by a policy or an unanswered dialog."""
    asked = pending(look.run.data)
    if asked is None or not asked.security:
        return None
    if look.sent.channel not in BY_A_PERSON:
        return f"{asked.decision_id} is about security: it is accepted at the terminal or on the web page, not by {look.sent.channel or 'silence'}"
    return None if look.sent.note.strip() else f"{asked.decision_id} is about security: say with --note why it is accepted"


def ask_again(run: Run[DD], sent: Sent, found: Found) -> Run[DD]:
    """The documents changed after they were shown: ask again about the current ones."""
    asked = pending(run.data)
    if asked is None:
        return run
    now = {path: content_hash(found.documents.get(path, "")) for path in asked.shown}
    summary = design_summary(run.data, found.documents)
    return replace(run, data=put(run.data, replace(asked, shown=now, summary=summary, asked=run.seq + 1, before=asked.asked, wanted="")))


# Gates


def answers_the_question(look: SubmitLook[DecisionData]) -> str | None:
    """The answer comes from a person and names the open question."""
    asked = pending(look.run.data)
    if look.sent.by != "human":
        return "only a person can make this decision"
    if asked is None:
        return "no question is open"
    return None if look.sent.decision == asked.decision_id else f"the open question is {asked.decision_id}, not '{look.sent.decision}'"


def cancelled_on_purpose(look: SubmitLook[DecisionData]) -> str | None:
    """A question is cancelled by a person, with a reason; one about security never by an unanswered dialog."""
    asked = pending(look.run.data)
    if not look.sent.note.strip():
        return "an empty answer cancels nothing; to cancel the question, give a reason"
    if asked and asked.security and look.sent.channel not in BY_A_PERSON:
        return f"{asked.decision_id} is about security: it is cancelled at the terminal or on the web page, not by {look.sent.channel or 'silence'}"
    return None


def _moved(look: FilesLook[DecisionData], decision: PersonDecision) -> str | None:
    """The first shown document that has changed. Reads all, so that the question can be asked again about the current ones."""
    now = {path: content_hash(look.read(path) or "") for path in decision.shown}
    changed = [path for path, was in decision.shown.items() if now[path] != was]
    return f"{changed[0]} changed since it was shown; look at it again, then answer" if changed else None


def as_shown(look: FilesLook[DecisionData]) -> str | None:
    """What the person was shown has not changed since."""
    asked = pending(look.run.data)
    return _moved(look, asked) if asked else "no question is open"


def design_as_approved(look: FilesLook[DecisionData]) -> str | None:
    """The design is the one a person approved; a lean session has none."""
    given = next((d for d in look.run.data.decisions if d.decision_id == APPROVE and d.answer == "approved"), None)
    if look.run.data.mode == "lean":
        return None
    return _moved(look, given) if given else "the design was never approved"


def decisions_of(run: Run[DD], ended: bool) -> tuple[PersonDecision, ...]:
    """The questions of a run. When it has ended, one that was still open counts as skipped."""
    over = {"status": "skipped", "resolved": run.seq, "resolution_reason": "the run that asked it has ended"}
    return tuple(replace(d, **over) if ended and d.status == "pending" else d for d in run.data.decisions)


def decision_row(d: PersonDecision, run: str, when: Callable[[str, int], str]) -> dict[str, object]:
    """A decision for people and programs; `when` gives the time of an event."""
    return {
        "decision_id": d.decision_id,
        "question": d.question,
        "options": list(d.options),
        "status": d.status,
        "answer": d.answer or None,
        "asked_at": when(run, d.asked),
        "resolved_at": when(run, d.resolved) if d.resolved else None,
        "state_context": d.state_context,
        "task_id": d.task_id or None,
        "resolution_reason": d.resolution_reason or None,
        "note": d.note or None,
        "channel": d.channel or None,
        "resolved_by": d.who or None,
    }
