"""The input of `verify`: the commits of a range, the claims on them, and the chain of their trees. Runs no test."""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal, NamedTuple

from detent.errors import CannotTell, DetentError
from detent.evidence.outcomes.claims import REF, Claim, ClaimedStep, parse_claim
from detent.git.commits import Commit, commits_between, main_branch
from detent.git.notes import list_notes
from detent.git.repo import Git
from detent.git.tree_merge import merge_trees

Sort = Literal["failed", "not-verifiable", "could-not-verify"]
PLAIN = re.compile(r"(?!HEAD$|refs/|[0-9a-f]{40}$)[\w./-]+")  # a plain short name, without `~`, `^` or `@{…}`
FULL = f"refs/notes/{REF}"
FETCH = f"git fetch origin {FULL}:{FULL}"


class BrokenCheck(NamedTuple):
    """One check that does not hold: where, which check, and what it says."""

    sort: Sort
    commit: str
    step: str
    check: str
    says: str


class CommitSpan(NamedTuple):
    """A resolved range: the commits of `tip` that `base` does not have, the oldest first."""

    base: str
    tip: str
    commits: tuple[Commit, ...]


class Link(NamedTuple):
    """One step to replay: from one tree to the next, by the rules of a phase."""

    commit: Commit
    at: int  # the number of the step in the commit, from 1
    run: str
    workflow: str
    step: ClaimedStep
    phase: str  # as claimed, or `merge`; what it really is, its trees show
    start: str

    @property
    def name(self) -> str:
        return f"{self.at} {self.phase}" + (f": {self.step.about}" if self.step.about else "")


# -- the range ---------------------------------------------------------------------------------------------------------------


def span_of(git: Git, text: str, main: str) -> CommitSpan:
    """The range that a text names: `A..B`, one commit, or if empty what this branch adds to main."""
    if text and ".." not in text:
        tip = commit_named(git, text)
        base = commit_named(git, f"{tip}^1", f"{text} has no parent, so there is nothing that it could be proved over")
    elif text:
        old, _, new = text.partition("..")
        tip = commit_named(git, new.lstrip(".") or "HEAD")
        base = common_base(git, commit_named(git, old or "HEAD"), tip)
    else:
        tip = commit_named(git, "HEAD")
        base = _own_base(git, tip, main)
    commits = tuple(commits_between(git, base, tip))
    if not commits:
        raise DetentError(
            f"there is no commit in {text or 'this branch'} that {base[:12]} does not have", "name a range: detent verify A..B"
        )
    return CommitSpan(base, tip, commits)


def _refs_named(git: Git, name: str) -> list[str]:
    """The tags, branches and remote branches that an ambiguous short name may mean; empty if they are one commit."""
    known = {kind: f"refs/{kind}/{name}" for kind in ("tags", "heads", "remotes")} if PLAIN.fullmatch(name) else {}
    here = {ref: commit for ref in known.values() if (commit := git.resolve(f"{ref}^{{commit}}"))}
    return list(here) if len(set(here.values())) > 1 else []


def commit_named(git: Git, name: str, otherwise: str = "", hint: str = "fetch it (git fetch), or name another one") -> str:
    found = git.resolve(f"{name}^{{commit}}")
    if not found:
        raise DetentError(otherwise or f"there is no commit '{name}' here", hint)
    if len(refs := _refs_named(git, name)) > 1:
        raise DetentError(f"'{name}' may mean {' or '.join(refs)}, which are not the same commit", f"name it in full: {refs[-1]}")
    return found


def common_base(git: Git, old: str, new: str) -> str:
    out = git.call("merge-base", old, new)
    if out.code != 0:
        raise DetentError(f"{old[:12]} and {new[:12]} have no commit in common", "fetch the whole history: git fetch --unshallow")
    return out.text


def _own_base(git: Git, tip: str, main: str) -> str:
    """The merge base with main. On main itself: where the last landed run began."""
    newest = main_commit(git, main)
    base = common_base(git, newest, tip)
    if base != tip:
        return base
    notes = list_notes(git, REF)
    lines = [line.split() for line in git.run("log", "--first-parent", "--format=%H %P", tip).text.splitlines()]
    if len(lines[0]) > 2 or tip not in notes:
        message = f"{tip[:12]} is the first commit, so there is nothing that it could be proved over"
        return commit_named(git, f"{tip}^1", message, "name a range, once there is one: detent verify main..HEAD")
    began = _began(git, notes, tip)
    return next((commit for commit, *_ in lines if _began(git, notes, commit) != began), lines[-1][0])


def _began(git: Git, notes: Mapping[str, str], commit: str) -> str | None:
    """The base of a commit's work by its claim; used only to find the start of a range."""
    claim = _claim(git, notes, Commit(commit, "", (), ""))[0] if commit in notes else None
    return claim.base if claim else None


def main_commit(git: Git, configured: str) -> str:
    try:
        return git.resolve(f"{main_branch(git, configured)}^{{commit}}")
    except DetentError:
        names = [configured] if configured else ["HEAD", "main", "master"]
        found = next((c for n in names if (c := git.resolve(f"refs/remotes/origin/{n}^{{commit}}"))), "")
        if not found:
            raise
        return found


# -- the claims --------------------------------------------------------------------------------------------------------------


def links_of(git: Git, span: CommitSpan) -> tuple[list[Link], list[BrokenCheck], frozenset[str]]:
    """The steps to replay in order, the checks that fail before any test is run, and the failures claimed as known."""
    if not git.resolve(FULL):
        return (
            [],
            [BrokenCheck("not-verifiable", span.tip, "", "evidence", f"{FULL} is not here, so nothing is claimed; {FETCH}")],
            frozenset(),
        )
    notes, trees = list_notes(git, REF), git.trees([f"{p}^{{tree}}" for c in span.commits for p in c.parents[:1]])
    links, broken, baseline, earlier = list[Link](), list[BrokenCheck](), frozenset[str](), dict[str, frozenset[str]]()
    for commit in span.commits:
        parent = commit.parents[0] if commit.parents else ""
        start = trees.get(f"{parent}^{{tree}}", "")
        if len(commit.parents) > 1:  # earlier trees lack what a merge brought, so no step may be over them
            links.append(Link(commit, 1, "", "", ClaimedStep("complete", commit.subject, commit.tree), "merge", start))
            broken += _merge(git, commit)
            continue
        claim, wrong = _claim(git, notes, commit)
        if claim is None:
            broken.append(wrong)
            continue
        links += _chain(commit, claim, start)
        earlier[commit.hash] = earlier.get(parent, frozenset()) | {start}
        broken += _hangs_together(git, commit, claim, start, earlier[commit.hash])
        baseline |= frozenset(claim.baseline)
    return links, broken, baseline


def _claim(git: Git, notes: Mapping[str, str], commit: Commit) -> tuple[Claim | None, BrokenCheck]:
    blob = notes.get(commit.hash, "")
    if not blob:
        return None, BrokenCheck("not-verifiable", commit.hash, "", "claim", f"no claim is made for it{_elsewhere(git, notes, commit)}")
    out = git.call("cat-file", "blob", blob)
    claim, wrong = (
        parse_claim(out.raw.decode("utf-8", "surrogateescape"), commit.hash) if out.code == 0 else (None, "the claim is not here")
    )
    return claim, BrokenCheck("failed", commit.hash, "", "claim", wrong)


def _elsewhere(git: Git, notes: Mapping[str, str], commit: Commit) -> str:
    """A clause if another commit with the same tree or subject has the claim: this one was amended, rebased or squashed."""
    shown = git.call("log", "--no-walk=unsorted", "--ignore-missing", "--format=%H%x00%T%x00%s", "--stdin", stdin="\n".join(notes).encode())
    rows = [line.split("\0") for line in shown.text.split("\n")]
    twin = next((r for r in rows if len(r) == 3 and (r[1] == commit.tree or r[2] == commit.subject)), None)
    return f"; one is for {twin[0][:12]}, so it was amended, rebased or squashed since" if twin else ""


def _chain(commit: Commit, claim: Claim, start: str) -> list[Link]:
    starts = (start, *(step.tree for step in claim.steps))
    return [Link(commit, n, claim.run, claim.workflow, step, step.phase, starts[n - 1]) for n, step in enumerate(claim.steps, 1)]


def _hangs_together(git: Git, commit: Commit, claim: Claim, start: str, earlier: frozenset[str]) -> list[BrokenCheck]:
    """Check a claim: its trees exist, the last is the commit's own, and a verify or repeated RED step is over a tree of an earlier step."""
    links, seen = _chain(commit, claim, start), git.trees([step.tree for step in claim.steps])
    found = [
        BrokenCheck("failed", commit.hash, link.name, "tree", f"the tree {link.step.tree[:12]} that the claim names is not here; {FETCH}")
        for link in links
        if seen.get(link.step.tree) != link.step.tree
    ]
    for link in links:
        passed = {start, *(step.tree for step in claim.steps[: link.at - 1])} | (earlier if link.phase == "red" else frozenset())
        if link.step.over not in passed and (link.phase == "verify" or (link.phase == "red" and link.step.over)):
            says = f"it is claimed over {link.step.over[:12]}, which no step before it ended with"
            found.append(BrokenCheck("failed", commit.hash, link.name, "tree", says))
    last = claim.steps[-1].tree if claim.steps else ""
    if last != commit.tree:
        says = f"its tree is {commit.tree[:12]}, and the claim ends with {last[:12] or 'no step'}"
        found.append(BrokenCheck("failed", commit.hash, links[-1].name if links else "", "tree", says))
    return found


def _merge(git: Git, commit: Commit) -> list[BrokenCheck]:
    """Check a merge: it needs no claim if it equals git's own merge of its parents."""
    if len(commit.parents) == 2:
        with suppress(CannotTell):
            made = merge_trees(git, *commit.parents)
            if made.clean and made.tree == commit.tree:
                return []
    return [
        BrokenCheck(
            "not-verifiable",
            commit.hash,
            "1 merge",
            "merge",
            "it differs from git's own merge of its parents, and nothing is claimed for the difference",
        )
    ]
