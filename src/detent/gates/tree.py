"""Gates over the tree: what a step may change, what must be unchanged, and changes that affect others.

The latter are committed keys, instructions to agents, the installed test runner, and whatever else reading the diff reveals.
"""

import re
from posixpath import normpath
from typing import Literal

import msgspec

from detent.evidence.look import ChangeLook, FilesLook, SubmitLook
from detent.evidence.source.diff import Changed
from detent.gates.plan import PlanData
from detent.kernel.model import Data, Flag, Run, Sent
from detent.kernel.table import GateResult


def _named(paths: list[str]) -> str:
    return ", ".join(sorted(paths)[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")


def files_are_ours(look: FilesLook[Data]) -> str | None:
    """The published files are as the machine wrote them."""
    edited = look.tampered()
    return (
        f"{_named(list(edited))} was edited by hand; Detent restored it and kept the edited copy next to it as *.rejected"
        if edited
        else None
    )


def try_of(run: Run[PlanData], tree: str, sent: Sent) -> str:
    """What identifies an attempt: the tree, how it was handed in, and the number of steers, since one may allow what was refused."""
    return f"{tree} {len(run.steers)} {sent.test_command.strip()} {sent.reply.strip()}" if tree else ""


def differs_from_failed_try(look: SubmitLook[PlanData]) -> str | None:
    """The submit differs from the one that just failed: the same tree gets the same answer, so nothing is run again and nothing counts."""
    if not look.run.data.failed_try or look.run.data.failed_try != try_of(look.run, look.tree, look.sent):
        return None
    why = next(iter(look.run.last_reason.splitlines()), "see last_error")
    return f"the same tree and command already failed: {why}. Nothing was run or counted; change something first"


def tree_is_kept(look: FilesLook[Data]) -> str | None:
    """The files are kept as a tree before they are removed."""
    return None


def strays_of_red(look: ChangeLook[Data]) -> list[str]:
    """The changed files that a RED step may not write. Stubs that throw, in the file that is to be written, are no such change; nor is the
    configuration of the runner where a person named the file: a test may need its marker."""
    from detent.evidence.changes.judging_config import is_judging  # a step that writes tests alone touches nothing of the kind

    kept = {c.path for c in look.changed() if (c.sort == "config" or is_judging(c.path)) and names(asked(look), c.path)}
    strange = [c.path for c in look.changed() if c.sort not in ("test", "list", "unknown") and not c.path.endswith("conftest.py")]
    strange = [path for path in strange if path not in kept]
    wrong = [path for path in strange if not (path == look.run.data.file_to_write() and look.only_stubs(path))]
    return [*wrong, *(path for path in _plan_not_named(look) if path not in wrong)]


def strays_of_green(look: FilesLook[Data]) -> list[str]:
    """The changed files that are frozen in a GREEN step."""
    return (
        [c.path for c in look.changed() if not _is_config(c) and (c.sort == "test" or (c.inside and not c.path.endswith(".py")))]
        + _config_not_named(look)
        + _plan_not_named(look)
    )


def only_tests_changed(look: ChangeLook[Data]) -> str | None:
    """A RED step changes test files, their fixtures and the list, nothing else; where code must compile, it may add stubs that throw."""
    wrong = strays_of_red(look)
    return f"{_named(wrong)} changed; a RED step writes tests only" if wrong else None


def conftest_stays_plain(look: FilesLook[Data]) -> str | None:
    """A RED step adds only imports, fixtures that tests request, functions and plain values to a conftest.py: nothing that decides how tests are run."""
    touched = [c.path for c in look.changed() if c.path.rpartition("/")[2] == "conftest.py"]
    if not touched:
        return None
    from detent.evidence.changes.conftest_hooks import deciding  # it parses Python, and most steps touch no conftest

    for path in touched:
        before, now = (deciding(look.read(at) or "") for at in (f"GOOD:{path}", path))
        if before == now or names(asked(look), path):
            continue
        piece = next((p for p in (*now, *before) if p not in before or p not in now), path).strip().splitlines()[0]
        return (
            f"{path} changes how tests are run (`{piece[:100]}`); a RED step may add imports, fixtures without autouse, functions and plain "
            "values there. Remove it, or have a person name the file in the plan's entry or with `detent steer`"
        )
    return None


def tests_frozen(look: FilesLook[Data]) -> str | None:
    """Test files are as the RED step left them."""
    touched = [c for c in look.changed() if not _is_config(c) and (c.sort == "test" or (c.inside and not c.path.endswith(".py")))]
    if not touched:
        return None
    changed = _named([f"{'the tests in ' if c.inside else ''}{c.path} {'were' if c.inside else 'was'} {c.how}" for c in touched])
    back = (
        ""
        if all(c.how == "added" for c in touched)
        else f" Restore it: {look.restoring(next(c.path for c in touched if c.how != 'added'))}"
    )
    return f'{changed}; tests are frozen while the code is written. If the test itself is wrong, say so with reply "TEST_WRONG".{back}'


def examples_flagged(look: FilesLook[Data]) -> GateResult:
    """Examples in docstrings may come with the code, since people read them too. One that is changed or removed is flagged."""
    found = []
    for path in (c.path for c in look.changed() if c.inside and c.sort != "test" and c.path.endswith(".py")):
        from detent.evidence.source.insource import split_tests  # few steps touch such a file

        old, new = (split_tests(path, look.read(at) or "")[1].splitlines() for at in (f"GOOD:{path}", path))
        left = iter(line.strip() for line in new)
        if not all(line.strip() in left for line in old):
            found.append(Flag("rewritten-test", f"examples in {path} were changed together with its code", path))
    return tuple(found)


def config_frozen(look: FilesLook[Data]) -> GateResult:
    """What decides how the work is judged (runner, coverage, linters, type checker, CI, what preflight runs) is unchanged, except files that a person named: those are flagged."""
    if wrong := _config_not_named(look):
        return f"{_named(wrong)} changed; it decides how the work is judged, so it is frozen in this step unless a person names the file"
    touched = [c.path for c in look.changed() if _is_config(c)]
    return _judged_by(touched, "changed, as a person asked; it decides how the work is judged", "note")


def _config_not_named(look: FilesLook[Data]) -> list[str]:
    return [c.path for c in look.changed() if _is_config(c) and not names(asked(look), c.path)]


def _is_config(change: Changed) -> bool:
    """Whether a file is frozen as configuration. Includes any conftest.py, which otherwise counts as a test if only fixtures changed."""
    return change.sort == "config" or change.path.rpartition("/")[2] == "conftest.py"


def plan_frozen(look: FilesLook[Data]) -> str | None:
    """The master plan is as people left it, unless one of them named the file: it opens gates and says when everything is done."""
    if not (touched := _plan_not_named(look)):
        return None
    return (
        f"{touched[0]} changed, but only people change the plan: restore it as it was committed. "
        "Its entry is marked once the pull request is squashed; for anything else, a person commits the change or names the file with `detent steer`"
    )


def _plan_not_named(look: FilesLook[Data]) -> list[str]:
    """The master plan, if it changed without a person naming it."""
    path = normpath(look.setting("pr.plan")) if isinstance(look.run.data, PlanData) else ""
    return [path] if path in {c.path for c in look.changed()} and not names(asked(look), path) else []


def config_flagged(look: FilesLook[Data]) -> GateResult:
    """A change to what decides how the work is judged (conftest, runner, coverage, linters, type checker, CI) is flagged."""
    wrong = [c.path for c in look.changed() if c.sort == "config" and not names(asked(look), c.path)]
    named = [c.path for c in look.changed() if c.sort == "config" and c.path not in wrong]
    how = "it decides how the work is judged"
    return _judged_by(wrong, f"changed; {how}", "ask") + _judged_by(named, f"changed, as a person asked; {how}", "note")


def _judged_by(paths: list[str], how: str, level: Literal["note", "ask"]) -> tuple[Flag, ...]:
    return tuple(Flag("judged-by", f"{path} {how}", path, level=level) for path in sorted(paths))


def asked(look: FilesLook[Data]) -> str:
    """What people say the work is about: the request, the item, or the plan's entry as the branch found it, and what they told the run since."""
    return " ".join((look.run.data.asked_for(look.read, look.setting), look.run.guidance, *look.run.steers))


def names(words: str, path: str) -> bool:
    """Whether a text names a file, by path or by name, as a separate word."""
    return any(re.search(rf"(?<![\w./-]){re.escape(each)}(?![\w/-]|\.\w)", words) for each in (path, path.rpartition("/")[2]))


def something_changed(look: FilesLook[Data]) -> str | None:
    """The tree differs from the last good one."""
    return None if look.changed() else "nothing changed since the last good tree"


def tree_is_clean(look: FilesLook[Data]) -> str | None:
    """Everything is committed."""
    return None if look.branch().clean else "there are uncommitted changes; commit them as the briefing says"


PROJECT = (".github/copilot-instructions.md", "AGENTS.md", "CLAUDE.md")  # where agents find a project's conventions
NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "copilot-instructions.md")
CONSTITUTION = ".detent/constitution.md"
FOLDERS = (".claude/", ".codex/", ".gemini/", ".cursor/rules/", ".github/instructions/")


def is_instruction(path: str) -> bool:
    """Whether a file, wherever it is, tells agents how to work."""
    return path.rpartition("/")[2] in NAMES or path.startswith(FOLDERS) or path == CONSTITUTION


def instructions_kept(look: FilesLook[Data]) -> str | None:
    """The project's instructions to agents are unchanged, except in files that a person named: they steer whoever works next."""
    touched = [c.path for c in look.changed() if is_instruction(c.path)]
    words = asked(look) if touched else ""
    wrong = [path for path in touched if not names(words, path)]
    if not wrong:
        return None
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    return (
        f"{wrong[0]}{more} changed; it tells later agents how to work, so a person must want that: take the change back. "
        f'If it belongs to the work, a person allows it: detent steer "{wrong[0]} may change"'
    )


def no_keys_added(look: ChangeLook[Data]) -> str | None:
    """No added line contains a key or another secret, except in files that a person named: what is committed stays in the history."""
    words = " ".join((*look.run.steers, look.run.guidance))
    wrong = [place for place in look.keys_added() if not names(words, place.partition(":")[0])]
    if not wrong:
        return None
    file, more = wrong[0].partition(":")[0], f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    return (
        f"{wrong[0]}{more}; a commit would keep it for good: take it out, and read it from the environment instead. "
        f'If it is none, a person allows it: detent steer "{file} holds no real key"'
    )


CAN_BE_NAMED = frozenset({"judged-by", "secrets", "binaries", "big-files", "executable-bits", "new-dependencies", "ci-permissions"})


def reading_is_flagged(look: ChangeLook[Data]) -> GateResult:
    """What a reviewer would notice in the diff is flagged: code that knows the tests, stand-ins, secrets, binaries, new dependencies and the like."""
    found = look.read_through()
    words = asked(look) if any(flag.kind in CAN_BE_NAMED for flag in found) else ""
    return tuple(as_named(flag, words) for flag in found)


def as_named(flag: Flag, words: str) -> Flag:
    """Downgrade a flag to a note if it is about something that a person asked for."""
    if flag.kind not in CAN_BE_NAMED or flag.level != "ask":
        return flag
    path, _, rest = flag.place.partition(":")
    wanted = names(words, path) or (flag.kind == "new-dependencies" and bool(rest.strip()) and names(words.lower(), rest.strip().lower()))
    return msgspec.structs.replace(flag, level="note") if wanted else flag


LOCKS = (
    "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pylock.toml", "requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "pyproject.toml",
    "setup.py", "setup.cfg", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "package.json", "Gemfile.lock", "composer.lock",
)  # fmt: skip
BACK = "Reinstall it from the lock file. A person who changed it on purpose can accept it: detent doctor --accept"


def toolchain_kept(look: ChangeLook[Data]) -> GateResult:
    """The test runner's installed packages are as they were when the run began; if the lock file changed too, a person is asked."""
    paths = look.toolchain()
    if paths is None:
        sentence = f"Detent no longer knows what was installed for the tests when the run began: the record was removed. {BACK}"
        return Flag("toolchain", sentence, level="fail")
    if not paths:
        return None
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    if lock := next((name for name in LOCKS if look.read(f"BASE:{name}") != look.read(name)), ""):
        return Flag("toolchain", f"{paths[0]}{more} changed together with {lock}; the tests use it", paths[0], level="ask")
    sentence = f"{paths[0]}{more} changed since the run began, but no lock file did; the tests use it. {BACK}"
    return Flag("toolchain", sentence, paths[0], level="fail")
