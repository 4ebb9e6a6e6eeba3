import { existsSync, readFileSync } from 'node:fs';
import { BUGS } from '../../verification/proof/bugs/bugs.js';
import { ROOT } from './snippets.js';

const ROW = /^\| [^|]+ \| `(?<file>lib\/[^`]+)` \| `(?<bug>[^`]+)` \|$/gm;

/** Rows of the table "Where each promise is kept". */
const rows = [...readFileSync(`${ROOT}docs/architecture.md`, 'utf8').matchAll(ROW)].map(({ groups }) => groups!);

describe('The table of promises in architecture.md', () => {
  it('has a row for each promise', () => {
    expect(rows.length).toBeGreaterThan(25);
  });

  it.each(rows)('$bug: the file exists, and the mistake changes it', ({ file, bug }) => {
    expect(existsSync(ROOT + file)).toBe(true);
    const patches = BUGS.find(({ name }) => name === bug)?.patches ?? [];
    expect(patches.map((patch) => patch.file)).toContain(file);
  });
});
