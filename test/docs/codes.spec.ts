import { readFileSync } from 'node:fs';
import { HEALTH_FAULT_CODES, WARNING_CODES } from '../../lib/gatekeeper/index.js';

const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

/** The codes in the first cells of the rows of tables. */
const explained = new Set(
  [...operations.matchAll(/^\| (`[\w-]+`(?:, `[\w-]+`)*) \|/gm)].flatMap(([, cell]) =>
    cell!.replaceAll('`', '').split(', '),
  ),
);

describe('operations.md', () => {
  it.each([
    ['fault of the health', HEALTH_FAULT_CODES],
    ['warning of a semaphore', WARNING_CODES],
  ])('explains each %s, and what to do', (_kind, codes) => {
    expect(codes.filter((code) => !explained.has(code))).toEqual([]);
  });
});
