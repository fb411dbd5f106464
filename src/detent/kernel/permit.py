"""What may be written now, as plain data, and the answer for one path. One place for agents that the machine drives and for hooks of clients.

Knows patterns and sentences, no runs and no files. Imports next to nothing: a hook asks here before each edit.
"""

from _collections_abc import Callable  # collections itself would have to be loaded first

RED, GREEN = "RED", "GREEN"
Matches = Callable[[str, str, bool], bool]  # whether a pattern matches a path, perhaps in any case


class Permit:
    """The patterns of what is open, and of what is closed whatever is open; and the phase, which is about tests."""

    def __init__(self, opened: list[str], closed: list[str], phase: str = "") -> None:
        self.opened, self.closed, self.phase = opened, closed, phase

    @property
    def instead(self) -> str:
        return f"What may be written now: {', '.join(self.opened)}." if self.opened else "Nothing may be written now."


def why_not(permit: Permit, path: str, is_test: Callable[[str], bool], matches: Matches) -> str | None:
    """Why a path may not be written, in a sentence that says what may be; None if it may. What is open by its very name is so in any phase."""
    parts = path.split("/")
    places = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    if any(matches(whole(glob), place, True) for glob in permit.closed for place in places):
        return f"{path} is protected: no agent writes it. {permit.instead}"
    if path in permit.opened:
        return None
    if permit.phase == GREEN and is_test(path):
        return f"{path} is a test; tests are frozen while the code is written."
    if permit.phase == RED and parts[-1] != "conftest.py" and not is_test(path):
        return f"{path} is not a test; a RED step writes tests only."
    if any(matches(whole(glob), path, False) for glob in permit.opened):
        return None
    return f"{path} may not be written in this state. {permit.instead}"


def whole(glob: str) -> str:
    """`docs/` stands for everything in it; a leading `./` or `/` says nothing."""
    glob = glob.removeprefix("./").lstrip("/")
    return glob + "**" if glob.endswith("/") else glob


def simple_match(glob: str, path: str, any_case: bool) -> bool | None:
    """The match for the shapes that tables use: `**`, `folder/**`, `*.suffix` and plain names. None: another shape."""
    if any_case:
        glob, path = glob.lower(), path.lower()
    if glob == "**":
        return path != ""
    folder, tail = (glob[:-3], True) if glob.endswith("/**") else (glob, False)
    if "*" in folder.removeprefix("*") or "?" in folder or (tail and "*" in folder):
        return None
    if tail:
        return path.startswith(f"{folder}/") and len(path) > len(folder) + 1
    if folder.startswith("*"):
        return None if "/" in folder else "/" not in path and path.endswith(folder[1:])
    return path == folder


def looks_like(path: str, likes: list[str]) -> bool:
    """Whether a path has one of some names: `test_*.py` for the file's own, `tests/` for a folder's that it is in."""
    *folders, name = path.split("/")
    for like in likes:
        head, star, tail = like.partition("*")
        named = name.startswith(head) and name.endswith(tail) and len(name) >= len(head) + len(tail) if star else name == like
        if like[:-1] in folders if like.endswith("/") else named:
            return True
    return False
