"""The items that the machine files and claims, and their keys."""

import hashlib

from detent.door import AnyRun
from detent.gates.item import BranchReview, FoundIssue
from detent.tracker import NewItem

KEY = "detent:"  # prefix of the key of every item that the machine filed
REVIEW = ":review:"  # part of the key of an item that a review filed
PRIORITIES = (0, 4)


def holder(run: AnyRun) -> str:
    """The name under which an execution claims its item."""
    return f"detent/{run.id}"


def reviewed_in(key: str) -> str:
    """What was reviewed when the item of this key was filed: an item's execution, or a branch; empty if no review filed it."""
    about, found, _ = key.rpartition(REVIEW)
    return about.removeprefix(KEY) if found and about.startswith(KEY) else ""


def keys_of(review: BranchReview, about: str) -> set[str]:
    return {of_issue(issue, about, "").key for issue in review.issues}


def of_issue(issue: FoundIssue, about: str, branch: str, found_in: str = "") -> NewItem:
    """The item to file for an issue of a review. The same issue on the same branch gives the same key."""
    same = hashlib.sha256(f"{issue.file_path}\n{issue.title}".encode("utf-8", "replace")).hexdigest()[:12]
    lines = ", ".join(str(n) for n in issue.line_numbers)
    where = f"{issue.file_path}{f', lines {lines}' if lines else ''}" if issue.file_path else "(no file named)"
    text = f"{issue.description}\n\nSeverity: {issue.severity}\nWhere: {where}\nFound by the review of {branch}.\n"
    low, high = PRIORITIES
    sort = issue.type if issue.type in ("bug", "feature", "task", "chore") else "task"
    title = " ".join(issue.title.split()) or "An issue without a title"
    return NewItem(title, text, min(high, max(low, issue.priority)), sort, ("review",), (), found_in, f"{KEY}{about}{REVIEW}{same}")
