"""Runs `dotnet test` and passes on the reports it wrote into a new folder.

A separate program, started in the sandbox; it decides nothing.
"""

import re
import sys
import tempfile
from pathlib import Path

from detent.evidence.runners.dotnet.dotnet_files import DotnetReport, classes, wanted
from detent.evidence.runners.wrapper import ordered, source_files, start, write

FAULT = re.compile(r"^\s*(?P<file>[^\s(][^(\n]*)\(\d+,\d+\): error (?P<code>\w+): (?P<says>[^\n]*?)(?: \[[^\]\n]+\])?$", re.MULTILINE)
QUIET = {"DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1", "DOTNET_CLI_UI_LANGUAGE": "en"}


def main() -> int:
    report, order = ordered()
    root = Path.cwd()
    declared = classes(root)
    chosen = wanted(order, declared)
    with tempfile.TemporaryDirectory() as folder:
        picked = ["--filter", chosen] if chosen else []
        done = start(
            [*order.program, "test", "--nologo", "--results-directory", folder, "--logger", "trx;LogFilePrefix=run", *picked], QUIET
        )
        texts = [file.read_text("utf-8-sig", "replace") for file in sorted(Path(folder).rglob("*.trx"))]
    output = done.stdout + done.stderr
    sys.stdout.write(output)
    project = next((path for path in source_files(root) if path.endswith("proj")), "dotnet")
    write(report, DotnetReport(done.code, texts, declared, _broken(output, root), project))
    return done.code


def _broken(output: str, root: Path) -> dict[str, list[str]]:
    """Compiler errors by file."""
    found: dict[str, list[str]] = {}
    for each in FAULT.finditer(output):
        file = each["file"].strip().removeprefix(f"{root}/")
        line = f"{each['code']}: {each['says']}"
        if line not in found.setdefault(file, []):
            found[file].append(line)
    return found


if __name__ == "__main__":
    sys.exit(main())
