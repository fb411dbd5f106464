"""Gates over commits on a branch: what squash and plan update must have left behind."""

from detent.evidence.look import Look
from detent.gates.plan import PlanData, is_done
from detent.kernel.model import Data, OnBranch


def on_its_branch(look: Look[OnBranch]) -> str | None:
    """The checkout stands on the branch of the run."""
    wanted, now = look.run.data.branch, look.branch().name
    if not wanted or now == wanted:
        return None
    short = wanted.removeprefix("refs/heads/")
    return f"the checkout stands on {now.removeprefix('refs/heads/') or 'no branch'}, and this run on {short}; run `git switch {short}`"


def tree_as_judged(look: Look[PlanData]) -> str | None:
    """The tree is the one that the analysis is about."""
    same = look.tree == look.run.data.judged_tree
    return None if same else "the tree changed since the run that is to be analysed; submit FAILURE, or restore it"


def commit_is_head(look: Look[Data]) -> str | None:
    """A commit hash, where one is given, is the head of the branch."""
    given = look.sent.commit_hash
    head = look.branch().head
    return f"commit_hash is {given[:12]}, but HEAD is {head[:12]}" if given and not head.startswith(given) else None


def one_commit_over_base(look: Look[Data]) -> str | None:
    """The branch is exactly one commit over the one it started from."""
    count = look.branch().over_base
    return None if count == 1 else f"the branch has {count} commits over its base; squash them into one"


def message_is_title(look: Look[PlanData]) -> str | None:
    """The commit message is the title of the pull request."""
    plan = look.run.data.plan
    title = plan.prTitle if plan else ""
    said = look.branch().message.strip()
    return None if said == title else f"the commit message is '{said}', and must be the title '{title}'"


def entry_is_marked(look: Look[PlanData]) -> str | None:
    """The entry of the master plan carries [DONE] and the hash of the squashed commit."""
    plan = look.run.data.plan
    lines = (look.read(look.setting("pr.plan")) or "").splitlines()
    mine = [line for line in lines if plan and plan.prTitle in line]
    commit = look.run.data.last_commit_hash
    if any(is_done(line) and (not commit or commit[:7] in line) for line in mine):
        return None
    return f"the plan's entry for '{plan.prTitle if plan else ''}' does not carry [DONE] and the commit hash {commit[:12]} on its line"


def only_the_entry_changed(look: Look[PlanData]) -> str | None:
    """Nothing but the line of the entry in the master plan changed."""
    path, plan = look.setting("pr.plan"), look.run.data.plan
    others = [c.path for c in look.changed() if c.path != path]
    if others:
        return f"{others[0]} changed too; the plan update may change only {path}"
    before, now, title = look.read(f"HEAD:{path}"), look.read(path) or "", plan.prTitle if plan else ""
    if before is None or [_other(s, title) for s in before.splitlines()] == [_other(s, title) for s in now.splitlines()]:
        return None
    return f"{path} changed in other lines too; the plan update may change only the line of '{title}'"


def _other(line: str, title: str) -> str:
    """A line of the plan, with the entry's own line made equal to any change of it."""
    return title if title in line else line
