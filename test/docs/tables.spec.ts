import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
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
