"""A question to the user in a dialog of the client: what is shown, what may be chosen, and what an answer says. Values only.

An agent cannot answer: the client shows the dialog to its user, and no tool takes an answer.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from detent.kernel.model import Sent

CHANNEL = "client dialog"
NOTE = "Guidance or a remark; it is kept, and the agent reads it."


class Question(NamedTuple):
    """What a run waits for a person to say."""

    run: str
    message: str
    choices: Mapping[str, Sent]

    @property
    def digest(self) -> str:
        """What an answer is bound to: this run, this text, these choices. If any of it changed, the answer lapses."""
        return sha256("\n".join([self.run, self.message, *self.choices]).encode("utf-8", "replace")).hexdigest()

    @property
    def schema(self) -> dict[str, Any]:
        """The form: one of the choices, and a remark."""
        return {
            "type": "object",
            "properties": {
                "choice": {"type": "string", "title": "What to do", "enum": list(self.choices)},
                "note": {"type": "string", "title": "Note", "description": NOTE},
            },
            "required": ["choice"],
        }


class Answer(NamedTuple):
    """What the user chose, for the question that was shown."""

    run: str
    digest: str
    choice: str
    note: str

    def sent(self, asked: Question) -> Sent | None:
        """What is said to the run; None where the choice needs words and there are none: that is silence."""
        sent = asked.choices[self.choice]
        if sent.verb == "answer" and (not sent.value or sent.value.endswith(":")):
            value = f"{sent.value} {self.note.strip()}".strip()
            return msgspec.structs.replace(sent, by="human", channel=CHANNEL, value=value) if self.note.strip() else None
        words = {"guidance": self.note} if sent.verb == "resume" else {"note": self.note}
        return msgspec.structs.replace(sent, by="human", channel=CHANNEL, **words)


def read_answer(asked: tuple[str, str], content: Mapping[str, Any] | None) -> Answer | None:
    """The answer in a filled-in form; None if it is not one."""
    choice, note = (content or {}).get("choice"), (content or {}).get("note") or ""
    return Answer(*asked, choice, note) if isinstance(choice, str) and isinstance(note, str) else None
