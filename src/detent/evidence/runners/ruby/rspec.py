"""RSpec: how a project calls it, the machine's own call, and what its report says. Starts no process.

The report is written by a formatter of ours. Exit code and report must agree; where they do not, nothing can be told.
"""

import re
from pathlib import PurePosixPath

from detent.errors import CannotTell
from detent.evidence.patterns import folders, telling
from detent.evidence.report import TestReport
from detent.evidence.runners.adapter import Canary, Command, Files
from detent.evidence.runners.command_shape import Shape, parse, program_end
from detent.evidence.runners.ruby import rspec_canary
from detent.evidence.runners.ruby.rspec_report import Order, read_report, summary
from detent.evidence.runners.shared_config import is_shared_config
from detent.evidence.runners.wrapper import calls

CONFIG = frozenset({".rspec", ".rspec-local", "spec_helper.rb", "rails_helper.rb"})
SHAPE = Shape(
    programs=(("bundle", "exec", "rspec"), ("bin/rspec",), ("./bin/rspec",), ("rspec",)),
    selecting={"-e": "--example", "--example": "--example", "-E": "--example-matches", "--example-matches": "--example-matches"},
    shown_flags=frozenset({"-c", "--color", "--colour", "--no-color", "--force-color", "-b", "--backtrace", "--fail-fast", "--no-fail-fast", "-w", "--warnings"}),
    shown_values=frozenset({"-f", "--format", "--order", "--seed"}),
    location=r":\d+(?::\d+)*|\[[\d:,]+\]",
    allowed="`rspec` with spec files, folders, file:line or --example",
)  # fmt: skip


class RSpec:
    """The adapter. It holds nothing."""

    name = "rspec"

    def adopt(self, words: tuple[str, ...]) -> Command | None:
        end = program_end(words, SHAPE)
        parsed = parse(words[end:], SHAPE)
        plain = end and not parsed.fault and not any(each.startswith("-") for each in parsed.selectors)
        return Command(words, "rspec", "configured", parsed.words) if plain else None

    def detect(self, files: Files) -> Command | None:
        if not (files.exists(".rspec") or any(path.endswith("_spec.rb") for path in files.paths())):
            return None
        bundled = "rspec" in (files.read("Gemfile.lock") or "")
        return Command(("bundle", "exec", "rspec") if bundled else ("rspec",), "rspec", "path")

    def refuse(self, command: str, base: Command) -> str | None:
        return parse(command, SHAPE, base).fault or None

    def selectors(self, command: str, base: Command) -> tuple[str, ...]:
        return parse(command, SHAPE, base).selectors

    def full(self, base: Command) -> list[str]:
        return list(base.argv)

    def argv(self, base: Command, selectors: tuple[str, ...], report_path: str, files: Files | None = None) -> list[str]:
        """What is selected and not there any more is left out: RSpec would run nothing at all for it."""
        options = [each for each in selectors if each.startswith("--example")]
        chosen = [each.removeprefix("--location=") for each in selectors if not each.startswith("--example")] or list(base.paths)
        there = [each for each in chosen if files is None or files.exists(each.partition(":")[0].partition("[")[0])]
        program = list(base.argv[: program_end(base.argv, SHAPE)])
        return calls(
            "detent.evidence.runners.ruby.rspec_run", report_path, Order(program, options, there if there or not chosen else ["/dev/null"])
        )

    def read(self, report: bytes | None, exit_code: int | None, output: str) -> TestReport:
        if report is None:
            raise CannotTell(f"RSpec wrote no report: it ended with code {exit_code}\n{output.strip()[-2000:]}")
        said = read_report(report)
        found = summary(said, exit_code, output)
        if said.code != exit_code or exit_code not in (0, 1):
            raise CannotTell(f"RSpec ended with code {exit_code}\n{output.strip()[-2000:]}")
        if exit_code == 1 and not found.bad:
            raise CannotTell(f"RSpec ended with code 1, but no example in its report failed (a coverage limit?)\n{output.strip()[-2000:]}")
        if exit_code == 0 and found.bad:
            raise CannotTell(f"RSpec ended with code 0, but its report has a failure: {min(found.bad)}")
        return found

    def canary(self, base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
        return rspec_canary.canary(base, selectors, files, near)

    def test_patterns(self, base: Command | None, files: Files) -> tuple[str, ...]:
        """Those of `.rspec`, or of the command's own paths."""
        words = (files.read(".rspec") or "").split()
        said = [value for at, word in enumerate(words) if (value := _value(word, words[at + 1 : at + 2], ("-P", "--pattern")))]
        homes = [value for at, word in enumerate(words) if (value := _value(word, words[at + 1 : at + 2], ("--default-path",)))]
        globs = [each for word in said for each in re.split(r",(?![^{]*\})", word.strip("'\""))]
        paths = [each.partition(":")[0].partition("[")[0] for each in (base.paths if base else ())]
        return (*folders([*homes, *(each for each in paths if not each.endswith(".rb"))]), *telling(globs))

    def is_test(self, path: str) -> bool:
        where = PurePosixPath(path)
        return not self.is_config(path) and (where.name.endswith("_spec.rb") or "spec" in where.parts[:-1])

    def is_config(self, path: str) -> bool:
        return PurePosixPath(path).name in CONFIG or is_shared_config(path)

    def runner_part(self, path: str, text: str) -> str:
        return text


def _value(word: str, after: list[str], names: tuple[str, ...]) -> str:
    """What an option says, if the word is one of these."""
    name, equals, value = word.partition("=")
    return "" if name not in names else value if equals else "".join(after)
