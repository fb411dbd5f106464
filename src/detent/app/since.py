"""The times that people write: how long ago, a time of day, a date. Pure: what time it is now is handed in."""

import re
from datetime import datetime, timedelta

from detent.errors import DetentError

SPANS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
AGO = re.compile(r"(\d{1,6})\s*([mhdw])")
CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
EXAMPLES = "for example: 8h, 2d, 22:00, yesterday, 2026-03-01 or 2026-03-01T22:00"


def time_of(text: str, now: datetime) -> datetime:
    """The time that a text means. `now` has the time zone of the person; what comes back has one too, and is not in the future."""
    said = text.strip().lower()
    if found := AGO.fullmatch(said):
        return now - timedelta(**{SPANS[found[2]]: int(found[1])})
    if said in ("today", "yesterday"):
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight - timedelta(days=said == "yesterday")
    if found := CLOCK.fullmatch(said):
        then = now.replace(hour=int(found[1]), minute=int(found[2]), second=0, microsecond=0)
        return then if then <= now else then - timedelta(days=1)
    try:
        then = datetime.fromisoformat(text.strip())
    except ValueError:
        raise DetentError(f"'{text}' is not a time", EXAMPLES) from None
    then = then if then.tzinfo else then.replace(tzinfo=now.tzinfo)
    if then > now:
        raise DetentError(f"{text} is in the future", EXAMPLES)
    return then
