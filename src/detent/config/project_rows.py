"""The rows of [[test.project]]: which folders of a repository are tested by themselves. Checked as strictly as any other key."""

from pathlib import PurePosixPath
from typing import Any

from detent.config.settings import Texts
from detent.config.table_rows import Rows, checked_rows
from detent.config.values import BELOW_THE_PROJECT, seen
from detent.errors import DetentError

HINT = 'for example: [[test.project]], and below it path = "packages/api"'
PROJECTS = Rows(
    "test.project", {"path": str, "command": str, "report": str, "files": Texts, "timeout": int}, "path", "leave one of the two", HINT
)


def checked_projects(raw: object, where: str) -> tuple[dict[str, Any], ...]:
    """Every row, or the error that names what is wrong with one."""
    return checked_rows(raw, where, PROJECTS, _row)


def _row(row: dict[str, Any], at: str) -> dict[str, Any]:
    if "report" in row:
        _path(row["report"], at, "report")
        if not row.get("command"):
            raise DetentError(f"{at} has a report and no command", "name the command that writes it")
    return {**row, "path": _path(row.get("path"), at)}


def _path(path: object, at: str, key: str = "path") -> str:
    """A folder of the repository, without a word too many; empty for all of it."""
    if path is None:
        raise DetentError(f"{at} has no path", HINT)
    form, expected = BELOW_THE_PROJECT
    if not isinstance(path, str) or not form.fullmatch(path) or "\\" in path:
        raise DetentError(
            f"{at}: {key} is {seen(path)}; expected {expected}",
            f'{HINT}; "." is all of it' if key == "path" else 'for example: report = "build/report.xml"',
        )
    plain = PurePosixPath(path).as_posix()
    return "" if plain == "." else plain
