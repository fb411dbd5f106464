"""API shapes of a session's documents and revisions. No behaviour."""

from detent.interfaces.http.shape import Line, Shape, Text


class ReviseAsked(Shape, frozen=True, kw_only=True):
    """A revision: documents as a person wants them, or a stage that is done again with `text` as what must change."""

    to: Line = ""
    text: Text = ""
    documents: dict[str, Text] = {}  # by name in the session's folder


class Paper(Shape, frozen=True, kw_only=True):
    name: str  # relative to the session's folder
    text: str
    edited: str = ""  # the person's version in their checkout, if not applied yet


class Papers(Shape, frozen=True, kw_only=True):
    """The documents of a session that people may revise, and the stages that they may have done again."""

    papers: tuple[Paper, ...]
    stages: tuple[str, ...]
    report: str = ""  # of the session, once it is written


class RollbackAsked(Shape, frozen=True, kw_only=True):
    """The event that a run goes back to."""

    event: int


class RevisionShown(Shape, frozen=True, kw_only=True):
    """What a revision would do."""

    diff: str
    void: tuple[str, ...]
