"""The overview that `detent init` prints after writing its file: what is there, what is missing, and the commands to type next. Changes nothing.

It suggests `detent start` only where that would be accepted; until then, each obstacle has its fix.
"""

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from detent.app import open_app
from detent.app.hooks_seen import registered
from detent.app.starting import landing_words
from detent.config import Settings
from detent.config.sources import FILE
from detent.errors import CannotTell, DetentError
from detent.gates.plan_entries import entries
from detent.git.place import Place
from detent.git.repo import Git
from detent.interfaces.cli.doctor_project import DoctorCheck, commands_of, preflight_check, row_lines, tests_check
from detent.interfaces.cli.first_screen import CHECK, LAST
from detent.interfaces.cli.tell import fold, fold_command
from detent.interfaces.register import PARTS
from detent.interfaces.register.files import read_text

if TYPE_CHECKING:
    from detent.app.try_tests import Tried

ENTRY = 'detent init --entry "what the first pull request does"'
REQUEST = 'detent start --workflow tdd "what you want"'
LOOK = "detent init"
MOST_FOLDERS = 40  # folders with a manifest that are looked into
PROJECTS = "`detent check` tests each project by itself; for steps, set a [test] command that runs all of them"
BEGINS = "a run begins from what is committed"


class InitLook(NamedTuple):
    """The overview: its rows, the tried tests, the commands to type next with reasons, and how finished work lands."""

    rows: list[DoctorCheck]
    tried: "Tried | None"
    following: list[tuple[str, str]]
    lands: str = ""


def look(place: Place, settings: Settings, env: Mapping[str, str]) -> InitLook:
    plan, tests, preflight = _plan(place, settings), tests_check(place.root, settings), preflight_check(place.root, settings)
    try:
        git = Git(place, env)
    except DetentError as e:
        rows = [tests, preflight, plan, _agents(env), DoctorCheck("git", False, e.message, e.hint)]
        return InitLook(rows, None, [(LOOK, "once git is there")])
    tried, trouble = _try(place, settings, env)
    rows = [tests, *_tried(tried, trouble), *_projects(git, settings), preflight, plan, _agents(env), _remote(git), *_checkout(git)]
    return InitLook(rows, tried, _next(git, settings, rows, tried), landing_words(git, settings, env))


def lines(seen: InitLook) -> list[str]:
    """The overview as text."""
    shown = []
    for row in seen.rows:
        shown += row_lines(row)
    return [
        "",
        *shown,
        "",
        "Next:",
        *(line for command, why in seen.following for line in _typed(command, why)),
        *([fold(seen.lands)] if seen.lands else []),
    ]


def _typed(command: str, why: str) -> list[str]:
    """A command and what it is for, on one line if short."""
    if len(command) <= 30:
        return [fold(f"  {command:<30} {why}".rstrip(), 33)]
    return [fold_command(command, "  "), *([fold(f"{'':<33}{why}", 33)] if why else [])]


def _try(place: Place, settings: Settings, env: Mapping[str, str]) -> "tuple[Tried | None, str]":
    """Try the tests and the preflight as a run would, so that a broken command shows now and not at the first step."""
    from detent.app.try_tests import try_tests

    try:
        return try_tests(place, settings, env, commands_of(place.root, settings)), ""
    except (DetentError, CannotTell) as e:
        return None, str(e)


def _tried(tried: "Tried | None", trouble: str) -> list[DoctorCheck]:
    if trouble:
        return [DoctorCheck("tried", False, f"the tests could not be tried: {trouble}", "see `detent doctor`", needed=False)]
    if tried is None:
        return []
    if tried.trouble:
        return [DoctorCheck("tried", False, tried.trouble, tried.hint)]
    red = bool(tried.failing or tried.preflight)
    way = "fix it, or accept it as known when a run starts: detent start --baseline" if red else ""
    return [DoctorCheck("tried", not red, f"on the last commit: {tried.words}", way, needed=False)]


def _projects(git: Git, settings: Settings) -> list[DoctorCheck]:
    """A row about folders with tests that the test command of the root does not run, as in a repository of several projects."""
    from detent.evidence.changes.projects import chain, manifest_folders, owner
    from detent.evidence.runners.adapter import Folder

    root, folders = git.place.root, sorted(manifest_folders(git.run("ls-files", "-z").items))[:MOST_FOLDERS]
    apart = [each for each in folders if owner({above: Folder(root / above, git.env["PATH"]) for above in chain(each, folders)}) == each]
    if not apart or settings.test.project:
        return []
    names = ", ".join(apart[:3]) + (f" and {len(apart) - 3} more" if len(apart) > 3 else "")
    says = f"{names}: tests of {'their' if len(apart) > 1 else 'its'} own, which the command above does not run"
    return [DoctorCheck("projects", False, says, PROJECTS, needed=False)]


def _plan(place: Place, settings: Settings) -> DoctorCheck:
    """The plan that `detent start` would use, and its number of entries."""
    path = settings.pr.plan
    text = read_text(place.root / path, "utf-8")
    if text is None:
        return DoctorCheck("plan", False, "there is none yet; `detent start` works through one", f"{ENTRY}\nor without a plan: {REQUEST}")
    count = len(entries(text))
    if not count:
        return DoctorCheck("plan", False, f"{path} has no entry: each list item or heading is one pull request", f"add one, or: {ENTRY}")
    return DoctorCheck("plan", True, f"{path}, {count} {'entry' if count == 1 else 'entries'}")


def _agents(env: Mapping[str, str]) -> DoctorCheck:
    """The available agents, by programs on PATH and keys; none is started."""
    from detent.agents.acp import AGENTS
    from detent.agents.acp.acp_row import row_of
    from detent.agents.client import find_program
    from detent.agents.clients import CLIENTS

    found = [row.name for row in (*CLIENTS.values(), *(row_of(agent, env) for agent in AGENTS.values())) if find_program(row, env)]
    found += [f"{name} by its key" for name in ("anthropic", "openai") if env.get(f"{name.upper()}_API_KEY")]
    if not found:
        way = "`detent doctor` says how to install one; any agent that can run a command works without: detent get-task"
        return DoctorCheck("agents", False, "none found on PATH, and no key of a model's vendor", way, needed=False)
    return DoctorCheck("agents", True, ", ".join(found))


def _remote(git: Git) -> DoctorCheck:
    names = git.call("remote").text.split()
    if not names:
        return DoctorCheck("remote", True, "none: branches and merges stay in this repository")
    return DoctorCheck("remote", True, f"{', '.join(names)}: finished branches can be pushed there")


def _checkout(git: Git) -> list[DoctorCheck]:
    """A row if the checkout itself would stop a run."""
    from detent.app.fit import checkout_is_fit, no_run_is_open

    try:
        checkout_is_fit(git)
        if git.place.journal.exists():
            no_run_is_open(open_app(git.place.root))
    except DetentError as e:
        return [DoctorCheck("checkout", False, e.message, e.hint)]
    return []


def _next(git: Git, settings: Settings, rows: list[DoctorCheck], tried: "Tried | None") -> list[tuple[str, str]]:
    """The commands to type next, in order."""
    names = {row.name for row in rows if not row.ok and row.needed}
    if "checkout" in names and not git.head():
        return [("git add -A && git commit -m start", "Detent compares with a commit"), (LOOK, "to look again")]
    tested = next(row for row in rows if row.name == "tests")
    found = _to_check(git, settings.git.main) if tested.ok and "tried" not in names else []
    if not tested.ok:
        found += [(tested.fix, ""), (LOOK, "to look again")]
    elif names:
        ways = {
            "tried": (LOOK, "to look again, once the tests can be run here"),
            "plan": (ENTRY, "makes a first plan"),
            "checkout": ("detent status", "where this checkout stands"),
        }
        found += [*(_commit(git, settings) if names == {"plan"} else ()), *(way for name, way in ways.items() if name in names)]
    else:
        red = bool(tried and (tried.failing or tried.preflight))
        found += [*_commit(git, settings), ("detent start --baseline" if red else "detent start", "begins the first entry of the plan")]
    return found


def _to_check(git: Git, main: str) -> list[tuple[str, str]]:
    """What there is to check already: what this branch adds, or else the last commit, unless that is the first."""
    from detent.app.check_span import change_of

    command, why = CHECK
    try:
        change_of(git, "range", "", main)
    except DetentError:
        if not git.resolve("HEAD~1"):
            return []
        command, why = LAST
    return [(command, why.partition(";")[0])]


def _commit(git: Git, settings: Settings) -> list[tuple[str, str]]:
    """The commands to commit first, since a run needs a clean checkout and committed settings. `git add` names only files of init."""
    from detent.app.fit import not_committed

    changed = [path for paths in not_committed(git) for path in paths]
    own = _own_files(git.place, settings)
    ours, others = [path for path in changed if path in own], [path for path in changed if path not in own]
    rows = [(f"git add {shlex.join(ours)} && git commit -m 'Set up Detent'", BEGINS)] if ours else []
    more = f" and {len(others) - 1} more are" if len(others) > 1 else " is"
    return [*rows, *([("git status", f"{others[0]}{more} not committed: commit or stash that too")] if others else [])]


def _own_files(place: Place, settings: Settings) -> set[str]:
    """The files that init writes: settings, plan, and client registrations."""
    clients = [PARTS[name](["detent"]) for name in registered(place.git_dir) if name in PARTS]
    return {FILE, settings.pr.plan, *(part.path for parts in clients for part in parts)}
