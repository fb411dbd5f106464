// What the reporters for JavaScript runners share: names of files, what an error says, and how a report is written.
//
// A report is JSON Lines: one line for each test and each file that broke outside its tests, and an `end` line with their count.
// Everything is written at the end and in one piece, so that no test finds a report to change while it runs.

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

// The innermost line of the project's own in a stack, or where a file cannot be parsed.
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

// The name of an error's type, its code and its message; where only the stack has them, from there.
function cause(error) {
  if (typeof error !== 'object' || error === null) return { kind: error === undefined ? '' : 'Thrown', code: '', message: short(error), place: '' };
  const first = /^([A-Za-z_$][\w$]*)(?: \[(\w+)\])?: ([^]*)$/.exec(short(error.stack));
  const kind = error.name && error.name !== 'Error' ? error.name : (first?.[1] ?? error.type ?? error.name);
  const message = short(error.message || first?.[3].split('\n    at ')[0]);
  const broken = error.code === 'BABEL_PARSE_ERROR' || UNPARSED.test(message);
  return { kind: broken ? 'SyntaxError' : short(kind || 'Thrown'), code: short(error.code ?? first?.[2]), message, place: place(error) };
}

// Half of a pair of surrogates, from a name or from a text that was cut, is no letter: it is spelled out.
const whole = (json) => json.replace(/\\\\|\\u(d[89a-f][0-9a-f]{2})/g, (all, code) => (code ? '\\\\u' + code : all));

const option = (name) => process.argv.filter((word) => word.startsWith(name)).pop()?.slice(name.length);

function write(target, runner, lines) {
  const all = [...lines, { type: 'end', name: runner, count: lines.length }];
  writeFileSync(target, all.map((each) => whole(JSON.stringify(each)) + '\n').join(''));
}

module.exports = { cause, named, option, real, short, write };
