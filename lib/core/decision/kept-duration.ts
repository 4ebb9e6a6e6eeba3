import type { SemaphoreDefinition, AskedDuration } from './answers.js';
import { shortestDuration } from './definition.js';

/**
 * The duration of each refresh of a permit. A permit keeps the duration that its calls asked for. Without one, it uses
 * the definition's duration. If several uses share the permit, the longest duration counts. If an edit makes the
 * definition shorter than it was at the time of the call, the shorter of the two durations counts.
 */

type Defined = Pick<SemaphoreDefinition, 'duration'>;

/** @returns ms */
export function keptDuration(asked: AskedDuration | undefined, definition: Defined): number {
  return asked?.duration ?? definition.duration;
}

/** The duration that a new call asks for, if any. */
export function askedBy(duration: number | undefined, definition: Defined): AskedDuration | undefined {
  return duration === undefined ? undefined : { duration, under: definition.duration };
}

/** The duration that a permit still keeps with the present definition. */
export function stillAsked(asked: AskedDuration | undefined, definition: Defined): AskedDuration | undefined {
  if (!asked || definition.duration >= asked.under) return asked;
  return { duration: Math.min(asked.duration, definition.duration), under: definition.duration };
}

/**
 * The duration that a refresh must ask for, in ms, if the kept duration is too short for this node; undefined if it is
 * long enough. An operator may have edited the definition through a node with a smaller `clockTolerance`. Then the next
 * refresh of this node would come after the permit's end.
 */
export function keepable(
  asked: AskedDuration | undefined,
  definition: Defined | undefined,
  clockTolerance: number,
): number | undefined {
  const shortest = shortestDuration(clockTolerance);
  return definition && keptDuration(stillAsked(asked, definition), definition) < shortest ? shortest : undefined;
}

/** The longer of two durations. Undefined means the definition's duration. */
export function longerAsked(
  one: AskedDuration | undefined,
  other: AskedDuration | undefined,
  definition: Defined,
): AskedDuration | undefined {
  return keptDuration(other, definition) > keptDuration(one, definition) ? other : one;
}
