import { z } from 'zod';
import { type ClusterClockReport, clockReportSchema } from '../../core/clock/clock-report.js';
import { ALERT_KINDS, type AlertKind } from '../../core/context/alert.js';
import { nodeIdentitySchema } from '../../core/context/node-identity.js';
import { staleShape } from '../../core/context/stale-answers.js';
import { list, named, time, whole } from '../../core/decision/answer-values.js';
import { type StoreHealth, storeHealthSchema } from '../../core/store/store-health.js';
import { WATCHED_CODES } from './warning-codes.js';

/*
 * The health of a node. Import only types from here in code that an application loads.
 * A field with a docstring besides its description says more there than the document of the API.
 */

const unreadableSchema = z
  .object({
    runs: whole.meta({ description: 'entries of the history of runs' }),
    audit: whole.meta({ description: 'entries of the audit log' }),
    nodes: whole.meta({ description: 'registry entries of nodes' }),
  })
  .meta({ id: 'Unreadable', description: 'how many entries the latest readings left out' });

/** Number of texts that the latest readings left out because they can't be read. */
export interface UnreadableCounts extends Readonly<z.output<typeof unreadableSchema>> {}

/** All values of {@link HealthFaultCode}. */
export const HEALTH_FAULT_CODES = [
  'closing',
  'store-unreachable',
  'no-quorum',
  'store-silent',
  'store-failing',
  'clock-unread',
  'clock-suspect',
  'records-unread',
  'nodes-unread',
  'runs-unread',
  'audit-unread',
  'shards-unread',
  'recovering',
  'semaphores-removed',
  'code-not-followed',
  'tasks-failing',
  'entries-unreadable',
  'archive-failing',
  'run-archive-failing',
  'no-leader',
  'resources-unowned',
  'allocation-failing',
  'alerts-undelivered',
  'other-application',
] as const;

/**
 * Identifies a fault; docs/operations.md explains each. The codes are part of the API and are never renamed.
 *
 * @useDeclaredType
 */
export type HealthFaultCode = (typeof HEALTH_FAULT_CODES)[number];

const faultSchema = z
  .object({
    code: named<HealthFaultCode>(z.enum(HEALTH_FAULT_CODES)).meta({
      description: 'identifies the fault, for programs',
    }),
    /**
     * When this node noticed the fault: at its first failed call, or at the first report that shows it. ms since the
     * epoch, cluster time.
     */
    since: whole.meta({ description: 'when the node noticed the fault: ms since the epoch, cluster time' }),
    sentence: z.string().meta({ description: 'for people: the fault, and what to do' }),
    /** Whether this node grants and refreshes no permit while the fault lasts. */
    stopsGrants: z.boolean().meta({ description: 'no permit is granted or refreshed through this node' }),
  })
  .meta({ id: 'HealthFault' });

/** A fault of a node, its store or its clocks. */
export interface HealthFault extends Readonly<z.output<typeof faultSchema>> {}

const warningSchema = z
  .object({
    code: z.enum(WATCHED_CODES).meta({ description: 'identifies the warning, for programs' }),
    semaphore: z.string().meta({ description: 'name of the semaphore' }),
    since: whole.meta({ description: 'when the node noticed it: ms since the epoch, cluster time' }),
    sentence: z.string().meta({ description: 'for people: which job or holder, and since when' }),
  })
  .meta({ id: 'HealthWarning' });

/** A warning about a semaphore of this node that is no fault: permits are granted, and another node would do no better. */
export interface HealthWarning extends Readonly<z.output<typeof warningSchema>> {}

export const requestResultSchema = z
  .object({
    at: time.meta({ description: 'when the request ended: ms since the epoch, cluster time' }),
    /** Its duration in ms. */
    took: whole.meta({ description: 'ms' }),
    status: whole.optional().meta({ description: 'HTTP status of the answer; absent if there was none' }),
    problem: z.string().optional().meta({ description: 'why it failed, for people; absent if it was accepted' }),
  })
  .meta({ id: 'RequestResult' });

/** Result of a request to a receiver of alerts. */
export interface RequestResult extends Readonly<z.output<typeof requestResultSchema>> {}

const receiverSchema = z
  .object({
    name: z.string().meta({ description: 'its name; by default the host of its address' }),
    kinds: list(named<AlertKind>(z.enum(ALERT_KINDS))).meta({ description: 'kinds of alerts that it gets' }),
    waiting: whole.meta({ description: 'alerts that wait' }),
    last: named<RequestResult>(requestResultSchema)
      .optional()
      .meta({ description: 'the last request; absent before the first' }),
  })
  .meta({ id: 'AlertReceiver' });

/** A receiver of alerts, and the result of the last request to it. */
export interface ReceiverStatus extends Readonly<z.output<typeof receiverSchema>> {}

const partSchema = z
  .object({
    part: z.enum(['reads', 'writes', 'clock', 'records', 'nodes', 'runs', 'audit', 'tasks']).meta({
      description:
        "`reads` and `writes` of single records, the members' `clock`, the lists of `records` and `nodes`, the journals `runs` " +
        'and `audit`, or `tasks`',
    }),
    /** Begin of the newest answered call: ms since the epoch, cluster time. Absent if none was answered yet. */
    answeredAt: time.optional().meta({ description: 'begin of the newest answered call; absent if there was none' }),
    /** Begin of the first of the calls that fail now, in the same unit. Absent while calls are answered. */
    failingSince: time.optional().meta({ description: 'begin of the calls that fail now; absent while they succeed' }),
  })
  .meta({ id: 'PartHealth', description: 'one kind of calls to the store; times are cluster time' });

/** When one kind of calls to the store was last answered. */
export interface PartHealth extends Readonly<z.output<typeof partSchema>> {}

const countedSchema = z.object({
  count: whole.meta({ description: 'number of living nodes' }),
  /** When they were counted: ms since the epoch, cluster time. */
  asOf: time,
});

/** The living nodes as last counted. */
export interface CountedNodes extends Readonly<z.output<typeof countedSchema>> {}

const reportSchema = z.object({
  /** `healthy`: no fault. `degraded`: permits are granted, but there are faults. `down`: nothing is granted. */
  status: z.enum(['healthy', 'degraded', 'down']).meta({ description: 'down: nothing is granted' }),
  grants: z.boolean().meta({ description: 'whether permits are granted through this node' }),
  /** Time of the report: ms since the epoch, cluster time. */
  now: time,
  /** All known faults; those that stop grants come first. */
  faults: list<HealthFault>(faultSchema).meta({ description: 'faults that stop grants come first' }),
  ...staleShape,
});

/**
 * Whether permits are granted through this node, and all known faults. `stale` names what this node can't read now, and
 * shows as it last knew it in its other answers.
 */
export interface HealthReport extends Readonly<z.output<typeof reportSchema>> {}

export const healthSchema = reportSchema
  .extend({
    node: nodeIdentitySchema.meta({ description: 'the reporting node' }),
    store: named<StoreHealth>(storeHealthSchema).meta({ description: 'the health of the store' }),
    clock: named<ClusterClockReport>(clockReportSchema).meta({
      description: 'the cluster clock, as this node knows it',
    }),
    /** Number of entries that the latest readings left out because they can't be read. */
    unreadable: named<UnreadableCounts>(unreadableSchema),
    /** Median in ms of the last 32 reads and writes of single records. Absent before the first. */
    latency: z
      .number()
      .optional()
      .meta({ description: 'median in ms of the last 32 reads and writes of single records' }),
    parts: list<PartHealth>(partSchema).meta({
      description: 'the kinds of calls that this node has made, with their last answers',
    }),
    /** The living nodes. Absent if they were never counted. */
    nodes: named<CountedNodes>(countedSchema)
      .optional()
      .meta({ id: 'CountedNodes', description: 'the living nodes as last counted' }),
    hasArchive: z.boolean().meta({ description: 'whether this node has an archive of definitions' }),
    alerts: list<ReceiverStatus>(receiverSchema)
      .optional()
      .meta({ description: 'receivers of alerts; absent without the option' }),
    /**
     * Jobs of this node that missed a run, and holders of its semaphores that are not heard of, at most 20 of each. They don't
     * change the status. Absent if there are none, or if this node publishes nothing.
     */
    warnings: list<HealthWarning>(warningSchema).optional().meta({
      description:
        'jobs of this node that missed a run, and silent holders; they do not change the status; absent if there are none',
    }),
  })
  .meta({ id: 'Health' });

/** Health of a node: its store, its clock, and whether permits are granted through it. */
export interface Health extends Readonly<z.output<typeof healthSchema>> {}
