"""Sends notifications to people: by a command, a webhook or the desktop. What to send is decided in app/."""

from collections.abc import Callable, Mapping

from detent.notify.by_command import by_command
from detent.notify.by_desktop import by_desktop
from detent.notify.by_webhook import by_webhook
from detent.notify.message import Notification, NotifyWay, NotSent

__all__ = ["WAYS", "NotSent", "Notification", "NotifyWay", "send"]

WAYS: Mapping[str, Callable[[Notification, NotifyWay], None]] = {"command": by_command, "webhook": by_webhook, "desktop": by_desktop}


def send(message: Notification, ways: Mapping[str, NotifyWay]) -> list[str]:
    """Send a message by every way; returns the errors. One that fails does not stop the others."""
    faults = []
    for name, way in ways.items():
        try:
            WAYS[name](message, way)
        except NotSent as e:
            faults.append(f"{name}: {way.redact(str(e))}")
    return faults
