"""The rows of [[test.project]]: which folders of a repository are tested by themselves. Checked as strictly as any other key."""

from pathlib import PurePosixPath
from typing import Any

from detent.config.settings import TestProject, Texts
from detent.config.values import BELOW_THE_PROJECT, EXAMPLES, WORDS, fits, seen, unknown
from detent.errors import DetentError

KEYS: dict[str, object] = {"path": str, "command": str, "report": str, "files": Texts, "timeout": int}
HINT = 'for example: [[test.project]], and below it path = "packages/api"'


def checked_projects(raw: object, where: str) -> tuple[dict[str, Any], ...]:
    """Every row, or the error that names what is wrong with one."""
    if not isinstance(raw, list) or not all(isinstance(row, dict) for row in raw):
        raise DetentError(f"{where}: test.project is {seen(raw)}; expected tables", HINT)
    rows = tuple(_row(row, f"{where}: [[test.project]] {n}") for n, row in enumerate(raw, 1))
    paths = [row["path"] for row in rows]
    for n, path in enumerate(paths):
        if path in paths[:n]:
            raise DetentError(f"{where}: [[test.project]] {n + 1} has the path of another one, {path or '.'}", "leave one of the two")
    return rows


def _row(row: dict[str, object], at: str) -> dict[str, Any]:
    for key, value in row.items():
        if key not in KEYS:
            raise unknown(f"{at} has no key {key}", key, TestProject.__struct_fields__)
        if not fits(KEYS[key], value):
            raise DetentError(f"{at}: {key} is {seen(value)}; expected {WORDS[KEYS[key]]}", f"for example: {EXAMPLES[WORDS[KEYS[key]]]}")
    if "report" in row:
        _path(row["report"], at, "report")
        if not row.get("command"):
            raise DetentError(f"{at} has a report and no command", "name the command that writes it")
    timeout = row.get("timeout", 1)
    if isinstance(timeout, int) and timeout < 1:
        raise DetentError(f"{at}: timeout is {timeout}; it must be at least 1", "leave it out for that of [test]")
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
