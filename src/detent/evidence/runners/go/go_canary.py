"""The canary of a `go test` run: a test file in the package of the changed tests. Pure: writes nothing.

It is built with the package and runs in its process, so it notices a `TestMain` and what code does there. Its name sorts early, so
that it runs before a test of the project can panic. If the package cannot be built, no test ran, and the canary does not count.
"""

import re

from detent.evidence.runners.adapter import Canary, CanaryFile, Command, Files, is_below
from detent.evidence.runners.canary_files import NONE, TestFolder, parent, places
from detent.evidence.runners.canary_output import go as tidy

PACKAGE = re.compile(r"^package (\w+)", re.MULTILINE)
TEXT = """package {package}

import "testing"

func Test{passes}(t *testing.T) {{
	if t.Failed() || t.Skipped() {{
		t.Fatal("{says}: it ended before it began")
	}}
}}

func Test{fails}(t *testing.T) {{
	t.Fatal("{says}")
}}
"""


def canary(base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
    """The canary of such a run, or why there is none."""
    chosen = [each for each in selectors if not each.startswith("-")]
    scope = chosen or list(base.paths) or ["."]
    whole = [each.removesuffix("...").rstrip("/") for each in scope if each.endswith("...") or (chosen and not each.endswith(".go"))]

    def is_run(path: str) -> bool:
        if not path.endswith("_test.go") or "testdata" in path.split("/") or path.rpartition("/")[2].startswith(("_", ".")):
            return False
        here = parent(path)
        exact = any(path == each or here == each.removeprefix("./").rstrip("/").removeprefix(".") for each in scope)
        return exact or any(is_below(path, each) for each in whole)

    canary_files = tuple(canary_file for place in places(files, near, is_run) if (canary_file := _canary_file(place, files)) is not None)
    if not canary_files:
        return NONE
    also = [canary_file.path for canary_file in canary_files] if any(each.endswith(".go") for each in chosen) else []
    names = "|".join(f"^Test{each}$" for canary_file in canary_files for each in (canary_file.passes, canary_file.fails))
    run = [f"{each}|{names}" for each in selectors if each.startswith("-run=")]
    return Canary(base, (*chosen, *also, *run), canary_files, tidy)


def _canary_file(place: TestFolder, files: Files) -> CanaryFile | None:
    found = PACKAGE.search(place.text) or PACKAGE.search(_other(place, files))
    return place.canary_file(lambda stem: f"a_{stem}_test.go", TEXT, str.capitalize, package=found[1]) if found else None


def _other(place: TestFolder, files: Files) -> str:
    """A code file of the package, if it has no test file yet."""
    path = next((each for each in files.paths() if each.endswith(".go") and parent(each) == place.folder), "")
    return (files.read(path) if path else None) or ""
