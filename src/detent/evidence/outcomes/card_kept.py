"""The newest card of each run's branch, kept under a seal for whoever looks at the run. It is shown, and decides nothing."""

from pathlib import Path

import msgspec

from detent.evidence.outcomes.card import Checked
from detent.storage.seal import keep, kept


def keep_card(common: Path, run: str, found: Checked) -> None:
    text = msgspec.json.encode(found).decode()
    if kept(_file(common, run)) != text:
        keep(_file(common, run), text, durable=False)


def kept_card(common: Path, run: str) -> Checked | None:
    """None: no look was taken yet, or not by this version."""
    text = kept(_file(common, run))
    try:
        return msgspec.json.decode(text, type=Checked) if text is not None else None
    except msgspec.ValidationError:
        return None


def _file(common: Path, run: str) -> Path:
    return common / "detent" / "cards" / f"{run}.json"
