import type { NodeClock } from '../async/node-clock.js';
import { OLDEST_SAMPLE } from './member-clocks.js';

/** ms after a sign within which every node has noticed it: none decides by an older sample. */
const NOTICED_WITHIN = OLDEST_SAMPLE;

/**
 * Remembers the last sign that clocks can't be trusted, and how long it counts:
 *
 *     sign            + 30 s                      + 30 s + 2 x duration
 *      |-- isActive ----|                               |
 *      |-- cluster time ends no lease of that duration -|-- cluster time decides again -->
 *
 * Up to 30 s after the sign a node may stamp a lease without having noticed it: by then all have sampled anew. Such a
 * lease must have expired before cluster time may end another lease of the same duration.
 */
export class Suspicion {
  #reason = '';
  /** Monotonic ms of the last sign. */
  #since = -Infinity;
  #isReported = false;

  /** @param onSuspect called at the first of consecutive signs */
  constructor(
    private readonly node: Pick<NodeClock, 'monotonic'>,
    private readonly onSuspect?: (reason: string) => void,
  ) {}

  /** Notes a sign and reports it, unless an earlier one that still counts was reported. */
  raise(reason: string): void {
    const isNew = !this.isActive || !this.#isReported;
    this.assume(reason);
    this.#isReported = true;
    if (isNew) this.onSuspect?.(reason);
  }

  /** Distrusts the clocks from now on without a sign: the first sign is still to be reported. */
  assume(reason: string): void {
    this.#reason = reason;
    this.#since = this.node.monotonic();
  }

  /** Whether a sign came within the time in which every node samples anew. */
  get isActive(): boolean {
    return this.node.monotonic() < this.#since + NOTICED_WITHIN;
  }

  /** For people; undefined while there is none. */
  get reason(): string | undefined {
    return this.isActive ? this.#reason : undefined;
  }

  /** @param duration of a lease, in ms */
  isOverFor(duration: number): boolean {
    return this.node.monotonic() >= this.#since + NOTICED_WITHIN + 2 * duration;
  }
}
