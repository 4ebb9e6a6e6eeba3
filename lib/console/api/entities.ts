import { z } from 'zod';
import {
  type AuditEntry,
  type DefinitionState,
  type Explanation,
  type HistoryEntry,
  type HolderOverview,
  type HolderState,
  type RunEntry,
  type RunningEntry,
  type SemaphoreOverview,
  WARNING_CODES,
  jobInfoSchema,
} from '../../gatekeeper/index.js';
import { denialReasonSchema, list, time, whole } from '../../core/decision/answer-values.js';
import type { SemaphoreDefinition, StoredPermit } from '../../core/decision/index.js';
import { AUDIT_ACTIONS, CHANGE_OUTCOMES } from '../../core/context/audit-entry.js';
import { nodeIdentitySchema } from '../../core/context/node-identity.js';
import { STALE_PARTS, type StalePart, type StalePartName } from '../../core/context/stale.js';
import { LOSS_REASONS, SKIP_REASONS, TERM_ENDS } from '../../core/context/events.js';
import type { StoreHealth } from '../../core/store/index.js';

/* The parts of answers. If a schema differs from the gatekeeper's own type, this file doesn't compile. */

export { denialReasonSchema, list, nodeIdentitySchema, time, whole };

const stalePartSchema: z.ZodType<StalePart> = z
  .object({
    part: z.enum(Object.keys(STALE_PARTS) as StalePartName[]),
    since: time.optional().meta({
      description: 'cluster time of the data that are shown instead; absent if there was no complete reading',
    }),
    sentence: z.string().meta({ description: 'why it could not be read, for people' }),
  })
  .meta({ id: 'StalePart' });

/** The field of each answer of which parts may be out of date. */
export const staleShape = {
  stale: list(stalePartSchema)
    .optional()
    .meta({ description: 'the parts that could not be read now; absent if all is current' }),
};

export const definitionSchema: z.ZodType<SemaphoreDefinition> = z
  .object({
    name: z.string(),
    groupPattern: z.string(),
    acquirerPattern: z.string(),
    permits: whole,
    duration: whole.meta({ description: 'ms' }),
  })
  .meta({ id: 'SemaphoreDefinition' });

const changeShape = { by: z.string(), at: time, reason: z.string().optional() };

export const changeSchema = z
  .object({
    id: z.string(),
    kind: z.enum(['define', 'edit', 'pause', 'resume', 'migrate', 'reset', 'remove', 'follow']),
    ...changeShape,
  })
  .meta({ id: 'DefinitionChange' });

export const pauseSchema = z.object({ ...changeShape, groupPattern: z.string() }).meta({ id: 'Pause' });

export const definitionStateShape = {
  definition: definitionSchema,
  revision: whole,
  source: z.enum(['code', 'operator']).optional(),
  change: changeSchema.optional(),
  pause: pauseSchema.optional(),
  code: definitionSchema.optional(),
  isOverridden: z.boolean(),
};

export const definitionStateSchema: z.ZodType<DefinitionState> = z
  .object(definitionStateShape)
  .meta({ id: 'DefinitionState' });

const permitShape = {
  id: z.string(),
  slot: whole,
  token: whole.meta({ description: 'grows with every new grant: give it to the resource that you guard' }),
  instance: z.string(),
  holder: z.string(),
  acquirer: z.string(),
  group: z.string(),
  grantedAt: time,
  expiresAt: time,
  duration: whole,
  nonce: z
    .string()
    .optional()
    .meta({ description: 'there if a clock was ahead before: the end tells no refresh apart then' }),
  asked: z.object({ duration: whole, under: whole }).optional().meta({
    id: 'AskedDuration',
    description: "ms that its holder asked for, and the definition's duration at that time",
  }),
};

export const storedPermitSchema: z.ZodType<StoredPermit> = z.object(permitShape).meta({ id: 'StoredPermit' });

const holderShape = {
  ...permitShape,
  remaining: z.number().meta({ description: 'ms until it ends; negative if it has ended but is not dropped yet' }),
  isMine: z.boolean(),
};

export const holderSchema: z.ZodType<HolderState> = z.object(holderShape).meta({ id: 'HolderState' });

const holderOverviewSchema: z.ZodType<HolderOverview> = z
  .object({
    ...holderShape,
    isUnheard: z.literal(true).optional().meta({
      description:
        'its process is none of the living nodes, and has not renewed the permit for 10 s; absent if that is unknown',
    }),
  })
  .meta({ id: 'HolderOverview' });

const semaphoreShape = {
  ...z.object(definitionStateShape).partial().shape,
  name: z.string(),
  isOnDemand: z.literal(true).optional().meta({
    description:
      'no code and no operator defines it: its definition ends with the last permit of the calls that use it',
  }),
  revision: whole,
  holders: list(holderOverviewSchema),
  free: whole,
  lastGrantAt: time.optional().meta({
    description: 'the last grant, not counting refreshes: ms since the epoch, cluster time; absent if there was none',
  }),
  isForThisNode: z.boolean(),
  problem: z.string().optional(),
};

const happened = { semaphore: z.string(), job: z.string(), node: nodeIdentitySchema, at: time };
const skipReason = z.enum(SKIP_REASONS);

const askedBy = z.string().meta({
  description: 'who asked for this run; absent for a run that the scheduler or the application started',
});
const missedTime = time.meta({ description: 'the planned time that was missed, if this run makes up for it' });
const runNumber = whole.meta({ description: 'number of the run on its node and semaphore' });

const lossSchema = z.object({ at: time, reason: z.enum(LOSS_REASONS) }).meta({ id: 'PermitLoss' });

/** The fields of a run that is over. */
export const runShape = {
  ...happened,
  kind: z.literal('run'),
  took: z.number().optional().meta({ description: 'ms; absent if its node no longer lives, and has written no end' }),
  outcome: z.enum(['ok', 'failed', 'lost', 'crashed']).meta({
    description:
      'crashed: its node no longer lives, and has written neither an end of the run nor the loss of its permit',
  }),
  message: z.string().optional(),
  by: askedBy.optional(),
  missed: missedTime.optional(),
  attempts: whole.optional().meta({ description: 'number of attempts; absent for a run without the option retry' }),
  token: whole.optional(),
  slot: whole.optional(),
  renewals: whole.optional().meta({ description: 'how often its permit was renewed; absent if it never was' }),
  loss: lossSchema.optional().meta({ description: 'of the outcome lost: when and why its permit ended' }),
  ended: z.enum(TERM_ENDS).optional().meta({ description: 'of a term of leadership: why it ended' }),
  run: runNumber.optional(),
  until: time.optional().meta({
    description:
      'of a run without an end: the last known expiry of its permit, before which nothing else runs under it; ms since the epoch, cluster time',
  }),
};

export const runSchema: z.ZodType<RunEntry> = z.object(runShape).meta({ id: 'Run' });

export const runningSchema: z.ZodType<RunningEntry> = z
  .object({
    ...happened,
    kind: z.literal('running'),
    run: runNumber,
    by: askedBy.optional(),
    missed: missedTime.optional(),
    token: whole.optional(),
    slot: whole.optional(),
    loss: lossSchema.optional().meta({ description: 'when and why its permit ended, although the run goes on' }),
  })
  .meta({ id: 'Running', description: 'a run that goes on, for 2 s or more' });

const skipSchema = z
  .object({
    ...happened,
    kind: z.literal('skip'),
    reason: skipReason,
    before: z.object({ reason: skipReason, count: whole }).meta({ id: 'EarlierSkips' }).optional(),
  })
  .meta({ id: 'Skip' });

export const historyEntrySchema: z.ZodType<HistoryEntry> = z.union([runSchema, runningSchema, skipSchema]).meta({
  id: 'HistoryEntry',
  discriminator: {
    propertyName: 'kind',
    mapping: {
      run: '#/components/schemas/Run',
      running: '#/components/schemas/Running',
      skip: '#/components/schemas/Skip',
    },
  },
});

export const auditActionSchema = z.enum(AUDIT_ACTIONS);

export const auditEntrySchema: z.ZodType<AuditEntry> = z
  .object({
    id: z.string().optional(),
    at: time,
    action: auditActionSchema,
    semaphore: z.string(),
    by: z.string(),
    reason: z.string().optional(),
    node: nodeIdentitySchema,
    revision: whole.optional(),
    from: definitionSchema.optional(),
    to: definitionSchema.optional(),
    paused: pauseSchema.optional(),
    bulk: z.string().optional().meta({ description: 'the same in all entries of one change of many' }),
    part: whole.optional().meta({ description: 'of a change of many: the number of this part, from 1' }),
    undoes: z.string().optional().meta({ description: 'of an undo: the id of the entry that it undid' }),
    undoesBulk: z.string().optional().meta({ description: 'of an undo: the bulk of the entry that it undid' }),
    outcome: z.enum(CHANGE_OUTCOMES).optional().meta({
      description: 'absent if the change was made; unknown: the store gave no answer; not-made: it surely was not made',
    }),
    follows: z.string().optional().meta({ description: 'id of the change of this semaphore before this one' }),
    permit: storedPermitSchema.optional(),
    target: nodeIdentitySchema.optional().meta({ description: 'of a transfer: the node that leads next' }),
    order: z
      .object({ resource: z.string().optional(), node: z.string().optional(), left: whole.optional() })
      .optional()
      .meta({ id: 'AllocationOrder', description: 'of an order for an allocation group' }),
    job: z.string().optional().meta({ description: 'of a run that was asked for: the name of the job' }),
    task: z.string().optional().meta({
      description: 'of a change of a task or of a group: its id; of submissions and claims: the id of the first task',
    }),
    count: whole.optional().meta({ description: 'of submissions and claims: the number of tasks' }),
  })
  .meta({ id: 'AuditEntry' });

export const semaphoreOverviewSchema: z.ZodType<SemaphoreOverview> = z
  .object({
    ...semaphoreShape,
    jobs: list(jobInfoSchema.extend({ nodes: whole }).meta({ id: 'SemaphoreJob' })),
    next: time.optional(),
    lastRun: runSchema.optional(),
    warnings: list(
      z
        .object({
          code: z.enum(WARNING_CODES),
          sentence: z.string(),
        })
        .meta({ id: 'SemaphoreWarning' }),
    ),
  })
  .meta({ id: 'SemaphoreOverview' });

export const storeHealthSchema: z.ZodType<StoreHealth> = z
  .object({
    connected: z.boolean(),
    members: whole,
    expected: whole.optional().meta({
      description:
        'members that the store should have: as configured, or the most that this node has seen at once in the last hour',
    }),
    quorum: whole,
    problem: z.string().optional(),
  })
  .meta({ id: 'StoreHealth' });

export const clockSchema: z.ZodType<Explanation['clock']> = z
  .object({
    offset: z.number().optional(),
    errorBound: z.number().optional(),
    spread: z.number(),
    members: whole,
    suspect: z.string().optional(),
  })
  .meta({ id: 'ClockReport' });

export const explanationSchema: z.ZodType<Explanation> = z
  .object({
    semaphore: z.string(),
    outcome: z.enum(['granted', 'refreshed', 'denied']),
    reason: denialReasonSchema.optional(),
    sentence: z.string(),
    definition: definitionSchema.optional(),
    revision: whole.optional(),
    pause: pauseSchema.optional(),
    holders: list(storedPermitSchema),
    ...staleShape,
    node: nodeIdentitySchema,
    clock: clockSchema,
    store: storeHealthSchema,
  })
  .meta({ id: 'Explanation' });
