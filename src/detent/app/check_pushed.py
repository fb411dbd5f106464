"""Which ranges a push is about to bring to a remote: as git tells a pre-push hook on its input, or as `pre-commit` tells its hooks. Runs no test."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from detent.app.check_span import what_is_new
from detent.app.commit_settings import main_at
from detent.errors import DetentError
from detent.git.place import find_place
from detent.git.repo import Git

FROM, TO = "PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF"
BRANCHES = "refs/heads/"


def pushed(start: Path, env: Mapping[str, str], lines: Iterable[str]) -> list[str]:
    """The ranges of what is pushed: each branch from where the remote has it, and a new one from main. Tags and deletions bring nothing."""
    git = Git(find_place(start), env)
    moves = [(env[TO], env.get(FROM, ""))] if env.get(TO) else [_move(line) for line in lines if line.strip()]
    found = [what_is_new(git, new, old, main_at(git, env)) for new, old in moves if new.strip("0")]
    return list(dict.fromkeys(filter(None, found)))


def _move(line: str) -> tuple[str, str]:
    """The new and the old commit of a branch of the remote."""
    words = line.split()
    if len(words) != 4:
        raise DetentError(
            f"this is not a line of a push: {line.strip()[:80]!r}", "--pushed is for a pre-push hook: detent init --hook pre-push"
        )
    _, new, ref, old = words
    return (new, old) if ref.startswith(BRANCHES) else ("", "")
