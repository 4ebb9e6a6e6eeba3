import { z } from 'zod';
import { durationSchema } from '../../core/decision/definition.js';
import type { DurationInput } from '../../core/decision/duration.js';
import { InvalidOptionsError } from '../../core/decision/invalid-options.error.js';
import { faultsOf, onlyFields, saying } from '../../core/decision/only-fields.js';
import { show } from '../../core/decision/texts/show.js';
import { NO_ADDRESS, type PgPool, type Queries, isAddress } from './pg.js';

/** Options of `postgres(...)`: either `connectionString` or `pool`. */
export interface PostgresStoreOptions {
  /**
   * Address of the primary: "postgres://user:password@host/database". The store opens and closes its connections. The
   * password stands in no log and no error.
   */
  readonly connectionString?: string;
  /**
   * Instead of `connectionString`: pg's pool of the application, which is never closed. Keeps one of its connections, for notifications. With
   * `notifications: false`, any object with pg's `query(text, values)` will do, except a single `Client`.
   */
  readonly pool?: PgPool | Queries;
  /**
   * Largest number of connections that the store opens with `connectionString`, 1 to 100. One more listens.
   *
   * @defaultValue 10
   */
  readonly maxConnections?: number;
  /**
   * Schema of the tables. Applications with different schemas share nothing.
   *
   * @defaultValue `gatekeeper`
   */
  readonly schema?: string;
  /**
   * Whether to create missing tables, and the schema. Nodes that start together take turns. If false, create them with
   * the SQL under docs/stores.md#tables.
   *
   * @defaultValue true
   */
  readonly createTables?: boolean;
  /**
   * Whether to use LISTEN and NOTIFY, so that nodes learn of changes at once. Use false behind a pooler that gives each
   * transaction another connection, for instance pgbouncer with pool_mode = transaction: then nodes poll, and the store
   * uses neither settings of a session nor named statements. Use the same value on all nodes.
   *
   * @defaultValue true
   */
  readonly notifications?: boolean;
  /**
   * Time between two polls, ms or text, 50 ms to 1 minute, while no notifications arrive.
   *
   * @defaultValue 1s
   */
  readonly pollInterval?: DurationInput;
}

/** Options with defaults. */
export interface ResolvedOptions {
  readonly connectionString?: string | undefined;
  readonly pool?: PgPool | Queries | undefined;
  readonly maxConnections: number;
  readonly schema: string;
  readonly createTables: boolean;
  readonly notifications: boolean;
  readonly pollInterval: number;
}

const flag = z.boolean(saying('true or false')).default(true);
const count = (least: number, most: number) => {
  const wanted = saying(`a whole number from ${least} to ${most}`);
  return z.int(wanted).min(least, wanted).max(most, wanted);
};

const pollIntervalSchema = durationSchema.refine((interval) => interval >= 50 && interval <= 60_000, {
  error: ({ input }) => `${show(input)} ms is not between 50 ms and 1 minute`,
});

const schema = onlyFields({
  // No message contains this value, because it may contain a password.
  connectionString: z
    .string({ error: ({ input }) => (input === null ? 'null is not text' : 'is not text') })
    .min(1, 'is empty: is the variable set that it comes from?')
    .refine(isAddress, { error: NO_ADDRESS, abort: true })
    .optional(),
  pool: z
    .custom<PgPool | Queries>(
      (value) => typeof (value as Partial<Queries> | null)?.query === 'function',
      saying('a pool: pass the result of new Pool() of pg'),
    )
    .optional(),
  maxConnections: count(1, 100).default(10),
  schema: z
    .string(saying('a name'))
    .regex(/^[a-z_][a-z0-9_]{0,39}$/, saying("a schema's name: use up to 40 of the characters a-z, 0-9 and _"))
    .default('gatekeeper'),
  createTables: flag,
  notifications: flag,
  pollInterval: pollIntervalSchema.default(1000),
});

/** @throws InvalidOptionsError listing every fault */
export function resolveOptions(options: PostgresStoreOptions): ResolvedOptions {
  const parsed = schema.safeParse(options);
  const faults = [...(parsed.error ? faultsOf(parsed.error) : []), ...relationFaults(options ?? {})];
  if (!parsed.success || faults.length > 0) throw new InvalidOptionsError('postgres(options)', faults);
  return parsed.data;
}

/** Pools of pg have no type parsers, and its clients have. A client also has `connect`, but lends nothing by it. */
const SINGLE =
  'pool: it is a single connection of pg (new Client()), which runs one statement at a time: pass the result of new Pool()';

/** Faults between fields. Not in the schema, because zod skips such checks if a field is wrong. */
function relationFaults({ connectionString, pool, notifications, maxConnections }: PostgresStoreOptions): string[] {
  if ((connectionString === undefined) === (pool === undefined)) return ['give either connectionString or pool'];
  if (!pool) return [];
  if ('getTypeParser' in pool) return [SINGLE];
  const unused = maxConnections === undefined ? [] : ['maxConnections: the pool has its own limit: remove it'];
  return notifications === false ? unused : [...unused, ...listeningFaults(pool)];
}

/** The connection that listens would be the only one, or could not be taken out of the pool. */
function listeningFaults(pool: PgPool | Queries): string[] {
  if (typeof (pool as Partial<PgPool>).connect !== 'function') {
    return [
      'pool: it has no method connect, which notifications need: pass the pool of pg, or set notifications: false',
    ];
  }
  const { max } = (pool as { options?: { max?: number } }).options ?? {};
  return max === 1 ? ['pool: its max is 1, and one connection listens: raise max, or set notifications: false'] : [];
}
