import type { NodeIdentity } from '../../core/context/node-identity.js';
import { quoted } from '../../core/decision/index.js';
import { type RunOutcome, type RunRequest, isOpen } from '../../core/permits/by-hand/run-request.js';

/** All values of {@link RunNowState}. */
export const RUN_NOW_STATES = ['asked', 'running', 'ended', 'not-taken', 'unclear'] as const;

/**
 * State of a run that was asked for:
 *
 * - `asked`: no node has taken it yet; `sentence` says why, for example who holds the permit
 * - `running`: a node runs it
 * - `ended`: see `outcome`: `ok`, `failed` (with `message`), or `lost` (its permit ended before the run did)
 * - `not-taken`: no node took it within a minute, and none can any more
 * - `unclear`: its node has no permit any more and has noted no end: it crashed, or goes on without its permit. No other
 *   node runs it
 *
 * @useDeclaredType
 */
export type RunNowState = (typeof RUN_NOW_STATES)[number];

/** A run that a person or program asked for. */
export interface RunNowStatus {
  /** Id of the request. */
  readonly id: string;
  /** Name of the semaphore. */
  readonly semaphore: string;
  /** Name of the job. */
  readonly job: string;
  /** The person or program that asked. */
  readonly by: string;
  /** The reason that was given. */
  readonly reason?: string;
  /** When it was asked for: cluster time in ms. */
  readonly at: number;
  /** See {@link RunNowState}. */
  readonly state: RunNowState;
  /** The state in a sentence, for people. Of a run that no node has taken, with the reason. */
  readonly sentence: string;
  /** The node that took it. */
  readonly node?: NodeIdentity;
  /** Fencing token of its permit. */
  readonly token?: number;
  /** When the node took it: cluster time in ms. */
  readonly startedAt?: number;
  /** How it ended. `lost`: its permit ended before the run did. */
  readonly outcome?: RunOutcome;
  /** Duration of the run in ms. */
  readonly took?: number;
  /** Message of the error with which it failed, cut after 500 characters. */
  readonly message?: string;
}

/** Facts that the request itself does not contain. */
export interface RequestFacts {
  /** Cluster time in ms. */
  readonly now: number;
  /** Whether the semaphore still has the permit of the run. */
  readonly hasPermit: boolean;
  /** Why no node can take it now, in a sentence; undefined if no reason is known. */
  readonly obstacle?: string | undefined;
}

/** The state of a request. Pure. */
export function statusOf(semaphore: string, request: RunRequest, facts: RequestFacts): RunNowStatus {
  const { id, job, by, reason, at, node, token, startedAt, outcome, took, message } = request;
  const state = stateOf(request, facts);
  const details = { node, token, startedAt, outcome, took, message };
  return {
    id,
    semaphore,
    job,
    by,
    ...(reason !== undefined && { reason }),
    at,
    state,
    sentence: sentenceOf(state, request, facts),
    ...Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined)),
  };
}

/** Whether a status can't change any more, or only if a node comes back that was given up. */
export function isFinal({ state }: Pick<RunNowStatus, 'state'>): boolean {
  return state !== 'asked' && state !== 'running';
}

function stateOf(request: RunRequest, { now, hasPermit }: RequestFacts): RunNowState {
  if (request.outcome !== undefined) return 'ended';
  if (request.node) return hasPermit ? 'running' : 'unclear';
  return isOpen(request, now) ? 'asked' : 'not-taken';
}

function sentenceOf(state: RunNowState, request: RunRequest, { obstacle }: RequestFacts): string {
  const { job, node, outcome, message, took } = request;
  const on = node ? ` on ${node.acquirer}` : '';
  const why = obstacle ?? 'no node has reacted yet';
  switch (state) {
    case 'asked':
      return `no node has taken ${quoted(job)} yet: ${why}`;
    case 'not-taken':
      return `no node took ${quoted(job)} within a minute: ${why}`;
    case 'running':
      return `${quoted(job)} runs${on}`;
    case 'unclear':
      return `${quoted(job)} began${on}, and its permit is over without an end: the node crashed, or goes on without it`;
    default: {
      const ends = { ok: 'ended well', failed: 'failed', lost: 'lost its permit' }[outcome!];
      return `${quoted(job)} ${ends}${on} after ${took} ms${message === undefined ? '' : `: ${message}`}`;
    }
  }
}
