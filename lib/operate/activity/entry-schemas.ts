import { z } from 'zod';
import { named } from '../../core/decision/answer-values.js';
import {
  storedCount,
  storedDefinitionSchema,
  storedPermitSchema,
  storedText,
  storedTime,
} from '../../core/decision/index.js';
import { nodeSchema } from '../../core/context/node-identity.js';
import type { AuditEntry } from '../../core/context/answers.js';
import { AUDIT_ACTIONS } from '../../core/context/audit-actions.js';
import { LOSS_REASONS, SKIP_REASONS, TERM_ENDS } from '../../core/context/events.js';
import type { RunEntry, SkipEntry } from './history-answers.js';

/*
 * Schemas of entries that any node may have written. Unknown fields are dropped. An entry is invalid if one of its
 * known fields is invalid.
 */

const happened = { semaphore: storedText, job: storedText, node: nodeSchema, at: storedTime };
const skipReason = z.enum(SKIP_REASONS);

/** How a run came about, was tried again, and kept its permit. */
export const storyShape = {
  by: storedText.optional(),
  missed: storedTime.optional(),
  attempts: storedCount.optional(),
  renewals: storedCount.optional(),
  // A later version may know another reason: then the rest of the run still counts.
  loss: z
    .object({ at: storedTime, reason: z.enum(LOSS_REASONS) })
    .optional()
    .catch(undefined),
};

const runSchema = z.object({
  ...happened,
  kind: z.literal('run'),
  took: storedTime,
  outcome: z.enum(['ok', 'failed', 'lost']),
  message: storedText.optional(),
  ...storyShape,
  token: storedCount.optional(),
  slot: storedCount.optional(),
  ended: z.enum(TERM_ENDS).optional(),
  run: storedCount.optional(),
});

/** A run that has ended. */
export type EndedRun = RunEntry & { readonly took: number; readonly outcome: Exclude<RunEntry['outcome'], 'crashed'> };

const startSchema = z.object({
  ...happened,
  kind: z.literal('start'),
  run: storedCount,
  by: storedText.optional(),
  missed: storedTime.optional(),
  token: storedCount.optional(),
  slot: storedCount.optional(),
  /** Expiry of its permit unless it is refreshed: cluster time, ms since the epoch. */
  until: storedTime.optional(),
  loss: storyShape.loss,
});

/**
 * The start of a run, as a node writes it, and again when the run loses its permit. Readers show it as a run that goes on,
 * that lost its permit, or that crashed.
 */
export interface StartEntry extends Readonly<z.output<typeof startSchema>> {}

const expirySchema = z.object({
  semaphore: storedText,
  node: nodeSchema,
  at: storedTime,
  kind: z.literal('expiry'),
  /** Fencing token of the permit. */
  token: storedCount,
});

/** A permit that was refreshed and then expired. The node that dropped it writes this, not its holder. */
export interface ExpiryEntry extends Readonly<z.output<typeof expirySchema>> {}

const skipSchema = z.object({
  ...happened,
  kind: z.literal('skip'),
  reason: skipReason,
  before: z.object({ reason: skipReason, count: storedCount }).optional(),
});

/** An entry of the journal of runs. */
export type StoredRunEntry = EndedRun | StartEntry | ExpiryEntry | SkipEntry;

export const storedRunEntrySchema = named<StoredRunEntry>(z.union([runSchema, startSchema, expirySchema, skipSchema]));

const definitionSchema = z.object(storedDefinitionSchema.shape);
const pauseSchema = z.object({
  by: storedText,
  at: storedTime,
  reason: storedText.optional(),
  groupPattern: storedDefinitionSchema.shape.groupPattern,
});

export const auditEntrySchema: z.ZodType<AuditEntry> = z.object({
  id: storedText.optional(),
  at: storedTime,
  action: z.enum(AUDIT_ACTIONS),
  semaphore: storedText,
  by: storedText,
  reason: storedText.optional(),
  node: nodeSchema,
  revision: storedCount.optional(),
  from: definitionSchema.optional(),
  to: definitionSchema.optional(),
  paused: pauseSchema.optional(),
  bulk: storedText.optional(),
  part: storedCount.optional(),
  undoes: storedText.optional(),
  undoesBulk: storedText.optional(),
  outcome: z.literal('unknown').optional(),
  follows: storedText.optional(),
  permit: z.object(storedPermitSchema.shape).optional(),
  target: nodeSchema.optional(),
  order: z
    .object({ resource: storedText.optional(), node: storedText.optional(), left: storedCount.optional() })
    .optional(),
  job: storedText.optional(),
  task: storedText.optional(),
  count: storedCount.optional(),
});
