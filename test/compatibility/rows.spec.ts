import { describe, expect, it } from '@jest/globals';

type Row = Readonly<Record<string, unknown>>;

const COLUMNS = ['nest', 'module', 'runner', 'platform', 'node'];
const FILE: string = './rows.mjs';

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
