// vitest's report for Detent. Runs in vitest's own process, not in the tests'.
//
// An error in a suite counts for every test in it. A test that vitest never ended is an error. Snapshots are never written.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

import shared from './shared.cjs';

const { cause, named, option, real, write } = shared;
const TARGET = option('--outputFile=');

export default class Report {
  onInit(vitest) {
    this.vitest = vitest;
    this.settle();
  }

  onTestRunStart() {
    this.settle();
  }

  settle() {
    for (const each of [this.vitest, ...(this.vitest.projects ?? [])]) {
      if (each.config?.snapshotOptions) each.config.snapshotOptions.updateSnapshot = 'none';
    }
  }

  async onTestRunEnd(modules, errors = []) {
    const lines = [...modules].sort(byName).flatMap((module) => this.module(module));
    for (const line of lines) if (line.kind === 'SyntaxError' && line.type === 'file' && !line.place) line.place = await unparsed(line.file);
    const known = lines.some((line) => line.outcome === 'error');
    lines.push(...[...errors].filter((error) => error.VITEST_TEST_PATH || !known).map(outside(modules)));
    write(TARGET, `vitest ${this.vitest.version}`, lines);
  }

  // vitest 1 and 2 know only this word, and hand over plain tasks; 3 says both.
  async onFinished(files = [], errors = []) {
    if (Number.parseInt(this.vitest.version ?? '0', 10) < 3) await this.onTestRunEnd(files.map((file) => older(file, this.vitest)), errors);
  }

  module(module) {
    const file = named(module.moduleId);
    const lines = [...this.children(module, [], module.errors()[0], file)];
    const began = lines.length > 0 || ['passed', 'skipped'].includes(module.state());
    const error = module.errors()[0] ?? (began ? undefined : { name: 'Exit', message: 'the process of the file ended before its tests did' });
    if (error && !(lines.length && lines.every((line) => line.outcome === 'error'))) lines.push({ type: 'file', file, outcome: 'error', ...cause(error) });
    return lines;
  }

  *children(parent, names, broken, file) {
    for (const child of parent.children) {
      const below = [...names, child.name];
      if (child.type === 'test') {
        const line = this.test(child, below, broken);
        if (line) yield { type: 'test', file, names: below, ...line };
      } else {
        yield* this.children(child, below, child.errors()[0] ?? broken, file);
      }
    }
  }

  test(test, names, broken) {
    const { state, errors, note } = test.result();
    const seen = test.diagnostic();
    const ms = seen?.duration ?? 0;
    const left = ['skip', 'todo'].includes(test.options.mode);
    if (left || (state === 'skipped' && !broken)) {
      const pattern = this.vitest.config.testNamePattern ?? test.project.config.testNamePattern;
      return pattern && !pattern.test(names.join(' ')) ? undefined : { outcome: 'skipped', message: note ?? '', ms };
    }
    if (state === 'failed') return { outcome: 'failed', ...cause(errors?.[0]), ms };
    if (broken) return { outcome: 'error', ...cause(broken), ms };
    if (state !== 'passed') return { outcome: 'error', kind: 'Exit', message: 'the process ended before this test did', ms };
    if (test.options.fails) return { outcome: 'skipped', message: 'it is expected to fail', ms };
    if (seen?.retryCount > 0) return { outcome: 'skipped', message: `it passed only when it was run again (${seen.retryCount})`, ms };
    return { outcome: 'passed', ms };
  }
}

// vite does not name the file that it could not parse: it is the test file if that cannot be parsed alone.
async function unparsed(file) {
  try {
    const near = createRequire(createRequire(real(process.argv[1])).resolve('vitest'));
    const { parseAst } = await import(pathToFileURL(near.resolve('vite')).href);
    const text = readFileSync(file, 'utf8');
    try {
      parseAst(text);
    } catch (error) {
      return `${file}:${text.slice(0, error.pos ?? 0).split('\n').length}`;
    }
  } catch {
    // unknown
  }
  return '';
}

// A task of vitest 1 or 2 in the form of version 3.
const STATES = { pass: 'passed', fail: 'failed', skip: 'skipped', todo: 'skipped' };
function older(task, project) {
  const state = STATES[task.result?.state] ?? STATES[task.mode] ?? 'pending';
  const errors = task.result?.errors ?? [];
  const shown = { name: task.name, project: { name: task.projectName ?? '', config: project.config ?? {} }, errors: () => errors };
  if (!task.tasks) {
    const { note, duration, retryCount } = task.result ?? {};
    const options = { mode: task.mode, fails: task.fails };
    return { ...shown, type: 'test', options, result: () => ({ state, errors, note }), diagnostic: () => ({ duration, retryCount }) };
  }
  const children = task.tasks.map((each) => older(each, project));
  return { ...shown, type: 'suite', moduleId: task.filepath, children, state: () => state };
}

const byName = (a, b) => (key(a) < key(b) ? -1 : 1);
const key = (module) => `${module.moduleId}\n${module.project.name}`;
const UNSTARTED = /Failed to start \w+ worker for test files? (\S+?)[.,]?(?=\s|$)/; // an error of the pool names the file in its words alone

const outside = (modules) => (error) => {
  const at = error.VITEST_TEST_PATH ?? UNSTARTED.exec(error.message ?? '')?.[1] ?? modules[0]?.moduleId ?? '';
  return { type: 'file', file: at && named(at), outcome: 'error', ...cause(error) };
};
