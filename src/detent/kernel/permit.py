"""Write permission for one path: which patterns are open now, and why a path is not. Shared by driven agents and client hooks.

Knows patterns and sentences, no runs and no files. Imports almost nothing, because a hook asks here before every edit.
"""

from _collections_abc import Callable  # importing collections itself would cost the hook time

RED, GREEN = "RED", "GREEN"
Matches = Callable[[str, str, bool], bool]  # (pattern, path, ignore case) -> whether it matches


class Permit:
    """The patterns that may be written, those that never may, and the phase, which decides about tests."""

    def __init__(self, opened: list[str], closed: list[str], phase: str = "") -> None:
        self.opened, self.closed, self.phase = opened, closed, phase

    @property
    def instead(self) -> str:
        return f"What may be written now: {', '.join(self.opened)}." if self.opened else "Nothing may be written now."


def why_not(permit: Permit, path: str, is_test: Callable[[str], bool], matches: Matches) -> str | None:
    """Why a path may not be written, and what may be instead; None if it may. A path opened by its full name is open in any phase."""
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
    """Normalise a pattern: `docs/` becomes `docs/**`; a leading `./` or `/` is dropped."""
    glob = glob.removeprefix("./").lstrip("/")
    return glob + "**" if glob.endswith("/") else glob


def simple_match(glob: str, path: str, any_case: bool) -> bool | None:
    """Match the shapes that tables use: `**`, `folder/**`, `*.suffix` and plain names. None: another shape, which the caller must match."""
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
    """Whether a path matches one of these names: `test_*.py` matches the file's name, `tests/` any folder above it."""
    *folders, name = path.split("/")
    for like in likes:
        head, star, tail = like.partition("*")
        named = name.startswith(head) and name.endswith(tail) and len(name) >= len(head) + len(tail) if star else name == like
        if like[:-1] in folders if like.endswith("/") else named:
            return True
    return False
