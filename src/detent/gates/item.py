"""Work items: when one may run, the agent's final report, the review of its branch, and the gates over them.

What the tracker knows arrives as facts from the machine's own job. Knows no tracker, no git and no states.
"""

import re
from collections.abc import Callable

import msgspec

from detent.errors import CannotTell
from detent.evidence.look import FilesLook, SubmitLook
from detent.gates.plain_values import last_span
from detent.kernel.model import Data, Sent, Value

FENCE = re.compile(r"\s*(?:```|~~~)")
BLOCKED = re.compile(r"BLOCKED:\s*(\S.*)")


class WorkItem(Value, frozen=True):
    """The item as the tracker had it when the execution was queued."""

    id: str = ""
    title: str = ""
    description: str = ""


class ItemData(Data, frozen=True):
    """The part of a run's data that the gates over items need."""

    item: WorkItem = WorkItem()
    context: str = ""  # what the user added to the prompt

    def asked_for(self, read: Callable[[str], str | None], setting: Callable[[str], str]) -> str:
        return f"{self.item.title} {self.item.description} {self.context}"


class FoundIssue(Value, frozen=True, omit_defaults=False):
    """One issue that the review of a branch found. It becomes an item."""

    title: str
    description: str
    priority: int
    type: str
    severity: str
    file_path: str = ""
    line_numbers: tuple[int, ...] = ()


class BranchReview(Value, frozen=True, omit_defaults=False):
    """The answer of a branch's reviewer."""

    issues: tuple[FoundIssue, ...]
    summary: str
    pr_ready: bool


def review_in(words: str) -> str:
    """The review in a reviewer's final message: the last object with `pr_ready`, else the whole text."""
    return last_span(words, "pr_ready") or words.strip()


def read_review(text: str) -> BranchReview:
    """Parse a review. CannotTell if it cannot be read, since that must not count as an approval."""
    if not text.strip():
        raise CannotTell("the review is empty")
    try:
        return msgspec.json.decode(text, type=BranchReview)
    except (msgspec.DecodeError, RecursionError) as e:
        raise CannotTell(f"the review cannot be read as {{issues, summary, pr_ready}}: {e}") from None


def final_report(sent: Sent) -> str:
    """The agent's own final words, without what it printed on the way."""
    return (sent.reply or sent.report or sent.summary) if sent.by == "agent" else ""


def blocked_reason(report: str) -> str:
    """The reason, if the report's last line is `BLOCKED: reason` in the agent's own words, neither quoted nor in a code block; else ""."""
    lines = [line.rstrip() for line in report.splitlines() if line.strip()]
    if not lines or sum(bool(FENCE.match(line)) for line in lines) % 2:
        return ""
    found = BLOCKED.fullmatch(lines[-1])
    return found[1].strip() if found else ""


def says_blocked(look: SubmitLook[Data]) -> str | None:
    """BLOCKED counts only as the last line of the agent's own final report, with a reason."""
    return None if blocked_reason(final_report(look.sent)) else "the report does not end in a line `BLOCKED: reason`"


def _fact(look: SubmitLook[Data], name: str) -> str:
    if name not in look.sent.facts:
        raise CannotTell(f"the tracker did not say: {name}")
    return look.sent.facts[name]


def dependencies_closed(look: SubmitLook[Data]) -> str | None:
    """Every item that this one depends on is closed."""
    waiting = _fact(look, "open_dependencies").split()
    return f"{waiting[0]} is not closed, and this item depends on it" if waiting else None


def not_failed_twice(look: SubmitLook[Data]) -> str | None:
    """The item has not failed too often; one that has is skipped."""
    failures, most = _fact(look, "failures"), look.run.limits["item_failures"]
    if not failures.isdecimal():
        raise CannotTell(f"the tracker's count of failures is not a number: '{failures}'")
    return f"the item failed {failures} times; it is skipped until a person has looked at it" if int(failures) >= most else None


def files_within_budget(look: FilesLook[Data]) -> str | None:
    """No more files changed than the budget allows."""
    most, count = int(look.setting("limits.files") or 0), len(look.changed())  # 0 is no limit
    return f"{count} files changed, but the budget is {most}" if most and count > most else None


def branch_review_is_readable(look: SubmitLook[Data]) -> str | None:
    """The review parses as {issues, summary, pr_ready}; one that does not is neither a yes nor a no."""
    read_review(look.sent.findings)
    return None
