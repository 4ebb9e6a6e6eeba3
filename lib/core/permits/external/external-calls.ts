import {
  type DenialReason,
  InvalidOptionsError,
  type SemaphoreDefinition,
  type StoredPermit,
  show,
} from '../../decision/index.js';

/* Requests of external clients (clients that are not nodes), and the answers to them. */

/** A request for a permit for an external client. The caller has checked that the client may send it. */
export interface ExternalRequest {
  readonly semaphore: string;
  /**
   * Name of the client, the same for all nodes at all times. A permit is refreshed and released only with this name.
   */
  readonly instance: string;
  /** A second request of the same holder refreshes the existing permit. */
  readonly holder: string;
  readonly acquirer: string;
  /** Default: this node's group. */
  readonly group?: string;
  /** ms. The permit keeps this duration. Default: the definition's. */
  readonly duration?: number;
  /** Whether the definition's duration is the maximum for `duration`. Default false. */
  readonly isBounded?: boolean;
}

/** Identifies a permit, by data of the answer that granted it. */
export interface ExternalPermit {
  readonly semaphore: string;
  readonly instance: string;
  readonly id: string;
}

export interface ExternalGrant {
  readonly outcome: 'granted';
  readonly permit: StoredPermit;
  /**
   * ms for which the client may rely on the permit, counted from when it sent the request. So the time for which the
   * request waited here is included.
   */
  readonly remaining: number;
}

export interface ExternalDenial {
  readonly outcome: 'denied';
  readonly reason: DenialReason;
  readonly holders: readonly StoredPermit[];
  /** ms until a permit is free, if none is refreshed or released before. Absent if waiting alone frees no permit. */
  readonly freeIn?: number;
}

export type ExternalAnswer = ExternalGrant | ExternalDenial;

export interface ExternalWait {
  /** ms */
  readonly wait: number;
  /** Aborts when the client has gone away. Then the call gives up, because its answer can't arrive. */
  readonly signal: AbortSignal;
}

interface Asked {
  readonly semaphore: string;
  /** ms */
  readonly duration?: number | undefined;
  /** Whether the definition's duration is the maximum. */
  readonly isBounded?: boolean | undefined;
}

/**
 * The duration that a call gets, in ms; undefined: the definition's. If an operator shortened the definition while a
 * permit is held, its holder may still ask for the former duration, and gets the shorter one.
 *
 * @throws InvalidOptionsError if the call may not ask for more than the definition's duration, but does
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
  `duration: ${duration} ms is longer than the ${longest} ms of the definition: ask for ${longest} ms or less, or use a token with the role define`;
