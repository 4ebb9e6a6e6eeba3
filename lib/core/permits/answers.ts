import { z } from 'zod';
import { type ClusterClockReport, clockReportSchema } from '../clock/clock-report.js';
import { nodeIdentitySchema } from '../context/node-identity.js';
import { staleShape } from '../context/stale-answers.js';
import {
  type Pause,
  type SemaphoreDefinition,
  type StoredPermit,
  definitionSchema,
  pauseSchema,
  permitSchema,
} from '../decision/answers.js';
import { denialReasonSchema, list, named, whole } from '../decision/answer-values.js';
import type { DenialReason } from '../decision/denial.js';
import { type StoreHealth, storeHealthSchema } from '../store/store-health.js';

/* Import only types from here in code that an application loads. */

export const explanationSchema = z
  .object({
    semaphore: z.string().meta({ description: 'name of the semaphore' }),
    outcome: z
      .enum(['granted', 'refreshed', 'denied'])
      .meta({ description: 'the decision that this node would get now' }),
    reason: named<DenialReason>(denialReasonSchema)
      .optional()
      .meta({ description: 'why the permit is denied; absent if it is not' }),
    sentence: z.string().meta({ description: 'the decision in a sentence, for people' }),
    definition: named<SemaphoreDefinition>(definitionSchema).optional().meta({
      description: 'during a pause its group pattern matches no group; `pause` has the pattern that applies afterwards',
    }),
    revision: whole.optional().meta({ description: 'revision of the definition that decides' }),
    pause: named<Pause>(pauseSchema).optional().meta({ description: 'author, time and reason of the pause' }),
    holders: list<StoredPermit>(permitSchema).meta({ description: 'the permits that are held now' }),
    ...staleShape,
    node: nodeIdentitySchema.meta({ description: 'the node that asks' }),
    clock: named<ClusterClockReport>(clockReportSchema).meta({
      description: 'the cluster clock, as this node knows it',
    }),
    store: named<StoreHealth>(storeHealthSchema).meta({
      description: 'the health of the store, as this node knows it',
    }),
  })
  .meta({ id: 'Explanation' });

/**
 * The decision that this node would get now, and its reason. If the record could not be read, `stale` says so. Then definition,
 * pause and holders are as this node last knew them.
 */
export interface Explanation extends Readonly<z.output<typeof explanationSchema>> {}
