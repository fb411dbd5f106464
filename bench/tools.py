"""The tools of an agent: searching a large tree against plain ripgrep, and one Read against opening the file directly."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from bench import Figure
from bench.journal import in_turn, seconds
from detent.sandbox.process import Ran
from detent.tools import Toolbox

FILES, FOLDERS = 50_000, 500
TIMES = 15
CALLS = 4000
SOURCE = "import os\n\n\n" + "def function(value):\n    return value + 1\n\n\n" * 8


def box(root: Path, spill: Path) -> Toolbox:
    return Toolbox(root, lambda path: None, lambda command: Ran(0, "", 0, "", 0.0), spill)


def tree(folder: Path) -> Path:
    """A throw-away project of many small files; one in a hundred has the needle, and one in ten is no source."""
    root = folder / "tree"
    for n in range(FOLDERS):
        inner = root / f"part{n % 25}" / f"module{n}"
        inner.mkdir(parents=True)
        for m in range(FILES // FOLDERS):
            end = "txt" if m % 10 == 9 else "py"
            (inner / f"file{m}.{end}").write_text(f"# {n} {m}\n{SOURCE}" + ("needle = 1\n" if m == 7 else ""))
    (root / ".gitignore").write_text("*.log\nbuild/\n")
    return root


def ripgrep(root: Path, *args: str) -> None:
    """Run ripgrep as a person would, without its output."""
    program = Path(sys.executable).with_name("rg")
    subprocess.run([program, "--no-config", *args, "./"], cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)


def told(tools: Toolbox, name: str, **arguments: object) -> None:
    answer = tools.call(name, arguments)
    assert not answer.failed, answer.text


def by_turns(ours: Callable[[], None], theirs: Callable[[], None]) -> tuple[float, float]:
    """The medians of both, alternating; the first turn only warms up."""
    took = [(seconds(ours), seconds(theirs)) for _ in range(TIMES + 1)][1:]
    return median(a for a, _ in took), median(b for _, b in took)


def grep(folder: Path) -> Figure:
    root = tree(folder)
    ours, theirs = by_turns(
        partial(told, box(root, folder / "spill"), "Grep", pattern="needle", output_mode="content"),
        partial(ripgrep, root, "--line-number", "needle"),
    )
    return Figure(f"Grep over {FILES:,} files", ours, "rg -n", theirs, 1.3)


def glob(folder: Path, pattern: str = "**/*.py") -> Figure:
    root = tree(folder)
    ours, theirs = by_turns(
        partial(told, box(root, folder / "spill"), "Glob", pattern=pattern),
        partial(ripgrep, root, "--files", "--sortr=modified", f"--glob={pattern}"),
    )
    return Figure(f"Glob {pattern} over {FILES:,} files", ours, "rg --files --sortr modified -g", theirs, 1.3)


def glob_folders(folder: Path) -> Figure:
    """A pattern that also matches folders, for which ripgrep would have to ignore .gitignore."""
    return glob(folder, "part1*/**/*.py")


def tool_call(folder: Path) -> Figure:
    """Read of a small file: check arguments, open inside the workspace, number lines."""
    root = folder / "small"
    root.mkdir()
    file = root / "a.py"
    file.write_text("".join(SOURCE.splitlines(keepends=True)[:20]))
    tools = box(root, folder / "spill")

    def plain(_: int) -> None:
        with file.open(encoding="utf-8") as f:
            f.read()

    ours, theirs = in_turn(lambda _: told(tools, "Read", file_path="a.py"), plain, CALLS)
    return Figure("Read of a file of 20 lines", ours, "open and read", theirs, 10.0)
