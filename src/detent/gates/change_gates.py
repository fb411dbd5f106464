"""Gates over what a change brings that others rest on: keys that a commit would keep, instructions to agents, the installed test runner, and what reading it shows."""

import msgspec

from detent.evidence.look import ChangeLook, FilesLook
from detent.gates.tree import asked, names
from detent.kernel.model import Data, Flag
from detent.kernel.table import Said

PROJECT = (".github/copilot-instructions.md", "AGENTS.md", "CLAUDE.md")  # what agents are told of a project's conventions
NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "copilot-instructions.md")
CONSTITUTION = ".detent/constitution.md"
FOLDERS = (".claude/", ".codex/", ".gemini/", ".cursor/rules/", ".github/instructions/")


def is_instruction(path: str) -> bool:
    """Whether a file tells agents how to work, wherever in the project it lies."""
    return path.rpartition("/")[2] in NAMES or path.startswith(FOLDERS) or path == CONSTITUTION


def instructions_kept(look: FilesLook[Data]) -> str | None:
    """The project's instructions to agents are unchanged, except in files that a person named: they steer whoever works next."""
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


def no_keys_added(look: ChangeLook[Data]) -> str | None:
    """No added line contains a key or another secret, except in files that a person named: what is committed stays in the history."""
    said = " ".join((*look.run.steers, look.run.guidance))
    wrong = [place for place in look.keys_added() if not names(said, place.partition(":")[0])]
    if not wrong:
        return None
    file, more = wrong[0].partition(":")[0], f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    return (
        f"{wrong[0]}{more}; a commit would keep it for good: take it out, and read it from the environment instead. "
        f'If it is none, a person allows it: detent steer "{file} holds no real key"'
    )


CAN_BE_NAMED = frozenset({"judged-by", "secrets", "binaries", "big-files", "executable-bits", "new-dependencies", "ci-permissions"})


def reading_is_flagged(look: ChangeLook[Data]) -> Said:
    """What a reviewer would notice in the diff is flagged: code that knows the tests, stand-ins, secrets, binaries, new dependencies and the like."""
    found = look.read_through()
    said = asked(look) if any(flag.kind in CAN_BE_NAMED for flag in found) else ""
    return tuple(as_named(flag, said) for flag in found)


def as_named(flag: Flag, said: str) -> Flag:
    """A flag about something that a person asked for is a note."""
    if flag.kind not in CAN_BE_NAMED or flag.level != "ask":
        return flag
    path, _, rest = flag.place.partition(":")
    wanted = names(said, path) or (flag.kind == "new-dependencies" and bool(rest.strip()) and names(said.lower(), rest.strip().lower()))
    return msgspec.structs.replace(flag, level="note") if wanted else flag


LOCKS = (
    "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pylock.toml", "requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "pyproject.toml",
    "setup.py", "setup.cfg", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "package.json", "Gemfile.lock", "composer.lock",
)  # fmt: skip
BACK = "Reinstall it from the lock file. A person who changed it on purpose can accept it: detent doctor --accept"


def toolchain_kept(look: ChangeLook[Data]) -> Said:
    """The test runner's installed packages are as they were when the run began; if the lock file changed too, a person is asked."""
    paths = look.toolchain()
    if paths is None:
        said = f"Detent no longer knows what was installed for the tests when the run began: the record was removed. {BACK}"
        return Flag("toolchain", said, level="fail")
    if not paths:
        return None
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    if lock := next((name for name in LOCKS if look.read(f"BASE:{name}") != look.read(name)), ""):
        return Flag("toolchain", f"{paths[0]}{more} changed together with {lock}; the tests use it", paths[0], level="ask")
    said = f"{paths[0]}{more} changed since the run began, but no lock file did; the tests use it. {BACK}"
    return Flag("toolchain", said, paths[0], level="fail")
