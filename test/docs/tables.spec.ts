import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { tableNames, tablesOf } from '../../lib/stores/postgres/tables.js';
import { ROOT } from './snippets.js';

it('docs/stores.md shows the SQL that postgres() runs', () => {
  const page = readFileSync(`${ROOT}docs/stores.md`, 'utf8');
  const documented = (statement: string) =>
    statement.replaceAll('"gatekeeper"', 'gatekeeper').replace('IF NOT EXISTS ', '');
  const missing = tablesOf(tableNames('gatekeeper')).filter((each) => !page.includes(`${documented(each)};`));
  expect(missing).toEqual([]);
});
