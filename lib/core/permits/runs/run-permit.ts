import { PermitLostError } from '../permits.errors.js';
import type { Permit } from '../permit.js';

/** The permit that a guarded run gets. The run can't release it; the permit is released after the run. */
export type RunPermit = Pick<
  Permit,
  'semaphore' | 'slot' | 'token' | 'signal' | 'isHeld' | 'remaining' | 'assertHeld' | 'extend'
> & {
  /** False if the run has no permit, because the store could not be asked and `onUnavailable` is `'run'`. */
  readonly isGuarded: boolean;
};

/**
 * Replaces the permit of a run that started without one (`onUnavailable: 'run'`). It is never held. Its token is the
 * lowest, so a resource that checks tokens refuses it after any write with a real permit.
 */
export class UnguardedPermit implements RunPermit {
  readonly isGuarded = false;
  readonly slot = 0;
  readonly token = 0;
  readonly isHeld = false;
  readonly remaining = 0;
  readonly signal: AbortSignal = new AbortController().signal;

  constructor(readonly semaphore: string) {}

  assertHeld(): void {
    throw new PermitLostError(this.semaphore, 'unguarded');
  }

  async extend(): Promise<void> {
    this.assertHeld();
  }
}
