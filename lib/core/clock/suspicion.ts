import type { NodeClock } from '../async/node-clock.js';
import { OLDEST_SAMPLE } from './member-clocks.js';

/** ms after a sign until every node must have noticed it, because no node decides with an older sample. */
const NOTICED_WITHIN = OLDEST_SAMPLE;

/**
 * Keeps the last sign of wrong clocks, and decides how long it counts:
 *
 *     sign            + 30 s                      + 30 s + 2 x duration
 *      |-- isActive ----|                               |
 *      |-- cluster time ends no lease of that duration -|-- cluster time decides again -->
 *
 * For 30 s after the sign, a node that has not noticed it may still stamp a lease with a wrong time. After that, all
 * nodes have sampled again. Such a lease must have expired before cluster time may end another lease of the same
 * duration.
 */
export class Suspicion {
  #reason = '';
  /** Monotonic ms of the last sign. */
  #since = -Infinity;
  #isReported = false;

  /** @param onSuspect called for the first of several signs in sequence */
  constructor(
    private readonly node: Pick<NodeClock, 'monotonic'>,
    private readonly onSuspect?: (reason: string) => void,
  ) {}

  /** Notes a sign. Reports it, unless an earlier sign was reported and is still active. */
  raise(reason: string): void {
    const isNew = !this.isActive || !this.#isReported;
    this.assume(reason);
    this.#isReported = true;
    if (isNew) this.onSuspect?.(reason);
  }

  /** Makes the clocks suspect without a sign. So the first real sign is still reported. */
  assume(reason: string): void {
    this.#reason = reason;
    this.#since = this.node.monotonic();
  }

  /** Whether the last sign is so recent that some node may not have sampled since. */
  get isActive(): boolean {
    return this.node.monotonic() < this.#since + NOTICED_WITHIN;
  }

  /** The reason of the last sign, for people; undefined if it is no longer active. */
  get reason(): string | undefined {
    return this.isActive ? this.#reason : undefined;
  }

  /** Whether cluster time may end a lease again. @param duration of the lease, in ms */
  isOverFor(duration: number): boolean {
    return this.node.monotonic() >= this.#since + NOTICED_WITHIN + 2 * duration;
  }
}
