"""Claims: what a run says was proved for a commit, step by step, as the note on it holds it. Nothing here is believed; `verify` replays it.

Owns the form and its digest. Knows neither how a claim comes about nor how it is replayed.
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
    """One accepted step: the tree that it ended with, and what was seen there."""

    phase: Phase
    about: str
    tree: str
    command: str = ""
    counts: Tally | None = None
    tests: tuple[str, ...] = ()  # of a RED: the new tests, all of which failed
    over: str = ""  # of a verification after a scope reduction, or of a RED whose test was rewritten: the tree that its tests must fail on
    path: str = ""  # of an update of the plan: the file that the plan is


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
    """The claim with its digest, which binds it to a commit. It shows careless edits; it is no signature."""
    bare = msgspec.structs.replace(claim, digest="")
    return msgspec.structs.replace(claim, digest=sha256(f"{commit}\n".encode() + msgspec.json.encode(bare)).hexdigest())


def written(claim: Claim) -> str:
    """The text of a note."""
    return msgspec.json.format(msgspec.json.encode(claim), indent=2).decode() + "\n"


def read(text: str, commit: str) -> tuple[Claim | None, str]:
    """The claim of a note on a commit, or what is wrong with it."""
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
