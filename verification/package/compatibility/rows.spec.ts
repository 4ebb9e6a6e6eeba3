import { readFileSync } from 'node:fs';
import { ROOT } from '../../../test/docs/snippets.js';

type Row = Readonly<Record<string, unknown>>;

const COLUMNS = ['nest', 'module', 'runner', 'platform', 'node'];
const FILE: string = new URL('rows.mjs', import.meta.url).href;

it('README and docs/compatibility.md name the version of @nestjs/schedule for each older Nest', async () => {
  const { MAJORS } = (await import(FILE)) as { MAJORS: Readonly<Record<string, Row>> };
  const installs = Object.entries(MAJORS).map(([nest, { schedule }]) => [nest, /\d+/.exec(String(schedule))![0]]);
  const readme = readFileSync(`${ROOT}README.md`, 'utf8');
  const page = readFileSync(`${ROOT}docs/compatibility.md`, 'utf8');
  expect(installs).toHaveLength(3);
  for (const [nest, schedule] of installs.slice(0, -1)) {
    const advice = `With Nest ${nest} install \`@nestjs/schedule@${schedule}\``;
    expect([readme, page]).toEqual([expect.stringContaining(advice), expect.stringContaining(advice)]);
  }
});

describe('the table of applications', () => {
  it('has a row for every two values of different columns', async () => {
    const { ROWS } = (await import(FILE)) as { ROWS: readonly Row[] };
    const valuesOf = (column: string) => [...new Set(ROWS.map((row) => row[column]))];
    const missing = COLUMNS.flatMap((one, index) =>
      COLUMNS.slice(index + 1).flatMap((other) =>
        valuesOf(one).flatMap((a) =>
          valuesOf(other)
            .filter((b) => !ROWS.some((row) => row[one] === a && row[other] === b))
            .map((b) => `${a} with ${b}`),
        ),
      ),
    );
    expect(COLUMNS.map((column) => valuesOf(column).length)).toEqual([3, 2, 2, 2, 3]);
    expect(missing).toEqual([]);
  });
});
