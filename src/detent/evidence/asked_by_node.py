"""What calls of JavaScript come to in a plain node, without any test: here, or as if on another machine. Owns the program that asks.

Only what node itself can load is asked; what wants a compiler or a browser answers nothing, and nothing is said of it.
"""

import json
import re
import shlex
import time
from copy import copy

from detent.errors import CannotTell, Disturbed
from detent.evidence.bite import Teeth
from detent.evidence.collect import Collector

RUNNERS = frozenset({"node", "mocha", "jest", "vitest", "ava", "tape", "tap"})
LONGEST = 60_000  # of the program that asks
PREPARES = re.compile(
    r"\bsetupFiles\w*|\bglobalSetup\b|\bsetup\b|--require\b|--import\b|\"require\"|\btestEnvironment\b|\benvironment\s*:|\"file\"\s*:|--loader|\btransform\b"
)  # then the answer may honestly be another one where no test runs
CONFIGURED = re.compile(r"(?:.*/)?(?:package\.json|\.mocharc(?:\.\w+)?|(?:vitest|vite|jest|ava)\.config\.[cm]?[jt]s|\.taprc)")
PROGRAM = """
import { isDeepStrictEqual, inspect } from 'node:util';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { pathToFileURL } from 'node:url';
import { join, resolve } from 'node:path';
import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
const calls = CALLS.map(([where, ...rest]) => [JSON.parse(where), ...rest]).map(([[file, ...how], ...rest]) => [[resolve(file), ...how], ...rest]);
function away() {
  const home = mkdtempSync(join(os.tmpdir(), 'h'));
  for (const name of ['.bashrc', '.profile', '.gitconfig']) writeFileSync(join(home, name), '');
  Object.assign(process.env, { HOME: home, PWD: home, USER: 'web', LOGNAME: 'web', HOSTNAME: 'web-07', TERM: 'xterm-256color', SHELL: '/bin/sh' });
  process.chdir(home);
  Object.defineProperty(process, 'pid', { value: 48211 });
  Object.defineProperty(process, 'ppid', { value: 48007 });
  for (const stream of [process.stdin, process.stdout, process.stderr]) stream.isTTY = true;
  os.hostname = () => 'web-07';
  os.homedir = () => home;
  syncBuiltinESMExports();
}
if (AWAY) try { away(); } catch {}
async function ask([file, of, how, local, name], call, wanted) {
  let known;
  try {
    const module = how === 'require' ? createRequire(file)(of) : await import(new URL(of, pathToFileURL(file)).href);
    known = name === '*' ? module : module[name];
  } catch {
    return null;
  }
  try {
    const [value, right] = new Function(local, `return [(${call}), (${wanted === 'None' ? 'null' : wanted})]`)(known);
    return [isDeepStrictEqual(value, right) || value === right, inspect(value).slice(0, 200)];
  } catch (error) {
    return [false, `raises ${error?.name}`];
  }
}
const found = [];
for (const each of calls) found.push(await ask(...each));
console.log(MARK + JSON.stringify(found));
process.exit(0);
"""


def ask_node(
    teeth: Teeth, collector: Collector, calls: list[tuple[str, str, str]], mark: str, until: float, away: bool = False
) -> list[tuple[bool, str] | None]:
    """What each call comes to, and whether that is what was wanted; nothing if that cannot be had."""
    base, collector = collector.suite.base, collector.of(teeth.tree)
    program = PROGRAM.replace("CALLS", json.dumps(calls), 1).replace("MARK", json.dumps(mark), 1).replace("AWAY", json.dumps(away), 1)
    if base is None or base.runner not in RUNNERS or len(program) > LONGEST or time.monotonic() >= until or _prepares(teeth):
        return []
    short = copy(collector)
    short.suite = collector.suite._replace(timeout=min(collector.suite.timeout, until - time.monotonic()))
    try:
        with short.checkout(teeth.tree) as folder:
            ran = short.line(f"node --input-type=module -e {shlex.quote(program)}", folder, teeth.wanted)
    except Disturbed:
        raise
    except (CannotTell, OSError):
        return []
    line = next((line for line in reversed(ran.output.splitlines()) if line.startswith(mark)), "")
    try:
        said = json.loads(line.removeprefix(mark)) if line else []
        return [(bool(each[0]), str(each[1])) if each else None for each in said]
    except (ValueError, TypeError, IndexError):
        return []


def _prepares(teeth: Teeth) -> bool:
    """Whether something is made ready for the tests of a project, whoever asks for it."""
    listed = teeth.git.run("ls-tree", "-r", "-z", "--name-only", teeth.tree).items
    texts = [(teeth.git.read(teeth.tree, path) or b"").decode("utf-8", "replace") for path in listed if CONFIGURED.fullmatch(path)]
    return any(PREPARES.search(text) for text in texts)
