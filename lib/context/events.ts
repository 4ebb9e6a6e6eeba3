import { DENIAL_REASONS, type DenialReason } from '../decision/denial.js';
import type { StoredPermit } from '../decision/permit.js';
import type { DefinitionChange } from '../decision/record.js';

import type { AuditEntry } from './audit-entry.js';
import type { Participant } from './participant.js';

/** All values of {@link LossReason}. */
const LOSS_REASONS = ['expired', 'revoked', 'max-run-time', 'stuck', 'released', 'closing', 'unguarded'] as const;

/** Reason for the loss of a permit that its user did not release. */
export type LossReason = (typeof LOSS_REASONS)[number];

/** All values of {@link TermEnd}. */
export const TERM_ENDS = [...new Set([...LOSS_REASONS, ...DENIAL_REASONS, 'resigned'] as const)];

/**
 * Why a term of leadership ended: the permit was lost, `resigned`, a transfer or an operator who asked the leader to step
 * down (`other-preferred`), or a change of the definition that no longer lets this node lead.
 */
export type TermEnd = LossReason | DenialReason | 'resigned';

/** All values of {@link SkipReason}. */
export const SKIP_REASONS = [...DENIAL_REASONS, 'overlap', 'not-leader'] as const;

/** Why a run was skipped: a denial, `overlap` (the former run goes on), or `not-leader` (see `@LeaderOnly`). */
export type SkipReason = (typeof SKIP_REASONS)[number];

/** A run of a job on this node. */
export interface RunOfJob {
  readonly semaphore: string;
  readonly job: string;
  /** Number of the run, unique for this semaphore on this node. */
  readonly run: number;
  /** Absent for a run without a permit. */
  readonly permit?: StoredPermit;
}

/** One attempt at a task on this node. */
export interface TaskAttempt {
  /** Id of the task. */
  readonly task: string;
  /** Fencing token of the attempt. */
  readonly token: number;
}

/** An event of a gatekeeper's node. */
export type GatekeeperEvent =
  | { readonly type: 'granted' | 'refreshed' | 'released'; readonly semaphore: string; readonly permit: StoredPermit }
  | {
      readonly type: 'lost';
      readonly semaphore: string;
      readonly permit: StoredPermit;
      readonly reason: LossReason;
    }
  | { readonly type: 'denied'; readonly semaphore: string; readonly reason: DenialReason }
  | { readonly type: 'expired'; readonly semaphore: string; readonly permits: readonly StoredPermit[] }
  | ({ readonly type: 'run-started' } & RunOfJob)
  | ({
      readonly type: 'run-finished';
      /** ms by the node's monotonic clock. */
      readonly took: number;
      /** Present when the run failed; may be any value. */
      readonly error?: unknown;
    } & RunOfJob)
  | { readonly type: 'run-skipped'; readonly semaphore: string; readonly job: string; readonly reason: SkipReason }
  | { readonly type: 'run-unguarded'; readonly semaphore: string; readonly job: string; readonly reason: DenialReason }
  /** `defined`: created from code. `reinstated`: restored from the archive. `restored`: restored from a node's copy. */
  | { readonly type: 'defined' | 'reinstated' | 'restored'; readonly semaphore: string; readonly revision: number }
  /** A term of leadership of this node began or ended. */
  | { readonly type: 'leadership-gained'; readonly semaphore: string; readonly scope: string; readonly token: number }
  | {
      readonly type: 'leadership-lost';
      readonly semaphore: string;
      readonly scope: string;
      readonly token: number;
      /** Why it ended. */
      readonly reason: TermEnd;
    }
  /** A scope has had no leader for too long. `sentence` says for how long, and why this node does not lead it. */
  | { readonly type: 'no-leader'; readonly semaphore: string; readonly scope: string; readonly sentence: string }
  /** This node, which leads the allocation, has decided on other owners. Numbers of resources. */
  | {
      readonly type: 'allocation-changed';
      readonly group: string;
      readonly revoked: number;
      readonly granted: number;
    }
  /** This node owns other resources. Numbers of resources. */
  | {
      readonly type: 'resources-changed';
      readonly group: string;
      readonly added: number;
      readonly revoked: number;
      readonly owned: number;
    }
  /** Resources have had no owner for too long. `sentence` says for how long, and why. */
  | { readonly type: 'resources-unowned'; readonly group: string; readonly count: number; readonly sentence: string }
  /** This node works on a task, an attempt of it. */
  | ({ readonly type: 'task-started' } & TaskAttempt)
  /**
   * An attempt has ended. `outcome` is absent if the task will be tried again. An attempt that was given back, put off or
   * cancelled is no failure, even if its handler threw.
   */
  | ({
      readonly type: 'task-ended';
      readonly took: number;
      readonly outcome?: string;
      readonly error?: unknown;
      readonly isFailure: boolean;
    } & TaskAttempt)
  /**
   * The lease of an attempt ended before its node noted an end: it crashed, or could not reach the store. Told by the node
   * that sweeps. `outcome` is absent if the task will be tried again.
   */
  | ({ readonly type: 'task-crashed'; readonly crashes: number; readonly outcome?: string } & TaskAttempt)
  /** This node worked on a task that is not its own any more: its result was refused, or it never had one. */
  | ({ readonly type: 'task-lost'; readonly error: Error } & TaskAttempt)
  /** Nodes have different expressions for one schedule. Told once per expression. */
  | {
      readonly type: 'schedule-differs';
      readonly schedule: string;
      readonly own: string;
      readonly other: string;
      readonly sentence: string;
    }
  /** Ticks of a schedule were not submitted in time. `from` and `to` are the first one and the last one that came: ms since 1970. */
  | {
      readonly type: 'ticks-missed';
      readonly schedule: string;
      readonly from: number;
      readonly to: number;
      readonly sentence: string;
    }
  /** A tick of a schedule does not run, because the former run has not ended. `at` is its planned time: ms since 1970. */
  | { readonly type: 'tick-skipped'; readonly schedule: string; readonly at: number; readonly sentence: string }
  /** Ended tasks left before their retention was over, because all of them had too many bytes. At most once a minute. */
  | {
      readonly type: 'tasks-removed-early';
      /** Tasks that were removed since the last such event. */
      readonly count: number;
      /** Their bytes. */
      readonly bytes: number;
      /** The option `tasks.maxRetainedBytes`. */
      readonly limit: number;
    }
  /** Tasks of a type wait, and no node has taken any for a minute. Told once, by the node that sweeps the tasks. */
  | { readonly type: 'tasks-untaken'; readonly task: string; readonly priority: string; readonly sentence: string }
  /** A definition was changed, on any node. */
  | {
      readonly type: 'changed';
      readonly semaphore: string;
      readonly revision: number;
      readonly change?: DefinitionChange;
    }
  /** A person or program changed something through this node. */
  | { readonly type: 'audited'; readonly semaphore: string; readonly entry: AuditEntry }
  | { readonly type: 'record-unreadable'; readonly semaphore: string; readonly error: Error }
  /**
   * Another node joined; left when it closed; crashed: its membership lease ended without a renewal; rejoined: its lease
   * had lapsed, and it took a new one.
   */
  | {
      readonly type: 'member-joined' | 'member-left' | 'member-crashed' | 'member-rejoined';
      readonly member: Participant;
      /** Id of the unbroken lease that began or ended. */
      readonly incarnation: string;
    }
  /** This node's own membership lease lapsed. It joins again when it can. */
  | { readonly type: 'membership-lost'; readonly member: Participant }
  | { readonly type: 'clock-suspect'; readonly reason: string }
  | { readonly type: 'store-lost'; readonly error: Error }
  | { readonly type: 'store-back' }
  | { readonly type: 'problem'; readonly semaphore?: string; readonly action: string; readonly error: unknown };

/** The events of one type. */
export type EventOf<T extends GatekeeperEvent['type']> = GatekeeperEvent extends infer E
  ? E extends { readonly type: infer Types extends string }
    ? T extends Types
      ? Omit<E, 'type'> & { readonly type: T }
      : never
    : never
  : never;
