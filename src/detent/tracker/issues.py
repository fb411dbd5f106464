"""The issues of a forge as a tracker: GitHub's and GitLab's, over the little that both can do. Knows neither by name.

No forge has compare-and-swap. A claim is a comment: whoever comes first is the oldest, and everybody reads that after writing.
"""

from typing import NamedTuple, Protocol

import detent.tracker.issue as written
from detent.errors import DetentError
from detent.forge import NotThere
from detent.tracker.issue import DONE, FILED, STATES, Issue, IssueComment, Words, claims, holder, item_of, labels_of
from detent.tracker.tracker_protocol import Item, NewItem, TrackerChange, UnknownItem, no_cycle, noted

LONGEST_TITLE = 250  # characters: forges take 255


class Edit(NamedTuple):
    """What is to become of an issue: what is left out stays."""

    title: str = ""
    body: str | None = None
    closed: bool | None = None
    add: tuple[str, ...] = ()  # labels
    drop: tuple[str, ...] = ()


class IssueApi(Protocol):
    """The issues of one project. An issue that is not there, or cannot be seen, is NotThere."""

    def listed(self, label: str = "") -> list[Issue]:
        """All issues that are items, or those of a label; the oldest first."""
        ...

    def one(self, number: int) -> Issue: ...

    def create(self, title: str, body: str, labels: tuple[str, ...]) -> Issue: ...

    def edit(self, issue: Issue, edit: Edit) -> None: ...

    def me(self) -> str:
        """By which name the forge knows whoever asks; empty if it does not say."""
        ...


class IssueComments(Protocol):
    """The comments below an issue."""

    def said(self, number: int) -> list[IssueComment]: ...

    def say(self, number: int, body: str) -> IssueComment: ...

    def take_back(self, number: int, id: int) -> None: ...


class Issues:
    """The issues of a forge."""

    def __init__(self, name: str, board: IssueApi, talk: IssueComments, ready: str = "", sees_merges: bool = False) -> None:
        self.name, self.board, self.talk, self.ready, self.sees_merges = name, board, talk, ready, sees_merges

    def items(self, *ids: str) -> list[Item]:
        """All of them without their notes: those are a question for each."""
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
        if holder(self.talk.said(issue.number)) != who:
            mine = self.talk.say(issue.number, written.claim_text(who))
            if holder(self.talk.said(issue.number)) != who:
                self.talk.take_back(issue.number, mine.id)
                return False
        self._become(issue, "in_progress")
        return holder(self.talk.said(issue.number)) == who  # once more: what a forge has just taken may be seen late

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
        if noted(now.notes, note) != now.notes:
            self.talk.say(issue.number, written.note_text(note))
        return self.items(id)[0]

    def sync(self) -> str:
        return ""  # what is written is written

    # -- inside --------------------------------------------------------------------------------------------------------------

    def _known(self, needs: tuple[str, ...]) -> list[Item]:
        """Every item, and those that are needed whether they are items or not."""
        every = {item.id: item for item in self.items()}
        return [*every.values(), *(self._item(self._issue(need)) for need in needs if need not in every)]

    def _issue(self, id: str) -> Issue:
        number = id.removeprefix("#")
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            raise UnknownItem(id)
        try:
            return self.board.one(int(number))
        except NotThere:
            self.board.listed(FILED)  # if this is not there either, it is the project that cannot be seen
            raise UnknownItem(id) from None

    def _item(self, issue: Issue, talk: bool = True) -> Item:
        comments = self.talk.said(issue.number) if talk and issue.talked else []
        return item_of(issue, comments, self.ready, self.board.me() if issue.assignees else "")

    def _filed(self, key: str) -> list[Issue]:
        """The issues of a key, the oldest first. A list is asked for, since a search knows what is new only after a while."""
        return [issue for issue in self.board.listed(FILED) if written.split(issue.body)[0].key == key]

    def _hand_to(self, issue: Issue, who: str) -> None:
        """Take every claim away; the new one is posted first, so that nobody comes in between."""
        before = claims(self.talk.said(issue.number))
        if who:
            self.talk.say(issue.number, written.claim_text(who))
        for id, _ in before:
            self.talk.take_back(issue.number, id)

    def _become(self, issue: Issue, status: str, by_merge: bool = False) -> None:
        """Give an issue a status: a label of ours, no other of them, and open or closed."""
        wanted = {STATES[status]} if status in STATES else {DONE} if by_merge else set()
        wanted |= {self.ready} if self.ready and status == "open" else set()
        ours = {*STATES.values(), DONE} & set(issue.labels)
        closed = issue.closed if by_merge else status == "closed"
        self.board.edit(issue, Edit("", None, closed, tuple(wanted - set(issue.labels)), tuple(sorted(ours - wanted))))
