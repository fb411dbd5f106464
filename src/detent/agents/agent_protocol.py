"""The protocol between Detent and its agents: the values that every backend shares. Knows no backend, no states and no verdicts.

A reply is words, never evidence. A failure is an `AgentFailed` with a sort; nobody parses its message.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol

from detent.agents.catalog import Catalog
from detent.errors import DetentError
from detent.sandbox.process import Ran, run

Sort = Literal["Timeout", "RateLimit", "Network", "ModelUnavailable", "Truncated", "Refused", "Stuck", "Crashed", "Budget", "Stopped"]
NOT_LOOKED_AT = (".git", "node_modules", ".venv")
DEFAULT_MODEL = "claude-opus-4-5-20251101"


class Usage(NamedTuple):
    """Tokens read and written, and their cost, as the service itself counts them."""

    input_tokens: int = 0  # not read from the cache and not written to it
    output_tokens: int = 0
    cached_tokens: int = 0  # read from the cache
    written_tokens: int = 0  # written to the cache
    usd: float = 0.0

    @property
    def tokens(self) -> int:
        """The sum of all tokens, which a limit on tokens counts."""
        return self.input_tokens + self.output_tokens + self.cached_tokens + self.written_tokens

    def __add__(self, other: "Usage") -> "Usage":  # type: ignore[override]  # two usages add up; they are never chained as tuples
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.written_tokens + other.written_tokens,
            self.usd + other.usd,
        )


class Budget(NamedTuple):
    """What is left to spend; None means no limit. Checked before each call, so the last call may exceed it."""

    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None
    turns: int | None = None


class Progress(NamedTuple):
    """One line of the live view."""

    kind: Literal["text", "tool", "result", "usage", "wait"]
    text: str
    usage: Usage = Usage()


class Answered(Protocol):
    """The result of a tool call: its text, and whether it failed."""

    @property
    def text(self) -> str: ...
    @property
    def failed(self) -> bool: ...


class PlainAnswer(NamedTuple):
    """The simplest `Answered`."""

    text: str
    failed: bool = False


class AgentTools(Protocol):
    """The tools of one turn. A model's mistake is never raised: it comes back as a failed answer."""

    @property
    def may_write(self) -> Callable[[str], str | None]: ...  # why a path may not be written now; None if it may
    def call(self, name: str, arguments: object) -> Answered: ...
    def schemas(self) -> list[dict[str, object]]: ...


def newest_change(workspace: Path, most: int = 20_000) -> int:
    """The newest modification time in a folder, in nanoseconds. Looks at no more than `most` entries."""
    newest, seen, todo = workspace.stat().st_mtime_ns if workspace.exists() else 0, 0, [str(workspace)]
    while todo and seen < most:
        try:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    seen += 1
                    newest = max(newest, entry.stat(follow_symlinks=False).st_mtime_ns)
                    if entry.is_dir(follow_symlinks=False) and entry.name not in NOT_LOOKED_AT:
                        todo.append(entry.path)
        except OSError:
            continue
    return newest


def start(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    *args: Any,
    writable: object = (),
    readable: object = (),
    **more: Any,
) -> Ran:
    """Start a program without a sandbox. It can see every file anyway, so `writable` and `readable` are ignored."""
    return run(argv, cwd, env, timeout, *args, **more)


class Turn(NamedTuple):
    """One turn of an agent: what it gets to read, where it works, and its limits."""

    briefing: str  # the briefing as JSON, for programs
    prompt: str  # the briefing as markdown, for models
    system: str  # the system prompt of the role
    workspace: Path
    toolbox: AgentTools | None = None
    env: Mapping[str, str] = MappingProxyType({})  # for child processes; never holds a key
    timeout: float = 1800.0  # wall-clock seconds for the whole turn
    silence: float = 600.0  # seconds without a sign of progress before the agent counts as hung
    budget: Budget = Budget()
    wanted: Callable[[], bool] = lambda: True  # False: stop soon
    start: Callable[..., Ran] = start  # starts a program; hides the sandbox
    apart: bool = False  # start programs in a network namespace of their own, with no way out
    watch: Callable[[Progress], None] = lambda progress: None
    agent: str = ""  # the spec of the agent
    transcript: Path | None = None  # JSON Lines with secrets redacted
    model: str = DEFAULT_MODEL  # for agents that name none
    catalog: Catalog = Catalog()  # services and prices that the project adds
    pulse: Callable[[Path], object] = newest_change  # changes whenever the workspace has changed


class Reply(NamedTuple):
    """What the agent said at the end of its turn, and what the turn used."""

    text: str
    usage: Usage = Usage()
    turns: int = 0


class AgentFailed(DetentError):
    """The agent gave no reply. `sort` says why; `not_before` is the UTC time at which a usage limit ends."""

    def __init__(self, sort: Sort, message: str, not_before: str = "", usage: Usage | None = None) -> None:
        super().__init__(message, "continue the run from here: detent resume")
        self.sort = sort
        self.not_before = not_before
        self.usage = usage or Usage()
