"""What may be written in a state, as a question about one path. Knows patterns and sentences; asks no file and no run."""

from collections.abc import Callable
from itertools import accumulate

from detent.tools.globs import expression


def writable(globs: tuple[str, ...], protected: tuple[str, ...]) -> Callable[[str], str | None]:
    """The question whether a path may be written: None if so, else why not. What is protected stays so whatever the globs say."""
    open_to = [expression(_whole(g)) for g in globs]
    closed = [expression(_whole(g), any_case=True) for g in protected]
    instead = f"What may be written now: {', '.join(globs)}." if globs else "Nothing may be written now."

    def why_not(path: str) -> str | None:
        places = list(accumulate(path.split("/"), "{}/{}".format))
        if any(p.fullmatch(place) for p in closed for place in places):
            return f"{path} is protected: no agent writes it. {instead}"
        if any(p.fullmatch(path) for p in open_to):
            return None
        return f"{path} may not be written in this state. {instead}"

    return why_not


def _whole(glob: str) -> str:
    """`docs/` stands for everything in it; a leading `./` or `/` says nothing."""
    glob = glob.removeprefix("./").lstrip("/")
    return glob + "**" if glob.endswith("/") else glob
