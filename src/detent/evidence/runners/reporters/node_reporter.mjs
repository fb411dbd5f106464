// The report of `node --test` as JSON Lines for Detent. Runs in the runner's own process, not in the tests'.
//
// Owns only the format of the report; the reader (node_report.py) decides what an event means. The report is written in one piece
// at the end, so that no test can change it while it runs.

import { realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const LONGEST = 4000;
const MOST_STDERR = 20000;
const KINDS = new Map([['test:start', 'start'], ['test:pass', 'pass'], ['test:fail', 'fail'], ['test:enqueue', 'enqueue']]);

const real = (file) => {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
};
const HERE = real(process.cwd());
const plain = (file) => (file.startsWith('file:') ? fileURLToPath(file) : path.resolve(HERE, file));
const named = (file) => (file ? path.relative(HERE, real(plain(file))).split(path.sep).join('/') : '');
const short = (value) => String(value ?? '').slice(0, LONGEST);
// Spell out lone surrogates (of a name, or of a text that was cut), which are no characters.
const whole = (json) => json.replace(/\\\\|\\u(d[89a-f][0-9a-f]{2})/g, (all, code) => (code ? '\\\\u' + code : all));
const mark = (value) => (value === undefined || value === null || value === false ? null : value === true ? '' : short(value));

// The innermost frame of the project in a stack.
function place(error) {
  for (const [, file, line] of String(error.stack ?? '').matchAll(/(?:\(|at |^)((?:file:\/\/)?\/[^\n()]*?):(\d+)(?::\d+)?\)?$/gm)) {
    const where = named(file);
    if (!where.startsWith('..') && !where.includes('node_modules/')) return `${where}:${line}`;
  }
  return '';
}

function cause(error) {
  const inner = error?.cause ?? error;
  const whole = typeof inner === 'object' && inner !== null;
  return {
    failure: short(error?.failureType),
    kind: whole ? short(inner.name) : '',
    code: whole ? short(inner.code) : '',
    message: short(whole ? inner.message : inner),
    place: whole ? place(inner) : '',
    exit: error?.exitCode ?? null,
    signal: short(error?.signal),
  };
}

function line(type, data) {
  const file = named(data.entryFile ?? data.file);
  const whole = data.nesting === 0 && named(data.name) === (file || named(data.name)) && (file !== '' || /\.[cm]?[jt]sx?$/.test(data.name));
  return {
    type,
    file: whole ? named(data.name) : file,
    name: short(data.name),
    nesting: data.nesting,
    whole,
    suite: data.details?.type === 'suite',
    skip: mark(data.skip),
    todo: mark(data.todo ?? data.expectFailure),
    ms: data.details?.duration_ms ?? 0,
    ...(type === 'fail' ? cause(data.details?.error) : {}),
  };
}

export default async function* report(events) {
  const lines = [];
  const errors = new Map();
  for await (const { type, data } of events) {
    if (KINDS.has(type)) lines.push(line(KINDS.get(type), data));
    if (type === 'test:stderr') {
      const file = named(data.file);
      errors.set(file, ((errors.get(file) ?? '') + data.message).slice(-MOST_STDERR));
    }
  }
  for (const [file, text] of errors) lines.push({ type: 'stderr', file, message: text });
  lines.push({ type: 'end', name: process.version, count: lines.length });
  yield lines.map((each) => whole(JSON.stringify(each)) + '\n').join('');
}
