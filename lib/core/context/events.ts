import { DENIAL_REASONS, type DenialReason } from '../decision/denial.js';
import type { StoredPermit } from '../decision/answers.js';

import type { Alert } from './alert.js';
import type { AuditEntry } from './answers.js';
import type { DefinitionEvent } from './definition-events.js';
import type { Participant } from './participant.js';
import type { TaskEvent } from './task-events.js';

/** All values of {@link LossReason}. */
export const LOSS_REASONS = [
  'expired',
  'revoked',
  'max-run-time',
  'stuck',
  'released',
  'closing',
  'unguarded',
] as const;

/**
 * Reason for the loss of a permit that its user did not release.
 *
 * @useDeclaredType
 */
export type LossReason = (typeof LOSS_REASONS)[number];

/** All values of {@link TermEnd}. */
export const TERM_ENDS = [...new Set([...LOSS_REASONS, ...DENIAL_REASONS, 'resigned'] as const)];

/**
 * Why a term of leadership ended: the permit was lost, `resigned`, a transfer or an operator who asked the leader to step
 * down (`other-preferred`), or a change of the definition that no longer lets this node lead.
 */
export type TermEnd = LossReason | DenialReason | 'resigned';

/** All values of {@link SkipReason}. */
export const SKIP_REASONS = [...DENIAL_REASONS, 'overlap', 'own-run', 'not-leader'] as const;

/**
 * Why a run was skipped: a denial, `overlap` (the former run goes on), `own-run` (a run of the job called it, and would have to
 * wait for its own end), or `not-leader` (see `@LeaderOnly`).
 *
 * @useDeclaredType
 */
export type SkipReason = (typeof SKIP_REASONS)[number];

/** A run of a job on this node. */
export interface RunOfJob {
  /** Name of its semaphore. */
  readonly semaphore: string;
  /** Name of the job: "JobsService.export", or the option `job` of `run()`. */
  readonly job: string;
  /** Number of the run, unique for this semaphore on this node. */
  readonly run: number;
  /** The person or program that asked for this run. Absent for a run that the scheduler or the application started. */
  readonly by?: string;
  /** The planned time that was missed, if this run makes up for it: cluster time in ms. */
  readonly missed?: number;
  /** Absent for a run without a permit. */
  readonly permit?: StoredPermit;
}

/** An event of a gatekeeper's node. */
export type GatekeeperEvent =
  | {
      readonly type: 'granted' | 'refreshed' | 'released';
      /** Name of the semaphore. */
      readonly semaphore: string;
      /** The permit, as the record has it. */
      readonly permit: StoredPermit;
    }
  | {
      readonly type: 'lost';
      /** Name of the semaphore. */
      readonly semaphore: string;
      /** The permit that was lost. */
      readonly permit: StoredPermit;
      /** Why it was lost. */
      readonly reason: LossReason;
    }
  | {
      readonly type: 'denied';
      /** Name of the semaphore. */
      readonly semaphore: string;
      /** Why no permit was granted. */
      readonly reason: DenialReason;
    }
  | {
      readonly type: 'expired';
      /** Name of the semaphore. */
      readonly semaphore: string;
      /** The permits that expired. */
      readonly permits: readonly StoredPermit[];
    }
  | ({ readonly type: 'run-started' } & RunOfJob)
  | ({
      readonly type: 'run-finished';
      /** ms by the node's monotonic clock. */
      readonly took: number;
      /** Present when the run failed; may be any value. */
      readonly error?: unknown;
      /** Why its permit was lost. Present when that was before its end, whether the run failed or not. */
      readonly loss?: LossReason;
      /** Number of attempts; absent for a run without the option `retry`. */
      readonly attempts?: number;
    } & RunOfJob)
  /** An attempt of a run with the option `retry` failed, and another one is planned. The run goes on. */
  | ({
      readonly type: 'run-attempt-failed';
      /** Number of the attempt; the first is 1. */
      readonly attempt: number;
      /** Number of attempts that the run may make. */
      readonly attempts: number;
      /** The error of this attempt; may be any value. */
      readonly error: unknown;
      /** ms until the next attempt. */
      readonly pause: number;
    } & RunOfJob)
  | {
      readonly type: 'run-skipped';
      /** Name of the semaphore. */
      readonly semaphore: string;
      /** Name of the job. */
      readonly job: string;
      /** Why it was skipped. */
      readonly reason: SkipReason;
    }
  | {
      readonly type: 'run-unguarded';
      /** Name of the semaphore. */
      readonly semaphore: string;
      /** Name of the job. */
      readonly job: string;
      /** Why no permit was granted. */
      readonly reason: DenialReason;
    }
  | DefinitionEvent
  /** A term of leadership of this node began or ended. */
  | {
      readonly type: 'leadership-gained';
      /** Name of the semaphore. */
      readonly semaphore: string;
      /** Name of the scope. */
      readonly scope: string;
      /** Fencing token of the term. */
      readonly token: number;
    }
  | {
      readonly type: 'leadership-lost';
      /** Name of the semaphore. */
      readonly semaphore: string;
      /** Name of the scope. */
      readonly scope: string;
      /** Fencing token of the term. */
      readonly token: number;
      /** Why it ended. */
      readonly reason: TermEnd;
    }
  /** A scope has had no leader for too long. `sentence` says for how long, and why this node does not lead it. */
  | {
      readonly type: 'no-leader';
      /** Name of the semaphore. */
      readonly semaphore: string;
      /** Name of the scope. */
      readonly scope: string;
      /** A sentence for people that describes it. */
      readonly sentence: string;
    }
  /** This node, which leads the allocation, has decided on other owners. Numbers of resources. */
  | {
      readonly type: 'allocation-changed';
      /** Name of the allocation group. */
      readonly group: string;
      /** Resources that an owner must give back. */
      readonly revoked: number;
      /** Resources that got an owner. */
      readonly granted: number;
    }
  /** This node owns other resources. Numbers of resources. */
  | {
      readonly type: 'resources-changed';
      /** Name of the allocation group. */
      readonly group: string;
      /** Resources that this node has got. */
      readonly added: number;
      /** Resources that this node must give back. */
      readonly revoked: number;
      /** Resources that it owns now. */
      readonly owned: number;
    }
  /** Resources have had no owner for too long, or may have had none. `sentence` says for how long, and why. */
  | {
      readonly type: 'resources-unowned';
      /** Name of the allocation group. */
      readonly group: string;
      /** Number of resources that have had no owner for too long; absent if the leader can't find out. */
      readonly count?: number;
      /** A sentence for people that describes it. */
      readonly sentence: string;
    }
  | TaskEvent
  /** A person or program changed something through this node. */
  | {
      readonly type: 'audited';
      /** Name of the semaphore. */
      readonly semaphore: string;
      /** The entry of the audit log. */
      readonly entry: AuditEntry;
    }
  | {
      readonly type: 'record-unreadable';
      /** Name of the semaphore. */
      readonly semaphore: string;
      /** Why it can't be read. */
      readonly error: Error;
    }
  /**
   * Another node joined; left when it closed; crashed: its membership lease ended without a renewal; rejoined: its lease
   * had lapsed, and it took a new one.
   */
  | {
      readonly type: 'member-joined' | 'member-left' | 'member-crashed' | 'member-rejoined';
      /** The node. */
      readonly member: Participant;
      /** Id of the unbroken lease that began or ended. */
      readonly incarnation: string;
    }
  /** This node's own membership lease lapsed. It joins again when it can. */
  | {
      readonly type: 'membership-lost';
      /** The node. */
      readonly member: Participant;
    }
  /** This node saw for the first time which other nodes publish themselves in its store. Once per start. */
  | {
      readonly type: 'cluster-joined';
      /** Name of this application; absent if it is unknown. */
      readonly application?: string;
      /** Number of the other nodes, of all applications. */
      readonly nodes: number;
      /** For people: the application, the place of its records, and the other nodes. */
      readonly sentence: string;
    }
  /** Another application on this store uses the same names: both share their permits. Once, until it is gone. */
  | {
      readonly type: 'other-application';
      /** Its name. */
      readonly application: string;
      /** The names that both use: of semaphores, "leader:" and a scope, or "task:" and a type. */
      readonly names: readonly string[];
      /** Acquirers of its nodes. */
      readonly nodes: readonly string[];
      /** For people: what it means, and what to do. */
      readonly sentence: string;
    }
  /**
   * A job of this node missed a run (`not-run`), or a process that is not heard of holds a permit of a semaphore of this node
   * (`holder-silent`), as in the warnings of the semaphore. Once, until it ends; the end has an event of its own.
   */
  | {
      readonly type: 'job-warning' | 'job-warning-ended';
      /** Code of the warning. */
      readonly code: 'not-run' | 'holder-silent';
      /** Name of the semaphore. Absent from an event about all the others, after the first 20 at one time. */
      readonly semaphore?: string;
      /** For people: which job or holder, since when, and what to do. */
      readonly sentence: string;
    }
  | {
      readonly type: 'clock-suspect';
      /** Why this node does not trust the clocks. */
      readonly reason: string;
    }
  | {
      readonly type: 'store-lost';
      /** The error of the call that failed. */
      readonly error: Error;
    }
  | { readonly type: 'store-back' }
  /** With the option `alerts`: this node reports a trouble, or its end, to the receivers. */
  | {
      readonly type: 'alert';
      /** The message. */
      readonly alert: Alert;
    }
  /** Alerts did not reach a receiver, and are not repeated any more. */
  | {
      readonly type: 'alerts-undelivered';
      /** Name of the receiver, or `all`. */
      readonly receiver: string;
      /** Number of alerts. */
      readonly count: number;
      /** Why, for people. */
      readonly problem: string;
    }
  | {
      readonly type: 'problem';
      /** Name of the semaphore, if it is about one. */
      readonly semaphore?: string;
      /** The action that failed, such as 'renew the membership lease'. */
      readonly action: string;
      /** The error; may be any value. */
      readonly error: unknown;
    };

/** The events of one type. */
export type EventOf<T extends GatekeeperEvent['type']> = GatekeeperEvent extends infer E
  ? E extends { readonly type: infer Types extends string }
    ? T extends Types
      ? Omit<E, 'type'> & { readonly type: T }
      : never
    : never
  : never;
