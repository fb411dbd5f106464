"""This user's state folder, and the secrets in it: each made once, readable by its owner alone. Knows no purpose of any."""

import os
from pathlib import Path

from detent.errors import DetentError

LENGTH = 40  # characters that a whole secret has at least


def state_dir() -> Path:
    """Where this user's programs keep their state."""
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return Path(home) / "detent"


def own_secret(name: str) -> str:
    """The secret of this name; made now if there is none."""
    file = state_dir() / name
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            fd = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return _made(file)
        with os.fdopen(fd, "r", encoding="ascii", errors="replace") as source:
            seen, text = os.fstat(fd), source.read().strip()
    except OSError as e:
        raise DetentError(f"the secret {file} cannot be kept: {e.strerror}", "check the permissions of its folder") from e
    if seen.st_mode & 0o077 or seen.st_uid != os.getuid() or len(text) < LENGTH:
        raise DetentError(f"{file} can be read by others, or is incomplete", "remove it; a new one is made when it is needed")
    return text


def _made(file: Path) -> str:
    secret = os.urandom(32).hex()
    draft = file.with_name(f".{file.name}.{os.urandom(8).hex()}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w") as out:
        out.write(secret + "\n")
    try:
        os.link(draft, file)  # of several that make it at once, one wins
    except FileExistsError:
        return own_secret(file.name)
    except OSError:  # there are no links here
        os.replace(draft, file)
    finally:
        draft.unlink(missing_ok=True)
    return secret
