"""What our own test runs leave in a checkout: files that tests made, and those of a canary. They never belong to a change. Kept under a seal."""

import json
from pathlib import Path

from detent.git.place import Place
from detent.git.snapshot import stamp
from detent.storage import state

MOST_KEPT = 500  # reports of one repository


def planted_file(place: Place) -> Path:
    """Which files of a canary lie in a checkout, while its tests run and if we were killed meanwhile."""
    return place.git_dir / "detent" / "planted.json"


def made_by_tests(place: Place) -> set[str]:
    """Files that test runs made in a checkout and nobody touched since, and those of a canary."""
    return {path for path, was in _made(place).items() if was == stamp(place.root / path)} | set(left_planted(place))


def left_planted(place: Place) -> list[str]:
    """The files of a canary that lie in a checkout."""
    return [str(path) for path in json.loads(state.kept(planted_file(place)) or "[]")]


def note_made(place: Place, stamps: dict[str, str]) -> None:
    """Remember files that a test run made, as they are."""
    made = {**_made(place), **stamps}
    state.keep(_file(place), json.dumps({path: was for path, was in made.items() if was}), durable=False)


def _file(place: Place) -> Path:
    return place.git_dir / "detent" / "made.json"


def _made(place: Place) -> dict[str, str]:
    return {str(path): str(was) for path, was in json.loads(state.kept(_file(place)) or "{}").items()}


def thin_out(store: Path) -> None:
    """Keep the newest reports only; one that is missed later is made again."""
    kept = [file for file in store.glob("*.json") if not file.name.startswith("python-")]
    for file in sorted(kept, key=_age)[: len(kept) - MOST_KEPT * 9 // 10] if len(kept) > MOST_KEPT else ():
        file.unlink(missing_ok=True)


def _age(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0  # another process was quicker
