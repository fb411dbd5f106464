"""The canary of an RSpec run: a spec file beside the changed ones. Pure: writes nothing.

All files are loaded before the first example runs, in one process, so it notices what any of them does to RSpec.
"""

import re

from detent.evidence.runners.adapter import Canary, CanaryFile, Command, Files, is_below
from detent.evidence.runners.canary_files import NONE, TestFolder, named_like, places
from detent.evidence.runners.canary_output import rspec as tidy

SETTINGS = (".rspec", ".rspec-local", ".simplecov", "spec/spec_helper.rb", "spec/rails_helper.rb")
LIMIT = re.compile(r"^[^#\n]*\b(?:minimum_coverage|refuse_coverage_drop|maximum_coverage_drop)", re.MULTILINE)
CODE = re.compile(r"^[^#\n]*(?:failure_exit_code|--failure-exit-code)", re.MULTILINE)
PLACE = re.compile(r"(?::\d+(?::\d+)*|\[[\d:,]+\])$")
TEXT = """RSpec.describe "{stem}" do
  it "{passes}" do
    wrong = {{
      "eq" => -> {{ expect("{says}").to eq("") }},
      "be_nil" => -> {{ expect("{says}").to be_nil }},
      "be true" => -> {{ expect(false).to be true }},
      "include" => -> {{ expect([]).to include("{says}") }},
      "not_to" => -> {{ expect("{says}").not_to eq("{says}") }},
      "raise_error" => -> {{ expect {{ nil }}.to raise_error(ArgumentError) }},
    }}
    wrong.each do |name, each|
      held = false
      begin
        each.call
      rescue RSpec::Expectations::ExpectationNotMetError
        held = true
      end
      raise "{says}: what is wrong was let pass by #{{name}}" unless held
    end
  end

  it "{fails}" do
    expect("{says}").to eq("")
  end
end
"""


def canary(base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
    """The canary of such a run, or why there is none."""
    texts = [files.read(name) or "" for name in SETTINGS]
    if any(LIMIT.search(text) for text in texts):
        return "the project sets a coverage limit, which only the exit code shows; an example that must fail would hide it"
    if any(CODE.search(text) for text in texts):
        return "the project sets its own exit code for failures"
    chosen = [each for each in selectors if not each.startswith("--example")]
    scope = [PLACE.sub("", each.removeprefix("--location=")) for each in chosen] or list(base.paths)

    def is_run(path: str) -> bool:
        return path.endswith("_spec.rb") and (not scope or any(is_below(path, each) for each in scope))

    canary_files = tuple(_canary_file(place) for place in places(files, near, is_run))
    if not canary_files:
        return NONE
    again = () if chosen or not scope else base.paths
    named = len(chosen) != len(selectors)
    names = [f"--example={each}" for canary_file in canary_files for each in (canary_file.passes, canary_file.fails)] if named else []
    return Canary(base, (*again, *selectors, *(canary_file.path for canary_file in canary_files if scope), *names), canary_files, tidy)


def _canary_file(place: TestFolder) -> CanaryFile:
    return place.canary_file(lambda stem: f"a_{named_like(place.name, stem)}", TEXT)
