import { z } from 'zod';
import { ALLOCATION_OPERATIONS } from '../../../lib/console/api/allocation.js';
import { PROBLEMS, ROUTES, type Route } from '../../../lib/console/api/index.js';
import { LEADER_OPERATIONS } from '../../../lib/console/api/leaders.js';
import { PERMIT_OPERATIONS } from '../../../lib/console/api/permits.js';
import { historyQuery } from '../../../lib/console/api/requests.js';
import { RUN_NOW_OPERATIONS } from '../../../lib/console/api/run-now.js';
import { RUN_OPERATIONS } from '../../../lib/console/api/runs.js';
import { TASK_OVERVIEW_OPERATIONS } from '../../../lib/console/api/task-overview.js';
import { WORKER_OPERATIONS } from '../../../lib/console/api/task-workers.js';
import { TASK_OPERATIONS } from '../../../lib/console/api/tasks.js';
import { EXIT_MEANINGS } from '../../../lib/cli/options/exit-code.js';
import { Schemas } from '../../../lib/console/openapi/document.js';
import { METRICS } from '../../../lib/telemetry/metrics.js';
import { commandsTable, globalOptionsTable, submissionTable } from './commands.js';
import { errorsTable } from './errors.js';
import { type Table, cell, code } from './markdown.js';
import { OPTION_TABLES } from './options.js';
import { pointsOf } from './source.js';

type Routes = Readonly<Record<string, Route>>;

const CALLS: Readonly<Record<string, Routes>> = {
  'runs and jobs': RUN_OPERATIONS,
  'runs by hand': RUN_NOW_OPERATIONS,
  leadership: LEADER_OPERATIONS,
  allocation: ALLOCATION_OPERATIONS,
  permits: PERMIT_OPERATIONS,
  tasks: { ...TASK_OPERATIONS, ...WORKER_OPERATIONS, ...TASK_OVERVIEW_OPERATIONS },
};
const elsewhere = new Set(Object.values(CALLS).flatMap((calls) => Object.keys(calls)));
const others = Object.fromEntries(Object.entries<Route>(ROUTES).filter(([name]) => !elsewhere.has(name)));

/** Parts of lib with errors of one table, by their folders: the first that matches. */
const ERRORS: Readonly<Record<string, RegExp>> = {
  'of archives': /^operate\/\w+\/archive\//,
  'of people and programs': /^(operate|core\/permits\/by-hand)\//,
  'of leadership': /^leadership\//,
  'of allocation': /^allocation\//,
  'of tasks': /^tasks\//,
  'of tests': /^testing\//,
};
const partOf = (file: string) => Object.keys(ERRORS).find((part) => ERRORS[part]!.test(file));

/** The generated tables, by the names in the pages of docs: what the code describes is written there only once. */
export const TABLES: Readonly<Record<string, () => Table>> = {
  roles: () => ({ head: ['role', 'may'], rows: pointsOf('lib/console/api/roles.ts', 'Role').map(point) }),
  'states of a run by hand': () => ({
    head: ['`state`', 'what it means'],
    rows: pointsOf('lib/operate/run-now/answers.ts', 'RunNowState').map(point),
  }),
  warnings: () => ({
    head: ['code', 'the warning comes when'],
    rows: pointsOf('lib/operate/insight/warning.ts', 'warningSchema', 'code').map(point),
  }),
  ...Object.fromEntries(
    Object.entries({ ...CALLS, 'all else': others }).map(([name, calls]) => [
      `calls for ${name}`,
      () => callsTable(calls),
    ]),
  ),
  errors: () => errorsTable((file) => partOf(file) === undefined),
  ...Object.fromEntries(
    Object.keys(ERRORS).map((part) => [`errors ${part}`, () => errorsTable((file) => partOf(file) === part)]),
  ),
  'parameters of the history': () => parametersTable(historyQuery),
  'problem codes': () => ({
    head: ['status', 'code', 'title'],
    rows: Object.entries(PROBLEMS).map(([problem, [status, title]]) => [String(status), code(problem), cell(title)]),
  }),
  'exit codes': () => ({ head: ['exit code', 'meaning'], rows: Object.entries(EXIT_MEANINGS) }),
  ...OPTION_TABLES,
  commands: commandsTable,
  'options of all commands': globalOptionsTable,
  'options of tasks submit': submissionTable,
  metrics: () => ({
    head: ['metric', 'type', 'unit', 'attributes', ''],
    rows: Object.values(METRICS).map(({ name, kind, unit, attributes, description }) => {
      return [code(name), kind, code(unit), attributes.map(code).join(', '), cell(description)];
    }),
  }),
};

function point([value, text]: [string, string]): string[] {
  return [code(value), cell(text)];
}

/** A row for each parameter of a query, with its values or its bounds. */
function parametersTable({ shape }: z.ZodObject): Table {
  const rows = Object.entries(shape).map(([name, field]) => {
    const { description, enum: values, minimum, maximum } = new Schemas().of(field as z.ZodType);
    const choice = Array.isArray(values) ? `One of ${values.map((value) => code(value)).join(', ')}` : undefined;
    const bounds = maximum === undefined ? undefined : `${minimum} to ${maximum}`;
    return [code(name), cell(description as string, choice, bounds)];
  });
  return { head: ['parameter', ''], rows };
}

function callsTable(calls: Routes): Table {
  const rows = Object.values(calls).map(({ method, path, role, summary, description, query, body }) => [
    code(`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`),
    role ? code(role) : '',
    cell(summary, description, fieldsOf('Query', query), fieldsOf('Body', body)),
  ]);
  return { head: ['call', 'role', ''], rows };
}

/** The names of the fields that a call takes there, as the schema has them. */
function fieldsOf(place: 'Query' | 'Body', schema: z.ZodType | undefined): string | undefined {
  const names = Object.keys(schema instanceof z.ZodObject ? schema.shape : {});
  return names.length > 0 ? `${place}: ${names.map(code).join(', ')}` : undefined;
}
