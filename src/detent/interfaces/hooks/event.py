"""The values of hooks: HookEvent, what an agent is about to do, and HookClient, a row of the table of clients. Imports nothing."""

from _collections_abc import Callable  # avoids loading collections

Json = dict[str, object]

SHELL, WRITE, STOP, BEGIN, OTHER = "shell", "write", "stop", "begin", "other"


class HookEvent:
    """An event of a client: a command, files to write, the agent's stop, the start of a session, or something else."""

    def __init__(self, kind: str, command: str = "", paths: tuple[str, ...] = ()) -> None:
        self.kind, self.command, self.paths = kind, command, paths


class HookClient:
    """One client: how its events are read, how it is answered, and the project files that configure its hooks."""

    def __init__(
        self,
        name: str,
        read: Callable[[Json], HookEvent],
        refuse: Callable[[str], Json],
        go_on: Callable[[str], Json],
        tell: Callable[[str], Json],
        own_files: tuple[str, ...],
        home: str = "",
    ) -> None:
        self.name, self.read, self.refuse, self.go_on, self.tell, self.own_files = name, read, refuse, go_on, tell, own_files
        self.home = home  # the variable that names the project's folder, where the client sets one


def text(value: object) -> str:
    """A field that must be text; ValueError otherwise."""
    if not isinstance(value, str) or "\0" in value:
        raise ValueError("a field that should be text is something else")
    return value


def fields(event: Json) -> Json:
    """The arguments of an event's tool call."""
    found = event.get("tool_input")
    return found if isinstance(found, dict) else {}
