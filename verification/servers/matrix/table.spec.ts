interface Server {
  readonly name: string;
  readonly from: { readonly text: string };
}
interface Table {
  linesIn(page: string, marks: readonly string[]): Map<string, string[]>;
  tableOf(servers: readonly Server[], lines: Map<string, string[]>, result: object): string;
}

const FILE: string = new URL('table.mjs', import.meta.url).href;
const MARKS = ['<!-- begin -->', '<!-- end -->'];
const [OLD, NEW, LATEST] = ['1.0', '2.0', '3.0'].map((text) => ({ name: 'Redis', from: { text } })) as [
  Server,
  Server,
  Server,
];
const PAGE = `| another | table |
${MARKS[0]}

| server | version | from | passed | failed   | date       |
| ------ | ------- | ---- | ------ | -------- | ---------- |
| Redis  | 1.0.1   | 1.0  | 12     | 1        | 2026-01-02 |
| Redis  | 2.0.2   | 2.0  | 13     | 0        | 2026-01-02 |
| gone   | 0.1     | 0.1  | 1      | 0        | 2026-01-02 |

${MARKS[1]}
| one more | table |`;
const RESULT = { version: '2.0.3', passed: 14, failed: 2, date: '2026-03-04' };

async function written(server: Server, result: object = RESULT) {
  const { linesIn, tableOf } = (await import(FILE)) as Table;
  return tableOf([OLD, NEW, LATEST], linesIn(PAGE, MARKS), { server, result }).split('\n').slice(2);
}

describe('the table of tested servers after a run of one server', () => {
  it('has its new line, and keeps those of the others', async () => {
    expect(await written(NEW)).toEqual([
      '| Redis | 1.0.1 | 1.0 | 12 | 1 | 2026-01-02 |',
      '| Redis | 2.0.3 | 2.0 | 14 | 2 | 2026-03-04 |',
    ]);
  });

  it('has a line for a server that was not there, at its place in the catalogue', async () => {
    expect((await written(LATEST)).map((line) => line.split(' | ')[2])).toEqual(['1.0', '2.0', '3.0']);
  });

  it('says of a server that could not start that it was not tested', async () => {
    const problem = { version: '?', passed: 0, failed: 0, problem: 'no program', date: '2026-03-04' };
    expect((await written(OLD, problem))[0]).toBe('| Redis | ? | 1.0 | not tested | not tested | 2026-03-04 |');
  });
});
