"""Policies (`--yes-to`): answers that a person gives in advance for unattended runs. Which questions they cover, and the answers they become."""

import getpass
import os
from collections.abc import Iterable, Mapping

from detent.blocks.open_flags import ACCEPT, CAUSE, QUESTION, asking
from detent.config import Settings
from detent.config.sources import is_kind, kind_names
from detent.config.values import unknown
from detent.door import AnyRun
from detent.errors import DetentError
from detent.gates.documents import recommended
from detent.gates.human import DecisionData, pending
from detent.kernel.model import Sent

POLICIES: dict[str, tuple[str, ...]] = {  # the first value is what the bare name means
    "approve-design": ("approved",),
    "review-strategy": ("recommended", "per-batch", "single-final"),
    "notes": ("accept", "fix"),
    "questions": ("own-judgement",),
}
FLAGS = "flags"  # its values are kinds of flags
KINDS = {"approval": "approve-design", "strategy": "review-strategy", "notes": "notes", "question": "questions", "clarify": "questions"}
WORDS = {
    "own-judgement": "Nobody can be asked now. Decide by what the request and the documents say, and list in artifacts.notes what you assumed."
}
MOST_QUESTIONS = 2  # questions of one role that a policy answers; then a person is needed


def read_policies(words: Iterable[str]) -> dict[str, str]:
    """Parse `approve-design,review-strategy=recommended` into name -> value; an unknown name is refused with the known ones.

    `flags` takes several kinds: `flags=no-proof,unnoticed`, `flags=no-proof+unnoticed`, or `flags=…` repeated.
    """
    found: dict[str, str] = {}
    for line in words:
        name = ""
        for word in (w.strip() for w in line.split(",") if w.strip()):
            if name == FLAGS and "=" not in word and word not in POLICIES:
                found[FLAGS] = _kinds(f"{found[FLAGS]}+{word}")
                continue
            name, _, value = word.partition("=")
            found[name] = _kinds("+".join(filter(None, (found.get(FLAGS), value)))) if name == FLAGS else _checked(name, value)
    return found


def _checked(name: str, value: str) -> str:
    takes = POLICIES.get(name)
    if takes is None:
        raise unknown(f"--yes-to: there is no policy '{name}'", name, (*POLICIES, FLAGS))
    if value and value not in takes:
        raise DetentError(f"--yes-to: {name} does not take '{value}'", f"it takes: {', '.join(takes)}")
    return value or takes[0]


def _kinds(value: str) -> str:
    """The kinds of flags accepted in advance, without duplicates; unknown ones are refused."""
    kinds = dict.fromkeys(word.strip() for word in value.split("+") if word.strip())
    if not kinds:
        raise DetentError(
            "--yes-to: flags needs the kinds that are accepted", "for example: --yes-to flags=no-proof,unnoticed (docs/flags.md)"
        )
    for kind in kinds:
        if not is_kind(kind):
            raise unknown(f"--yes-to: there is no kind of flag '{kind}'", kind, kind_names())
    return "+".join(kinds)


def only_flags(policies: Mapping[str, str]) -> bool:
    """Whether the policies are only about flags, which every workflow has."""
    return set(policies) <= {FLAGS}


def flags_alone(policies: Mapping[str, str], where: str) -> None:
    """Refuse policies about anything but flags."""
    if not only_flags(policies):
        raise DetentError(f"--yes-to: only flags are asked about in {where}", "for example: --yes-to flags=no-proof (docs/flags.md)")


def kinds_of(policies: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(policies[FLAGS].split("+")) if FLAGS in policies else ()


def policies_of(kinds: tuple[str, ...]) -> dict[str, str]:
    return {FLAGS: "+".join(kinds)} if kinds else {}


def may_answer(policies: Mapping[str, str], settings: Settings) -> None:
    """Refuse policies where [decisions] require wants a person at a certain place."""
    if policies and settings.decisions.require not in ("", "anywhere"):
        raise DetentError(
            f"--yes-to answers for a person, and here a person at a {settings.decisions.require} must answer (decisions.require)",
            "leave it out, and answer with `detent answer`",
        )


def answer_of(run: AnyRun) -> Sent | None:
    """The answer of a run's policies to its open question; None if they have none, and always for questions about security."""
    if run.cause == CAUSE and run.asked:
        return _accepted(run)
    asked = pending(run.data) if isinstance(run.data, DecisionData) else None
    if asked is None or asked.security:
        return None
    name = KINDS.get(asked.kind, "")
    value = run.data.policies.get(name, "")
    if not value:
        return None
    before = [d for d in run.data.decisions if d.kind == "question" and d.channel == "policy" and d.state_context == asked.state_context]
    if asked.kind in ("question", "clarify") and len(before) >= MOST_QUESTIONS:
        return None
    value = recommended(run.data.tasks)[0] if value == "recommended" else WORDS.get(value, value)
    note = f"by the policy {name}={run.data.policies[name]}, given when the run was started"
    return Sent("answer", by="human", channel="policy", decision=asked.decision_id, value=value, note=note, facts={"who": user()})


def _accepted(run: AnyRun) -> Sent | None:
    """The answer to the question about flags, if the kind of every flag was accepted in advance."""
    kinds = run.data.setup.accepts
    if not kinds or not {flag.kind for flag in asking(run)} <= set(kinds):
        return None
    note = f"by the policy flags={'+'.join(kinds)}, given when the run was started"
    return Sent("answer", by="human", channel="policy", decision=QUESTION, value=ACCEPT, note=note, facts={"who": user()})


def user() -> str:
    """The name of the user who runs this process."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"uid {os.getuid()}"
