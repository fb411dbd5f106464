"""A branch and its remote: free names, pushing without force, replaying commits onto the remote's; and the run's refs that machines share.

Objects come first and refs last, so that anything cut off midway can be repeated with the same result.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from detent.errors import Away, CannotTell
from detent.git.commits import short
from detent.git.repo import ZERO, Git
from detent.git.tree_merge import merge_trees

PATIENCE = 120  # seconds for a call over the network
ASKING = 20  # seconds for a call that only checks whether the remote answers
LONGEST_REASON = 500  # characters quoted from a remote's hooks
REFUSED = re.compile(r"(\[(?:remote )?rejected\].*|\[remote failure\].*)")
AT_ONCE = 500  # refs per call


class Pushed(NamedTuple):
    """How a push ended."""

    ok: bool
    output: str = ""


class Replayed(NamedTuple):
    """Commits replayed onto another one; or the conflict."""

    tip: str
    commits: tuple[tuple[str, str], ...] = ()  # (old, new) for each
    conflict: str = ""


def has_remote(git: Git, remote: str) -> bool:
    return bool(remote) and git.call("remote", "get-url", remote).code == 0


def remote_url(git: Git, remote: str) -> str:
    """The address of a remote; empty if it does not exist."""
    out = git.call("remote", "get-url", remote) if remote else None
    return out.text.splitlines()[0] if out is not None and out.code == 0 and out.text else ""


def names_at(git: Git, remote: str, prefix: str) -> frozenset[str]:
    """The remote's branches with this prefix. CannotTell if it does not answer."""
    out = git.call("ls-remote", "--heads", "--", remote, f"refs/heads/{prefix}*", timeout=PATIENCE)
    if out.code != 0:
        raise unreached(remote, out.err)
    return frozenset(short(line.split("\t")[1]) for line in out.text.splitlines() if "\t" in line)


def push_branch(git: Git, remote: str, commit: str, branch: str) -> Pushed:
    """Push a commit to a branch, never by force. CannotTell if the remote does not answer."""
    out = git.call("push", "--porcelain", "--no-verify", "--", remote, f"{commit}:{branch}", timeout=PATIENCE)
    output = f"{out.text}\n{out.err}".strip()
    if out.code == 0:
        return Pushed(True, output)
    if re.search(r"^!\t", out.text, re.MULTILINE):
        return Pushed(False, f"the push was refused: {refusal(output)}\n{output}")
    raise unreached(remote, out.err or out.text)


def fetch_branch(git: Git, remote: str, branch: str) -> str:
    """Fetch a branch and return its commit; empty if the remote lacks it. CannotTell if the remote does not answer."""
    name = short(branch)
    kept = f"refs/remotes/{remote}/{name}"
    out = git.call("fetch", "--no-tags", "--no-recurse-submodules", "--", remote, f"+refs/heads/{name}:{kept}", timeout=PATIENCE)
    if out.code == 0:
        return git.resolve(f"{kept}^{{commit}}")
    if "couldn't find remote ref" in out.err:
        return ""
    raise unreached(remote, out.err)


def replay(git: Git, base: str, tip: str, onto: str, at: str) -> Replayed:
    """Rebase the commits after `base` onto another commit, without touching a file or ref."""
    todo = git.run("rev-list", "--reverse", "--first-parent", f"{base}..{tip}", "--").text.split()
    made: list[tuple[str, str]] = []
    for commit in todo:
        parent = git.resolve(f"{commit}^")
        stand_in = git.commit(git.tree(onto), [parent], "stands in for the new parent", at)  # makes the old parent the merge base
        merged = merge_trees(git, stand_in, commit)
        if not merged.clean:
            return Replayed("", (), f"{git.message(commit).splitlines()[0]}: {', '.join(merged.files) or 'the changes conflict'}")
        onto = git.commit(merged.tree, [onto], git.message(commit), at)
        made.append((commit, onto))
    return Replayed(onto, tuple(made))


def share(git: Git, remote: str, runs: Sequence[str], branch: str) -> None:
    """Push a run's refs and its branch's position, for another machine that may continue the run.

    Writes only below refs/detent/, where the names are the run's own. CannotTell if the remote does not accept them.
    """
    tip = git.resolve(f"{branch}^{{commit}}") if branch else ""
    specs = [f"+refs/detent/{run}/*:refs/detent/{run}/*" for run in runs] + ([f"+{tip}:refs/detent/{runs[0]}/head"] if tip else [])
    out = git.call("push", "--quiet", "--no-verify", "--", remote, *specs, timeout=PATIENCE)
    if out.code != 0:
        raise unreached(remote, out.err)


def take_in(git: Git, remote: str, runs: Sequence[str], branch: str) -> None:
    """Fetch what another machine shared of a run, and move the branch to where it was there, unless ours is already ahead."""
    specs = [f"+refs/detent/{run}/*:refs/detent/{run}/*" for run in runs]
    out = git.call("fetch", "--quiet", "--no-tags", "--", remote, "+refs/heads/*:refs/remotes/" + remote + "/*", *specs, timeout=PATIENCE)
    if out.code != 0:
        raise unreached(remote, out.err)
    tip = git.resolve(f"refs/detent/{runs[0]}/head^{{commit}}")
    here = git.resolve(f"{branch}^{{commit}}") if branch else ""
    if branch and tip and not (here and git.is_ancestor(tip, here)):
        git.update([(branch, tip, here or ZERO)])


def shared(git: Git, remote: str) -> dict[str, list[str]]:
    """The refs that a remote has below refs/detent/, by run. CannotTell if it does not answer."""
    out = git.call("ls-remote", remote, "refs/detent/*", timeout=PATIENCE)
    if out.code != 0:
        raise unreached(remote, out.err)
    found: dict[str, list[str]] = {}
    for ref in (line.split("\t")[1] for line in out.text.splitlines() if "\t" in line):
        found.setdefault(ref.split("/")[2], []).append(ref)
    return found


def forget(git: Git, remote: str, refs: Sequence[str]) -> None:
    """Delete refs below refs/detent/ at a remote."""
    names = [f":{ref}" for ref in refs if ref.startswith("refs/detent/")]
    for first in range(0, len(names), AT_ONCE):
        out = git.call("push", "--quiet", "--no-verify", remote, *names[first : first + AT_ONCE], timeout=PATIENCE)
        if out.code != 0:
            raise unreached(remote, out.err)


def free_name(git: Git, wanted: str, taken: Sequence[str] | frozenset[str]) -> str:
    """A branch name that is free here and at the remote: the wanted one, or with -retry2, -retry3, … appended."""
    for n in range(1, 1000):
        name = wanted if n == 1 else f"{wanted}-retry{n}"
        if git.call("check-ref-format", "--branch", name).code == 0 and name not in taken and not git.resolve(f"refs/heads/{name}"):
            return f"refs/heads/{name}"
    raise CannotTell(f"every branch from {wanted} to {wanted}-retry999 is taken; delete old ones")


def answers(git: Git, remote: str) -> bool:
    """Whether the remote answers at all."""
    return git.call("ls-remote", "--heads", "--", remote, "refs/heads/", timeout=ASKING).code == 0


def unreached(remote: str, output: str) -> CannotTell:
    """The error for a failed call to a remote: CannotTell if it refused, Away if it was not reached."""
    if REFUSED.search(output):
        return CannotTell(f"the remote {remote} refuses: {refusal(output)}")
    lines = [line for line in output.splitlines() if line.strip() and not line.startswith("To ")]
    first = next((line for line in lines if line.startswith("fatal:")), lines[0] if lines else "no answer")
    return Away("remote", f'the remote {remote} cannot be reached: {first} (set [git] remote = "" to work without it)')


def refusal(output: str) -> str:
    """Why a push was refused, in the words of git and of the remote's hooks."""
    lines = output.splitlines()
    own = [line.removeprefix("remote:").strip() for line in lines if line.startswith("remote:") and "error: hook declined" not in line]
    found = (REFUSED.search(line) for line in lines)
    words = next((" ".join(match[1].split()) for match in found if match), "the push was refused")
    return ": ".join(filter(None, (words, "; ".join(line for line in own if line)[:LONGEST_REASON])))
