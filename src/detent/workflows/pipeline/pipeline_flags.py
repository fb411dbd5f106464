"""The question about open flags as a session asks it: one of its decisions, with an id, a record and an answer like any other. Pure changes."""

import msgspec

from detent.blocks.open_flags import asking, keep_accepted, keep_to_fix, listed, question_of
from detent.gates.human import ANSWERS, FLAGS, PersonDecision, ask, resolve
from detent.kernel.model import Found, Sent
from detent.workflows.pipeline.pipeline_data import Session

replace = msgspec.structs.replace


def ask_flags(run: Session, sent: Sent, found: Found) -> Session:
    """Ask about the flags of the branch as it stands; the tree is the one that was looked at."""
    flags = asking(run)
    words = f"{question_of(flags)}\n{sent.output}".strip()
    return ask(run, PersonDecision(FLAGS, "flags", words, tuple(ANSWERS["flags"]), run.back, 0, summary=listed(flags)))


def accept_flags(run: Session, sent: Sent, found: Found) -> Session:
    """Recorded as a decision, and bound to the tree. It is nothing for a role to read: nobody works after it."""
    return replace(keep_accepted(resolve(run, sent, found), sent, found), guidance="")


def fix_flags(run: Session, sent: Sent, found: Found) -> Session:
    """What the person wants fixed, and the flags, for the Coder."""
    return keep_to_fix(resolve(run, sent, found), sent, found)
