"""Review findings: their form, strict reader, and the gates over reviews. A review that cannot be read approves nothing."""

import hashlib
from typing import Literal

import msgspec

from detent.errors import CannotTell
from detent.evidence.look import FilesLook, SubmitLook
from detent.gates.plain_values import last_span
from detent.gates.plan import PlanData
from detent.kernel.model import Data, Flag, Value
from detent.kernel.table import GateResult

ROOT_FILE = "a file at the root"  # the reviewer of a review that is only a file, which anybody may have written
SEVERITIES = ("INFO", "SUGGESTION", "MINOR", "MAJOR", "CRITICAL")
BEHAVIOUR = ("bug", "correctness", "behaviour", "behavior", "test", "tests", "testing", "security", "logic")


class Finding(Value, frozen=True, omit_defaults=False):
    """One finding of a reviewer."""

    file_path: str
    line_number: int
    category: str
    severity: Literal["CRITICAL", "MAJOR", "MINOR", "SUGGESTION", "INFO"]
    description: str
    recommendation: str = ""

    @property
    def id(self) -> str:
        """Stable when the finding moves to another line."""
        words = f"{self.file_path}\n{self.category.lower()}\n{' '.join(self.description.lower().split())}"
        return hashlib.sha256(words.encode()).hexdigest()[:12]

    @property
    def wants_test(self) -> bool:
        return self.category.lower() in BEHAVIOUR


class _Short(Value, frozen=True):
    """The short form of a finding: a task to add."""

    taskName: str
    status: Literal["TODO"] = "TODO"


class _Review(Value, frozen=True):
    findings: tuple[Finding, ...]
    overall_assessment: str = ""
    executive_summary: str = ""


def findings_in(words: str) -> str:
    """The review in a reviewer's final message: the last object with `findings`, else the whole text. CannotTell if it cannot be parsed."""
    text = last_span(words, "findings") or words.strip()
    read_findings(text)
    return text


def read_findings(text: str) -> tuple[Finding, ...]:
    """The findings of a review in any accepted form. CannotTell if it has none of them."""
    if not text.strip():
        raise CannotTell('the review is empty; an approval is written as [] or {"findings": []}')
    faults = []
    for reader in (_full, _listed, _short):
        try:
            return reader(text)
        except (msgspec.DecodeError, RecursionError) as e:
            faults.append(str(e))
    raise CannotTell(
        f"the review cannot be read as {{findings: […]}}, as a list of findings, or as a list of tasks: {'; '.join(dict.fromkeys(faults))}"
    )


def _full(text: str) -> tuple[Finding, ...]:
    return msgspec.json.decode(text, type=_Review).findings


def _listed(text: str) -> tuple[Finding, ...]:
    return msgspec.json.decode(text, type=tuple[Finding, ...])


def _short(text: str) -> tuple[Finding, ...]:
    return tuple(Finding("", 0, "maintainability", "MINOR", t.taskName) for t in msgspec.json.decode(text, type=tuple[_Short, ...]))


def blocking(findings: tuple[Finding, ...], at: str) -> tuple[Finding, ...]:
    """The findings of this severity or above."""
    return tuple(f for f in findings if SEVERITIES.index(f.severity) >= SEVERITIES.index(at))


def review_is_readable(look: SubmitLook[Data]) -> str | None:
    """The review can be parsed; one that cannot approves nothing, finds nothing and costs nothing."""
    try:
        read_findings(look.sent.findings)
    except CannotTell as e:
        return str(e)
    return None


def review_is_independent(look: SubmitLook[Data]) -> str | None:
    """Where an independent review is required, one reported by the agent itself is refused."""
    if look.sent.by != "system" and look.setting("review.agent"):
        return (
            "a reviewer is configured ([review] agent), so you cannot report the review; call get_task, and the machine asks the reviewer"
        )
    if look.sent.by == "system" or look.setting("review.require_independent") != "true":
        return None
    return "an independent review is required here (review.require_independent); configure [review] agent, or ask a person"


def own_review_is_flagged(look: SubmitLook[Data]) -> GateResult:
    """A branch that only its own agent reviewed is flagged; where an independent review is required, a person is asked."""
    if look.sent.by == "system" and look.sent.facts.get("by", "") not in ("", ROOT_FILE):
        return None
    level: Literal["note", "ask"] = "ask" if look.setting("review.require_independent") == "true" else "note"
    return Flag(
        "own-review",
        "only the agent that did the work reviewed it; set [review] agent to an independent reviewer",
        level=level,
        stays=True,
    )


def tree_is_as_proved(look: FilesLook[Data]) -> str | None:
    """What is reviewed is the tree that the last step proved, and nothing else."""
    changed = look.changed()
    return unproved(changed[0].path) if changed else None


def unproved(path: str) -> str:
    """The sentence about a file that changed after the last proof."""
    return f"{path} changed since the last step passed, so it is not proved; undo the change, and make it in a step of its own"


def tree_is_as_reviewed(look: FilesLook[PlanData]) -> str | None:
    """The tree is identical to the one that was reviewed."""
    reviewed = look.run.data.reviewed_tree
    if look.branch().tree == reviewed:
        return None
    return f"the tree differs from the reviewed one ({reviewed[:12]}); what changes after a review is reviewed again"
