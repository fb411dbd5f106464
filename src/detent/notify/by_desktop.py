"""Notifies on the desktop, by notify-send, or osascript on a Mac."""

from detent.notify.by_command import without_secrets
from detent.notify.message import Notification, NotifyWay, NotSent
from detent.sandbox.process import run

PATIENCE = 10.0  # seconds
MOST_ITEMS = 5
ESCAPES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}  # desktops read the body as markup


def by_desktop(message: Notification, way: NotifyWay) -> None:
    argv = _argv(message, way)
    try:
        ran = run(argv, way.root, without_secrets(dict(way.env)), PATIENCE)
    except OSError as e:
        raise NotSent(f"'{argv[0]}' could not be started: {e.strerror}") from e
    if ran.exit_code != 0:
        raise NotSent(f"it exited with code {ran.exit_code}: {ran.output.strip()[-200:]}")


def _argv(message: Notification, way: NotifyWay) -> list[str]:
    body = "\n".join(
        filter(None, (message.text, *(f"{i.get('item', '')} {i.get('title', '')}".strip() for i in message.items[:MOST_ITEMS])))
    )
    if program := way.find("notify-send"):
        urgent = "critical" if message.event in ("person", "paused") else "normal"
        return [program, "--app-name=Detent", f"--urgency={urgent}", "--", message.title, body.translate(ESCAPES)]
    if program := way.find("osascript"):
        script = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
        return [program, "-e", script, message.title, body]
    raise NotSent("there is no notify-send here; on Debian: apt-get install libnotify-bin")
