"""Gates over commits on the branch: the results of squashing and of updating the plan."""

from detent.evidence.look import FilesLook, SubmitLook
from detent.gates.plan import PlanData
from detent.gates.plan_entries import find_entry, is_done
from detent.kernel.model import Data, OnBranch


def on_its_branch(look: FilesLook[OnBranch]) -> str | None:
    """The checkout is on the branch of the run."""
    wanted, now = look.run.data.branch, look.branch().name
    if not wanted or now == wanted:
        return None
    short = wanted.removeprefix("refs/heads/")
    return f"the checkout is on {now.removeprefix('refs/heads/') or 'no branch'}, but this run is on {short}; run `git switch {short}`"


def tree_as_judged(look: SubmitLook[PlanData]) -> str | None:
    """The tree is the one being analysed."""
    same = look.tree == look.run.data.judged_tree
    return None if same else "the tree changed since the test run being analysed; submit FAILURE, or restore the tree"


def commit_is_head(look: FilesLook[Data]) -> str | None:
    """A commit hash, if given, is the head of the branch."""
    given = look.sent.commit_hash
    head = look.branch().head
    return f"commit_hash is {given[:12]}, but HEAD is {head[:12]}" if given and not head.startswith(given) else None


def one_commit_over_base(look: FilesLook[Data]) -> str | None:
    """The branch is exactly one commit ahead of its base."""
    count = look.branch().over_base
    return None if count == 1 else f"the branch is {count} commits ahead of its base; squash them into one"


def message_is_title(look: FilesLook[PlanData]) -> str | None:
    """The commit message is the title of the pull request."""
    title = _title(look)
    message = look.branch().message.strip()
    return None if message == title else f"the commit message is '{message}', but must be the title '{title}'"


def entry_is_marked(look: FilesLook[PlanData]) -> str | None:
    """The entry of the master plan carries [DONE] and the hash of the squashed commit."""
    title, path, commit = _title(look), look.setting("pr.plan"), look.run.data.last_commit_hash
    now, mine = (look.read(path) or "").splitlines(), _line(look)
    lines = [line for line in (now if mine is None else now[mine : mine + 1]) if title in line]
    if any(is_done(line) and (not commit or commit[:7] in line) for line in lines):
        return None
    return f"the plan's entry for '{title}' does not carry [DONE] and the commit hash {commit[:12]} on its line"


def only_the_entry_changed(look: FilesLook[PlanData]) -> str | None:
    """Only the entry's line in the master plan changed."""
    path, mine = look.setting("pr.plan"), _line(look)
    others = [c.path for c in look.changed() if c.path != path]
    if others:
        return f"{others[0]} changed too; the plan update may change only {path}"
    before, now = look.read(f"GOOD:{path}"), (look.read(path) or "").splitlines()
    if before is None or [s for n, s in enumerate(before.splitlines()) if n != mine] == [s for n, s in enumerate(now) if n != mine]:
        return None
    return f"{path} changed in other lines too; the plan update may change only the line of '{_title(look)}'"


def _title(look: SubmitLook[PlanData]) -> str:
    plan = look.run.data.plan
    return plan.prTitle if plan else ""


def _line(look: FilesLook[PlanData]) -> int | None:
    """The line of the entry in the plan as it was reviewed; None if no tree contains the plan."""
    entry, _ = find_entry(_title(look), look.read(f"GOOD:{look.setting('pr.plan')}") or "", look.setting("pr.entries"))
    return entry.line if entry else None
