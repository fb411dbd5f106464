"""Gates over the tree: what a step may touch, and what must be as it was."""

import re

from detent.evidence.look import Look
from detent.gates.plan import PlanData
from detent.gates.testlist import ListData
from detent.kernel.model import Data
from detent.kernel.rows import Flag


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


def strays_of_red(look: Look[Data]) -> list[str]:
    """The changed files that a RED step may not write. Stubs that throw, in the file that is to be written, are no such change."""
    strange = [c.path for c in look.changed() if c.sort not in ("test", "list", "unknown") and not c.path.endswith("conftest.py")]
    return [path for path in strange if not (path == _to_be_written(look.run.data) and look.only_stubs(path))]


def _to_be_written(data: Data) -> str:
    return data.current.impl_file if isinstance(data, ListData) and data.current else ""


def strays_of_green(look: Look[Data]) -> list[str]:
    """The changed files that are frozen in a GREEN step."""
    return [c.path for c in look.changed() if c.sort == "test"] + _config_not_named(look)


def only_tests_changed(look: Look[Data]) -> str | None:
    """A RED step changes test files, their fixtures (and the list) and nothing else; where code must compile, it may add stubs that throw."""
    wrong = strays_of_red(look)
    return f"{_named(wrong)} changed; a RED step writes tests only" if wrong else None


def tests_frozen(look: Look[Data]) -> str | None:
    """Test files are as the RED step left them."""
    touched = [f"{c.path} was deleted" if c.how == "deleted" else f"{c.path} was {c.how}" for c in look.changed() if c.sort == "test"]
    return f"{_named(touched)}; tests are frozen while the code is written" if touched else None


def config_frozen(look: Look[Data]) -> str | None:
    """The configuration of the test runner, of CI and of coverage is as it was, but for files that the step names: those are flagged."""
    if wrong := _config_not_named(look):
        return f"{_named(wrong)} changed; the test runner's configuration is frozen in this step"
    touched = [c.path for c in look.changed() if c.sort == "config"]
    return Flag(f"{_named(touched)} changed, as the step says; it decides how tests are run") if touched else None


def _config_not_named(look: Look[Data]) -> list[str]:
    words = _words_of_step(look.run.data)
    return [c.path for c in look.changed() if c.sort == "config" and not names(words, c.path)]


def config_flagged(look: Look[Data]) -> str | None:
    """A change of what decides how tests are run (conftest, runner, CI, coverage) is shown."""
    touched = [c.path for c in look.changed() if c.sort == "config"]
    return Flag(f"{_named(touched)} changed; it decides how tests are run, so look at it") if touched else None


def _words_of_step(data: Data) -> str:
    """What the step is about: its task and description, or the test's description and the file that is to be written."""
    if isinstance(data, ListData) and data.current:
        return f"{data.current.description} {data.current.impl_file}"
    plan = data.plan if isinstance(data, PlanData) else None
    open_tasks = ((t.taskName, s.description) for t in plan.tasks for s in t.tdd_steps if s.status == "TODO") if plan else iter(())
    return " ".join(next(open_tasks, ()))


def names(words: str, path: str) -> bool:
    """Whether a text names a file: by its path or its name, as a word of its own."""
    return any(re.search(rf"(?<![\w./-]){re.escape(each)}(?![\w/-]|\.\w)", words) for each in (path, path.rpartition("/")[2]))


def something_changed(look: Look[Data]) -> str | None:
    """The tree differs from the last good one."""
    return None if look.changed() else "nothing changed since the last good tree"


def tree_is_clean(look: Look[Data]) -> str | None:
    """Everything is committed."""
    return None if look.branch().clean else "there are changes that are not committed; commit them as the briefing says"
