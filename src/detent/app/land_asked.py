"""Questions of `land`: the flags of a branch that it did not land. Stored under a seal until the branch changes or is in main.

A question about a run's branch is asked in that run. A branch without a run has its question here, shown in the inbox with all others.
"""

from hashlib import sha256
from pathlib import Path

import msgspec

from detent.app import App
from detent.app.project import project_settings
from detent.blocks.open_flags import ACCEPT, hunk_of, line_of
from detent.git.commits import main_branch
from detent.kernel.model import Flag, Value
from detent.storage.state import read_sealed, write_sealed

MOST_OF_HUNK = 60  # lines of each version that a question shows
KIND = "landing"


class Left(Value, frozen=True):
    """A branch that `land` left for a person: the question, the tree that an answer is bound to, and who accepted it."""

    branch: str
    tree: str
    question: str
    flags: tuple[Flag, ...]
    at: str
    accepted: str = ""  # by whom and through which channel; empty: not accepted yet

    @property
    def command(self) -> str:
        return f"detent land {self.branch} --accept {self.tree[:12]}"


def ask_about(app: App, left: Left) -> None:
    """Store the question about a branch; one about the same tree is kept as it is."""
    before = asked_about(app, left.branch)
    if before is None or before.tree != left.tree:
        _keep(app, left)


def accept_flags(app: App, left: Left, how: str) -> None:
    """Record that a person accepts the flags, so that the next `land` lands the branch."""
    _keep(app, msgspec.structs.replace(left, accepted=how))


def forget(app: App, branch: str) -> None:
    _file(app, branch).unlink(missing_ok=True)


def asked_about(app: App, branch: str) -> Left | None:
    """The last question about a branch, answered or not."""
    return _read(_file(app, branch))


def open_landings(app: App) -> list[Left]:
    """The open questions: the branch still has the tree that was asked about, and main does not have it."""
    found = [left for file in sorted(_folder(app).glob("*.json")) if (left := _read(file)) is not None and not left.accepted]
    return sorted((left for left in found if _stands(app, left)), key=lambda left: left.at)


def row_of(left: Left) -> dict[str, object]:
    """A question as a row of the inbox."""
    shown = (line for flag in left.flags for line in (f"- {line_of(flag)}", *(f"  {line}" for line in hunk_of(flag, MOST_OF_HUNK))))
    asked = {"question": "\n".join((left.question, *shown)), "options": [ACCEPT], "status": "pending", "asked_at": left.at}
    return {"run": None, "kind": KIND, "decision_id": f"LAND {left.branch}", **asked, "command": left.command, "task_id": None, "shown": []}


def _stands(app: App, left: Left) -> bool:
    git, settings = app.world.git, project_settings(app.world.git, app.world.outer)[0]
    refs = (f"refs/heads/{left.branch}", f"refs/remotes/{settings.git.remote}/{left.branch}")
    tip = next((found for ref in refs if (found := git.resolve(f"{ref}^{{commit}}"))), "")
    return bool(tip) and git.tree(tip) == left.tree and not git.is_ancestor(tip, git.resolve(main_branch(git, settings.git.main)))


def _read(file: Path) -> Left | None:
    text = read_sealed(file)
    try:
        return msgspec.json.decode(text, type=Left) if text is not None else None
    except msgspec.ValidationError:
        return None  # of another version


def _keep(app: App, left: Left) -> None:
    write_sealed(_file(app, left.branch), msgspec.json.encode(left).decode())


def _folder(app: App) -> Path:
    return app.place.common_dir / "detent" / "landing"


def _file(app: App, branch: str) -> Path:
    return _folder(app) / f"{sha256(branch.encode()).hexdigest()[:24]}.json"
