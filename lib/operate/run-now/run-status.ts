import { quoted } from '../../core/decision/index.js';
import { type RunRequest, isOpen } from '../../core/permits/by-hand/run-request.js';
import type { RunNowState, RunNowStatus } from './answers.js';

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
