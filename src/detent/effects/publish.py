"""Published files: written from the journal for agents and people to read, never read back as truth.

They stand at the repository's root, excluded from git through .git/info/exclude. If the project tracks a file of the same name, that
file is left alone and ours stands in the git dir.
"""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from detent.git.place import Place

EXCLUDED = (
    "/ACTIVE_PR.json",
    "/ORCHESTRATION_STATE.json",
    "/FINDINGS.json",
    "/error.log",
    "/*.rejected",
    "/.agents-work/",
    "/.detent/plan.md",
)
MARK = "# written by detent"


def where(place: Place, name: str) -> Path:
    """The path of a published file: at the root, or in the git dir if the project tracks a file of that name."""
    aside = place.git_dir / "detent" / "published" / name
    return aside if aside.exists() else place.root / name


def set_aside(place: Place, names: tuple[str, ...], tracked: tuple[str, ...]) -> None:
    """Decide once, at the start of a run, which published files go to the git dir."""
    for name in names:
        aside = place.git_dir / "detent" / "published" / name
        if name in tracked:
            aside.parent.mkdir(parents=True, exist_ok=True)
            aside.touch()
        else:
            aside.unlink(missing_ok=True)


def exclude(place: Place) -> None:
    """Exclude the published files from git, in this clone only."""
    file = place.common_dir / "info" / "exclude"
    file.parent.mkdir(exist_ok=True)
    text = file.read_text("utf-8", "surrogateescape") if file.exists() else ""
    missing = [line for line in EXCLUDED if line not in text.splitlines()]
    if missing:
        start = text if not text or text.endswith("\n") else text + "\n"
        write_whole(file, start + "\n".join([MARK, *missing]) + "\n")


def publish(place: Place, files: Mapping[str, str | None]) -> None:
    """Write the published files; None removes one. Idempotent."""
    for name, text in files.items():
        file = where(place, name)
        if text is None:
            if file.parent == place.root:
                file.unlink(missing_ok=True)
            elif file.exists():
                write_whole(file, "")
        elif _text(file) != text:
            write_whole(file, text)


def restore_edited(place: Place, files: Mapping[str, str | None]) -> tuple[str, ...]:
    """The names of published files that someone changed. Each is restored; the edited copy is kept beside it as *.rejected."""
    found = []
    for name, text in files.items():
        file = where(place, name)
        now = _text(file)
        if now != text and not (text is None and now == ""):
            found.append(name)
            if now is not None:
                write_whole(file.with_name(f"{name}.rejected"), now)
            publish(place, {name: text})
    return tuple(found)


def _text(file: Path) -> str | None:
    try:
        if file.is_symlink() or file.stat().st_size > 10_000_000:
            return "\0"
        return file.read_text("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    except OSError:
        return "\0"


def write_whole(file: Path, text: str) -> None:
    """Replace a file atomically, without following links."""
    fd, scratch = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    with os.fdopen(fd, "w", encoding="utf-8", errors="surrogateescape") as out:
        out.write(text)
    os.chmod(scratch, 0o644)
    os.replace(scratch, file)
