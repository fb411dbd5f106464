"""Beads through its data file, `.beads/issues.jsonl`, if its program is missing: one issue per line. Unknown fields are kept.

The file is replaced as a whole, under a lock of ours; `bd` imports it when it is available again.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from detent.tracker.bead import FOUND_IN, GONE, items_in
from detent.tracker.tracker_protocol import Item, NewItem, TrackerChange, TrackerError, UnknownItem, changed, may_claim, no_cycle

DATA = Path(".beads") / "issues.jsonl"
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
Raw = dict[str, Any]


class BeadsFile:
    """The items of a data file."""

    name = "beads"

    def __init__(self, file: Path, lock: Path, clock: Callable[[], str]) -> None:
        self.file, self.lock, self.clock = file, lock, clock

    def items(self, *ids: str) -> list[Item]:
        every = self._items(self._read())
        known = {item.id: item for item in every}
        for id in ids:
            if id not in known:
                raise UnknownItem(id)
        return [known[id] for id in ids] if ids else every

    def add(self, new: NewItem) -> Item:
        with self._writing() as rows:
            every = self._items(rows)
            there = next((item for item in every if new.key and item.key == new.key), None)
            if there is not None:
                return there
            no_cycle(every, "", new.depends_on)
            at, id = self.clock(), self._free(rows, new.title)
            row: Raw = {"id": id, "title": new.title, "description": new.description, "status": "open", "priority": new.priority}
            row |= {"issue_type": new.type, "created_at": at, "updated_at": at}
            row |= {"labels": list(new.labels)} if new.labels else {}
            row |= {"external_ref": new.key} if new.key else {}
            links = [(need, "blocks") for need in new.depends_on] + ([(new.found_in, FOUND_IN)] if new.found_in else [])
            row |= {"dependencies": [_link(id, need, sort, at) for need, sort in links]} if links else {}
            rows.append(row)
            return self._items([row])[0]

    def claim(self, id: str, who: str) -> bool:
        with self._writing() as rows:
            row = _row(rows, id)
            if not may_claim(self._items([row])[0], who):
                return False
            row |= {"status": "in_progress", "assignee": who, "updated_at": self.clock()}
            return True

    def change(self, id: str, change: TrackerChange) -> Item:
        with self._writing() as rows:
            row = _row(rows, id)
            now = self._items([row])[0]
            fresh = [need for need in change.depends_on if need not in now.depends_on]
            no_cycle(self._items(rows), id, fresh)
            after = changed(now, change)
            if after != now:
                at = self.clock()
                row |= {"status": after.status, "assignee": after.assignee, "labels": list(after.labels), "notes": after.notes}
                row |= {"title": after.title, "description": after.description, "priority": after.priority, "issue_type": after.type}
                row |= {"updated_at": at, **({"closed_at": at} if after.status == "closed" else {})}
                row["dependencies"] = [*(row.get("dependencies") or ()), *(_link(id, need, "blocks", at) for need in fresh)]
            return after

    def sync(self) -> str:
        return ""  # every write is already durable

    # -- inside --------------------------------------------------------------------------------------------------------------

    def _items(self, rows: list[Raw]) -> list[Item]:
        return items_in(rows, str(DATA))

    def _read(self) -> list[Raw]:
        try:
            lines = self.file.read_text("utf-8").splitlines()
            rows = [json.loads(line) for line in lines if line.strip()]
        except (OSError, ValueError, RecursionError) as e:
            raise TrackerError(f"{DATA} cannot be read: {e}", "it was left as it is; look at the file, or install bd") from e
        if not all(isinstance(row, dict) and isinstance(row.get("id"), str) for row in rows):
            raise TrackerError(f"{DATA} has a line that is not an issue", "it was left as it is; look at the file")
        return rows

    @contextmanager
    def _writing(self) -> Iterator[list[Raw]]:
        """The issues for editing, under the lock; the file is rewritten if they changed."""
        self.lock.parent.mkdir(parents=True, exist_ok=True)
        with self.lock.open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            rows = self._read()
            before = json.dumps(rows)
            yield rows
            if json.dumps(rows) != before:
                self._write(rows)

    def _write(self, rows: list[Raw]) -> None:
        scratch = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        try:
            with scratch.open("w", encoding="utf-8", errors="backslashreplace") as out:
                out.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
                out.flush()
                os.fsync(out.fileno())
            os.replace(scratch, self.file)
        except OSError as e:
            raise TrackerError(f"{DATA} cannot be written: {e.strerror}", "nothing was changed") from e

    def _free(self, rows: list[Raw], title: str) -> str:
        """An unused id, with the prefix of the others."""
        taken = {row["id"] for row in rows}
        prefix = next((id.rpartition("-")[0] for id in taken if "-" in id), "bd")
        for n in range(10_000):
            number = int(hashlib.sha256(f"{title} {len(rows)} {n}".encode("utf-8", "replace")).hexdigest()[:8], 16)
            id = f"{prefix}-" + "".join(DIGITS[number // 36**i % 36] for i in range(4))
            if id not in taken:
                return id
        raise TrackerError("no id is left", f"look at {DATA}")


def _row(rows: list[Raw], id: str) -> Raw:
    found = next((row for row in rows if row["id"] == id and row.get("status") != GONE), None)
    if found is None:
        raise UnknownItem(id)
    return found


def _link(id: str, need: str, sort: str, at: str) -> Raw:
    return {"issue_id": id, "depends_on_id": need, "type": sort, "created_at": at, "created_by": "detent"}
