import { z } from 'zod';
import {
  type BulkResult,
  type MigrationPlan,
  type NodeOverview,
  type UndoPlan,
  jobInfoSchema,
  nodeInfoSchema,
} from '../../gatekeeper/index.js';
import {
  auditActionSchema,
  auditEntrySchema,
  changeSchema,
  clockSchema,
  definitionSchema,
  denialReasonSchema,
  explanationSchema,
  historyEntrySchema,
  holderSchema,
  list,
  nodeIdentitySchema,
  semaphoreOverviewSchema,
  staleShape,
  storeHealthSchema,
  time,
  whole,
} from './entities.js';
import { ROLES } from './roles.js';

/* Schemas of the answers. If one differs from the gatekeeper's own type that it has, this file doesn't compile. */

const heldSchema = z
  .object({ semaphore: z.string(), slot: whole, token: whole, expiresAt: time })
  .meta({ id: 'HeldPermit' });
const nodeOverviewSchema: z.ZodType<NodeOverview> = nodeInfoSchema
  .extend({ holds: list(heldSchema), jobs: z.array(jobInfoSchema.meta({ id: 'NodeJob' })) })
  .meta({ id: 'Node' });

export const sessionSchema = z
  .object({
    user: z.string(),
    role: z.enum(ROLES),
    names: z.string().optional().meta({
      description: 'RE2: names of the semaphores that the visitor may see and change; absent: all',
    }),
    permitsOnly: z.boolean().optional().meta({ description: 'whether the token is for permits only' }),
    readOnly: z.boolean(),
    environment: z.string().optional().meta({ description: 'name of the environment, such as "production"' }),
    logsUrl: z.string().optional().meta({ description: "template of the address of a run's logs" }),
    node: nodeIdentitySchema,
    store: storeHealthSchema,
    clock: clockSchema,
    clockTolerance: whole.meta({ description: 'of the answering node, in ms' }),
    shortestDuration: whole.meta({ description: 'of a permit that the answering node accepts, in ms' }),
    denialReasons: list(denialReasonSchema),
    endsAt: time.optional().meta({
      description:
        "end of this browser's session, by the clock of the answering node: ms since the epoch; absent without one",
    }),
  })
  .meta({ id: 'Session' });

/** The visitor, and what a page must know of the answering node. */
export type SessionAnswer = z.output<typeof sessionSchema>;

export const semaphorePartsSchema = z
  .object({
    now: time,
    known: z.string().optional().meta({
      description:
        'for the next request: stands for all parts as they are now; absent: nothing changed, send the former one',
    }),
    changed: list(
      z
        .object({ part: whole, items: list(semaphoreOverviewSchema) })
        .meta({ id: 'SemaphorePart', description: 'All semaphores of a part; they replace the former ones.' }),
    ),
    ...staleShape,
  })
  .meta({ id: 'SemaphoreParts' });

/** The parts of the list of semaphores that changed. */
export type SemaphorePartsAnswer = z.output<typeof semaphorePartsSchema>;

export const semaphoresSchema = z
  .object({ now: time, semaphores: list(semaphoreOverviewSchema), ...staleShape })
  .meta({ id: 'SemaphoreList' });

export const semaphoreSchema = z
  .object({
    now: time,
    semaphore: semaphoreOverviewSchema,
    explanation: explanationSchema,
    definedBy: list(z.string()).meta({
      description:
        'names of the living nodes whose code defines it, as the answering node last read them: while there are any, its removal is refused',
    }),
    runs: list(historyEntrySchema).optional().meta({ description: 'absent if they can not be read now' }),
    audit: list(auditEntrySchema).optional().meta({ description: 'absent if it can not be read now' }),
    ...staleShape,
  })
  .meta({ id: 'SemaphoreDetails' });

export const nodesSchema = z
  .object({ now: time, nodes: list(nodeOverviewSchema), ...staleShape })
  .meta({ id: 'NodeList' });
export const historySchema = z.object({ entries: list(historyEntrySchema) }).meta({ id: 'RunList' });
export const auditSchema = z.object({ entries: list(auditEntrySchema) }).meta({ id: 'ChangeList' });
const patternsSchema = z.object({ groupPattern: z.string(), acquirerPattern: z.string() }).meta({ id: 'Patterns' });

const bulkId = z.string().meta({ description: 'shared by the entries of this change in the audit log' });

const failures = list(z.object({ name: z.string(), error: z.string() }).meta({ id: 'BulkFailure' }));

export const migrationSchema: z.ZodType<MigrationPlan> = z
  .object({
    steps: list(
      z
        .object({
          name: z.string(),
          revision: whole,
          from: patternsSchema,
          to: patternsSchema,
          moving: list(holderSchema).meta({ description: 'holders that will no longer match' }),
          candidates: list(nodeIdentitySchema).meta({ description: 'the first 10 living nodes that will match' }),
          candidateCount: whole.meta({ description: 'number of all living nodes that will match' }),
          outcome: z.enum(['planned', 'migrated', 'failed']),
          error: z.string().optional(),
        })
        .meta({ id: 'MigrationStep' }),
    ),
    remaining: whole.meta({ description: 'how many are left for the next call, because of the limit' }),
    unreadable: failures.meta({
      description: 'semaphores that match and stay as they are: their records can not be read',
    }),
    bulk: bulkId.optional(),
  })
  .meta({ id: 'MigrationPlan' });

export const bulkSchema: z.ZodType<BulkResult> = z
  .object({
    done: list(z.string()),
    failed: failures,
    remaining: whole,
    bulk: bulkId,
  })
  .meta({ id: 'BulkResult' });

export const undoSchema: z.ZodType<UndoPlan> = z
  .object({
    id: z.string(),
    by: z.string(),
    at: time,
    reason: z.string().optional(),
    steps: list(
      z
        .object({
          name: z.string(),
          entry: z.string(),
          action: auditActionSchema,
          kind: changeSchema.shape.kind,
          from: definitionSchema.optional(),
          to: definitionSchema.optional(),
          isPaused: z.boolean(),
          willBePaused: z.boolean(),
          revokes: whole.meta({ description: 'held permits that the undo takes away' }),
          outcome: z.enum(['planned', 'undone', 'unchanged', 'left', 'failed']),
          why: z.string().optional().meta({ description: 'of a step that was left alone or failed' }),
        })
        .meta({ id: 'UndoStep' }),
    ),
    remaining: whole.meta({ description: 'how many are left for the next call, because of the limit' }),
    missing: whole.meta({
      description: 'number of parts of a change of many that are not undone: the store has lost what was before them',
    }),
    bulk: bulkId.optional(),
  })
  .meta({ id: 'UndoPlan' });

const previewedNodeSchema = z
  .object({
    group: z.string(),
    acquirer: z.string(),
    instance: z.string(),
    matches: z.boolean(),
    mismatch: z
      .enum(['group', 'acquirer'])
      .optional()
      .meta({ description: 'the first pattern that does not match; absent if both match' }),
  })
  .meta({ id: 'PreviewedNode' });

export type PreviewedNode = z.output<typeof previewedNodeSchema>;

export const previewSchema = z
  .object({
    faults: list(z.string()).meta({ description: 'faults of the definition' }),
    nodes: list(previewedNodeSchema).meta({ description: 'all living nodes' }),
  })
  .meta({ id: 'Preview' });

/** The faults of a definition that does not exist yet, and the nodes that it would match. */
export type Preview = z.output<typeof previewSchema>;

export const permitSchema = z
  .object({
    semaphore: z.string(),
    id: z.string(),
    holder: z.string(),
    slot: whole,
    token: whole.meta({ description: 'grows with every new grant: give it to the resource that you guard' }),
    grantedAt: time,
    expiresAt: time,
    remaining: whole.meta({
      description: 'ms for which you may count on it, from the moment at which you sent the request',
    }),
  })
  .meta({ id: 'Permit' });

/** A permit of an external client. */
export type PermitAnswer = z.output<typeof permitSchema>;

export const removedSchema = z.object({ removed: z.boolean() }).meta({ id: 'Removed' });
export const revokedSchema = z.object({ revoked: z.boolean() }).meta({ id: 'Revoked' });
export const releasedSchema = z.object({ released: z.boolean() }).meta({ id: 'Released' });

export type SemaphoresAnswer = z.output<typeof semaphoresSchema>;
export type SemaphoreAnswer = z.output<typeof semaphoreSchema>;
export type HistoryAnswer = z.output<typeof historySchema>;
export type AuditAnswer = z.output<typeof auditSchema>;
