import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Ajv from 'ajv';
import { execa } from 'execa';
import { parse } from 'yaml';
import { ROOT } from '../../test/docs/snippets.js';
import { lackOf } from '../needs/programs.js';
import { itUnless } from '../../test/support/unless.js';
import { useCluster } from '../../test/support/nodes.js';
import { everyMetric } from '../../test/telemetry/every-metric.js';
import { useObserved } from '../../test/telemetry/observed.js';

const cluster = useCluster();
const observe = useObserved();

const RULES = 'docs/alert-rules.yaml';
const DASHBOARD = 'docs/grafana-dashboard.json';
const textOf = (file: string) => readFileSync(ROOT + file, 'utf8');

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const { panels, templating } = JSON.parse(textOf(DASHBOARD)) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
};
const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const variables = templating.list.map(({ query }) => (typeof query === 'string' ? query : query.query));
const { groups } = parse(textOf(RULES)) as { groups: { rules: { alert: string; expr: string }[] }[] };
const rules = groups.flatMap((group) => group.rules);

/** Names of metrics and of labels in expressions. */
const namesIn = (texts: readonly string[]) => [
  ...new Set(texts.flatMap((text) => text.match(/\b(?:gatekeeper_\w+|error_type)\b/g) ?? [])),
];

/** Names of metrics and of labels in the answer to a scrape. */
const exportedIn = (scrape: string) => {
  const series = scrape.matchAll(/^(?<name>gatekeeper_\w+)(?:\{(?<labels>.*)\})? /gm);
  const names = [...series].flatMap(({ groups: { name, labels = '' } = {} }) => [
    name,
    ...(labels.match(/\w+(?==")/g) ?? []),
  ]);
  return new Set(names);
};

it.each([
  ['the dashboard', [...queries, ...variables]],
  ['the alerts', rules.map(({ expr }) => expr)],
])('the names in %s are those of metrics and attributes that a scrape has', async (_, texts) => {
  const observed = observe();
  await everyMetric(cluster(), observed);
  const exported = exportedIn(await observed.scrape());
  const used = namesIn(texts);
  expect(used.length).toBeGreaterThan(10);
  expect(used.filter((name) => !exported.has(name))).toEqual([]);
});

it('the dashboard has the structure that Grafana imports', () => {
  const text = { type: 'string', minLength: 1 };
  const size = { type: 'integer', minimum: 0, maximum: 24 };
  const position = { type: 'object', required: ['h', 'w', 'x'], properties: { h: size, w: size, x: size } };
  const datasource = { type: 'object', properties: { uid: { const: '${datasource}' } }, required: ['type', 'uid'] };
  const target = {
    type: 'object',
    required: ['refId', 'expr', 'legendFormat', 'datasource'],
    properties: { refId: text, expr: text, legendFormat: text, datasource },
  };
  const panel = {
    type: 'object',
    required: ['id', 'type', 'title', 'gridPos'],
    properties: {
      type: { enum: ['row', 'stat', 'timeseries'] },
      title: text,
      gridPos: position,
      datasource,
      targets: { type: 'array', minItems: 1, items: target },
    },
    if: { properties: { type: { const: 'row' } } },
    else: { required: ['datasource', 'targets', 'fieldConfig', 'options'] },
  };
  const schema = {
    type: 'object',
    required: ['uid', 'title', 'schemaVersion', 'templating', 'time', 'panels'],
    properties: {
      schemaVersion: { type: 'integer', minimum: 36 },
      panels: { type: 'array', minItems: 10, items: panel },
    },
  };
  const ajv = new Ajv.default({ allErrors: true });
  ajv.validate(schema, JSON.parse(textOf(DASHBOARD)));
  expect(ajv.errors).toBeNull();
  const ids = (panels as readonly unknown[] as readonly { id: number }[]).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

const lack = await lackOf('promtool').then((missing) =>
  missing?.replace('apt-get install promtool', 'apt-get install prometheus'),
);
const promtool = execa({ cwd: ROOT, reject: false, all: true });

itUnless(lack)('the alerts are valid rules of Prometheus', async () => {
  const { exitCode, all } = await promtool`promtool check rules ${RULES}`;
  expect([exitCode, all]).toEqual([0, expect.stringContaining(`${rules.length} rules found`)]);
});

itUnless(lack)('the alerts fire when they should, and each of them has a test', async () => {
  const tests = 'test/telemetry/alert-rules.test.yaml';
  const { exitCode, all } = await promtool`promtool test rules ${tests}`;
  expect([exitCode, all]).toEqual([0, expect.stringContaining('SUCCESS')]);
  const untested = rules.filter(({ alert }) => !new RegExp(`${alert}\\n\\s+exp_alerts`).test(textOf(tests)));
  expect(untested).toEqual([]);
});

itUnless(lack)('the queries of the dashboard are valid', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dashboard-'));
  try {
    const file = join(folder, 'queries.json');
    const ofQuery = (query: string, index: number) => ({
      record: `query:${index}`,
      expr: query.replaceAll('$__rate_interval', '5m').replaceAll(/\$(?:job|instance)/g, '.*'),
    });
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'queries', rules: queries.map(ofQuery) }] }));
    const { exitCode, all } = await promtool`promtool check rules ${file}`;
    expect([exitCode, all]).toEqual([0, expect.stringContaining(`${queries.length} rules found`)]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
