import { sharedKey } from '../core/copies/shared.js';

/** Metadata on a method that only the leader runs: its {@link LeaderOnlyMetadata}. */
export const LEADER_ONLY = sharedKey('leader-only');

/** Metadata on a method that hears of terms: a list of {@link TermListenerMetadata}. */
export const TERM_LISTENER = sharedKey('term-listener');

/** Arguments of `@LeaderOnly` on a method, as written; checked when the application boots. */
export interface LeaderOnlyMetadata {
  readonly scope?: string | undefined;
  /** How many decorators the method has; more than one is a mistake. */
  readonly count: number;
  /** Number of its parameters, without those that have a default. A decorator above may hide them. */
  readonly parameters: number;
}

/** Arguments of `@OnLeadershipGained` or `@OnLeadershipLost` on a method; checked when the application boots. */
export interface TermListenerMetadata {
  readonly kind: 'gained' | 'lost';
  readonly scope?: string | undefined;
}
