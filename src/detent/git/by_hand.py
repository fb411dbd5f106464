"""Instructions for bringing two lines of work together by hand: the sides, the files, the exact commands. Changes nothing."""

import shlex
from collections.abc import Sequence

from detent.git.commits import short
from detent.git.repo import Git
from detent.git.workspace import checked_out_elsewhere, is_own

RESUME = "detent resume"
MOST = 5  # commits listed per side


def parted_text(git: Git, main: str, theirs: str, remote: str, then: str) -> str:
    """For a main that moved here and at the remote: what each side has alone, and how to merge them."""
    name, here = short(main), git.resolve(main)
    from_here, back = _at_main(git, main)
    steps = [*from_here, f"git pull --no-rebase {remote} {name}", f"git push {remote} {name}", *back]
    return (
        f"{name} here and {name} at {remote} have both moved, so Detent cannot tell which one to build on. Nothing was moved.\n"
        f"{_side(git, 'Only here', theirs, here)}\n{_side(git, f'Only at {remote}', here, theirs)}\n"
        f"Merge them in your checkout:\n\n{_typed(steps, then)}"
    )


def conflict_text(git: Git, branch: str, main: str, newest: str, files: Sequence[str], remote: str, push: bool) -> str:
    """For a merge that conflicts: the sides, the files, and how to finish it by hand."""
    name, tip, quoted = short(main), git.resolve(branch), " ".join(map(shlex.quote, files))
    from_here, _ = _at_main(git, main)
    behind = git.resolve(main) != newest
    steps = [
        *from_here,
        *([f"git pull --ff-only {remote} {name}"] if behind else []),
        f"git merge --no-ff {short(branch)}",
        f"# edit {', '.join(files)}: keep what both sides mean",
        f"git add {quoted}",
        "git commit --no-edit",
        *([f"git push {remote} {name}"] if push else []),
    ]
    return (
        f"ERROR: the automated merge of '{short(branch)}' into '{name}' conflicts in: {', '.join(files)}. Nothing was moved.\n"
        f"{name}{f' at {remote}' if behind else ''} is at {_named(git, newest)}; {short(branch)} is at {_named(git, tip)}.\n"
        f"Merge it by hand, in your checkout:\n\n{_typed(steps)}"
    )


def red_text(git: Git, branch: str, main: str, newest: str, remote: str) -> str:
    """For a clean merge whose tests fail: where to fix it."""
    there = f"{remote}/{short(main)}" if git.resolve(main) != newest else short(main)
    enter = f"cd {shlex.quote(str(git.place.root))}" if is_own(git.place) else f"git switch {short(branch)}"
    behind = not git.is_ancestor(newest, git.resolve(branch))
    steps = [
        enter,
        *([f"git merge {there}"] if behind else []),
        "# fix what fails",
        "git add -A",
        "git commit -m 'fix: what fails once merged'",
    ]
    return f"Fix it on the branch {short(branch)}; Detent then merges and tests it again:\n\n{_typed(steps)}"


def _at_main(git: Git, main: str) -> tuple[list[str], list[str]]:
    """The commands that lead to a checkout of main, and back to where the run works."""
    if folder := checked_out_elsewhere(git, main):
        return [f"cd {shlex.quote(folder)}"], []
    if git.branch() == main:
        return [], []
    return [f"git switch {short(main)}"], [] if is_own(git.place) else [f"git switch {short(git.branch())}"]


def _typed(steps: Sequence[str], then: str = RESUME) -> str:
    return "".join(f"    {step}\n" for step in (*steps, then))


def _named(git: Git, commit: str) -> str:
    return f'{commit[:9]} "{git.message(commit).splitlines()[0]}"'


def _side(git: Git, title: str, without: str, commit: str) -> str:
    found = git.run("rev-list", f"{without}..{commit}", "--").text.split()
    more = f" and {len(found) - MOST} more" if len(found) > MOST else ""
    return f"{title}: {', '.join(_named(git, each) for each in found[:MOST])}{more}."
