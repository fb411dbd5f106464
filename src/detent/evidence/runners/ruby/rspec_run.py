"""Runs RSpec. A file that cannot be loaded ends the whole run, so it is run again without such files.

A separate program, started in the sandbox; it decides nothing.
"""

import sys
import tempfile
from pathlib import Path

import msgspec

from detent.evidence.runners.adapter import REPORTERS
from detent.evidence.runners.ruby.rspec_report import RSpecReport, RSpecRun
from detent.evidence.runners.wrapper import ProgramEnded, RunOrder, ordered, start, write

REPORTER = REPORTERS / "rspec_reporter.rb"


def main() -> int:
    report, order = ordered()
    done, first = attempt(order, order.paths)
    runs = [first]
    broken = {each.file for each in first.outside if "while loading" in each.context}
    left = [file for file in first.files if file not in broken]
    if broken & set(first.files) and not first.examples and left:
        again, more = attempt(order, left)
        runs.append(more)
        done = ProgramEnded(max(done.code, again.code), done.stdout + again.stdout, done.stderr + again.stderr)
    write(report, RSpecReport(done.code, runs))
    sys.stdout.write(done.stdout + done.stderr)
    return done.code


def attempt(order: RunOrder, paths: list[str]) -> tuple[ProgramEnded, RSpecRun]:
    """Run RSpec once; exits if that leaves no complete report."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "report"
        ours = [
            "--require",
            str(REPORTER),
            "--format",
            "documentation",
            "--format",
            "DetentReporter",
            "--out",
            str(out),
            "--no-color",
            "--no-fail-fast",
        ]
        done = start([*order.program, *order.options, *ours, "--", *paths])
        try:
            return done, msgspec.json.decode(out.read_bytes(), type=RSpecRun)
        except (OSError, msgspec.DecodeError):
            sys.stdout.write(done.stdout + done.stderr)
            sys.exit(done.code or 2)


if __name__ == "__main__":
    sys.exit(main())
