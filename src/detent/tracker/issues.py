"""Issues of a forge as a tracker, using only what both GitHub and GitLab can do. Knows neither by name.

Forges have no compare-and-swap, so a claim is a comment: the oldest one wins, and everybody reads the comments again after writing.
"""

from typing import NamedTuple, Protocol

import detent.tracker.issue as written
from detent.errors import DetentError
from detent.forge import NotThere
from detent.tracker.issue import DONE, FILED, STATES, Issue, IssueComment, Words, claims, holder, item_of, labels_of
from detent.tracker.tracker_protocol import Item, NewItem, TrackerChange, UnknownItem, add_note, no_cycle

LONGEST_TITLE = 250  # characters; forges accept 255


class Edit(NamedTuple):
    """A change to an issue; omitted fields stay as they are."""

    title: str = ""
    body: str | None = None
    closed: bool | None = None
    add: tuple[str, ...] = ()  # labels
    drop: tuple[str, ...] = ()


class IssueApi(Protocol):
    """The issues of one project. Raises NotThere for an issue that does not exist or cannot be seen."""

    def listed(self, label: str = "") -> list[Issue]:
        """All issues that are items, or those with a label; oldest first."""
        ...

    def one(self, number: int) -> Issue: ...

    def create(self, title: str, body: str, labels: tuple[str, ...]) -> Issue: ...

    def edit(self, issue: Issue, edit: Edit) -> None: ...

    def me(self) -> str:
        """The user name of our token; empty if the forge does not say."""
        ...


class IssueComments(Protocol):
    """The comments on an issue."""

    def comments(self, number: int) -> list[IssueComment]: ...

    def say(self, number: int, body: str) -> IssueComment: ...

    def take_back(self, number: int, id: int) -> None: ...


class Issues:
    """The tracker over a forge's issues."""

    def __init__(self, name: str, board: IssueApi, talk: IssueComments, ready: str = "", sees_merges: bool = False) -> None:
        self.name, self.board, self.talk, self.ready, self.sees_merges = name, board, talk, ready, sees_merges

    def items(self, *ids: str) -> list[Item]:
        """The items. A list of all leaves notes out, which would take a request for each."""
        if ids:
            return [self._item(self._issue(id)) for id in ids]
        return [self._item(issue, STATES["in_progress"] in issue.labels) for issue in self.board.listed() if not issue.pull]

    def add(self, new: NewItem) -> Item:
        if new.key and (there := self._filed(new.key)):
            return self._item(there[0])
        for need in new.depends_on:
            self._issue(need)
        body = written.body_of(new.description, Words(new.key, new.found_in), new.depends_on)
        labels = labels_of(new.priority, new.type, new.labels)
        made = self.board.create(new.title[:LONGEST_TITLE], body, (*labels, FILED) if new.key else labels)
        first = self._filed(new.key)[:1] if new.key else []
        if first and first[0].number < made.number:  # somebody filed it at the same time
            self.board.edit(made, Edit(closed=True, drop=(FILED,)))
            self.talk.say(made.number, written.note_text(f"The same as #{first[0].number}, which was filed first."))
            return self._item(first[0])
        return self._item(made)

    def claim(self, id: str, who: str) -> bool:
        issue = self._issue(id)
        if issue.pull:
            raise DetentError(f"{issue.number} is a pull request, not an issue", "see `detent items list`")
        now = self._item(issue)
        if now.status == "closed" or now.assignee not in ("", who):
            return False
        if holder(self.talk.comments(issue.number)) != who:
            mine = self.talk.say(issue.number, written.claim_text(who))
            if holder(self.talk.comments(issue.number)) != who:
                self.talk.take_back(issue.number, mine.id)
                return False
        self._become(issue, "in_progress")
        return holder(self.talk.comments(issue.number)) == who  # checked again, since a forge may show new comments late

    def change(self, id: str, change: TrackerChange) -> Item:
        issue = self._issue(id)
        now = self._item(issue)
        fresh = tuple(need for need in change.depends_on if need not in now.depends_on)
        if fresh:
            no_cycle(self._known(fresh), str(issue.number), fresh)
        if change.assignee is not None and change.assignee != now.assignee:
            self._hand_to(issue, change.assignee)
        body = written.rewritten(issue.body, change.description, fresh) if fresh or change.description is not None else None
        self.board.edit(issue, Edit(change.title, body, None, *written.relabelled(issue.labels, change)))
        if change.status and (change.status != now.status or change.status == "closed"):
            self._become(issue, change.status, change.by_merge and self.sees_merges)
        note = written.bounded(change.note.strip())
        if add_note(now.notes, note) != now.notes:
            self.talk.say(issue.number, written.note_text(note))
        return self.items(id)[0]

    def sync(self) -> str:
        return ""  # every write is already durable

    # -- inside --------------------------------------------------------------------------------------------------------------

    def _known(self, needs: tuple[str, ...]) -> list[Item]:
        """All items, and the needed issues even if they are not items."""
        every = {item.id: item for item in self.items()}
        return [*every.values(), *(self._item(self._issue(need)) for need in needs if need not in every)]

    def _issue(self, id: str) -> Issue:
        number = id.removeprefix("#")
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            raise UnknownItem(id)
        try:
            return self.board.one(int(number))
        except NotThere:
            self.board.listed(FILED)  # if the list is not there either, the project itself cannot be seen
            raise UnknownItem(id) from None

    def _item(self, issue: Issue, talk: bool = True) -> Item:
        comments = self.talk.comments(issue.number) if talk and issue.talked else []
        return item_of(issue, comments, self.ready, self.board.me() if issue.assignees else "")

    def _filed(self, key: str) -> list[Issue]:
        """The issues filed under a key, oldest first. Uses the list, because a forge's search lags behind."""
        return [issue for issue in self.board.listed(FILED) if written.split_body(issue.body)[0].key == key]

    def _hand_to(self, issue: Issue, who: str) -> None:
        """Replace every claim. The new one is posted first, so that nobody can claim in between."""
        before = claims(self.talk.comments(issue.number))
        if who:
            self.talk.say(issue.number, written.claim_text(who))
        for id, _ in before:
            self.talk.take_back(issue.number, id)

    def _become(self, issue: Issue, status: str, by_merge: bool = False) -> None:
        """Set an issue's status: exactly one of our labels or none, and open or closed."""
        wanted = {STATES[status]} if status in STATES else {DONE} if by_merge else set()
        wanted |= {self.ready} if self.ready and status == "open" else set()
        ours = {*STATES.values(), DONE} & set(issue.labels)
        closed = issue.closed if by_merge else status == "closed"
        self.board.edit(issue, Edit("", None, closed, tuple(wanted - set(issue.labels)), tuple(sorted(ours - wanted))))
