"""Whose settings count for a run: those that main has, where the run's commit left it. What a branch brings counts once it has landed."""

from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from detent.app.commit_settings import settings_at
from detent.config import Settings
from detent.errors import DetentError
from detent.git.commits import main_branch, short
from detent.git.repo import Git

NOW = ("decisions", "flags", "evidence", "review", "sandbox")  # what is asked of work, and who is heard: as the newest main has it
MOST_NAMED = 5


class MainSettings(NamedTuple):
    """The settings that a run goes by, and the commit that they are from."""

    settings: Settings
    commit: str


def main_ref(git: Git, outer: Mapping[str, str]) -> str:
    """The full name of the main branch, as main itself has it. What is checked out is asked only where nothing else tells."""
    here = settings_at(git, "HEAD", outer).git.main
    try:
        told = main_branch(git, "")
    except DetentError:
        return main_branch(git, here)
    named = settings_at(git, told, outer).git.main
    ref = main_branch(git, named)
    if here and not named and main_branch(git, here) != ref:
        raise DetentError(
            f"detent.toml of this branch calls {here} the main branch, and {short(told)} does not, so Detent cannot tell which one is main",
            f'if it is {here}: commit [git] main = "{here}" to {short(told)} as well, or set DETENT_GIT_MAIN={here}',
        )
    return ref


def settings_for(git: Git, head: str, outer: Mapping[str, str]) -> MainSettings:
    """The settings for a run that begins at a commit: those of the newest commit of main that it has."""
    head = head or "HEAD"  # there is no commit yet
    try:
        newest = git.resolve(f"{main_ref(git, outer)}^{{commit}}")
    except DetentError:
        if settings_at(git, head, outer).git.main:
            raise
        return MainSettings(settings_at(git, head, outer), head)  # nothing here tells which branch is main
    if newest == head:
        return MainSettings(settings_at(git, head, outer), head)
    base = git.call("merge-base", newest, head).text or newest
    now = settings_at(git, newest, outer)
    return MainSettings(replace(settings_at(git, base, outer), **{name: getattr(now, name) for name in NOW}), base)


def not_counted(git: Git, outer: Mapping[str, str]) -> str:
    """What the checked out branch configures otherwise than main, in a sentence for whoever starts a run there; empty if it does not."""
    head = git.head()
    used = settings_for(git, head, outer)
    if used.commit == head:
        return ""
    here, there = ({**each.flat(), "[[gate]]": str(each.gate)} for each in (settings_at(git, head, outer), used.settings))
    names = sorted(name for name in {*here, *there} if here.get(name, "") != there.get(name, ""))
    if not names:
        return ""
    shown = ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if names[MOST_NAMED:] else "")
    main = short(main_ref(git, outer))
    return f"detent.toml of this branch does not count: it sets {shown} differently from {main}. To make it count, land it on {main} first."
