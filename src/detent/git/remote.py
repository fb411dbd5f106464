"""One branch and its remote: whether a name is free there, pushing without force, and replaying commits on what the remote has.

Objects first, refs last: whatever is cut in between is done again and comes to the same.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from detent.errors import Away, CannotTell
from detent.git.commits import short
from detent.git.repo import ZERO, Git
from detent.git.tree_merge import merge_trees

PATIENCE = 120  # seconds for one call over the network
ASKING = 20  # and for one that only asks whether anybody is there
LONGEST_REASON = 500  # characters of what a remote's hooks say
REFUSED = re.compile(r"(\[(?:remote )?rejected\].*|\[remote failure\].*)")
AT_ONCE = 500  # names in one call


class Pushed(NamedTuple):
    """How a push ended."""

    ok: bool
    output: str = ""


class Replayed(NamedTuple):
    """Commits on top of another one; or what conflicts."""

    tip: str
    commits: tuple[tuple[str, str], ...] = ()  # each as it was and as it is
    conflict: str = ""


def has_remote(git: Git, remote: str) -> bool:
    return bool(remote) and git.call("remote", "get-url", remote).code == 0


def remote_url(git: Git, remote: str) -> str:
    """The address of a remote; empty if there is none of this name."""
    out = git.call("remote", "get-url", remote) if remote else None
    return out.text.splitlines()[0] if out is not None and out.code == 0 and out.text else ""


def names_at(git: Git, remote: str, prefix: str) -> frozenset[str]:
    """The branches of a remote that begin so. CannotTell if it does not answer."""
    out = git.call("ls-remote", "--heads", "--", remote, f"refs/heads/{prefix}*", timeout=PATIENCE)
    if out.code != 0:
        raise unreached(remote, out.err)
    return frozenset(short(line.split("\t")[1]) for line in out.text.splitlines() if "\t" in line)


def push_branch(git: Git, remote: str, commit: str, branch: str) -> Pushed:
    """Push a commit as a branch, never by force. CannotTell if the remote does not answer at all."""
    out = git.call("push", "--porcelain", "--no-verify", "--", remote, f"{commit}:{branch}", timeout=PATIENCE)
    said = f"{out.text}\n{out.err}".strip()
    if out.code == 0:
        return Pushed(True, said)
    if re.search(r"^!\t", out.text, re.MULTILINE):
        return Pushed(False, f"the push was refused: {refusal(said)}\n{said}")
    raise unreached(remote, out.err or out.text)


def fetch_branch(git: Git, remote: str, branch: str) -> str:
    """The commit that the remote has for a branch; empty if it has none. CannotTell if it does not answer."""
    name = short(branch)
    kept = f"refs/remotes/{remote}/{name}"
    out = git.call("fetch", "--no-tags", "--no-recurse-submodules", "--", remote, f"+refs/heads/{name}:{kept}", timeout=PATIENCE)
    if out.code == 0:
        return git.resolve(f"{kept}^{{commit}}")
    if "couldn't find remote ref" in out.err:
        return ""
    raise unreached(remote, out.err)


def replay(git: Git, base: str, tip: str, onto: str, at: str) -> Replayed:
    """The commits over a base, one by one, on top of another commit; no file and no ref is touched."""
    todo = git.run("rev-list", "--reverse", "--first-parent", f"{base}..{tip}", "--").text.split()
    made: list[tuple[str, str]] = []
    for commit in todo:
        parent = git.resolve(f"{commit}^")
        stand_in = git.commit(git.tree(onto), [parent], "stands in for the new parent", at)  # so that the old parent is the common base
        merged = merge_trees(git, stand_in, commit)
        if not merged.clean:
            return Replayed("", (), f"{git.message(commit).splitlines()[0]}: {', '.join(merged.files) or 'the changes conflict'}")
        onto = git.commit(merged.tree, [onto], git.message(commit), at)
        made.append((commit, onto))
    return Replayed(onto, tuple(made))


def share(git: Git, remote: str, runs: Sequence[str], branch: str) -> None:
    """Bring what a run keeps, and where its branch stands, to the remote, for another machine that may have to go on with it.

    Only names below refs/detent/ are written there; they are the run's own. CannotTell if the remote does not take them.
    """
    tip = git.resolve(f"{branch}^{{commit}}") if branch else ""
    specs = [f"+refs/detent/{run}/*:refs/detent/{run}/*" for run in runs] + ([f"+{tip}:refs/detent/{runs[0]}/head"] if tip else [])
    out = git.call("push", "--quiet", "--no-verify", "--", remote, *specs, timeout=PATIENCE)
    if out.code != 0:
        raise unreached(remote, out.err)


def take_in(git: Git, remote: str, runs: Sequence[str], branch: str) -> None:
    """Fetch what another machine shared of a run. The branch is brought to where it stood there, unless it is here and further."""
    specs = [f"+refs/detent/{run}/*:refs/detent/{run}/*" for run in runs]
    out = git.call("fetch", "--quiet", "--no-tags", "--", remote, "+refs/heads/*:refs/remotes/" + remote + "/*", *specs, timeout=PATIENCE)
    if out.code != 0:
        raise unreached(remote, out.err)
    tip = git.resolve(f"refs/detent/{runs[0]}/head^{{commit}}")
    here = git.resolve(f"{branch}^{{commit}}") if branch else ""
    if branch and tip and not (here and git.is_ancestor(tip, here)):
        git.update([(branch, tip, here or ZERO)])


def shared(git: Git, remote: str) -> dict[str, list[str]]:
    """What a remote has below refs/detent/, by run. CannotTell if it does not answer."""
    out = git.call("ls-remote", remote, "refs/detent/*", timeout=PATIENCE)
    if out.code != 0:
        raise unreached(remote, out.err)
    found: dict[str, list[str]] = {}
    for ref in (line.split("\t")[1] for line in out.text.splitlines() if "\t" in line):
        found.setdefault(ref.split("/")[2], []).append(ref)
    return found


def forget(git: Git, remote: str, refs: Sequence[str]) -> None:
    """Remove refs below refs/detent/ at a remote; what they name stays with those who have it."""
    names = [f":{ref}" for ref in refs if ref.startswith("refs/detent/")]
    for first in range(0, len(names), AT_ONCE):
        out = git.call("push", "--quiet", "--no-verify", remote, *names[first : first + AT_ONCE], timeout=PATIENCE)
        if out.code != 0:
            raise unreached(remote, out.err)


def free_name(git: Git, wanted: str, taken: Sequence[str] | frozenset[str]) -> str:
    """The wanted branch, or with -retry2, -retry3, … if it is taken here or there."""
    for n in range(1, 1000):
        name = wanted if n == 1 else f"{wanted}-retry{n}"
        if git.call("check-ref-format", "--branch", name).code == 0 and name not in taken and not git.resolve(f"refs/heads/{name}"):
            return f"refs/heads/{name}"
    raise CannotTell(f"every branch from {wanted} to {wanted}-retry999 is taken; delete old ones")


def answers(git: Git, remote: str) -> bool:
    """Whether a remote can be asked something."""
    return git.call("ls-remote", "--heads", "--", remote, "refs/heads/", timeout=ASKING).code == 0


def unreached(remote: str, said: str) -> CannotTell:
    """What a call came to that the remote did not do: it is away, or it was reached and refused."""
    if REFUSED.search(said):
        return CannotTell(f"the remote {remote} refuses: {refusal(said)}")
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith("To ")]
    first = next((line for line in lines if line.startswith("fatal:")), lines[0] if lines else "no answer")
    return Away("remote", f'the remote {remote} cannot be reached: {first} (set [git] remote = "" to work without it)')


def refusal(said: str) -> str:
    """Why a push was refused, as git and the remote's own hooks say it."""
    lines = said.splitlines()
    own = [line.removeprefix("remote:").strip() for line in lines if line.startswith("remote:") and "error: hook declined" not in line]
    found = (REFUSED.search(line) for line in lines)
    words = next((" ".join(match[1].split()) for match in found if match), "the push was refused")
    return ": ".join(filter(None, (words, "; ".join(line for line in own if line)[:LONGEST_REASON])))
