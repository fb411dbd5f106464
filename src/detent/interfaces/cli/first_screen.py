"""The screen of `detent` without a command: what it is, the state of this folder, and three commands to type next.

Reads a few files and the heads of the journal; starts no process, and imports only the interpreter's own C modules. A rough look:
`detent init` and `detent doctor` find out how the tests are really run.
"""

import os
import sys

WHAT = (
    "Detent holds a coding agent at every step until evidence releases it.",
    "It runs the tests itself and goes by what it sees, never by what the agent says.",
)
SIGNS = (  # the files by which a runner shows itself, in the order of evidence/runners/__init__.py
    ("pom.xml", "Maven"),
    ("build.gradle", "Gradle"),
    ("build.gradle.kts", "Gradle"),
    ("package.json", "npm"),
    ("pytest.ini", "pytest"),
    ("conftest.py", "pytest"),
    ("tox.ini", "pytest"),
    ("pyproject.toml", "pytest"),
    ("setup.py", "pytest"),
    ("setup.cfg", "pytest"),
    ("go.mod", "go test"),
    ("go.work", "go test"),
    ("Cargo.toml", "cargo test"),
    (".rspec", "RSpec"),
    ("phpunit.xml", "PHPUnit"),
    ("phpunit.xml.dist", "PHPUnit"),
    ("phpunit.dist.xml", "PHPUnit"),
    ("CMakeLists.txt", "ctest"),
)
HEADS = "SELECT run, state, worktree, ended FROM heads WHERE parent = '' ORDER BY n DESC"
CHECK = ("detent check", "what this branch adds to main; no set-up")
LAST = ("detent check HEAD~1..HEAD", "what the last commit proves; no set-up")
WORK = ("detent check --worktree", "what is not committed yet; no set-up")
MAIN = ("branch main", "branch master")  # the usual names of the main branch
INIT = ("detent init", "look at this project, and set it up")
DEMO = ("detent demo", "watch an agent cheat, and get caught")
START = ("detent start", "begin the first pull request of your plan")
TASK = ("detent get-task", "what the agent has to do now")
STATUS = ("detent status", "where the run is, and what it waits for")
SERVE = ("detent serve", "all runs on a page in your browser")
COMMIT = ("git add -A && git commit -m start", "a first commit, to compare with")
Line = tuple[str, str]
Row = tuple[str, str, str, int]  # run, state, checkout, whether it has ended


def first_screen_in(folder: str) -> int:
    """Print the screen for a folder, or the current one; returns the exit code."""
    if folder and not os.path.isdir(folder):
        sys.stderr.write(f"detent: there is no folder {folder}\n  name an existing one with -C DIR\n")
        return 2
    facts, following = look(os.path.realpath(folder or os.getcwd()))
    width = max(len(command) for command, _ in following) + 2
    lines = [*WHAT, "", *(f"  {name:<8} {text}" for name, text in facts), "", "Next:"]
    lines += [f"  {command:<{width}} {why}" for command, why in following]
    sys.stdout.write("\n".join([*lines, "", "`detent --help` lists every command."]) + "\n")
    return 0


def look(folder: str) -> tuple[list[Line], tuple[Line, ...]]:
    """The facts about a folder, and the commands to suggest."""
    root, git_dir = checkout(folder)
    if not root:
        there = (
            DEMO,
            ("detent check", "in a git repository: what a change proves"),
            ("detent init", "in a git repository: set it up"),
        )
        return [("Folder", f"{folder} is not in a git repository")], there
    common, branch = _common(git_dir), _branch(git_dir)
    facts, check = [("Folder", f"{os.path.basename(root)}, {branch}"), ("Tests", tests(root))], LAST if branch in MAIN else CHECK
    if not _has_commit(git_dir, common):
        return [*facts, ("Runs", "none: there is no commit yet")], (COMMIT, CHECK, DEMO)
    if check is LAST and _is_first(git_dir, common):
        check = WORK
    rows = runs(common)
    if rows is None:
        return [*facts, ("Runs", "the journal cannot be read from here; `detent doctor` says why")], (
            ("detent doctor", "what is wrong"),
            check,
            DEMO,
        )
    mine = [row for row in rows if row[2] == root and not row[3]]
    if mine:
        return [*facts, ("Runs", _runs_text(rows, mine[0]))], (STATUS, TASK, SERVE)
    return [*facts, ("Runs", _runs_text(rows, None))], (check, START if _is_set_up(root) else INIT, SERVE if rows else DEMO)


def checkout(folder: str) -> tuple[str, str]:
    """The root of the checkout that a folder is in, and its git dir; empty outside one."""
    while True:
        dot = f"{folder}/.git"
        if os.path.isfile(f"{dot}/HEAD"):
            return folder, dot
        if os.path.isfile(dot):
            return folder, os.path.normpath(os.path.join(folder, _read(dot).removeprefix("gitdir:").strip()))
        folder, last = os.path.dirname(folder), folder
        if folder == last:
            return "", ""


def tests(root: str) -> str:
    """How the tests seem to be run, in words."""
    if "command" in _section(_read(f"{root}/detent.toml"), "[test]"):
        return "as detent.toml says"
    for name, runner in SIGNS:
        if os.path.exists(f"{root}/{name}"):
            return f"{runner}, by the look of {name}"
    if os.path.isdir(f"{root}/tests"):
        return "in the folder tests, by the look of it"
    return "no sign of any at the root; `detent init` looks closer"


def runs(common: str) -> list[Row] | None:
    """The runs of this repository, the newest first; None if they cannot be read."""
    journal = f"{common}/detent/journal.db"
    if not os.path.exists(journal):
        return []
    import _sqlite3

    try:
        db = _sqlite3.connect(journal)
        try:
            return list(db.execute(HEADS).fetchall())
        finally:
            db.close()
    except _sqlite3.Error:
        return None


def _runs_text(rows: list[Row], open_run: Row | None) -> str:
    if not rows:
        return "none yet"
    others = sum(not row[3] for row in rows) - (open_run is not None)
    ended = sum(row[3] for row in rows)
    parts = [f"{open_run[0]} is open here, at {open_run[1]}"] if open_run else []
    parts += [f"{others} open elsewhere"] if others else []
    return "; ".join(parts + ([f"{ended} ended"] if ended else []))


def _is_set_up(root: str) -> bool:
    return "plan" in _section(_read(f"{root}/detent.toml"), "[pr]")


def _section(text: str, header: str) -> list[str]:
    """The keys of one section of a TOML file, by a rough parse."""
    keys, inside = [], False
    for line in map(str.strip, text.splitlines()):
        inside = line.startswith(header) if line.startswith("[") else inside
        if inside and "=" in line and not line.startswith("#"):
            keys.append(line.partition("=")[0].strip())
    return keys


def _branch(git_dir: str) -> str:
    head = _read(f"{git_dir}/HEAD").strip()
    return f"branch {head.removeprefix('ref: refs/heads/')}" if head.startswith("ref: refs/heads/") else "no branch checked out"


def _has_commit(git_dir: str, common: str) -> bool:
    """Whether HEAD names a commit; assumed with reftable refs."""
    head = _read(f"{git_dir}/HEAD").strip()
    ref = head.removeprefix("ref: ")
    if head == ref or ref == "refs/heads/.invalid":
        return True
    return os.path.exists(f"{common}/{ref}") or f" {ref}\n" in _read(f"{common}/packed-refs")


def _is_first(git_dir: str, common: str) -> bool:
    """Whether HEAD's commit has no parent; assumed to have one where its object is packed."""
    import zlib

    ref = _read(f"{git_dir}/HEAD").strip().removeprefix("ref: ")
    commit = _read(f"{common}/{ref}").strip() or ref
    try:
        with open(f"{common}/objects/{commit[:2]}/{commit[2:]}", "rb") as file:
            return b"\nparent " not in zlib.decompress(file.read())
    except (OSError, zlib.error):
        return False


def _common(git_dir: str) -> str:
    named = _read(f"{git_dir}/commondir").strip()
    return os.path.normpath(os.path.join(git_dir, named)) if named else git_dir


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
