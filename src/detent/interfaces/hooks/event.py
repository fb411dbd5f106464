"""An event of a client, read: what the agent is about to do. And what a row of the table of clients holds. Imports nothing."""

from _collections_abc import Callable  # collections itself would have to be loaded first

Json = dict[str, object]

SHELL, WRITE, STOP, BEGIN, OTHER = "shell", "write", "stop", "begin", "other"


class HookEvent:
    """What a client asks about: a command, files to be written, the agent's wish to stop, the beginning of a session; or nothing of interest."""

    def __init__(self, kind: str, command: str = "", paths: tuple[str, ...] = ()) -> None:
        self.kind, self.command, self.paths = kind, command, paths


class HookClient:
    """One client: how its events are read, how it is answered, and which files of the project switch its hooks on and off."""

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
    """A field that should be a text. One that is something else cannot be judged."""
    if not isinstance(value, str) or "\0" in value:
        raise ValueError("a field that should be text is something else")
    return value


def fields(event: Json) -> Json:
    """The arguments of the tool that an event is about."""
    found = event.get("tool_input")
    return found if isinstance(found, dict) else {}
