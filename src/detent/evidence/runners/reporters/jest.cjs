// jest's report for Detent. Runs in jest's own process; the tests run in others.

const { cause, named, option, short, write } = require('./shared.cjs');

const TARGET = option('--outputFile=');
const SKIPPED = ['skipped', 'pending', 'todo', 'disabled'];

module.exports = class Report {
  constructor(config) {
    const words = config.testNamePattern;
    this.pattern = words ? new RegExp(words, 'i') : undefined;
  }

  onRunComplete(contexts, results) {
    const lines = results.testResults.flatMap((file) => this.file(file));
    lines.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0));
    if (results.runExecError) lines.push({ type: 'file', file: '', outcome: 'error', ...cause(results.runExecError) });
    const obsolete = results.snapshot?.failure && !results.numFailedTests ? [{ type: 'note', message: 'a snapshot is obsolete' }] : [];
    write(TARGET, 'jest', [...lines, ...obsolete]);
  }

  file(result) {
    const file = named(result.testFilePath);
    const lines = result.testResults.map((test) => this.test(test, file)).filter(Boolean);
    if (result.testExecError) lines.push({ type: 'file', file, outcome: 'error', ...cause(result.testExecError) });
    else if (result.failureMessage && !lines.some((line) => line.outcome === 'failed')) {
      lines.push({ type: 'file', file, outcome: 'error', ...cause({ stack: result.failureMessage }) });
    }
    return lines;
  }

  test(test, file) {
    const names = [...test.ancestorTitles, test.title].map(String); // older ones take any value for a title
    const line = { type: 'test', file, names, ms: test.duration ?? 0 };
    if (SKIPPED.includes(test.status)) {
      return this.pattern && !this.pattern.test(names.join(' ')) ? undefined : { ...line, outcome: 'skipped', message: test.status };
    }
    if (test.status === 'failed') return { ...line, outcome: 'failed', ...why(test) };
    if (test.status !== 'passed') return { ...line, outcome: 'error', kind: 'Exit', message: `jest says it is ${short(test.status)}` };
    if (test.failing) return { ...line, outcome: 'skipped', message: 'it is expected to fail' };
    if (test.invocations > 1) return { ...line, outcome: 'skipped', message: `it passed only when it was run again (${test.invocations - 1})` };
    return { ...line, outcome: 'passed' };
  }
};

function why(test) {
  const detail = test.failureDetails?.[0];
  const error = detail?.error ?? detail;
  const text = test.failureMessages?.[0] ?? '';
  const said = cause(error && typeof error === 'object' && (error.stack || error.message) ? error : { stack: text });
  const asserts = error?.matcherResult !== undefined || /^(?:expect|assert)[(.]/.test(said.message || text);
  return { ...said, message: said.message || short(text), kind: asserts ? 'AssertionError' : said.kind };
}
