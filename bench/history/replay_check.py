"""One commit through `detent check`: the parent as `main`, the commit on a branch over it, one call, one answer."""

from bench.history import Commit, Replayed
from bench.history.caller import Caller
from bench.history.replay_pr import lay_base
from detent.errors import DetentError

CLEAN, FLAGGED = 0, 10


def replay(commit: Commit, caller: Caller) -> Replayed:
    checkout = caller.checkout
    base = lay_base(commit, checkout, commit.hash[:10])
    tree = checkout.mixed(base, commit.hash, checkout.git("diff", "--name-only", "--no-renames", commit.parent, commit.hash).splitlines())
    made = checkout.git("commit-tree", tree, "-p", base, "-m", commit.title)
    checkout.git("update-ref", "refs/heads/work", made)
    checkout.git("symbolic-ref", "HEAD", "refs/heads/work")
    checkout.lay(tree)
    phase, answer = caller.call("check", "check", "main..HEAD")
    if "No such command" in str(answer.get("error", "")) or "there is no command" in str(answer.get("error", "")):
        raise DetentError(f"{caller.program} has no command `check` yet", "replay through the workflow: --workflow pr")
    refused = phase.status in ("ERROR", "FAILURE", "FAILED", "REFUSED")
    return Replayed(
        commit.hash,
        commit.title,
        (phase,),
        commit.cpu,
        "check" if refused else "",
        (phase.reasons or (phase.status,))[0] if refused else "",
    )
