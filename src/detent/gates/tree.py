"""Gates over the tree: what a step may touch, and what must be as it was."""

from detent.evidence.look import Look
from detent.kernel.model import Data


def _named(paths: list[str]) -> str:
    return ", ".join(sorted(paths)[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")


def files_are_ours(look: Look[Data]) -> str | None:
    """The published files are as the machine wrote them."""
    edited = look.tampered()
    return (
        f"{_named(list(edited))} was edited by hand; it has been restored, the edited copy is kept beside it as *.rejected"
        if edited
        else None
    )


def only_tests_changed(look: Look[Data]) -> str | None:
    """A RED step changes test files, their fixtures (and the list) and nothing else."""
    wrong = [c.path for c in look.changed() if c.sort not in ("test", "list", "unknown") and not c.path.endswith("conftest.py")]
    return f"{_named(wrong)} changed; a RED step writes tests only" if wrong else None


def tests_frozen(look: Look[Data]) -> str | None:
    """Test files are as the RED step left them."""
    touched = [f"{c.path} was deleted" if c.how == "deleted" else f"{c.path} was {c.how}" for c in look.changed() if c.sort == "test"]
    return f"{_named(touched)}; tests are frozen while the code is written" if touched else None


def config_frozen(look: Look[Data]) -> str | None:
    """The configuration of the test runner is as it was."""
    touched = [c.path for c in look.changed() if c.sort == "config"]
    return f"{_named(touched)} changed; the test runner's configuration is frozen in this step" if touched else None


def something_changed(look: Look[Data]) -> str | None:
    """The tree differs from the last good one."""
    return None if look.changed() else "nothing changed since the last good tree"


def tree_is_clean(look: Look[Data]) -> str | None:
    """Everything is committed."""
    return None if look.branch().clean else "there are changes that are not committed; commit them as the briefing says"
