"""Records of sent notifications, so that each is sent once over all workers and restarts. Sends nothing itself."""

import json
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from detent.queue.store import Store

AGAIN = 60.0  # seconds until a failed one is retried
MOST_TRIES = 5
KEPT = 30 * 86400.0  # seconds that records are kept
FAULT = "notify-fault"


class Notices:
    """The notices of a queue, by kind and key, in its meta table."""

    def __init__(self, store: Store) -> None:
        self.store, self.meta = store, store.meta

    def claim(self, kind: str, keys: Sequence[str], every: float) -> list[str]:
        """Claim the keys to send now; none if one of this kind was sent within `every` seconds."""
        if not keys:
            return []
        with self.store.changing() as c:
            now = float(c.execute(sa.select(self.store.database.now)).scalar_one())
            last = self._read(c, f"notified:{kind}")
            rows = {key: json.loads(self._read(c, self._name(kind, key)) or "null") for key in keys}
            mine = [key for key, row in rows.items() if self._is_due(row, now)]
            if not mine or (last and now - float(last) < every):
                return []
            self._write(c, f"notified:{kind}", str(now))
            for key in mine:
                tries = (rows[key] or {}).get("tries", 0) + 1
                self._write(c, self._name(kind, key), json.dumps({"at": now, "sent": False, "tries": tries}))
            self._forget(c, now)
            return mine

    def _is_due(self, row: dict[str, Any] | None, now: float) -> bool:
        return row is None or (not row["sent"] and row["tries"] < MOST_TRIES and now - row["at"] >= AGAIN)

    def sent(self, kind: str, keys: Sequence[str]) -> None:
        """Record that these were sent."""
        with self.store.changing() as c:
            for key in keys:
                row = json.loads(self._read(c, self._name(kind, key)) or '{"at": 0, "tries": 1}')
                self._write(c, self._name(kind, key), json.dumps({**row, "sent": True}))
            c.execute(sa.delete(self.meta).where(self.meta.c.key == FAULT))

    def failed(self, kind: str, why: str) -> None:
        """Record a failure, which does not make the next ones of this kind wait."""
        with self.store.changing() as c:
            c.execute(sa.delete(self.meta).where(self.meta.c.key == f"notified:{kind}"))
            self._write(c, FAULT, why[:500])

    def fault(self) -> str:
        """The error of the last send; empty if it worked."""
        with self.store.database.engine.begin() as c:
            return self._read(c, FAULT)

    def last(self, kind: str) -> float:
        """When this kind was last claimed; 0 if never."""
        with self.store.database.engine.begin() as c:
            return float(self._read(c, f"notified:{kind}") or 0)

    def _name(self, kind: str, key: str) -> str:
        return f"notice:{kind}:{key}"

    def _forget(self, c: sa.Connection, now: float) -> None:
        rows = c.execute(sa.select(self.meta.c.key, self.meta.c.value).where(self.meta.c.key.like("notice:%"))).all()
        old = [row.key for row in rows if json.loads(row.value)["at"] < now - KEPT]
        c.execute(sa.delete(self.meta).where(self.meta.c.key.in_(old)))

    def _read(self, c: sa.Connection, key: str) -> str:
        return c.execute(sa.select(self.meta.c.value).where(self.meta.c.key == key)).scalar() or ""

    def _write(self, c: sa.Connection, key: str, value: str) -> None:
        if not c.execute(sa.update(self.meta).where(self.meta.c.key == key).values(value=value)).rowcount:
            c.execute(sa.insert(self.meta).values(key=key, value=value))
