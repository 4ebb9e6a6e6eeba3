import { z } from 'zod';
import { clockReportSchema } from '../../core/clock/clock-report.js';
import { type AuditEntry, auditEntrySchema } from '../../core/context/answers.js';
import { nodeIdentitySchema } from '../../core/context/node-identity.js';
import { staleShape } from '../../core/context/stale-answers.js';
import { denialReasonSchema, list, named, time, whole } from '../../core/decision/answer-values.js';
import { explanationSchema } from '../../core/permits/answers.js';
import { storeHealthSchema } from '../../core/store/store-health.js';
import type { ClusterClockReport, Explanation, NodeOverview, SemaphoreOverview } from '../../gatekeeper/index.js';
import type { StoreHealth } from '../../core/store/index.js';
import { historyEntrySchema } from '../../operate/activity/history-answers.js';
import { nodeOverviewSchema, semaphoreOverviewSchema } from '../../operate/insight/semaphore-answers.js';
import { ROLES } from './roles.js';

/* Schemas of the answers that only the API has. */

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
    store: named<StoreHealth>(storeHealthSchema),
    clock: named<ClusterClockReport>(clockReportSchema),
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
        .object({ part: whole, items: list<SemaphoreOverview>(semaphoreOverviewSchema) })
        .meta({ id: 'SemaphorePart', description: 'All semaphores of a part; they replace the former ones.' }),
    ),
    ...staleShape,
  })
  .meta({ id: 'SemaphoreParts' });

/** The parts of the list of semaphores that changed. */
export type SemaphorePartsAnswer = z.output<typeof semaphorePartsSchema>;

export const semaphoresSchema = z
  .object({ now: time, semaphores: list<SemaphoreOverview>(semaphoreOverviewSchema), ...staleShape })
  .meta({ id: 'SemaphoreList' });

export const semaphoreSchema = z
  .object({
    now: time,
    semaphore: named<SemaphoreOverview>(semaphoreOverviewSchema),
    explanation: named<Explanation>(explanationSchema),
    definedBy: list(z.string()).meta({
      description:
        'names of the living nodes whose code defines it, as the answering node last read them: while there are any, its removal is refused',
    }),
    runs: list(historyEntrySchema).optional().meta({ description: 'absent if they can not be read now' }),
    audit: list<AuditEntry>(auditEntrySchema).optional().meta({ description: 'absent if it can not be read now' }),
    ...staleShape,
  })
  .meta({ id: 'SemaphoreDetails' });

export const nodesSchema = z
  .object({ now: time, nodes: list<NodeOverview>(nodeOverviewSchema), ...staleShape })
  .meta({ id: 'NodeList' });
export const historySchema = z.object({ entries: list(historyEntrySchema) }).meta({ id: 'RunList' });
export const auditSchema = z.object({ entries: list<AuditEntry>(auditEntrySchema) }).meta({ id: 'ChangeList' });
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
