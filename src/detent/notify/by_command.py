"""Notifies by a person's command, which gets the message as JSON on standard input, a timeout, and few variables."""

import json
import shlex
import tempfile
from pathlib import Path

from detent.notify.message import Notification, NotifyWay, NotSent
from detent.sandbox.process import run

PATIENCE = 30.0  # seconds
KEPT = ("HOME", "USER", "LOGNAME", "PATH", "LANG", "TMPDIR", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS")
BEGINS = ("NOTIFY_", "XDG_", "LC_")  # prefixes of further variables it gets; its own token can be NOTIFY_TOKEN


def without_secrets(env: dict[str, str]) -> dict[str, str]:
    """The environment of a notifying program: without keys of models or tokens of forges."""
    return {name: value for name, value in env.items() if name in KEPT or name.startswith(BEGINS)}


def by_command(message: Notification, way: NotifyWay) -> None:
    argv = _words(way.to)
    with tempfile.NamedTemporaryFile(prefix="detent-notify-") as file:
        file.write(json.dumps(message.as_object()).encode())
        file.flush()
        try:
            ran = run(argv, way.root, without_secrets(dict(way.env)), PATIENCE, stdin=Path(file.name))
        except OSError as e:
            raise NotSent(f"'{argv[0]}' could not be started: {e.strerror}") from e
    if ran.timed_out:
        raise NotSent(f"'{argv[0]}' did not finish within {PATIENCE:.0f} s")
    if ran.exit_code != 0:
        last = (ran.output.strip().splitlines() or [""])[-1][:200]
        raise NotSent(f"'{argv[0]}' exited with code {ran.exit_code}" + (f": {last}" if last else ""))


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as e:
        raise NotSent(f"[notify] command cannot be read: {e}") from e
    if not words:
        raise NotSent("[notify] command is empty")
    return words
