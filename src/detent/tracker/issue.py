"""Converting between a forge's issue and an Item: what is a label there, what is part of the text, and who has claimed it. Pure.

Anyone may write issues and comments; a claim or note counts only if its author may write to the project.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from detent.tracker.tracker_protocol import Item, Status, TrackerChange

STATES: dict[str, str] = {"blocked": "detent:blocked", "deferred": "detent:deferred", "in_progress": "detent:in-progress"}
DONE = "detent:done"  # proved and pushed; merging its branch closes the issue
FILED = "detent:filed"  # filed by the machine, under a key
OURS = (*STATES.values(), DONE, FILED)
TYPES = ("bug", "feature", "epic", "chore")
PRIORITY = re.compile(r"[Pp]([0-4])")
PULL = "pull-request"  # the type of a pull request, which is not an issue
LONGEST = 60_000  # characters per text; GitHub accepts 65,536
CUT = "\n[… the rest is left out]"

BLOCK = re.compile(r"\n*<!-- detent (\{.*?\}) -->.*?<!-- /detent -->", re.DOTALL)
MARK = re.compile(r"<!-- detent:(claim|note) (\{.*?\}) -->", re.DOTALL)
FENCED = re.compile(r"^(`{3,}|~{3,}).*?^\1[`~]*\s*$", re.DOTALL | re.MULTILINE)
HIDDEN = re.compile(r"<!--.*?-->", re.DOTALL)
ONE = r"(?:#|[^\s<>()]+/issues/)(\d+)\b"
NEEDS = re.compile(rf"\b(?:blocked by|depends on|waits for)\b[\s:*_]*({ONE}(?:(?:\s*(?:,|&|\band\b)\s*)+{ONE})*)", re.IGNORECASE)
TASK = re.compile(rf"^\s*(?:[-*+]|\d+\.)\s+\[[ xX]\]\s+{ONE}", re.MULTILINE)


class Issue(NamedTuple):
    """An issue as its forge has it."""

    number: int
    title: str
    body: str
    closed: bool
    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    created_at: str = ""
    needs: tuple[int, ...] = ()  # from the forge's own links
    talked: bool = False  # whether there are comments
    pull: bool = False


class IssueComment(NamedTuple):
    id: int
    body: str
    trusted: bool  # its author may write to the project


class Words(NamedTuple):
    """What we write into an issue's text for machines."""

    key: str = ""
    found_in: str = ""


# -- reading -------------------------------------------------------------------------------------------------------------------


def item_of(issue: Issue, comments: Sequence[IssueComment], ready: str, me: str) -> Item:
    """An issue as an Item. Without comments, who claimed it is unknown and the notes are empty."""
    words, text = split_body(issue.body)
    free = [label for label in issue.labels if label not in OURS]
    sort = PULL if issue.pull else next((label for label in free if label in TYPES), "task")
    grade = next((found for label in free if (found := PRIORITY.fullmatch(label))), None)
    labels = tuple(label for label in free if label != sort and (grade is None or label != grade.string))
    return Item(
        str(issue.number), issue.title, text, _status(issue, comments, ready), int(grade[1]) if grade else 2, sort, labels,
        holder(comments) or next((who for who in issue.assignees if who != me), ""),
        needs_of(issue), (words.found_in,) if words.found_in else (), words.key, notes_of(comments), issue.created_at,
    )  # fmt: skip


def _status(issue: Issue, comments: Sequence[IssueComment], ready: str) -> Status:
    if issue.closed or DONE in issue.labels:
        return "closed"
    for status, label in STATES.items():
        if label in issue.labels:
            return status  # type: ignore[return-value]  # the keys are statuses
    if holder(comments):
        return "in_progress"
    return "deferred" if ready and ready not in issue.labels else "open"


def holder(comments: Sequence[IssueComment]) -> str:
    """The holder of an issue: whoever made the oldest claim."""
    return next((who for _, who in claims(comments)), "")


def claims(comments: Sequence[IssueComment]) -> list[tuple[int, str]]:
    """The claims on an issue, oldest first: (id of the comment, who)."""
    found = ((c.id, str(_marked(c, "claim").get("who", ""))) for c in sorted(comments))
    return [(id, who) for id, who in found if who]


def notes_of(comments: Sequence[IssueComment]) -> str:
    return "\n\n".join(MARK.sub("", c.body).strip() for c in sorted(comments) if "note" in _marked(c, "note"))


def _marked(comment: IssueComment, kind: str) -> dict[str, Any]:
    """The machine-readable part of a comment of ours; empty for any other comment."""
    found = MARK.search(comment.body) if comment.trusted else None
    return _read(found[2]) if found and found[1] == kind else {}


def split_body(body: str) -> tuple[Words, str]:
    """Split a body into our machine-readable part and the text for people."""
    found = BLOCK.search(body)
    raw = _read(found[1]) if found else {}
    return Words(str(raw.get("key", "")), str(raw.get("found_in", ""))), BLOCK.sub("", body).strip("\n")


def _read(text: str) -> dict[str, Any]:
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return raw if isinstance(raw, dict) else {}


def needs_of(issue: Issue) -> tuple[str, ...]:
    """The issues that this one waits for: by the forge's links, by "blocked by #1", and by task lists that name issues."""
    text = HIDDEN.sub("", FENCED.sub("", issue.body))
    mentioned = [number for found in NEEDS.finditer(text) for number in re.findall(ONE, found[1])]
    numbers = [*issue.needs, *map(int, mentioned), *(int(found[1]) for found in TASK.finditer(text))]
    return tuple(dict.fromkeys(str(n) for n in numbers if n != issue.number))


# -- writing -------------------------------------------------------------------------------------------------------------------


def body_of(text: str, words: Words, needs: Iterable[str]) -> str:
    """A text with our part added, for people and for machines."""
    sentences = [f"Found in #{words.found_in}."] if words.found_in else []
    sentences += [f"Blocked by {', '.join(f'#{need}' for need in needs)}."] if (needs := tuple(needs)) else []
    plain = bounded(text)
    if not sentences and not words.key:
        return plain
    raw = {name: value for name, value in words._asdict().items() if value}
    return f"{plain}\n\n<!-- detent {_safe(raw)} -->\n{' '.join(sentences)}\n<!-- /detent -->".lstrip("\n")


def rewritten(body: str, text: str | None, fresh: Iterable[str]) -> str:
    """A body with a new text (None: the same) and more issues that it waits for."""
    words, before = split_body(body)
    ours = BLOCK.search(body)
    needs = [number for found in NEEDS.finditer(ours[0] if ours else "") for number in re.findall(ONE, found[1])]
    return body_of(before if text is None else text, words, dict.fromkeys((*needs, *fresh)))


def relabelled(labels: tuple[str, ...], change: TrackerChange) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The labels that a change adds, and those that it removes."""
    grades = [label for label in labels if PRIORITY.fullmatch(label)] if change.priority is not None else []
    sorts = [label for label in labels if label in TYPES] if change.type else []
    wanted = labels_of(2 if change.priority is None else change.priority, change.type, change.labels)
    removed = {*change.drop, *grades, *sorts} - set(wanted)
    return tuple(label for label in wanted if label not in labels), tuple(label for label in labels if label in removed)


def claim_text(who: str) -> str:
    return f"Detent works on this now: `{who}`.\n\n<!-- detent:claim {_safe({'who': who})} -->"


def note_text(note: str) -> str:
    return f"{bounded(note)}\n\n<!-- detent:note {_safe({'note': 1})} -->"


def labels_of(priority: int, sort: str, labels: Iterable[str]) -> tuple[str, ...]:
    """The labels for these properties of an item."""
    return tuple(dict.fromkeys((*labels, *((f"P{priority}",) if priority != 2 else ()), *((sort,) if sort in TYPES else ()))))


def bounded(text: str) -> str:
    plain = text.replace("\0", "")
    return plain if len(plain) <= LONGEST else plain[: LONGEST - len(CUT)] + CUT


def _safe(raw: object) -> str:
    """JSON that is safe inside an HTML comment."""
    return json.dumps(raw).replace(">", "\\u003e").replace("<", "\\u003c")
