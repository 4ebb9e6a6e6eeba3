import { PermitLostError } from '../permits.errors.js';
import type { Permit } from '../permit.js';

/** The permit as a guarded run sees it. The run can't release it: the end of the run does. */
export type RunPermit = Pick<
  Permit,
  'semaphore' | 'slot' | 'token' | 'signal' | 'isHeld' | 'remaining' | 'assertHeld' | 'extend'
> & {
  /** False when the store could not be asked and `onUnavailable: 'run'` let the run through without a permit. */
  readonly isGuarded: boolean;
};

/**
 * Stands in for a permit when `onUnavailable: 'run'` lets a run through. It promises nothing: it is never held, and its
 * token is the lowest, so that a guarded resource refuses it wherever a real permit ever wrote.
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
