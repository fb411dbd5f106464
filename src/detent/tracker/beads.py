"""Beads through its program, `bd --json`. Owns the command lines; an answer that cannot be read is an error.

With several machines, each needs the program; beads itself synchronizes the items.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from detent.tracker.bead import FOUND_IN, items_in, unwrapped
from detent.tracker.tracker_protocol import Item, NewItem, TrackerChange, TrackerError, TrackerResult, UnknownItem, add_note

ID = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
ENVELOPE = {"BD_JSON_ENVELOPE": "1"}
LONGEST = 60_000  # characters of one text passed to bd
NOT_THERE = ("not found", "no issue found", "no issues found", "does not exist")
NO_COMMAND = ("unknown command", "deprecated", "no longer")


class Beads:
    """The items that `bd` keeps."""

    name = "beads"

    def __init__(self, program: str, call: Callable[[Sequence[str], Mapping[str, str]], TrackerResult]) -> None:
        self.program, self.call = program, call

    def items(self, *ids: str) -> list[Item]:
        if not ids:
            return self._asked("list", "--all", "--limit", "0")
        for id in ids:
            _sound(id)
        found = {item.id: item for item in self._asked("show", *ids, about=ids[0])}
        for id in ids:
            if id not in found:
                raise UnknownItem(id)
        return [found[id] for id in ids]

    def add(self, new: NewItem) -> Item:
        there = next((item for item in self.items() if item.key == new.key), None) if new.key else None
        if there is not None:
            return there
        flags = [f"--description={_text(new.description)}", f"--priority={new.priority}", f"--type={new.type}"]
        flags += [f"--labels={','.join(new.labels)}"] if new.labels else []
        flags += [f"--external-ref={new.key}"] if new.key else []
        flags += [f"--deps={FOUND_IN}:{new.found_in}"] if new.found_in else []
        made = self._asked("create", *flags, "--", _text(new.title))
        if len(made) != 1:
            raise TrackerError("`bd create` did not say what it made", "try it by hand")
        return self.change(made[0].id, TrackerChange(depends_on=new.depends_on)) if new.depends_on else self.items(made[0].id)[0]

    def claim(self, id: str, who: str) -> bool:
        """Claim with bd's compare-and-swap. If refused, look at the item: it may be ours already, from before a crash."""
        _sound(id)
        result = self._call("--actor", who, "update", id, "--claim")
        if result.code == 0:
            return True
        item = self.items(id)[0]
        if item.assignee == who or item.assignee or item.status == "closed":
            return item.assignee == who and item.status != "closed"
        raise TrackerError(f"`bd update {id} --claim` failed: {_words(result)}", "try it by hand")

    def change(self, id: str, change: TrackerChange) -> Item:
        now = self.items(id)[0]
        notes = add_note(now.notes, change.note)
        flags = [f"--status={change.status}"] if change.status not in ("", "closed", now.status) else []
        flags += [f"--assignee={change.assignee}"] if change.assignee is not None and change.assignee != now.assignee else []
        flags += [f"--notes={_text(notes)}"] if notes != now.notes else []
        flags += _edited(now, change)
        if flags:
            self._done("update", id, *flags)
        for label in change.labels:
            if label not in now.labels:
                self._done("label", "add", id, label)
        for label in set(change.drop) & set(now.labels):
            self._done("label", "remove", id, label)
        for need in change.depends_on:
            if need not in now.depends_on:
                self.items(need)
                self._done("dep", "add", id, need, "--type=blocks")
        if change.status == "closed" and now.status != "closed":
            self._done("close", id, "--reason=done")
        return self.items(id)[0]

    def sync(self) -> str:
        """Run `bd sync`. Versions without that command need none."""
        result = self._call("sync", json=False)
        missing = result.code != 0 and any(word in _words(result).lower() for word in NO_COMMAND)
        return "" if result.code == 0 or missing else f"`bd sync`: {_words(result)}"

    # -- inside --------------------------------------------------------------------------------------------------------------

    def _call(self, *words: str, json: bool = True) -> TrackerResult:
        cut = words.index("--") if "--" in words else len(words)
        return self.call([self.program, *words[:cut], *(["--json"] if json else []), *words[cut:]], ENVELOPE)

    def _done(self, *words: str) -> TrackerResult:
        result = self._call(*words)
        if result.code != 0:
            raise TrackerError(f"`bd {' '.join(words[:2])}` failed: {_words(result)}", "see that bd works in this checkout: bd list")
        return result

    def _asked(self, *words: str, about: str = "") -> list[Item]:
        result = self._call(*words)
        if result.code != 0 and about and any(word in _words(result).lower() for word in NOT_THERE):
            raise UnknownItem(about)
        if result.code != 0:
            raise TrackerError(f"`bd {words[0]}` failed: {_words(result)}", "see that bd works in this checkout: bd list")
        return items_in(unwrapped(result.out, f"`bd {words[0]}`"), f"`bd {words[0]}`")


def _edited(now: Item, change: TrackerChange) -> list[str]:
    """The flags for what a person changed in an item's texts."""
    flags = [f"--title={_text(change.title)}"] if change.title not in ("", now.title) else []
    if change.description is not None and change.description != now.description:
        flags.append(f"--description={_text(change.description)}")
    flags += [f"--priority={change.priority}"] if change.priority not in (None, now.priority) else []
    return flags + ([f"--type={change.type}"] if change.type not in ("", now.type) else [])


def _sound(id: str) -> None:
    """Reject an id that is not a plain word, or that could be read as a flag."""
    if not ID.fullmatch(id):
        raise UnknownItem(id)


def _text(text: str) -> str:
    return text.replace("\0", "")[:LONGEST]


def _words(result: TrackerResult) -> str:
    """What a failed call said; bd uses either stream."""
    return " ".join((result.err or result.out).split())[:500] or f"exit code {result.code}"
