"""Makes JavaScript calls in a plain node, without any test: here, or as if on another machine. Owns the program that makes them.

Covers modules that node itself can load, and those that the project's own compiler (esbuild, rolldown) makes loadable, such as TypeScript; those that
need a browser or a configuration give no result and no flag.
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
import { dirname, join, resolve } from 'node:path';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
const modules = new Map();
function load(file, of, how) {
  const plain = async () => (how === 'require' ? createRequire(file)(of) : import(new URL(of, pathToFileURL(file)).href));
  const key = `${file} ${of} ${how}`;
  if (!modules.has(key)) modules.set(key, plain().catch(() => compiled(file, of, `.compiled-${modules.size}.mjs`)));
  return modules.get(key);
}
async function compiled(file, of, name) {
  const code = await bundle(file, `import * as whole from ${JSON.stringify(of)};\nexport { whole };\n`, join(dirname(file), name));
  writeFileSync(join(dirname(file), name), code);
  try {
    return (await import(pathToFileURL(join(dirname(file), name)).href)).whole;
  } finally {
    rmSync(join(dirname(file), name));
  }
}
function tool(name, near) {
  try {
    return import(pathToFileURL(near.resolve(name)).href);
  } catch {
    return import(pathToFileURL(createRequire(near.resolve('vite/package.json')).resolve(name)).href);
  }
}
async function bundle(file, contents, entry) {
  const near = createRequire(file);
  try {
    const { build } = await tool('esbuild', near);
    const stdin = { contents, resolveDir: dirname(file) };
    const made = await build({ stdin, bundle: true, platform: 'node', format: 'esm', packages: 'external', write: false, logLevel: 'silent' });
    return made.outputFiles[0].text;
  } catch {
    const { rolldown } = await tool('rolldown', near);
    const resolve = { extensionAlias: { '.js': ['.js', '.ts', '.tsx'], '.mjs': ['.mjs', '.mts'] } };
    writeFileSync(entry, contents);
    const made = await rolldown({ input: entry, platform: 'node', external: (id) => !/^[./\\0]/.test(id), logLevel: 'silent', resolve });
    return (await made.generate({ format: 'esm', codeSplitting: false })).output[0].code;
  }
}
async function ask([file, of, how, local, name], call, wanted) {
  let known;
  try {
    const module = await load(file, of, how);
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
    return [None if each is None or each.text.startswith("raises ") else each for each in answers]


def _prepares(context: ProbeContext) -> bool:
    """Whether the project has a setup that runs before its tests."""
    listed = context.paths()
    texts = [context.text(path) for path in listed if CONFIGURED.fullmatch(path)]
    return any(PREPARES.search(text) for text in texts)
