import type { DenialReason, StoredPermit } from '../../decision/index.js';

/** What those who are no nodes ask of one, and what they are answered. */

/** Who asks for a permit on behalf of whom. All of it is believed: whoever may ask was let in before. */
export interface ExternalRequest {
  readonly semaphore: string;
  /** Who asks, for all nodes and for ever the same: the permit is refreshed and released under that name alone. */
  readonly instance: string;
  /** Whoever asks again by the same name refreshes the permit that is there. */
  readonly holder: string;
  readonly acquirer: string;
  /** The node's own unless given. */
  readonly group?: string;
  /** ms; the permit keeps it. The definition's unless given. */
  readonly duration?: number;
  /** Whether the definition's duration is the longest that may be asked for. Default false. */
  readonly isBounded?: boolean;
}

/** Which permit, as its answer told. */
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
  /** Gives up when it aborts: nobody would hear of the permit. */
  readonly signal: AbortSignal;
}
