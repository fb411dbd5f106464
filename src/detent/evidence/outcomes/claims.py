"""Claims: the note on a commit that says, step by step, what a run proved for it. A claim is not believed; `verify` replays it.

Owns the format and its digest. Must not know how claims are made or replayed.
"""

from hashlib import sha256
from typing import Literal

import msgspec

from detent.kernel.model import Tally, Value

REF = "detent-evidence"  # below refs/notes/; its tree also holds the trees that the claims name
VERSION = 1
LARGEST = 4_000_000

Phase = Literal["plan", "red", "verify", "already", "green", "refactor", "complete", "entry", "work", "adopted"]


class ClaimedStep(Value, frozen=True, omit_defaults=False):
    """An accepted step: the tree it ended with, and the test results there."""

    phase: Phase
    about: str
    tree: str
    command: str = ""
    counts: Tally | None = None
    tests: tuple[str, ...] = ()  # RED only: the new tests, all of which failed
    over: str = ""  # the tree its tests must fail on, after a scope reduction or if the test of a RED was rewritten
    path: str = ""  # plan update only: the plan's file


class Claim(Value, frozen=True, omit_defaults=False):
    """The note on a commit: the steps that lead from its parent's tree to its own."""

    run: str
    workflow: str
    steps: tuple[ClaimedStep, ...]
    base: str = ""  # the commit that the work started from
    baseline: tuple[str, ...] = ()  # failures that a person accepted when the run started
    version: int = VERSION
    digest: str = ""


def seal(claim: Claim, commit: str) -> Claim:
    """The claim with its digest, which ties it to a commit. The digest reveals careless edits; it is not a signature."""
    bare = msgspec.structs.replace(claim, digest="")
    return msgspec.structs.replace(claim, digest=sha256(f"{commit}\n".encode() + msgspec.json.encode(bare)).hexdigest())


def written(claim: Claim) -> str:
    """The claim as the text of a note."""
    return msgspec.json.format(msgspec.json.encode(claim), indent=2).decode() + "\n"


def parse_claim(text: str, commit: str) -> tuple[Claim | None, str]:
    """Parse the note on a commit: the claim, or None and what is wrong with it."""
    if len(text) > LARGEST:
        return None, f"the claim is too long ({len(text)} characters)"
    try:
        claim = msgspec.json.decode(text.encode("utf-8", "surrogateescape"), type=Claim)
    except (msgspec.DecodeError, RecursionError) as e:
        return None, f"the claim cannot be read: {e}"
    if claim.version != VERSION:
        return None, f"the claim is of version {claim.version}; this Detent reads version {VERSION}"
    if seal(claim, commit).digest != claim.digest or written(claim) != text:
        return None, "the claim was edited, or belongs to another commit: its digest does not match"
    return claim, ""
