"""What the machine does now, for whoever watches: words, and how far a run of tests has come. For looking at; nothing is decided by it."""

import re
from collections.abc import Callable

Say = Callable[[str], None]
PERCENT = re.compile(rb"\[\s*(\d{1,3})%\]")  # as pytest writes it, whatever it says before


def quietly(words: str) -> None:
    """Nobody watches."""


class ProgressReader:
    """How far tests have come, read off what they print. `total`: how many there were the last time; 0: not known."""

    def __init__(self, say: Say, what: str, total: int) -> None:
        self.say, self.what, self.total, self.rest = say, what, total, b""
        say(f"{what} (of {total})" if total else what)

    def feed(self, chunk: bytes) -> None:
        text = self.rest + chunk
        self.rest = text[-8:]
        if found := PERCENT.findall(text):
            self.rest = b""
            percent = min(100, int(found[-1]))
            self.say(f"{self.what} ({percent * self.total // 100}/{self.total})" if self.total else f"{self.what} ({percent} %)")
