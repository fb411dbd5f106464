"""The items that the machine files and holds, and their keys."""

import hashlib

from detent.door import AnyRun
from detent.gates.item import BranchReview, FoundIssue
from detent.tracker import NewItem

KEY = "detent:"  # before the key of an item that the machine filed
REVIEW = ":review:"  # in the key of one that a review found
PRIORITIES = (0, 4)


def holder(run: AnyRun) -> str:
    """Under which name an execution claims its item."""
    return f"detent/{run.id}"


def reviewed_in(key: str) -> str:
    """What the review was about that filed the item of a key: the item of an execution, or a branch; empty if no review did."""
    about, found, _ = key.rpartition(REVIEW)
    return about.removeprefix(KEY) if found and about.startswith(KEY) else ""


def keys_of(review: BranchReview, about: str) -> set[str]:
    return {of_issue(issue, about, "").key for issue in review.issues}


def of_issue(issue: FoundIssue, about: str, branch: str, found_in: str = "") -> NewItem:
    """The item that an issue of a review becomes. The same issue of the same branch is the same item."""
    same = hashlib.sha256(f"{issue.file_path}\n{issue.title}".encode("utf-8", "replace")).hexdigest()[:12]
    lines = ", ".join(str(n) for n in issue.line_numbers)
    where = f"{issue.file_path}{f', lines {lines}' if lines else ''}" if issue.file_path else "(no file named)"
    text = f"{issue.description}\n\nSeverity: {issue.severity}\nWhere: {where}\nFound by the review of {branch}.\n"
    low, high = PRIORITIES
    sort = issue.type if issue.type in ("bug", "feature", "task", "chore") else "task"
    title = " ".join(issue.title.split()) or "An issue without a title"
    return NewItem(title, text, min(high, max(low, issue.priority)), sort, ("review",), (), found_in, f"{KEY}{about}{REVIEW}{same}")
