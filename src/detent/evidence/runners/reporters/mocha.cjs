// mocha's report for Detent: loaded with `--require` before the tests, and named as the reporter. Runs in the process of the tests.
//
// A file that cannot be loaded becomes an error and does not end the run. A failing hook counts as an error of the tests that it kept
// from running.

const { createRequire } = require('node:module');
const { cause, named, real, write } = require('./shared.cjs');

const WORST = ['passed', 'skipped', 'failed', 'error'];
const near = createRequire(real(process.argv[1]));
const loaded = near('mocha');
const Mocha = loaded.default ?? loaded;
const broken = []; // files that could not be loaded
const ended = { well: false };

// A test that exits the process with code 0 gets a code that fits no report, whatever it wrote itself.
const leave = process.reallyExit;
process.reallyExit = (code) => leave.call(process, ended.well || code ? code : 70);
process.on('exit', () => {
  if (!ended.well) process.exitCode ||= 70;
});

// Load each file separately, so that a broken one does not affect the others.
const load = Mocha.prototype.loadFilesAsync;
Mocha.prototype.loadFilesAsync = async function (...words) {
  const files = this.files;
  for (const file of files) {
    this.files = [file];
    try {
      await load.apply(this, words);
    } catch (error) {
      console.error(error);
      broken.push({ type: 'file', file: named(file), outcome: 'error', ...cause(error) });
    }
  }
  this.files = files;
};

module.exports = class Report extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    this.target = options.reporterOptions.output;
    this.plan = [];
    this.seen = new Map();
    this.hooks = [];
    runner.once('start', () => this.listed(runner));
    runner.on('pass', (test) => this.note(test, passed(test)));
    runner.on('pending', (test) => this.note(test, { outcome: 'skipped' }));
    runner.on('fail', (test, error) => (test.type === 'hook' ? this.hook(test, error) : this.note(test, { outcome: 'failed', ...why(error) })));
  }

  listed(runner) {
    const grep = runner._grep;
    runner.suite.eachTest((test) => {
      if (!grep || grep.test(test.fullTitle()) !== Boolean(runner._invert)) this.plan.push(test);
    });
  }

  note(test, line) {
    const first = this.plan.includes(test) ? test : (this.plan.find((each) => each === original(test)) ?? test);
    const before = this.seen.get(first);
    if (!before || WORST.indexOf(line.outcome) >= WORST.indexOf(before.outcome)) this.seen.set(first, { ms: test.duration ?? 0, ...line });
  }

  hook(hook, error) {
    const line = { outcome: 'error', ...why(error) };
    this.hooks.push({ suite: hook.parent, line, all: /^"after all"/.test(hook.title) });
    if (/each"/.test(hook.title) && hook.ctx?.currentTest) this.note(hook.ctx.currentTest, line);
  }

  line(test) {
    const above = (suite) => this.hooks.find((each) => isBelow(test, each.suite) && (each.all || !suite));
    const seen = this.seen.get(test);
    const hook = above(seen);
    const end = { outcome: 'error', kind: 'Exit', message: 'mocha ended before this test did' };
    const line = hook && seen?.outcome !== 'skipped' && seen?.outcome !== 'failed' ? hook.line : (seen ?? hook?.line ?? end);
    return { type: 'test', file: named(test.file ?? ''), names: titles(test), ...line };
  }

  done(failures, end) {
    const tests = [...new Set([...this.plan, ...this.seen.keys()])];
    write(this.target, `mocha ${Mocha.prototype.version}`, [...broken, ...tests.map((test) => this.line(test))]);
    ended.well = true;
    end(failures + broken.length);
  }
};

const original = (test) => (test.retriedTest?.() ? original(test.retriedTest()) : test);
const titles = (test) => (test.titlePath ? test.titlePath() : [test.title]);
const isBelow = (test, suite) => {
  for (let at = test.parent; at; at = at.parent) if (at === suite) return true;
  return false;
};
const passed = (test) => {
  const again = test.currentRetry?.() ?? 0;
  return again ? { outcome: 'skipped', message: `it passed only when it was run again (${again})` } : { outcome: 'passed' };
};
const why = (error) => {
  const said = cause(error);
  return error?.code === 'ERR_ASSERTION' || 'showDiff' in Object(error) ? { ...said, kind: 'AssertionError' } : said;
};
