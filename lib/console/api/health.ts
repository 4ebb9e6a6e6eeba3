import { z } from 'zod';
import {
  ALERT_KINDS,
  HEALTH_FAULT_CODES,
  type Health,
  type HealthFault,
  type HealthWarning,
  type PartHealth,
  type ReceiverStatus,
  type RequestResult,
  WATCHED_CODES,
} from '../../gatekeeper/index.js';
import { clockSchema, list, nodeIdentitySchema, staleShape, storeHealthSchema, time, whole } from './entities.js';

/* Schemas of a node's health. */

const faultSchema: z.ZodType<HealthFault> = z
  .object({
    code: z.enum(HEALTH_FAULT_CODES),
    since: whole.meta({ description: 'when the node noticed the fault: ms since the epoch, cluster time' }),
    sentence: z.string().meta({ description: 'for people: the fault, and what to do' }),
    stopsGrants: z.boolean().meta({ description: 'no permit is granted or refreshed through this node' }),
  })
  .meta({ id: 'HealthFault' });

const warningSchema: z.ZodType<HealthWarning> = z
  .object({
    code: z.enum(WATCHED_CODES),
    semaphore: z.string(),
    since: whole.meta({ description: 'when the node noticed it: ms since the epoch, cluster time' }),
    sentence: z.string().meta({ description: 'for people: which job or holder, and since when' }),
  })
  .meta({ id: 'HealthWarning' });

export const requestResultSchema = z
  .object({
    at: time.meta({ description: 'when the request ended: ms since the epoch, cluster time' }),
    took: whole.meta({ description: 'ms' }),
    status: whole.optional().meta({ description: 'HTTP status of the answer; absent if there was none' }),
    problem: z.string().optional().meta({ description: 'why it failed, for people; absent if it was accepted' }),
  })
  .meta({ id: 'RequestResult' }) satisfies z.ZodType<RequestResult>;

const receiverSchema: z.ZodType<ReceiverStatus> = z
  .object({
    name: z.string(),
    kinds: list(z.enum(ALERT_KINDS)),
    waiting: whole.meta({ description: 'alerts that wait' }),
    last: requestResultSchema.optional(),
  })
  .meta({ id: 'AlertReceiver' });

const partSchema: z.ZodType<PartHealth> = z
  .object({
    part: z.enum(['reads', 'writes', 'clock', 'records', 'nodes', 'runs', 'audit', 'tasks']),
    answeredAt: time.optional().meta({ description: 'begin of the newest answered call; absent if there was none' }),
    failingSince: time.optional().meta({ description: 'begin of the calls that fail now; absent while they succeed' }),
  })
  .meta({ id: 'PartHealth', description: 'one kind of calls to the store; times are cluster time' });

export const healthSchema: z.ZodType<Health> = z
  .object({
    status: z.enum(['healthy', 'degraded', 'down']).meta({ description: 'down: nothing is granted' }),
    grants: z.boolean().meta({ description: 'whether permits are granted through this node' }),
    now: time,
    faults: list(faultSchema).meta({ description: 'faults that stop grants come first' }),
    ...staleShape,
    node: nodeIdentitySchema,
    store: storeHealthSchema,
    clock: clockSchema,
    unreadable: z
      .object({ runs: whole, audit: whole, nodes: whole })
      .meta({ id: 'Unreadable', description: 'how many entries the latest readings left out' }),
    latency: z
      .number()
      .optional()
      .meta({ description: 'median in ms of the last 32 reads and writes of single records' }),
    parts: list(partSchema),
    nodes: z
      .object({ count: whole, asOf: time })
      .optional()
      .meta({ id: 'CountedNodes', description: 'the living nodes as last counted' }),
    hasArchive: z.boolean().meta({ description: 'whether this node has an archive of definitions' }),
    alerts: list(receiverSchema).optional().meta({ description: 'receivers of alerts; absent without the option' }),
    warnings: list(warningSchema).optional().meta({
      description:
        'jobs of this node that missed a run, and silent holders; they do not change the status; absent if there are none',
    }),
  })
  .meta({ id: 'Health' });
