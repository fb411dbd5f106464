"""The question about open flags, asked as a decision of the session with an id, a record and an answer. Pure changes."""

import msgspec

from detent.blocks.open_flags import asking, keep_accepted, keep_to_fix, list_flags, question_of
from detent.gates.human import ANSWERS, FLAGS, PersonDecision, ask, resolve
from detent.kernel.model import Found, Sent
from detent.workflows.pipeline.pipeline_data import Session

replace = msgspec.structs.replace


def ask_flags(run: Session, sent: Sent, found: Found) -> Session:
    """Ask about the open flags of the branch, bound to the tree that was judged."""
    flags = asking(run)
    words = f"{question_of(flags)}\n{sent.output}".strip()
    return ask(run, PersonDecision(FLAGS, "flags", words, tuple(ANSWERS["flags"]), run.back, 0, summary=list_flags(flags)))


def accept_flags(run: Session, sent: Sent, found: Found) -> Session:
    """Record the acceptance as a decision bound to the tree. Clears the guidance, because no role works after it."""
    return replace(keep_accepted(resolve(run, sent, found), sent, found), guidance="")


def fix_flags(run: Session, sent: Sent, found: Found) -> Session:
    """Pass the flags and what the person wants fixed to the Coder."""
    return keep_to_fix(resolve(run, sent, found), sent, found)
