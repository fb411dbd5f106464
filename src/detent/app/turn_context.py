"""Context for a driven agent beside its briefing: the project's conventions, its test command, a map of the repository, the diff of
the last phase, and earlier attempts. Bounded in size, and marked as data. Decides nothing."""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

import msgspec

from detent.app.conversation import base_of
from detent.app.opened import App
from detent.app.registry import workflow_of
from detent.app.tally import turn_of
from detent.door import AnyEvent, AnyRun
from detent.gates.tree import PROJECT
from detent.git.commits import tip_of
from detent.git.repo import Git
from detent.kernel.model import Briefing
from detent.world.reviewer import fenced
from detent.world.turn_tree import LeftBehind, left_by
from detent.world.work_tree import RepoWorld

LONGEST = 12_000  # characters of one file of instructions, and of one diff
MOST_LINES = 120  # of the repository map
MOST_TRIES = 5  # earlier attempts that are listed
LONGEST_REASON = 600
NEXT = "\n## Next\n"  # heading of the last part of every briefing
PASSED = ("SUCCESS", "NEEDS_ANALYSIS")
BELOW = (
    "The project's own conventions, as of the commit that this run began from. "
    "Follow them unless they contradict the rules above; then the rules above apply."
)
COUNTS = (
    "You may run it, or a part of it, in your sandbox as often as you like. What counts is the machine's own run when your turn has ended."
)


def with_context(app: App, run: AnyRun, briefing: Briefing) -> Briefing:
    """The briefing of a driven agent: with this context before its last part, and without calls, since it has none to make.

    A workflow whose roles get documents provides the part about the project itself.
    """
    world = app.worlds.of(run)
    parts = [] if workflow_of(run.workflow).documents else [*_project(app, run, world)]
    parts += _attempts(app, run, world)
    text = "".join(f"{part.rstrip()}\n\n" for part in parts)
    before, mark, after = briefing.briefing.rpartition(NEXT)
    whole = f"{before}\n{text.rstrip()}\n{mark}{after}" if text and mark else f"{briefing.briefing}\n{text}"
    return msgspec.structs.replace(briefing, briefing=whole.rstrip() + "\n", allowed_actions=())


def _project(app: App, run: AnyRun, world: RepoWorld) -> Iterator[str]:
    git, base = world.git, run.data.base or world.git.head()
    if conventions := "\n".join(_conventions(git, base)):
        yield f"## The project's conventions\n\n{BELOW}\n\n{conventions}"
    if (command := base_of(app, run)) is not None:
        yield f"## The test command\n\n`{command.text}`\n\n{COUNTS}"
    yield fenced("The repository", "text", repository_map(git, git.head()))
    if diff := _last_phase(git, run):
        yield fenced("What the last phase changed", "diff", diff)


def _conventions(git: Git, base: str) -> Iterator[str]:
    seen = set[str]()
    for name in PROJECT:
        text = (git.read(base, name) or b"").decode("utf-8", "replace").strip()
        if text and text not in seen and text not in PROJECT:  # git stores a symlink to another of them as its name
            yield fenced(f"`{name}`", "markdown", _cut(text, f"the rest is in {name}")).replace("## ", "### ", 1)
        seen.add(text)


def repository_map(git: Git, tree: str, most: int = MOST_LINES) -> str:
    """The files of a tree, or if there are too many, its folders with their number of files."""
    files = git.run("ls-tree", "-r", "-z", "--name-only", tree).items
    if len(files) <= most:
        return "\n".join(files)
    for depth in (4, 3, 2, 1):
        folders = Counter("/".join(PurePosixPath(file).parts[:-1][:depth]) or "." for file in files)
        if len(folders) <= most or depth == 1:
            break
    lines = [f"{folder}/  ({n} file{'s' if n > 1 else ''})" for folder, n in sorted(folders.items())]
    rest = [f"… and {len(lines) - most} more folders"] if len(lines) > most else []
    return "\n".join([f"{len(files)} files", *lines[:most], *rest])


def _last_phase(git: Git, run: AnyRun) -> str:
    """The diff of the last commit that the machine made for this run or its parent."""
    tip = tip_of(git, run.id, "") or (tip_of(git, run.parent, "") if run.parent else "")
    return _diff(git, f"{tip}^", tip) if tip and git.resolve(f"{tip}^") else ""


def _diff(git: Git, old: str, new: str) -> str:
    text = git.run("diff", "--no-ext-diff", "--no-textconv", "--no-color", old, new, "--").text
    return _cut(text, f"`git diff {old[:12]} {new[:12]}` shows the rest")


def _cut(text: str, rest: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n[{len(text)} characters in all; {rest}]"


# -- earlier attempts ----------------------------------------------------------------------------------------------------------


def _attempts(app: App, run: AnyRun, world: RepoWorld) -> Iterator[str]:
    """The failed attempts since something last passed, with the reason of each and where its files are."""
    tried = _failed(list(app.worlds.runs.history(run.id)))
    if not tried:
        return
    left = left_by(world.git, run.id)
    lines = [_line(run, event, left) for event in tried[-MOST_TRIES:]]
    more = f"\n{len(tried) - MOST_TRIES} earlier ones are not shown.\n" if len(tried) > MOST_TRIES else ""
    yield f"## Earlier attempts\n{more}\n" + "\n".join(lines)
    if diff := _last_left(world, run, tried[-1], left):
        yield fenced("What the last attempt wrote, and what is gone now", "diff", diff)


def _failed(events: list[AnyEvent]) -> list[AnyEvent]:
    """The failed turns since an agent's work last passed. A refusal and the failure that it led to count as one."""
    found = list[AnyEvent]()
    for event in events:
        if event.sent.by == "agent" and event.status in PASSED:
            found = []
        elif turn_of(event) and event.status not in PASSED:
            found = [*(e for e in found if turn_of(e) != turn_of(event)), event]
        elif event.on == "limited":
            found = [*found, event]
    return found


def _line(run: AnyRun, event: AnyEvent, left: dict[str, LeftBehind]) -> str:
    why = "; ".join(event.verdict.reasons) or event.sent.output or event.on
    summary = f' It said: "{_short(event.sent.summary, 200)}"' if event.sent.summary else ""
    where = left.get(turn_of(event))
    kept = f" What it wrote was removed and is kept under `{where.ref}`: {where.names}." if where else ""
    return f"- {event.was}, {event.status}: {_short(why, LONGEST_REASON).rstrip('.')}.{summary}{kept or _judged_tree(run, event)}"


def _judged_tree(run: AnyRun, event: AnyEvent) -> str:
    tree = event.found.tree
    return f" What it wrote is kept under `refs/detent/{run.id}/trees/{tree}`." if tree else ""


def _short(text: str, most: int) -> str:
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[:most]}…"


def _last_left(world: RepoWorld, run: AnyRun, last: AnyEvent, left: dict[str, LeftBehind]) -> str:
    """The diff of the last attempt's work, if it is not in the workspace."""
    if (there := left.get(turn_of(last))) is not None:
        return _diff(world.git, f"{there.ref}^", there.ref)
    tree, good = last.found.tree, run.data.good_tree
    return _diff(world.git, good, tree) if tree and tree != good == world.newest.tree else ""
