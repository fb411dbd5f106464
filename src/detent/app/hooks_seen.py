"""Detects registered client hooks that never run."""

from datetime import datetime
from pathlib import Path

FOLDER = "detent/clients"  # below the git dir: one file for each client that is registered; a hook marks `NAME.seen` there


def registered(git_dir: Path) -> list[str]:
    """The clients that are registered in a checkout."""
    return sorted(file.stem for file in (git_dir / FOLDER).glob("*.json"))


def silent(git_dir: Path, since: str) -> str:
    """A sentence if hooks are registered in this checkout and none has run since `since`; else empty."""
    named = registered(git_dir)
    begun = datetime.fromisoformat(since).timestamp()
    if not named or any(seen.stat().st_mtime >= begun for seen in (git_dir / FOLDER).glob("*.seen")):
        return ""
    return (
        f"Note: hooks of {', '.join(named)} are registered here, and none has run since this run began. Clients skip hooks that their user "
        f"does not trust, and do not say so; the client's page in docs/clients of Detent says how to switch them on."
    )
