"""Extensions from installed packages, by entry point: workflows, agents, test runners, trackers and kinds of flags.

Knows none of these things: callers say what is built in and what is valid. Used only for names that are not built in, because reading
entry points takes longer than most calls.
"""

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from detent.errors import DetentError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

NAME = re.compile(r"[a-z][a-z0-9-]*")


class ExtensionGroup(NamedTuple):
    """One kind of extension."""

    name: str  # of its entry points
    noun: str


WORKFLOWS = ExtensionGroup("detent.workflows", "workflow")
AGENTS = ExtensionGroup("detent.agents", "agent")
RUNNERS = ExtensionGroup("detent.runners", "test runner")
FLAGS = ExtensionGroup("detent.flags", "kind of flag")
TRACKERS = ExtensionGroup("detent.trackers", "tracker")
GROUPS = (WORKFLOWS, AGENTS, RUNNERS, TRACKERS, FLAGS)


@cache
def installed(group: ExtensionGroup) -> "dict[str, tuple[EntryPoint, ...]]":
    """The entry points of a group by name; several where packages use the same name."""
    from importlib.metadata import entry_points

    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in sorted(entry_points(group=group.name), key=lambda each: (each.name, package_of(each))):
        found[point.name] = (*found.get(point.name, ()), point)
    return found


def names(group: ExtensionGroup, built_in: Collection[str] = ()) -> tuple[str, ...]:
    """The names that packages add, without built-in ones, which cannot be replaced."""
    return tuple(name for name in installed(group) if name not in built_in)


def shadowing(group: ExtensionGroup, built_in: Collection[str]) -> tuple[str, ...]:
    """A sentence for each extension that is ignored because its name is built in."""
    taken = [point for name, points in installed(group).items() if name in built_in for point in points]
    return tuple(f"the package {package_of(p)} names its {group.noun} '{p.name}', which is built in; it is not used" for p in taken)


def load(group: ExtensionGroup, name: str, wrong: Callable[[Any], str]) -> Any:
    """Load an extension by name; None if there is none. `wrong` says why a value is invalid, or ""."""
    points = installed(group).get(name, ())
    if not points:
        return None
    if len(points) > 1:
        packages = " and ".join(map(package_of, points))
        raise DetentError(f"{packages} each bring a {group.noun} '{name}'", "uninstall all but one of them")
    with blamed(group, name):
        if not NAME.fullmatch(name):
            raise ValueError("its name may have small letters, digits and - only, and begins with a letter")
        value = points[0].load()
        if reason := wrong(value):
            raise ValueError(reason)
        return value


@contextmanager
def blamed(group: ExtensionGroup, name: str) -> Iterator[None]:
    """Turn any exception inside into a DetentError that blames the package of the extension."""
    try:
        yield
    except DetentError:
        raise
    except (Exception, SystemExit) as e:  # foreign code may raise anything
        point = installed(group)[name][0]
        raise DetentError(
            f"the {group.noun} '{name}' of the package {package_of(point)} cannot be used: {_in_one_line(e)}",
            f"fix {point.value}, or uninstall {package_of(point)} (docs/extending.md)",
        ) from e


def _in_one_line(e: BaseException) -> str:
    """An exception on one line; a ValueError's message is a sentence already."""
    first, *rest = str(e).splitlines() or [""]
    line = " ".join(filter(None, (first, "; ".join(each.removeprefix("- ") for each in rest))))
    return line if type(e) is ValueError else f"{type(e).__name__}: {line}"


def package_of(point: "EntryPoint") -> str:
    return point.dist.name if point.dist else "of no name"
