import type { NodeIdentity } from '../../core/context/node-identity.js';
import type { Candidate } from '../../leadership/index.js';
import { skipSentence } from '../../core/permits/runs/run-skipped.error.js';
import type { NotLeadingReason } from './leader-answers.js';

/** ms, besides lease and `clockTolerance`, after which a scope without a leader is an alarm. */
export const PATIENCE = 5000;

/** A scope, as one node knows it. */
export interface ScopeStatus {
  /** Name of the scope. */
  readonly scope: string;
  /** Whether the reporting node leads. */
  readonly isLeader: boolean;
  /** The leader; absent if none is known. */
  readonly leader?: NodeIdentity;
  /** Fencing token of the leader's term. */
  readonly term?: number;
  /** Cluster time in ms since 1970 at which the leader's term began. */
  readonly since?: number;
  /** Why the reporting node does not lead; absent if it does. */
  readonly reason?: NotLeadingReason;
  /** `reason` in a sentence, for people. */
  readonly sentence?: string;
}

/** Leader and term of a scope, and why this node does not lead it. Does not ask the store. */
export function scopeStatus(candidate: Candidate, isClosing: boolean): ScopeStatus {
  const { scope, isLeader, leader } = candidate;
  const reason = isLeader ? undefined : reasonOf(candidate, isClosing);
  const why = reason && { reason, sentence: sentenceOf(reason, candidate) };
  if (!leader) return { scope, isLeader, ...why };
  const { group, acquirer, instance, token: term, grantedAt: since } = leader;
  return { scope, isLeader, leader: { group, acquirer, instance }, term, since, ...why };
}

function reasonOf({ isStarted, isConnected, isResting, own, leader }: Candidate, isClosing: boolean): NotLeadingReason {
  if (isClosing) return 'closing';
  if (!isStarted) return 'not-started';
  if (!isConnected) return 'unavailable';
  return (isResting ? 'resigned' : own.denial) ?? (leader ? 'no-permit' : 'waiting');
}

function sentenceOf(reason: NotLeadingReason, { semaphore, leader }: Candidate): string {
  switch (reason) {
    case 'not-started':
      return 'this node does not take part: set leadership.enabled, or call initialize()';
    case 'resigned':
      return 'this node gave the leadership up a moment ago, so that another node can take it';
    case 'waiting':
      return 'no node leads, and this node asks for the leadership';
    case 'no-permit':
      return leader ? `${leader.acquirer} leads` : skipSentence(reason, semaphore);
    default:
      return skipSentence(reason, semaphore);
  }
}
