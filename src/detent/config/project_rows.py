"""The rows of [[test.project]]: which folders of a repository are tested by themselves. Checked as strictly as any other key."""

from pathlib import PurePosixPath
from typing import Any

from detent.config.settings import Texts
from detent.config.table_rows import Rows, checked_rows
from detent.config.values import BELOW_THE_PROJECT, seen
from detent.errors import DetentError

HINT = 'for example: [[test.project]], and below it path = "packages/api"'
PROJECTS = Rows("test.project", {"path": str, "command": str, "files": Texts, "timeout": int}, "path", "leave one of the two", HINT)


def checked_projects(raw: object, where: str) -> tuple[dict[str, Any], ...]:
    """Every row, or the error that names what is wrong with one."""
    return checked_rows(raw, where, PROJECTS, lambda row, at: {**row, "path": _path(row.get("path"), at)})


def _path(path: object, at: str) -> str:
    """A folder of the repository, without a word too many; empty for all of it."""
    if path is None:
        raise DetentError(f"{at} has no path", HINT)
    form, expected = BELOW_THE_PROJECT
    if not isinstance(path, str) or not form.fullmatch(path) or "\\" in path:
        raise DetentError(f"{at}: path is {seen(path)}; expected {expected}", f'{HINT}; "." is all of it')
    plain = PurePosixPath(path).as_posix()
    return "" if plain == "." else plain
