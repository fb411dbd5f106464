"""The canary of a `node --test` run: a test file beside the project's. Pure: writes nothing.

node runs each file in its own process, so it notices what is loaded into all of them (`--import`, `--require`, NODE_OPTIONS or a
configuration), not what one test file does to itself.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import PurePosixPath

from detent.evidence.runners.adapter import Canary, CanaryFile, Command, Files
from detent.evidence.runners.canary_files import TestFolder, words_of
from detent.evidence.runners.javascript import node_command

MOST = 3  # folders
LIMITS = ("--test-coverage-lines", "--test-coverage-branches", "--test-coverage-functions")
TEXT = """import runner, {{ test }} from 'node:test';
import assert from 'node:assert';
import strict from 'node:assert/strict';

const WRONG = {{
  'assert': () => assert(!'{says}'),
  'assert.ok': () => assert.ok(!'{says}'),
  'assert.equal': () => assert.equal('{says}', ''),
  'assert.strictEqual': () => assert.strictEqual('{says}', ''),
  'assert.deepEqual': () => assert.deepEqual(['{says}'], []),
  'assert.deepStrictEqual': () => assert.deepStrictEqual(['{says}'], []),
  'assert.throws': () => assert.throws(() => {{}}),
  'strict.equal': () => strict.equal('{says}', ''),
  'strict.deepEqual': () => strict.deepEqual(['{says}'], []),
}};

test('{passes}', {options}() => {{
  if (runner.test !== test) throw new Error('{says}: node:test was replaced');
  for (const [name, wrong] of Object.entries(WRONG)) {{
    let held = false;
    try {{ wrong(); }} catch {{ held = true; }}
    if (!held) throw new Error(`{says}: what is wrong was let pass by ${{name}}`);
  }}
}});

test('{fails}', {options}() => {{ assert.equal('{says}', '', '{says}'); }});
"""


def canary(base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...], is_run: Callable[[str], bool]) -> Canary | str:
    """The canary of such a run, or why there is none. `is_run`: whether node runs a file because of its name and place."""
    options, paths = node_command.parts(base.argv[node_command.program_end(base.argv) :])
    names = {option.partition("=")[0] for option in options}
    if "--test-shard" in names:
        return "--test-shard runs a part of the files only"
    if names & set(LIMITS):
        return "the project sets a coverage limit, which only node's exit code shows; a test that must fail would hide it"
    chosen = [each for each in selectors if not each.startswith("-")]
    picked = chosen or paths
    folders = list(islice(_folders(picked, files, near, is_run), MOST))
    if not folders:
        return "no folder was found that tests are run from"
    canary_files = tuple(_canary_file(folder, "{ only: true }, " if "--test-only" in names else "") for folder in folders)
    by_name = any(each.startswith(node_command.PATTERN) for each in (*options, *selectors))
    also = (
        [f"{node_command.PATTERN}={each}" for canary_file in canary_files for each in (canary_file.passes, canary_file.fails)]
        if by_name
        else []
    )
    named = [*(() if chosen else paths), *(canary_file.path for canary_file in canary_files)] if picked else []
    return Canary(base, (*selectors, *also, *named), canary_files, tidy)


def _folders(picked: list[str], files: Files, near: tuple[str, ...], is_run: Callable[[str], bool]) -> Iterator[str]:
    """Folders with tests of the run: those of changed test files, else that of the first test file."""
    rules = [node_command.matcher(each) for each in picked]
    within = [each.removeprefix("./").rstrip("/").removeprefix(".") for each in picked]

    def fits(path: str) -> bool:
        inside = any(path == each or path.startswith(f"{each}/" if each else "") for each in within)
        return is_run(path) and (not picked or inside or any(rule.fullmatch(path) for rule in rules))

    def listed(path: str) -> bool:
        return path in within or any(rule.fullmatch(path) for rule in rules) or fits(path)

    ours = list(dict.fromkeys(path.rpartition("/")[0] for path in near if listed(path) and files.exists(path)))
    first = next((each.rpartition("/")[0] for each in within if PurePosixPath(each).suffix and files.exists(each)), None)
    if ours:
        yield from sorted(ours, key=lambda folder: -folder.count("/"))
    elif first is not None:
        yield first
    else:
        yield from (path.rpartition("/")[0] for path in islice(filter(listed, files.paths()), 1))


def _canary_file(folder: str, options: str) -> CanaryFile:
    return TestFolder(folder, "", "").canary_file(lambda stem: f"{stem}.test.mjs", TEXT, options=options)


# -- the output ----------------------------------------------------------------------------------------------------------------

FAILING = re.compile(r"^✖ failing tests:\n*\Z", re.MULTILINE)
COUNTS = re.compile(r"^(ℹ (?:tests|pass|fail)) (\d+)$", re.MULTILINE)
SHARE = {"ℹ tests": 2, "ℹ pass": 1, "ℹ fail": 1}


def tidy(output: str, canary: Canary) -> str:
    """node's output without the canary: without its lines and error details, and with its share of the counts subtracted."""
    words, count = words_of(canary), len(canary.canary_files)
    left: list[str] = []
    inside = False
    for line in output.splitlines(keepends=True):
        ours = any(w in line for w in words)
        inside = ours or (inside and line.startswith((" ", "\t", "}")))  # the rest of an error is indented below it
        if not inside:
            left.append(line)
    text = COUNTS.sub(lambda m: f"{m[1]} {max(0, int(m[2]) - SHARE[m[1]] * count)}", "".join(left))
    return FAILING.sub("", text)
