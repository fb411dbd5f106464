"""A person at a real terminal of 80 columns: types what a page says, and looks at the screen. Needs tmux."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from detent.app.speaker import agent_variable
from tests.machine import need
from tests.patience import LONG, until

COLUMNS, LINES = 80, 24
PROMPT = "$"
BIN = Path(sys.executable).parent


class Pane:
    """One shell in one window."""

    def __init__(self, socket: Path, env: Mapping[str, str]) -> None:
        self.socket, self.env = socket, dict(env)

    def tmux(self, *words: str) -> str:
        argv = ["tmux", "-S", str(self.socket), "-f", "/dev/null", *words]
        done = subprocess.run(argv, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout

    def lines(self, *how: str) -> list[str]:
        """The whole screen history; with -J, lines that the terminal wrapped are joined."""
        return self.tmux("capture-pane", "-p", "-S", "-", *how).rstrip().splitlines()

    def keys(self, *names: str) -> None:
        self.tmux("send-keys", *names)

    def write(self, text: str) -> None:
        self.tmux("send-keys", "-l", "--", text)

    def waits(self) -> bool:
        """Whether the shell is at its prompt."""
        shown = self.lines()
        return bool(shown) and shown[-1].rstrip() == PROMPT

    def types(self, command: str, seconds: float = LONG) -> "Shown":
        """Type one command, wait for its end, and return what it printed."""
        before = len(self.lines("-J"))
        self.write(f"{command}\n")
        until(lambda: len(self.lines("-J")) > before and self.waits(), f"{command} never came back", seconds)
        whole, joined = self.lines(), self.lines("-J")[before:-1]
        start = max(i for i, line in enumerate(whole) if line.startswith(f"{PROMPT} {command}"[:COLUMNS]))
        echoed = -(-len(f"{PROMPT} {command}") // COLUMNS)  # the command itself may wrap
        return Shown(command, whole[start + echoed : -1], joined)


class Shown:
    """The screen output of one command."""

    def __init__(self, command: str, lines: list[str], joined: list[str]) -> None:
        self.command, self.lines, self.joined = command, lines, joined

    @property
    def too_wide(self) -> list[str]:
        """The lines that the terminal had to wrap."""
        return [line for line in self.joined if len(line) > COLUMNS]

    def __str__(self) -> str:
        return "\n".join([f"{PROMPT} {self.command}", *self.lines])


@contextmanager
def pane(folder: Path, **more: str) -> Iterator[Pane]:
    """A shell in a folder, in its own session, whose environment has only programs and Detent's own settings."""
    need("tmux", "terminals")
    kept = {
        name: os.environ[name] for name in ("PATH", "XDG_STATE_HOME", "DETENT_SANDBOX_LEVEL", "DETENT_SANDBOX_PULL") if name in os.environ
    }
    env = {**kept, "PATH": f"{BIN}:{kept['PATH']}", "HOME": str(folder.parent), "TERM": "screen-256color", "LANG": "C.UTF-8"}
    env |= {"PWD": str(folder), **more}
    assert not agent_variable(env)
    with tempfile.TemporaryDirectory(prefix="pane-") as place:  # a socket's path must be short
        shell = Pane(Path(place) / "s", env)
        size = ("-x", str(COLUMNS), "-y", str(LINES))
        shell.tmux("start-server", ";", "set-option", "-g", "history-limit", "20000", ";", "new-session", "-d", *size, "-c", str(folder),
                   f"PS1='{PROMPT} ' exec bash --norc --noprofile")  # fmt: skip
        try:
            until(shell.waits, "the shell never came")
            yield shell
        finally:
            shell.tmux("kill-server")
