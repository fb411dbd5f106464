"""The settings that count: those of a commit; for a run, those of main where the run's branch left it.

Gates are decided by these. What a branch itself configures counts only once it has landed.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from detent.app.gate_steps import steps_are_known
from detent.app.run_configs import OUTER
from detent.config import Settings
from detent.config.sources import load
from detent.errors import DetentError
from detent.git.commits import main_branch, short
from detent.git.repo import Git

ANYWHERE = "anywhere"  # a value of [decisions] require: programs may answer for people


def read_at(git: Git, rev: str, path: str) -> str | None:
    """A file of a commit or tree, as text."""
    data = git.read(rev, path)
    return data.decode("utf-8", "replace") if data is not None else None


def reader_at(git: Git, rev: str) -> Callable[[str], str | None]:
    """A reader for files of a commit or tree. It lists the names at the root once, since most paths that are tried do not exist."""
    out = git.call("ls-tree", "-z", "--name-only", rev)
    names = frozenset(out.items if out.code == 0 else ())  # in a repository without a commit there are none
    return lambda path: read_at(git, rev, path) if path.partition("/")[0] in names else None


def committed_settings(git: Git, rev: str, env: Mapping[str, str]) -> Settings:
    """The settings in a commit, with no file read from disk."""
    return load(reader_at(git, rev), env)


def main_at(git: Git, env: Mapping[str, str]) -> str:
    """The name of the main branch as main's own settings have it; from HEAD's settings only where git does not say which branch is main."""
    try:
        ref = main_branch(git, "")
    except DetentError:
        away = git.resolve("refs/remotes/origin/HEAD^{commit}")
        return committed_settings(git, away or "HEAD", env).git.main
    return committed_settings(git, ref, env).git.main


def settings_at(git: Git, rev: str, env: Mapping[str, str]) -> Settings:
    """The settings of a commit. A file that neither it nor HEAD has is read from disk."""

    def read(path: str) -> str | None:
        if (text := read_at(git, rev, path)) is not None or git.read("HEAD", path) is not None:
            return text
        file = git.place.root / path
        return file.read_text("utf-8", "replace") if file.is_file() else None

    settings = load(read, env)
    steps_are_known(settings)
    if settings.sandbox.level == OUTER and committed_settings(git, rev, env).sandbox.level != OUTER:
        raise DetentError(
            '[sandbox] level = "outer" is in a file that is not committed, where an agent could have written it',
            "if it was you, commit that file, or set DETENT_SANDBOX_LEVEL=outer in the environment",
        )
    if settings.services and settings.services != committed_settings(git, rev, env).services:
        raise DetentError(
            "[services] is in a file that is not committed, where an agent could have written it; keys are sent to where it says",
            "if it was you, commit that file",
        )
    if settings.decisions.require == ANYWHERE and committed_settings(git, rev, {}).decisions.require != ANYWHERE:
        raise DetentError(
            '[decisions] require = "anywhere" counts only in a committed file: an agent could have set it elsewhere',
            "if it is what you want, commit it in detent.toml",
        )
    return settings


def levels_are_committed(git: Git, rev: str, env: Mapping[str, str]) -> None:
    """Refuse [flags] and [evidence] from an uncommitted file: whoever made the branch could have written it."""
    bare, now = committed_settings(git, rev, env), settings_at(git, rev, env)
    if (now.flags, now.evidence) != (bare.flags, bare.evidence):
        raise DetentError(
            "[flags] or [evidence] is in a file that is not committed, where an agent could have written it",
            "if it was you, commit that file to main; nothing was landed",
        )


NOW = ("decisions", "flags", "evidence", "review", "sandbox")  # sections that are always taken from the newest main
MOST_NAMED = 5


class MainSettings(NamedTuple):
    """The settings of a run, and the commit they come from."""

    settings: Settings
    commit: str


def main_ref(git: Git, outer: Mapping[str, str]) -> str:
    """The ref of the main branch, as main's own settings have it; from HEAD's settings only where git does not say which branch is main."""
    here = settings_at(git, "HEAD", outer).git.main
    try:
        default = main_branch(git, "")
    except DetentError:
        return main_branch(git, here)
    named = settings_at(git, default, outer).git.main
    ref = main_branch(git, named)
    if here and not named and main_branch(git, here) != ref:
        raise DetentError(
            f"detent.toml of this branch calls {here} the main branch, and {short(default)} does not, so Detent cannot tell which one is main",
            f'if it is {here}: commit [git] main = "{here}" to {short(default)} as well, or set DETENT_GIT_MAIN={here}',
        )
    return ref


def settings_for(git: Git, head: str, outer: Mapping[str, str]) -> MainSettings:
    """The settings for a run that begins at `head`: those of its merge base with main, with the sections in NOW from the newest main."""
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
    """A sentence on settings of the checked out branch that differ from main and so do not count; empty if none do."""
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
