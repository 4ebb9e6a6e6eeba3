import { z } from 'zod';
import { storedCount, storedList, storedText } from '../../../core/decision/index.js';

/**
 * A semaphore that a window has paused, or is about to pause: its name, its revision after the pause, and the id of the
 * pause. The pause is the window's as long as it is the last change of the semaphore's definition.
 */
export type WindowEntry = readonly [name: string, revision: number, change: string];

/** Phases of a window. `starting` and `ending`: the command was not carried out completely yet. */
export const WINDOW_PHASES = ['starting', 'on', 'ending'] as const;

/** The part of a change set's head that an open maintenance window needs. It goes when the window ends. */
export interface WindowPart {
  readonly name: string;
  /** RE2; each must match the whole name. */
  readonly patterns: readonly string[];
  readonly phase: (typeof WINDOW_PHASES)[number];
  readonly entries: readonly WindowEntry[];
}

/** Windows at the same time. */
export const MOST_WINDOWS = 20;
/** Patterns of one window. */
export const MOST_PATTERNS = 20;
/** Longest text of all windows, in bytes: about 15,000 paused semaphores. */
export const LONGEST_WINDOWS = 800_000;
const LONGEST_STORED_PATTERN = 5000;

export const windowSchema = z.strictObject({
  name: storedText.min(1),
  patterns: storedList(z.string().max(LONGEST_STORED_PATTERN), MOST_PATTERNS),
  phase: z.enum(WINDOW_PHASES),
  entries: storedList(z.tuple([storedText.min(1), storedCount, storedText.min(1)]), LONGEST_WINDOWS / 10),
});
