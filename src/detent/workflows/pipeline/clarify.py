"""The SpecAgent's questions before it writes the specification: at most five, asked once and together; a person may skip them. Pure; knows no rows."""

import msgspec

from detent.gates.human import question
from detent.kernel.model import Found, Sent
from detent.workflows.pipeline.pipeline_data import Session
from detent.workflows.pipeline.task_data import reply_of

replace = msgspec.structs.replace
MOST = 5
TWICE = (
    "You have asked your questions, and they are asked once. Specify by the request and the answers that you have; decide yourself what is still open, "
    "and list it below the heading Assumptions, where the person who approves sees it."
)


def ask_clarify(run: Session, sent: Sent, found: Found) -> Session:
    """Ask all questions as one; a person answers in any words, or skips them."""
    reply = reply_of(run, sent)
    asked = tuple(" ".join(note.split()) for note in (reply.artifacts.notes if reply else ()) if note.strip()) or (
        (reply.summary,) if reply else ()
    )
    lines = "".join(f"\n{n}. {text}" for n, text in enumerate(asked[:MOST], 1))
    left = f"\n\n({len(asked) - MOST} more were left out: five are asked at most.)" if len(asked) > MOST else ""
    words = f"The SpecAgent asks, before it specifies the request:\n{lines}{left}"
    after = question(run, "clarify", words, ("skip",))
    return replace(after, data=replace(after.data, clarified=True))


def keep_asked_twice(run: Session, sent: Sent, found: Found) -> Session:
    return replace(run, last_error=TWICE)
