import { z } from 'zod';
import { onlyFields, show } from '../../core/decision/index.js';

/** How many resources may be on the way from one living node to another for balance at the same time. */
export interface MovementLimit {
  /** A number of resources. */
  readonly count?: number;
  /** A part of all resources, above 0 and at most 1. Allows at least one resource, or balance would never be reached. */
  readonly share?: number;
}

const countError = ({ input }: { input?: unknown }) => `${show(input)} is not a whole number of resources, 1 or more`;
const shareError = ({ input }: { input?: unknown }) =>
  `${show(input)} is not a part of all resources, above 0 and at most 1`;

export const movementLimitSchema = onlyFields({
  count: z.int({ error: countError }).min(1, { error: countError }).optional(),
  share: z.number({ error: shareError }).positive({ error: shareError }).max(1, { error: shareError }).optional(),
});

/**
 * Number of further resources that may start to move.
 *
 * @param total number of all resources
 * @param moving number of resources that are on the way already
 */
export function mostMoves({ count = Infinity, share = 1 }: MovementLimit, total: number, moving = 0): number {
  const allowed = Math.min(count, Math.max(1, Math.floor(share * total)));
  return Math.max(0, allowed - moving);
}
