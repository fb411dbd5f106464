"""The values of a dialog in the client: the question with its choices, and the answer.

An agent cannot answer it: the client shows the dialog to its user, and no tool takes an answer.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from detent.kernel.model import Sent

CHANNEL = "client dialog"
NOTE = "Guidance or a remark; it is kept, and the agent reads it."


class Question(NamedTuple):
    """What a run asks a person."""

    run: str
    message: str
    choices: Mapping[str, Sent]

    @property
    def digest(self) -> str:
        """The digest of run, text and choices, which an answer is bound to. If any of it changes, the answer lapses."""
        return sha256("\n".join([self.run, self.message, *self.choices]).encode("utf-8", "replace")).hexdigest()

    @property
    def schema(self) -> dict[str, Any]:
        """The schema of the form: one choice and a note."""
        return {
            "type": "object",
            "properties": {
                "choice": {"type": "string", "title": "What to do", "enum": list(self.choices)},
                "note": {"type": "string", "title": "Note", "description": NOTE},
            },
            "required": ["choice"],
        }


class Answer(NamedTuple):
    """The user's choice, and the question it was for."""

    run: str
    digest: str
    choice: str
    note: str

    def sent(self, asked: Question) -> Sent | None:
        """The answer as a Sent value; None if the choice needs a note and has none."""
        sent = asked.choices[self.choice]
        if sent.verb == "answer" and (not sent.value or sent.value.endswith(":")):
            value = f"{sent.value} {self.note.strip()}".strip()
            return msgspec.structs.replace(sent, by="human", channel=CHANNEL, value=value) if self.note.strip() else None
        words = {"guidance": self.note} if sent.verb == "resume" else {"note": self.note}
        return msgspec.structs.replace(sent, by="human", channel=CHANNEL, **words)


def read_answer(asked: tuple[str, str], content: Mapping[str, Any] | None) -> Answer | None:
    """The answer in a submitted form; None if it is invalid."""
    choice, note = (content or {}).get("choice"), (content or {}).get("note") or ""
    return Answer(*asked, choice, note) if isinstance(choice, str) and isinstance(note, str) else None
