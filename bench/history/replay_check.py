"""Replays one commit through `detent check`: the parent as `main`, the commit on a branch over it, one call."""

from bench.history import Commit, Replayed
from bench.history.caller import TAKEN, Caller
from bench.history.replay_pr import lay_base
from detent.errors import DetentError

UNKNOWN = ("No such command", "there is no command")


def replay(commit: Commit, caller: Caller) -> Replayed:
    checkout = caller.checkout
    base = lay_base(commit, checkout, commit.hash[:10])
    tree = checkout.mixed(base, commit.hash, checkout.changed(commit.parent, commit.hash))
    made = checkout.git("commit-tree", tree, "-p", base, "-m", commit.title)
    checkout.git("update-ref", "refs/heads/work", made)
    checkout.git("symbolic-ref", "HEAD", "refs/heads/work")
    checkout.lay(tree)
    phase, answer = caller.call("check", "check", "main..HEAD")
    if any(words in str(answer.get("error", "")) for words in UNKNOWN):
        raise DetentError(f"{caller.program} has no command `check` yet", "replay through the workflow: --workflow pr")
    if phase.status in TAKEN:
        return Replayed(commit.hash, commit.title, (phase,), commit.cpu)
    at = "could not verify" if phase.status == "ERROR" else "failed"
    return Replayed(commit.hash, commit.title, (phase,), commit.cpu, at, (phase.reasons or (phase.status,))[0])
