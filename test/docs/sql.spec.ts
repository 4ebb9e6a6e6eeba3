import { readFileSync } from 'node:fs';
import { additionTo, tableNames, tablesOf } from '../../lib/stores/postgres/tables.js';
import { ROOT } from './snippets.js';

it('docs/stores.md shows the SQL that postgres() runs, because people run it by hand', () => {
  const page = readFileSync(`${ROOT}docs/stores.md`, 'utf8');
  const documented = (statement: string) =>
    statement.replaceAll('"gatekeeper"', 'gatekeeper').replace('IF NOT EXISTS ', '');
  const tables = tableNames('gatekeeper');
  const missing = tablesOf(tables).filter((each) => !page.includes(`${documented(each)};`));
  expect(missing).toEqual([]);
  expect(page).toContain(`${additionTo(tables).replaceAll('"gatekeeper"', 'gatekeeper')};`);
});
