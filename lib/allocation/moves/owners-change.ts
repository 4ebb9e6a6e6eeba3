import { z } from 'zod';
import { storedCount, storedList, storedText, storedTime } from '../../core/decision/index.js';
import { nodeSchema } from '../../core/context/node-identity.js';
import { OWNERS_CHANGE_KINDS, OWNER_MOVE_REASONS, OWNER_MOVE_STEPS } from './move-kinds.js';
import type { OwnerMoves, OwnersChange } from './move-answers.js';

/** More than a version of this package writes. */
const MOST_OF_CHANGE = 1000;

const ownerMovesSchema: z.ZodType<OwnerMoves> = z.object({
  step: z.enum(OWNER_MOVE_STEPS),
  from: storedText.optional(),
  to: storedText.optional(),
  fromInstance: storedText.optional(),
  toInstance: storedText.optional(),
  why: z.enum(OWNER_MOVE_REASONS),
  count: storedCount,
  resources: storedList(storedText, MOST_OF_CHANGE),
});

export const ownersChangeSchema: z.ZodType<OwnersChange> = z.object({
  group: storedText,
  at: storedTime,
  node: nodeSchema,
  version: storedCount,
  kind: z.enum(OWNERS_CHANGE_KINDS),
  total: storedCount,
  moves: storedList(ownerMovesSchema, MOST_OF_CHANGE),
});
