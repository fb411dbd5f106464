"""A fast read of a checkout's open run and its rules, from git's files and the journal's stored rules.

Imports only the interpreter's own C modules, unless the journal has no rules for the newest event; then the full app is opened.
"""

import os

SELECT = """
SELECT heads.run, heads.seq, ifnull(hot.rules, '') FROM heads LEFT JOIN hot ON hot.run = heads.run AND hot.seq = heads.seq
WHERE heads.worktree = ? AND heads.parent = '' AND heads.ended = 0 ORDER BY heads.n DESC LIMIT 1"""


class HookCheckout:
    """A checkout: its root, its git dir, and the common git dir of all worktrees. All real paths."""

    def __init__(self, root: str, git_dir: str, common: str) -> None:
        self.root, self.git_dir, self.common = root, git_dir, common


class Standing:
    """The open run of a checkout, and its rules as text; empty if the journal has none for its newest event."""

    def __init__(self, run: str, seq: int, rules: str) -> None:
        self.run, self.seq, self.rules = run, seq, rules


def find_ground(start: str) -> HookCheckout | None:
    """The checkout that a folder is in, or None."""
    root = os.path.realpath(start)
    while True:
        dot = f"{root}/.git"
        if os.path.isdir(dot):
            return HookCheckout(root, dot, _named(f"{dot}/commondir", "") or dot)
        if os.path.isfile(dot) and (linked := _named(dot, "gitdir: ")):
            return HookCheckout(root, linked, _named(f"{linked}/commondir", "") or linked)
        root, last = os.path.dirname(root), root
        if root == last:
            return None


def _named(file: str, prefix: str) -> str:
    """The folder that a file of git names, relative to the file."""
    try:
        with open(file, encoding="utf-8", errors="surrogateescape") as opened:
            text = opened.read().strip()
    except OSError:
        return ""
    return os.path.realpath(os.path.join(os.path.dirname(file), text.removeprefix(prefix))) if text.startswith(prefix) else ""


def find_standing(ground: HookCheckout) -> Standing | None:
    """The newest open run of a checkout, or None. Raises if the journal is gone or unreadable."""
    journal = f"{ground.common}/detent/journal.db"
    if not os.path.exists(journal):
        if os.path.isdir(f"{ground.common}/detent"):
            _must_have_journal(ground)
        return None
    import _sqlite3

    db = _sqlite3.connect(journal)
    try:
        row = db.execute(SELECT, (ground.root,)).fetchone()
    finally:
        db.close()
    return Standing(*row) if row else None


def _must_have_journal(ground: HookCheckout) -> None:
    """Raise if the journal has an anchor but is gone, so that deleting it does not open the hooks."""
    from pathlib import Path

    from detent.errors import JournalDamaged
    from detent.journal.anchor import anchor_file

    journal = Path(ground.common) / "detent" / "journal.db"
    if anchor_file(journal).exists():
        raise JournalDamaged(f"{journal} is gone")


def thorough_rules(ground: HookCheckout, run: str) -> str:
    """The rules of a run, computed by the full app. Changes nothing."""
    from pathlib import Path

    from detent.app import open_app
    from detent.app.conversation import rules_now

    app = open_app(Path(ground.root))
    try:
        return rules_now(app, run)
    finally:
        app.journal.close()
