"""Seals: what the machine keeps for itself where agents can write, believed only if the machine wrote it, there and nowhere else.

The key lies beside the anchors, in the user's state dir. A file without a right seal says nothing: whatever it would have told is found
out again. It is no seal against someone who reads that key: with all of the user's rights one can.
"""

import hmac
import json
import os
from pathlib import Path

from detent.storage.state import own_secret

KEY = "seal-key"


def keep(file: Path, text: str, durable: bool = True, key: str = "") -> None:
    """Write a text under a seal: whole or not at all. What may be lost with the power need not wait for the disk.

    `key`: one that several machines share, for a file that is carried between them; it is sealed by its name then, wherever it lies.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    scratch = file.with_name(f".{file.name}.{os.urandom(8).hex()}")
    with scratch.open("x", encoding="ascii") as out:
        out.write(json.dumps({"seal": _seal(key or own_secret(KEY), file.name if key else os.path.realpath(file), text), "kept": text}))
        out.flush()
        if durable:
            os.fsync(out.fileno())
    os.replace(scratch, file)


def kept(file: Path, key: str = "") -> str | None:
    """The text that was kept there; None if there is none, or none that the machine wrote. Trouble with the key is told first."""
    where = file.name if key else os.path.realpath(file)
    key = key or own_secret(KEY)
    try:
        raw = json.loads(file.read_bytes())
        seal, text = str(raw["seal"]), str(raw["kept"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return text if hmac.compare_digest(seal.encode("utf-8", "surrogatepass"), _seal(key, where, text).encode()) else None


def drawing_key(of: str) -> bytes:
    """A key to draw values by lot with: the same for the same thing, and unknown to whoever cannot read the key of the seals."""
    return hmac.digest(own_secret(KEY).encode(), f"lot\n{of}".encode("utf-8", "surrogatepass"), "sha256")


def _seal(key: str, where: str, text: str) -> str:
    """Of the text and of where it is kept: a copy at another place says nothing."""
    return hmac.digest(key.encode("utf-8", "surrogateescape"), f"{where}\n{text}".encode("utf-8", "surrogatepass"), "sha256").hex()
