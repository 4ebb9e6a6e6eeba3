import { readFileSync } from 'node:fs';
import { ROLES } from '../../lib/console/api/roles.js';
import { additionTo, tableNames, tablesOf } from '../../lib/stores/postgres/tables.js';
import { METRICS, type Metric } from '../../lib/telemetry/metrics.js';
import { ROOT } from './snippets.js';

it('docs/stores.md shows the SQL that postgres() runs', () => {
  const page = readFileSync(`${ROOT}docs/stores.md`, 'utf8');
  const documented = (statement: string) =>
    statement.replaceAll('"gatekeeper"', 'gatekeeper').replace('IF NOT EXISTS ', '');
  const tables = tableNames('gatekeeper');
  const missing = tablesOf(tables).filter((each) => !page.includes(`${documented(each)};`));
  expect(missing).toEqual([]);
  expect(page).toContain(`${additionTo(tables).replaceAll('"gatekeeper"', 'gatekeeper')};`);
});

it('docs/telemetry.md lists every metric as it is exported, and no other', () => {
  const cellsOf = (line: string) => line.split('|').map((cell) => cell.trim());
  const lines = readFileSync(`${ROOT}docs/telemetry.md`, 'utf8').split('\n');
  const documented = lines
    .filter((line) => line.startsWith('| `gatekeeper.'))
    .map((line) => cellsOf(line).slice(1, -1));
  const exported = Object.values<Metric>(METRICS).map(({ name, kind, unit, attributes, description }) => {
    const named = attributes.map((attribute) => `\`${attribute}\``).join(', ');
    return [`\`${name}\``, kind, `\`${unit}\``, named, description];
  });
  expect(documented).toEqual(exported);
});

it('docs/http-api.md says what a role may do only in the table of the roles', () => {
  const rows = readFileSync(`${ROOT}docs/http-api.md`, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const roleTexts = ROLES.map((role) => rows.find((cells) => cells[1] === `\`${role}\``)?.[2]);
  expect(roleTexts.every((text) => text?.length)).toBe(true);
  const copies = rows.filter(
    (cells) =>
      cells[1] && !ROLES.some((role) => cells[1] === `\`${role}\``) && cells.some((cell) => roleTexts.includes(cell)),
  );
  expect(copies.map((cells) => cells[1])).toEqual([]);
});
