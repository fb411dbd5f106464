"""What a briefing says to an agent that the machine drives, where that differs from what it says to one that calls by itself.

A driven agent has no call to make: it hands in by its last message, and its sandbox is its own to try things in. Knows no workflow.
"""

from detent.kernel.model import Data

FENCE = "~~~~"  # what stands between two of them is quoted, and stays as it is
RUN_TESTS = {
    False: "Do not run tests through the shell.",
    True: "Run the project's tests in your sandbox as often as you like; what counts is the machine's own run.",
}
WORDS = (
    ("call escalate_for_external_help with markdown_report", 'end your turn with {"action": "escalate_for_external_help", "report": "…"}'),
    ("call request_scope_reduction", 'end your turn with {"action": "request_scope_reduction"}'),
    ("Call request_scope_reduction", 'End your turn with {"action": "request_scope_reduction"}'),
    ("call get_task again", "end your turn"),
    ("when you submit", "once your turn ends"),
    ("call submit_work with summary and reply", "end your turn with a final message: the summary in its first line, at its end the reply"),
    ("call submit_work with summary,", "end your turn with a final message that has summary,"),
    ("call submit_work with summary", "end your turn with a final message: the summary in its first line"),
    ("call submit_work with", "end your turn with a final message that has"),
    ("call submit_work", "end your turn with a final message"),
    ("Call submit_work", "End your turn with a final message"),
    ("`submit_work`", "your final message"),
    ("submit_work", "your final message"),
)


def is_driven(data: Data) -> bool:
    """Whether the machine drives the agents of a run."""
    return bool(getattr(getattr(data, "setup", None), "agent", ""))


def for_driven(text: str) -> str:
    """A text in the words of an agent that hands in by its last message."""
    parts = text.split(FENCE)
    parts[::2] = map(_said, parts[::2])
    return FENCE.join(parts)


def _said(text: str) -> str:
    for ours, theirs in WORDS:
        text = text.replace(ours, theirs)
    return text
