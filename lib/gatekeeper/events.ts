import type { DenialReason } from '../semaphores/denial.js';
import type { StoredPermit } from '../semaphores/permit.js';
import type { LossReason } from './gatekeeper.errors.js';

/** Why a run did not take place. */
export type SkipReason = DenialReason | 'overlap';

/** All that a gatekeeper tells of what happens on its node. */
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
  | { readonly type: 'run-started'; readonly semaphore: string; readonly task: string; readonly permit?: StoredPermit }
  | {
      readonly type: 'run-finished';
      readonly semaphore: string;
      readonly task: string;
      /** ms by the node's monotonic clock. */
      readonly took: number;
      readonly error?: unknown;
    }
  | { readonly type: 'run-skipped'; readonly semaphore: string; readonly task: string; readonly reason: SkipReason }
  | { readonly type: 'run-unguarded'; readonly semaphore: string; readonly task: string; readonly reason: DenialReason }
  | { readonly type: 'defined' | 'restored'; readonly semaphore: string; readonly revision: number }
  | { readonly type: 'record-unreadable'; readonly semaphore: string; readonly error: Error }
  | { readonly type: 'clock-suspect'; readonly reason: string }
  | { readonly type: 'store-lost'; readonly error: Error }
  | { readonly type: 'store-back' }
  | { readonly type: 'problem'; readonly semaphore?: string; readonly action: string; readonly error: unknown };
