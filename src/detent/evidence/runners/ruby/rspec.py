"""RSpec. A wrapper of ours runs it with a formatter of ours, which writes the report."""

import re
from functools import partial

from detent.evidence.runners.adapter import Command, Files, Runner
from detent.evidence.runners.command_shape import CommandShape, adopt, parse, program_end
from detent.evidence.runners.report_reader import reader
from detent.evidence.runners.ruby.rspec_canary import canary
from detent.evidence.runners.ruby.rspec_report import RSpecReport, outcomes
from detent.evidence.runners.wrapper import RunOrder, wrapped
from detent.evidence.source.file_patterns import folders, telling_patterns

SHAPE = CommandShape(
    programs=(("bundle", "exec", "rspec"), ("bin/rspec",), ("./bin/rspec",), ("rspec",)),
    selecting={"-e": "--example", "--example": "--example", "-E": "--example-matches", "--example-matches": "--example-matches"},
    shown_flags=frozenset({"-c", "--color", "--colour", "--no-color", "--force-color", "-b", "--backtrace", "--fail-fast", "--no-fail-fast", "-w", "--warnings"}),
    shown_values=frozenset({"-f", "--format", "--order", "--seed"}),
    location=r":\d+(?::\d+)*|\[[\d:,]+\]",
    allowed="`rspec` with spec files, folders, file:line or --example",
    narrow=True,
)  # fmt: skip


def detect(files: Files) -> Command | None:
    if not (files.exists(".rspec") or any(path.endswith("_spec.rb") for path in files.paths())):
        return None
    bundled = "rspec" in (files.read("Gemfile.lock") or "")
    return Command(("bundle", "exec", "rspec") if bundled else ("rspec",), "rspec", "path")


def order(base: Command, selectors: tuple[str, ...], files: Files | None) -> RunOrder:
    """Selected paths that no longer exist are left out: RSpec would run nothing at all."""
    options = [each for each in selectors if each.startswith("--example")]
    chosen = [each.removeprefix("--location=") for each in selectors if not each.startswith("--example")] or list(base.paths)
    there = [each for each in chosen if files is None or files.exists(each.partition(":")[0].partition("[")[0])]
    return RunOrder(list(base.argv[: program_end(base.argv, SHAPE)]), options, there if there or not chosen else ["/dev/null"])


def test_patterns(base: Command | None, files: Files) -> tuple[str, ...]:
    """The patterns in `.rspec`, and the command's own paths."""
    words = (files.read(".rspec") or "").split()
    patterns = [value for at, word in enumerate(words) if (value := _value(word, words[at + 1 : at + 2], ("-P", "--pattern")))]
    homes = [value for at, word in enumerate(words) if (value := _value(word, words[at + 1 : at + 2], ("--default-path",)))]
    globs = [each for word in patterns for each in re.split(r",(?![^{]*\})", word.strip("'\""))]
    paths = [each.partition(":")[0].partition("[")[0] for each in (base.paths if base else ())]
    return (*folders([*homes, *(each for each in paths if not each.endswith(".rb"))]), *telling_patterns(globs))


def _value(word: str, after: list[str], names: tuple[str, ...]) -> str:
    """The value of an option, if the word is one of these options."""
    name, equals, value = word.partition("=")
    return "" if name not in names else value if equals else "".join(after)


RUNNER = Runner(
    name="rspec",
    adopt=partial(adopt, SHAPE, "rspec"),
    detect=detect,
    parse=partial(parse, SHAPE),
    argv=wrapped("detent.evidence.runners.ruby.rspec_run", order),
    read=reader("rspec", "RSpec", RSpecReport, outcomes, (0, 1), "a coverage limit?"),
    tests=re.compile(r"_spec\.rb$|(?:^|/)spec/").search,
    config=re.compile(r"(?:^|/)(?:\.rspec|\.rspec-local|spec_helper\.rb|rails_helper\.rb)$").search,
    test_patterns=test_patterns,
    canary=canary,
)
