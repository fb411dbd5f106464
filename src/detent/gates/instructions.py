"""The project's own instructions to agents: which files they are. Whoever changes them steers later agents, so a person is asked. Knows names only."""

NAMES = ("AGENTS.md", "CLAUDE.md", "copilot-instructions.md")
FOLDERS = (".claude/", ".github/instructions/")


def is_instruction(path: str) -> bool:
    """Whether a file tells agents how to work, wherever in the project it lies."""
    return path.rpartition("/")[2] in NAMES or path.startswith(FOLDERS)
