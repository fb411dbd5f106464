"""The program that runs examples: `python -I -m detent_guide.doctest_run REPORT [FILE …]`. Writes {test: what is wrong, or ""} as JSON."""

import doctest
import json
import os
import re
import sys
from pathlib import Path


def main(report: str, *files: str) -> int:
    sys.path.append(os.getcwd())  # the project comes last: nothing of it stands in the way of Python's own modules
    chosen = files or sorted(path.as_posix() for path in Path().rglob("*.md") if not path.as_posix().startswith("."))
    found = {test: wrong for file in chosen for test, wrong in examples(file).items()}
    Path(report).write_text(json.dumps(found), "utf-8")
    for test, wrong in found.items():
        print(f"{'FAILED' if wrong else 'passed'} {test}\n{wrong}".rstrip())
    return int(any(found.values()))


def examples(file: str) -> dict[str, str]:
    """What is wrong with the examples of each section that has some."""
    found: dict[str, str] = {}
    names: dict[str, object] = {"__name__": "__main__"}
    for section in re.split(r"(?m)^(?=#+ )", Path(file).read_text("utf-8")):
        test = doctest.DocTestParser().get_doctest(section, names, file, file, 0)
        if test.examples:
            output: list[str] = []
            doctest.DocTestRunner(verbose=False).run(test, out=output.append, clear_globs=False)
            names = test.globs
            found[f"{file}::{section.splitlines()[0].lstrip('# ') or 'top'}"] = failures_in("".join(output))
    return found


def failures_in(output: str) -> str:
    """What doctest says of failures, without its frame, on one line."""
    lines = (line.strip() for line in output.splitlines() if not line.startswith(("***", "File ")))
    return " ".join(filter(None, lines))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
