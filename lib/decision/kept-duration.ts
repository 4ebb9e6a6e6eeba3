import { type SemaphoreDefinition, shortestDuration } from './definition.js';
import type { AskedDuration } from './permit.js';

/**
 * The duration of each refresh of a permit. A permit keeps the duration that its calls asked for, else it takes the
 * definition's. Of several uses that share the permit the longest counts. An edit of the definition to less than it had
 * when the call asked wins over the kept duration.
 */

type Defined = Pick<SemaphoreDefinition, 'duration'>;

/** @returns ms */
export function keptDuration(asked: AskedDuration | undefined, definition: Defined): number {
  return asked?.duration ?? definition.duration;
}

/** The duration that a new call asks for, if it names one. */
export function askedBy(duration: number | undefined, definition: Defined): AskedDuration | undefined {
  return duration === undefined ? undefined : { duration, under: definition.duration };
}

/** The duration that a permit still keeps under the definition as it is now. */
export function stillAsked(asked: AskedDuration | undefined, definition: Defined): AskedDuration | undefined {
  if (!asked || definition.duration >= asked.under) return asked;
  return { duration: Math.min(asked.duration, definition.duration), under: definition.duration };
}

/**
 * The duration that a refresh has to ask for, in ms, if the kept one is shorter than a node can keep; undefined: the kept
 * one is long enough. An operator may have edited the definition through a node with a smaller clockTolerance, and the
 * next refresh would come after the permit's end.
 */
export function keepable(
  asked: AskedDuration | undefined,
  definition: Defined | undefined,
  clockTolerance: number,
): number | undefined {
  const shortest = shortestDuration(clockTolerance);
  return definition && keptDuration(stillAsked(asked, definition), definition) < shortest ? shortest : undefined;
}

/** The longer of two; absent stands for the definition's. */
export function longerAsked(
  one: AskedDuration | undefined,
  other: AskedDuration | undefined,
  definition: Defined,
): AskedDuration | undefined {
  return keptDuration(other, definition) > keptDuration(one, definition) ? other : one;
}
