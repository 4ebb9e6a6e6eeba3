import { z } from 'zod';
import {
  InvalidOptionsError,
  LEADER_PREFIX,
  type SemaphoreDefinitionInput,
  definedNameFault,
  definitionSchema,
  durationFault,
  durationSchema,
  faultsOf,
  nameSchema,
  numberReadBy,
  onlyFields,
  readDuration,
  shortestDuration,
  show,
} from '../core/decision/index.js';
import type { ArchiveStore, StoreDefinition } from '../core/store/index.js';
import { CODE_CHANGES } from '../operate/definitions/code-follower.js';
import { metadataSchema } from '../core/members/metadata.js';
import type { HistoryArchiveDefinition } from '../operate/activity/index.js';
import type { NodeMetadata } from '../core/context/participant.js';
import { LONGEST_NAME } from '../core/decision/patterns/pattern-cost.js';
import { delaySchema, switchSchema } from '../core/decision/option-types.js';
import { type AlertsOptions, alertsSchema } from '../operate/alerts/index.js';
import { ALLOCATION_SCOPE, type AllocationOptions, allocationSchema } from '../allocation/index.js';
import { type TasksOptions, tasksSchema } from '../tasks/index.js';
import { applicationName, defaultName } from './process.js';
import type { TelemetryDefinition } from './telemetry.js';

/** Options of a node's membership. */
export interface MembershipInput {
  /**
   * How long the others count on this node after its last sign of life, ms or text; at most 10 minutes. Default 10s. It
   * must be more than three times `clockTolerance`.
   */
  readonly lease?: number | string;
}

/** Options of leadership. Durations are ms, or text ("5m", "PT5M"). */
export interface LeadershipOptions {
  /**
   * Whether this node takes part when the application has booted, after `onApplicationBootstrap` of all modules. If
   * false, `ClusterService.initialize()` begins it later.
   *
   * @defaultValue false
   */
  readonly enabled?: boolean;
  /**
   * Names of the scopes in which this node takes part. The first one is the default of every `scope` argument.
   *
   * @defaultValue `['default']`
   */
  readonly scopes?: readonly string[];
  /**
   * How long a leader's permit lasts without a refresh: the time until another node leads after a crash. It must be
   * more than three times `clockTolerance`.
   *
   * @defaultValue 10s
   */
  readonly lease?: number | string;
}

/** Options of `GatekeeperModule.forRoot`. Durations are ms, or text ("5m", "PT5M"). */
export interface GatekeeperOptions {
  /**
   * The store of all records: `postgres({...})` of `nestjs-gatekeeper/postgres`, `redis({...})` of
   * `nestjs-gatekeeper/redis`, `hazelcast({...})`, `memory()` or `remote({...})`. See docs/stores.md.
   */
  readonly store: StoreDefinition;
  /**
   * The node's zone or environment. Group patterns match it.
   *
   * @defaultValue `default`
   */
  readonly group?: string;
  /**
   * The node's name. Acquirer patterns match it. The name of a worker of PM2 or of Node's cluster has its number,
   * `web-1#0`: see docs/pm2.md.
   *
   * @defaultValue the host's name
   */
  readonly acquirer?: string;
  /**
   * The semaphores that this node's code defines: `{ name, groupPattern = '.*', acquirerPattern = '.*', permits = 1,
   * duration }`.
   *
   * @defaultValue none
   */
  readonly definitions?: readonly SemaphoreDefinitionInput[];
  /**
   * Whether a stored definition follows a changed one in code. `follow`: it does as soon as no living node has the
   * former one in its code, unless an operator changed it. `keep`: the stored one stays until `reset`. See
   * docs/operations.md#two-versions-at-once.
   *
   * @defaultValue `follow`
   */
  readonly codeChanges?: (typeof CODE_CHANGES)[number];
  /**
   * Whether a semaphore must have a definition. If true, a duration in a decorator or a call makes none.
   *
   * @defaultValue false
   */
  readonly requireDefinitions?: boolean;
  /**
   * Time from the start until missing definitions are put into the store. Calls that need one wait for it.
   *
   * @defaultValue 5s; with `memory()` always 0
   */
  readonly definitionsDelay?: number | string;
  /**
   * Interval at which the state of every semaphore is logged, one line each.
   *
   * @defaultValue never
   */
  readonly stateDump?: number | string;
  /**
   * The largest difference of clocks. Every duration must be more than three times as long.
   *
   * @defaultValue 500ms
   */
  readonly clockTolerance?: number | string;
  /**
   * The longest time that a call may take to ask the store.
   *
   * @defaultValue 2s
   */
  readonly callTimeout?: number | string;
  /**
   * Interval at which this node looks at the records that it uses; at most 5 minutes. One node at a time also frees
   * expired permits.
   *
   * @defaultValue 10s
   */
  readonly sweepInterval?: number | string;
  /**
   * Interval at which this node publishes that it lives, and its jobs with their schedule. 0: never.
   *
   * @defaultValue 10s
   */
  readonly heartbeat?: number | string;
  /**
   * Leadership: one leader per scope among the nodes, `{ enabled, scopes, lease }`. See docs/leadership.md.
   *
   * @defaultValue this node does not take part
   */
  readonly leadership?: LeadershipOptions;
  /**
   * Allocation: resources divided over the nodes, `{ groups: [{ name, resources, id }] }`. See docs/allocation.md.
   *
   * @defaultValue this node does not take part
   */
  readonly allocation?: AllocationOptions;
  /**
   * Distributed tasks: see docs/tasks.md. Any node may submit tasks; a node works on those for which it has a handler.
   * `{ work: false }`: it only submits (docs/tasks.md#a-process-that-only-submits). `{ maxBytes }`: the largest data
   * and result as JSON, 65,536 bytes unless set. `{ maxRetainedBytes }`: the most of all ended tasks together.
   *
   * @defaultValue none
   */
  readonly tasks?: TasksOptions;
  /**
   * Makes this node a participant, `{ lease: '10s' }`, with a lease that it renews every third of it. A crash is
   * noticed within the lease, `clockTolerance` and 1 s. The lease must be more than three times `clockTolerance`, and
   * at most 10 minutes.
   *
   * @defaultValue off, unless needed
   */
  readonly membership?: MembershipInput;
  /**
   * Data that a participant publishes, for example its address: plain JSON of at most 1 kB.
   *
   * @defaultValue `{}`
   */
  readonly metadata?: NodeMetadata;
  /**
   * Whether runs are written to the cluster's journal and to the past of jobs: their ends, and the starts of runs of 2
   * s or more. `{ stacks: false }`: without the stacks of their errors, which else the role `view` sees. `{ archive }`:
   * also into an archive (docs/operations.md#keep-runs-for-months).
   *
   * @defaultValue true
   */
  readonly history?: boolean | HistoryOptions;
  /**
   * Keeps definitions outside the cluster, so that operators' changes survive its loss: `files('./gatekeeper-definitions')`,
   * or a store that outlives the cluster, such as `postgres({ connectionString })`. See docs/persistence.md.
   *
   * @defaultValue none
   */
  readonly persistence?: ArchiveStore;
  /**
   * Logs entries with fields (semaphore, token, reason, node, ...) instead of lines of text. The value is the name of
   * the field with the text: `msg` for pino, `message` for Nest's JSON logger and winston. See docs/telemetry.md#log.
   *
   * @defaultValue lines of text
   */
  readonly logFields?: string;
  /**
   * Spans and metrics: `openTelemetry()` of `nestjs-gatekeeper/opentelemetry`. See docs/telemetry.md.
   *
   * @defaultValue none, at no cost
   */
  readonly telemetry?: TelemetryDefinition;
  /**
   * Sends alerts to webhooks when runs fail, the store is lost, or a scope has no leader, and when such a trouble ends.
   * See docs/alerts.md.
   *
   * @defaultValue none, at no cost
   */
  readonly alerts?: AlertsOptions;
  /**
   * The application's name. Applications on one store that use the same names warn of each other, so give all nodes
   * that are meant to share them the same one. See docs/options.md#several-applications-or-environments-on-one-store.
   *
   * @defaultValue the name in the `package.json` of the process
   */
  readonly application?: string;
  /**
   * The application's version, shown to operators.
   *
   * @defaultValue none
   */
  readonly version?: string;
  /**
   * The longest time for which a shutdown waits for runs, tasks, and requests that hold a permit. Under PM2 it ends 700
   * ms before PM2 kills the process.
   *
   * @defaultValue 10s
   */
  readonly shutdownGrace?: number | string;
  /**
   * Whether a new node must watch a permit for its whole duration before it takes it over, until its clock is proven.
   *
   * @defaultValue false
   */
  readonly strictStart?: boolean;
}

/** Options of the history of this node's runs. */
export interface HistoryOptions {
  /**
   * Whether failed runs keep the stack of their error. Stacks name files of the application, and each user with the role
   * `view` sees them. Default true.
   */
  readonly stacks?: boolean;
  /**
   * Keeps the runs that this node made for longer than the cluster does: `fileHistoryArchive({ folder })`,
   * `postgresHistoryArchive({...})` or your own. Default: none.
   */
  readonly archive?: HistoryArchiveDefinition;
}

/** ms */
const CLOCK_TOLERANCE = 500;

const isPersistence = (value: unknown) =>
  value === undefined || typeof (value as ArchiveStore | null)?.open === 'function';
const isHistoryArchive = (value: unknown) =>
  value === undefined || typeof (value as HistoryArchiveDefinition | null)?.open === 'function';
const NO_HISTORY_ARCHIVE =
  'is neither fileHistoryArchive({ folder }) nor postgresHistoryArchive({ connectionString, keep })';
const isTelemetry = (value: unknown) =>
  value === undefined || typeof (value as TelemetryDefinition | null)?.open === 'function';
const isStore = (value: unknown) => typeof (value as StoreDefinition | undefined)?.open === 'function';

/** ms; the default lease of a membership. */
export const MEMBERSHIP_LEASE = 10_000;
/** ms. A crashed node would count as living for so long. */
const LONGEST_LEASE = 600_000;

const leaseSchema = numberReadBy((value) => {
  const lease = readDuration(value);
  return typeof lease === 'number' && lease > LONGEST_LEASE ? `${show(value)} is longer than 10 minutes` : lease;
});

const membershipSchema = onlyFields({ lease: leaseSchema.default(MEMBERSHIP_LEASE) });

/** The scope of nodes that name none. */
export const DEFAULT_SCOPE = 'default';
/** ms; the default lease of a leader. */
export const DEFAULT_LEASE = 10_000;
const LONGEST_SCOPE = LONGEST_NAME - LEADER_PREFIX.length;

const scopeSchema = nameSchema.refine(({ length }) => length <= LONGEST_SCOPE, {
  error: ({ input }) => `${show(input)} is longer than ${LONGEST_SCOPE} characters`,
});

const RESERVED = 'is reserved for the scope that divides resources: take another name';

const scopesSchema = z
  .array(scopeSchema, { error: ({ input }) => `${show(input)} is not a list of names` })
  .min(1, 'is empty: give at least one scope')
  .refine((scopes) => new Set(scopes).size === scopes.length, 'has a scope twice')
  .refine((scopes) => !scopes.includes(ALLOCATION_SCOPE), `"${ALLOCATION_SCOPE}" ${RESERVED}`);

const leadershipSchema = onlyFields({
  enabled: switchSchema.default(false),
  scopes: scopesSchema.default([DEFAULT_SCOPE]),
  lease: durationSchema.default(DEFAULT_LEASE),
});

const historySchema = z.union(
  [
    z.boolean(),
    onlyFields({
      stacks: switchSchema.default(true),
      archive: z
        // Without `abort: false` the union would report its own error.
        .custom<HistoryArchiveDefinition | undefined>(isHistoryArchive, { error: NO_HISTORY_ARCHIVE, abort: false })
        .optional(),
    }),
  ],
  { error: ({ input }) => `${show(input)} is neither true, false nor { stacks: false }` },
);

const optionsSchema = onlyFields({
  store: z.custom<StoreDefinition>(isStore, {
    error: ({ input }) =>
      `${input === undefined ? 'is missing' : `${show(input)} is no store`}: give hazelcast({ clusterName, members }), postgres({ connectionString }), redis({ client }), remote({ url, token }) or memory()`,
  }),
  group: nameSchema.default('default'),
  acquirer: nameSchema.default(() => defaultName()),
  definitions: z
    .array(definitionSchema, { error: ({ input }) => `${show(input)} is not a list of definitions` })
    .default([]),
  codeChanges: z
    .enum(CODE_CHANGES, { error: ({ input }) => `${show(input)} is neither 'follow' nor 'keep'` })
    .default('follow'),
  requireDefinitions: switchSchema.default(false),
  definitionsDelay: delaySchema.default(5000),
  stateDump: durationSchema.optional(),
  clockTolerance: durationSchema.default(CLOCK_TOLERANCE),
  callTimeout: durationSchema.default(2000),
  sweepInterval: durationSchema.default(10_000),
  heartbeat: delaySchema.default(10_000),
  leadership: leadershipSchema.prefault({}),
  allocation: allocationSchema.prefault({}),
  tasks: tasksSchema.prefault({}),
  membership: membershipSchema.optional(),
  metadata: metadataSchema.default({}),
  history: historySchema.default(true),
  persistence: z
    .custom<ArchiveStore | undefined>(
      isPersistence,
      "is neither files('./gatekeeper-definitions') nor another store, such as postgres({ connectionString })",
    )
    .optional(),
  logFields: nameSchema.optional(),
  telemetry: z
    .custom<TelemetryDefinition | undefined>(isTelemetry, 'is not openTelemetry() of nestjs-gatekeeper/opentelemetry')
    .optional(),
  alerts: alertsSchema.optional(),
  application: nameSchema.optional().transform((given) => given ?? applicationName()),
  version: nameSchema.optional(),
  shutdownGrace: delaySchema.default(10_000),
  strictStart: switchSchema.default(false),
});

/** The options with defaults filled in, all durations in ms. */
export interface GatekeeperSettings extends z.output<typeof optionsSchema> {}

/**
 * Checks all options at once.
 *
 * @throws InvalidOptionsError listing every fault with its field and value
 */
export function parseGatekeeperOptions(options: GatekeeperOptions): GatekeeperSettings {
  const parsed = optionsSchema.safeParse(options);
  const faults = [
    ...(parsed.error ? faultsOf(parsed.error) : []),
    ...definitionFaults(options),
    ...leaseFaults(options),
    ...archiveFaults(options),
  ];
  if (!parsed.success || faults.length > 0) throw new InvalidOptionsError("GatekeeperModule's options", faults);
  return parsed.data;
}

/**
 * Reads options that must fit each other, even if other options are invalid. Replaces unreadable values by defaults.
 */
const relatedSchema = z
  .object({
    definitions: z.array(definitionSchema.optional().catch(undefined)).catch([]),
    membership: membershipSchema.optional().catch(undefined),
    leadership: leadershipSchema.optional().catch(undefined),
    clockTolerance: durationSchema.default(CLOCK_TOLERANCE).catch(CLOCK_TOLERANCE),
  })
  .catch({ definitions: [], membership: undefined, leadership: undefined, clockTolerance: CLOCK_TOLERANCE });

function leaseFaults(options: unknown): string[] {
  const { membership, leadership, clockTolerance } = relatedSchema.parse(options);
  return Object.entries({ membership, leadership }).flatMap(([option, { lease } = { lease: Infinity }]) =>
    lease >= shortestDuration(clockTolerance)
      ? []
      : [
          `${option}.lease: ${lease} ms must be more than 3 x clockTolerance (${clockTolerance} ms): give a longer lease, or a smaller clockTolerance`,
        ],
  );
}

function archiveFaults(options: unknown): string[] {
  const { store, persistence } = (options ?? {}) as Partial<GatekeeperOptions>;
  const isSame = persistence !== undefined && persistence === store;
  return isSame ? ['persistence: is the store of the cluster, and would be lost with it: give another one'] : [];
}

function definitionFaults(options: unknown): string[] {
  const { definitions, clockTolerance } = relatedSchema.parse(options);
  const seen = new Set<string>();
  return definitions.flatMap((definition, index) => {
    if (!definition) return [];
    const { name, duration } = definition;
    const tooShort = durationFault(duration, clockTolerance);
    const reserved = definedNameFault(name);
    const faults = tooShort ? [`definitions.${index}.${tooShort}`] : [];
    if (reserved) faults.push(`definitions.${index}.name: ${reserved}`);
    if (seen.has(name)) faults.push(`definitions.${index}.name: ${show(name)} is defined twice`);
    seen.add(name);
    return faults;
  });
}
