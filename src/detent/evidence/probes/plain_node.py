"""Makes JavaScript calls in a plain node, without any test: here, or as if on another machine. Owns the program that makes them.

Covers only modules that node itself can load; those that need a compiler or a browser give no result and no flag.
"""

import json
import re

from detent.evidence.probes.context import ProbeContext
from detent.evidence.probes.plain_answers import CallResult, ask_program
from detent.evidence.running.collect import Collector

RUNNERS = frozenset({"node", "mocha", "jest", "vitest", "ava", "tape", "tap"})
PREPARES = re.compile(
    r"\bsetupFiles\w*|\bglobalSetup\b|\bsetup\b|--require\b|--import\b|\"require\"|\btestEnvironment\b|\benvironment\s*:|\"file\"\s*:|--loader|\btransform\b"
)  # setup that may legitimately change results outside of tests
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
    context: ProbeContext, collector: Collector, calls: list[tuple[str, str, str]], mark: str, until: float, away: bool
) -> list[CallResult | None]:
    """The result of each call in a plain node; empty if it cannot be run. Errors count as no result: a browser or compiler may be needed."""
    base, collector = collector.suite.base, collector.of(context.tree)
    if base is None or base.runner not in RUNNERS or _prepares(context):
        return []
    program = PROGRAM.replace("CALLS", json.dumps(calls), 1).replace("MARK", json.dumps(mark), 1).replace("AWAY", json.dumps(away), 1)
    answers = ask_program(context, collector, "node --input-type=module -e", program, mark, until)
    return [None if each is None or each.said.startswith("raises ") else each for each in answers]


def _prepares(context: ProbeContext) -> bool:
    """Whether the project has a setup that runs before its tests."""
    listed = context.paths()
    texts = [context.text(path) for path in listed if CONFIGURED.fullmatch(path)]
    return any(PREPARES.search(text) for text in texts)
