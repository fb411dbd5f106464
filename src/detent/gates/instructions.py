"""The project's own instructions to agents. Whoever changes them steers later agents, so a person must want it. Knows names only."""

from detent.evidence.look import FilesLook
from detent.gates.tree import asked, names
from detent.kernel.model import Data

PROJECT = (".github/copilot-instructions.md", "AGENTS.md", "CLAUDE.md")  # what agents are told of a project's conventions
NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "copilot-instructions.md")
CONSTITUTION = ".detent/constitution.md"
FOLDERS = (".claude/", ".codex/", ".gemini/", ".cursor/rules/", ".github/instructions/")


def is_instruction(path: str) -> bool:
    """Whether a file tells agents how to work, wherever in the project it lies."""
    return path.rpartition("/")[2] in NAMES or path.startswith(FOLDERS) or path == CONSTITUTION


def instructions_kept(look: FilesLook[Data]) -> str | None:
    """What the project tells its agents is as it was, except in files that a person has named: it steers whoever works next."""
    touched = [c.path for c in look.changed() if is_instruction(c.path)]
    said = asked(look) if touched else ""
    wrong = [path for path in touched if not names(said, path)]
    if not wrong:
        return None
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    return (
        f"{wrong[0]}{more} changed; it tells later agents how to work, so a person must want that: take the change back. "
        f'If it belongs to the work, a person allows it: detent steer "{wrong[0]} may change"'
    )
