"""The entry point, with the fast path of `get-task`: the stored briefing, if everything it depends on is unchanged; else the full way.

Imports as little as the call needs, on the fast path only the interpreter's own C modules. Starts no process. The stored
briefing was written after the last change of the run.
"""

import os
import sys

SELECT = """
SELECT hot.stamps, hot.text, hot.json, hot.code FROM heads JOIN hot ON hot.run = heads.run AND hot.seq = heads.seq
WHERE heads.worktree = ? AND heads.parent = '' AND heads.ended = 0 ORDER BY heads.n DESC LIMIT 2"""


def answer(argv: list[str]) -> int | None:
    """Answer on the fast path: print the briefing, and return the exit code; None if that is not possible."""
    if len(argv) == 2 and argv[0] == "hook":
        from detent.interfaces.hooks.hook_clients import CLIENTS

        if argv[1] not in CLIENTS:
            return None
        from detent.interfaces.hooks.quick import answer as hook

        return hook(argv[1])
    if argv not in (["get-task"], ["get-task", "--json"]):
        return None
    try:
        return _answer(len(argv) == 2)
    except Exception:  # noqa: BLE001 - whatever is wrong, the full way reports it better
        return None


def _answer(as_json: bool) -> int | None:
    root = os.path.realpath(os.getcwd())
    while not os.path.isdir(f"{root}/.git"):
        root, last = os.path.dirname(root), root
        if root == last:
            return None
    journal = f"{root}/.git/detent/journal.db"
    if not os.path.exists(journal):
        return None
    import _sqlite3

    db = _sqlite3.connect(journal)
    rows = db.execute(SELECT, (root,)).fetchall()
    db.close()
    if len(rows) != 1 or not holds(rows[0][0]):
        return None
    text = rows[0][2] if as_json else rows[0][1]
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
    return int(rows[0][3])


def holds(stamps: str) -> bool:
    """Whether every stamped file is unchanged since the briefing was stored."""
    if not stamps:
        return False
    for line in stamps.split("\n"):
        file, _, was = line.rpartition("\t")
        try:
            st = os.stat(file)
            now = f"{st.st_size}:{st.st_mtime_ns}:{st.st_ino}"
        except OSError:
            now = ""
        if now != was:
            return False
    return True


def main() -> None:
    """Run one command and leave with its exit code."""
    words = sys.argv[1:]
    if (folder := os.environ.get("TDD_PROJECT_ROOT")) and words[:1] != ["hook"] and not "".join(words[:1]).startswith("-C"):
        words = ["-C", folder, *words]
    code = answer(words)
    if not words or (words[0] == "-C" and len(words) == 2):
        from detent.interfaces.cli.first_screen import first_screen_in

        code = first_screen_in(words[-1] if words else "")
    if code is None:
        from detent.interfaces.cli.plain_commands import call

        code = call(words)
    if code is None:
        from detent.interfaces.cli.group import run

        code = run(words)
    sys.exit(code)
