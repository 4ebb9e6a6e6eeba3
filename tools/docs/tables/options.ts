import { type Table, cell, code } from './markdown.js';
import { fieldsOf } from './source.js';

interface Part {
  readonly file: string;
  /** Name of the interface. */
  readonly of: string;
  /** Begin of the names in the table. */
  readonly prefix?: string;
  readonly only?: readonly string[];
}

const calls = 'lib/core/permits/call-options.ts';
const consoleOptions = 'lib/console/options/console.options.ts';
const alerts = 'lib/operate/alerts/alerts-options.ts';
const redis = 'lib/stores/redis/redis.options.ts';
const groups = 'lib/allocation/group-options.ts';

/** Interfaces of options by table. Their docstrings and `@defaultValue` make its rows. */
const OPTIONS: Readonly<Record<string, readonly Part[]>> = {
  'the module': [
    { file: 'lib/gatekeeper/gatekeeper-options.ts', of: 'GatekeeperOptions' },
    { file: 'lib/gatekeeper.module-definition.ts', of: 'GatekeeperModuleExtras' },
  ],
  'a guarded run': [
    { file: calls, of: 'AcquireOptions', only: ['duration', 'holder', 'acquirer'] },
    { file: calls, of: 'RunOptions' },
    { file: 'lib/nest/cluster-singleton.decorator.ts', of: 'ClusterSingletonOptions', only: ['missed'] },
  ],
  'the console': [
    { file: consoleOptions, of: 'ConsoleOptions' },
    { file: consoleOptions, of: 'ConsoleToken', prefix: 'tokens[].' },
  ],
  leadership: [{ file: 'lib/gatekeeper/gatekeeper-options.ts', of: 'LeadershipOptions', prefix: 'leadership.' }],
  'an allocation group': [
    { file: groups, of: 'AllocationGroupDefinition' },
    { file: groups, of: 'AllocationGroupOptions' },
  ],
  'a submission': [{ file: 'lib/tasks/rules/submit-options.ts', of: 'SubmitOptions' }],
  'a handler': [{ file: 'lib/tasks/rules/handler-options.ts', of: 'HandlerOptions' }],
  'a schedule': [
    { file: 'lib/nest/cluster-cron.decorator.ts', of: 'ClusterCronOptions' },
    { file: 'lib/tasks/rules/schedule-options.ts', of: 'ScheduleOptions' },
  ],
  alerts: [
    { file: alerts, of: 'AlertsOptions', prefix: 'alerts.' },
    { file: alerts, of: 'WebhookOptions', prefix: 'alerts.webhooks[].' },
  ],
  telemetry: [{ file: 'lib/telemetry/open-telemetry.ts', of: 'OpenTelemetryOptions' }],
  postgres: [{ file: 'lib/stores/postgres/postgres.options.ts', of: 'PostgresStoreOptions' }],
  redis: [
    { file: redis, of: 'GivenRedisOptions', only: ['client'] },
    { file: redis, of: 'OwnRedisOptions', only: ['url'] },
    { file: redis, of: 'RecordOptions' },
  ],
  remote: [{ file: 'lib/stores/remote/index.ts', of: 'RemoteOptions' }],
};

/** Tables of options by their names in the pages. */
export const OPTION_TABLES: Readonly<Record<string, () => Table>> = Object.fromEntries(
  Object.entries(OPTIONS).map(([name, parts]) => [`options of ${name}`, () => optionsTable(parts)]),
);

function optionsTable(parts: readonly Part[]): Table {
  const rows = parts.flatMap(({ file, of, prefix = '', only }) =>
    fieldsOf(file, of)
      .filter(({ name }) => only?.includes(name) ?? true)
      .map(({ name, text, defaultValue = '' }) => [code(prefix + name), cell(defaultValue), cell(text)]),
  );
  return { head: ['option', 'default', ''], rows };
}
