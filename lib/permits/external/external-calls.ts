import {
  type DenialReason,
  InvalidOptionsError,
  type SemaphoreDefinition,
  type StoredPermit,
  show,
} from '../../decision/index.js';

/* Requests of external clients, which are no nodes, and the answers to them. */

/** A request for a permit on behalf of an external client. All of it is believed: access was checked before. */
export interface ExternalRequest {
  readonly semaphore: string;
  /** The asking client, the same for all nodes at all times: only under this name is the permit refreshed and released. */
  readonly instance: string;
  /** A further request by the same holder refreshes the permit that is there. */
  readonly holder: string;
  readonly acquirer: string;
  /** The node's own unless given. */
  readonly group?: string;
  /** ms; the permit keeps it. The definition's unless given. */
  readonly duration?: number;
  /** Whether the definition's duration is the longest that may be asked for. Default false. */
  readonly isBounded?: boolean;
}

/** Names a permit by what its answer said. */
export interface ExternalPermit {
  readonly semaphore: string;
  readonly instance: string;
  readonly id: string;
}

export interface ExternalGrant {
  readonly outcome: 'granted';
  readonly permit: StoredPermit;
  /**
   * ms for which the asker may count on it, from the moment at which the request was sent: the time that it waited here
   * is added.
   */
  readonly remaining: number;
}

export interface ExternalDenial {
  readonly outcome: 'denied';
  readonly reason: DenialReason;
  readonly holders: readonly StoredPermit[];
  /** ms until a permit is free unless one is refreshed or given back before; absent where time alone frees none. */
  readonly freeIn?: number;
}

export type ExternalAnswer = ExternalGrant | ExternalDenial;

export interface ExternalWait {
  /** ms */
  readonly wait: number;
  /** Gives up when it aborts: the answer would not arrive. */
  readonly signal: AbortSignal;
}

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
