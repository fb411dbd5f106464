// A reporter for `node --test`: one line of JSON for each test, with its file and the names of the groups around it.
const STATES = { 'test:pass': 'passed', 'test:fail': 'failed' };

export default async function* report(events) {
  const names = [];
  for await (const { type, data } of events) {
    if (type === 'test:start') names.splice(data.nesting, Infinity, data.name);
    if (!(type in STATES) || data.details?.type === 'suite') continue;
    const how = data.skip !== undefined || data.todo !== undefined ? 'skipped' : STATES[type];
    const name = [...names.slice(0, data.nesting), data.name].join(' > ');
    yield `${JSON.stringify({ name, file: data.file ?? data.name, how })}\n`;
  }
}
