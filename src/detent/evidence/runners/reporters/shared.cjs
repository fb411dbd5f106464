// Common to the reporters of JavaScript runners: file names, the contents of an error, and how a report is written.
//
// A report is JSON Lines: one line per test and per file that failed outside its tests, and an `end` line with their count.
// It is written in one piece at the end, so that no test can change it while it runs.

const { existsSync, realpathSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const LONGEST = 4000;
const CODES = new RegExp(String.fromCharCode(27) + '\\[[0-9;]*m', 'g'); // colours

const real = (file) => {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
};
const HERE = real(process.cwd());
const named = (file) => path.relative(HERE, real(path.resolve(HERE, file))).split(path.sep).join('/');
const short = (value) => String(value ?? '').replace(CODES, '').slice(0, LONGEST);

// The innermost frame of the project in a stack, or where a file cannot be parsed.
const PLACES = /(?:\(|at |^|\[ |- )((?:file:\/\/)?[^\s():]+\.\w+)(?::(\d+)(?::\d+)?(?=\)|:|\s|$)|: [^\n]*\((\d+):\d+\)$)/gm;
const plain = (text) => String(text ?? '').replace(CODES, '');
function place(error) {
  const parsed = [error.loc?.file ? error.loc : { ...error.loc, file: error.id }, ...(error.stacks ?? [])].map((each) => [each.file, each.line]);
  const shown = [plain(error.stack), plain(error.message)].flatMap((text) => [...text.matchAll(PLACES)].map((each) => [each[1], each[2] ?? each[3]]));
  for (const [file, line] of [...parsed, ...shown]) {
    const where = file && line ? named(String(file).replace(/^file:\/\//, '').replace(/\?.*$/, '')) : '..';
    if (!where.startsWith('..') && !where.includes('node_modules/') && existsSync(path.join(HERE, where))) return `${where}:${line}`;
  }
  return '';
}

const UNPARSED = /^(?:Failed to parse source|Transform failed with|Parse failure|\[PARSE_ERROR\])/;

// The type, code and message of an error, taken from its stack if only that has them.
function cause(error) {
  if (typeof error !== 'object' || error === null) return { kind: error === undefined ? '' : 'Thrown', code: '', message: short(error), place: '' };
  const first = /^([A-Za-z_$][\w$]*)(?: \[(\w+)\])?: ([^]*)$/.exec(short(error.stack));
  const kind = error.name && error.name !== 'Error' ? error.name : (first?.[1] ?? error.type ?? error.name);
  const message = short(error.message || first?.[3].split('\n    at ')[0]);
  const broken = error.code === 'BABEL_PARSE_ERROR' || UNPARSED.test(message);
  return { kind: broken ? 'SyntaxError' : short(kind || 'Thrown'), code: short(error.code ?? first?.[2]), message, place: place(error) };
}

// Spell out lone surrogates (of a name, or of a text that was cut), which are no characters.
const whole = (json) => json.replace(/\\\\|\\u(d[89a-f][0-9a-f]{2})/g, (all, code) => (code ? '\\\\u' + code : all));

const option = (name) => process.argv.filter((word) => word.startsWith(name)).pop()?.slice(name.length);

function write(target, runner, lines) {
  const all = [...lines, { type: 'end', name: runner, count: lines.length }];
  writeFileSync(target, all.map((each) => whole(JSON.stringify(each)) + '\n').join(''));
}

module.exports = { cause, named, option, real, short, write };
