import { InvalidOptionsError, type SemaphoreDefinition, type StoredPermit, show } from '../decision/index.js';

interface Asked {
  readonly semaphore: string;
  /** ms */
  readonly duration?: number | undefined;
  /** Whether the definition's duration is the longest that may be asked for. */
  readonly isBounded?: boolean | undefined;
}

/**
 * The duration that a call gets, in ms; undefined: the definition's. An operator may shorten a definition while a permit
 * is held: its holder may go on asking for what it began with, and gets the shorter one.
 *
 * @throws InvalidOptionsError when it asks for more than the definition's
 */
export function allowedDuration(
  { semaphore, duration, isBounded = false }: Asked,
  definition: SemaphoreDefinition | undefined,
  held: StoredPermit | undefined,
): number | undefined {
  if (duration === undefined || !isBounded || !definition || duration <= definition.duration) return duration;
  if (held && duration <= held.duration) return definition.duration;
  throw new InvalidOptionsError(`a permit of semaphore ${show(semaphore)}`, [TOO_LONG(duration, definition.duration)]);
}

const TOO_LONG = (duration: number, longest: number) =>
  `duration: ${duration} ms is longer than the ${longest} ms of the definition: ask for ${longest} ms or less, or take a token with the role define`;
