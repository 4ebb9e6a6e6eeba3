import { Periodic } from '../../core/async/periodic.js';
import type { Context } from '../../core/context/context.js';
import { SweepPermit } from '../../core/permits/sweep-permit.js';
import { RANKS } from '../rules/due-rule.js';
import type { TaskSweep } from './task-sweep.js';

/** ms between two looks of the node of rank 0 for work without a fixed time. */
const INTERVAL = 2500;
/** Intervals between two such looks of the other ranks: they only stand in for a node that is gone. */
const STAND_IN = 3;
/** ms between two looks if there is more to do. */
const SOON = 20;
/** ms between two tries to get a permit, or to keep it. */
const PASS = 2500;

/**
 * The permits to sweep the tasks: {@link RANKS} nodes have one of `gatekeeper:tasks`. They look for due work in the order of
 * their slots, and for work without a fixed time.
 */
export class SweepRanks {
  readonly #permit: SweepPermit;
  readonly #periodic: Periodic;
  #isMore = false;
  #triedAt = -Infinity;
  #sweptAt = -Infinity;
  #isStarted = false;

  constructor(
    private readonly sweep: Pick<TaskSweep, 'runPass'>,
    private readonly context: Context,
  ) {
    const { nodeClock, random, events } = context;
    this.#permit = new SweepPermit(context, PASS, 'gatekeeper:tasks', RANKS);
    this.#periodic = new Periodic(nodeClock, () => this.#tick(), {
      interval: () => (this.#isMore ? SOON : PASS),
      chance: () => random.number(),
      onError: (error) => events.next({ type: 'problem', action: 'sweep the tasks', error }),
    });
  }

  /** Rank of this node among those that look for due work; undefined if it has none. */
  get rank(): number | undefined {
    return this.#permit.slot;
  }

  /** Idempotent. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#periodic.start(0);
  }

  /** Gives the permit up, so that another node may sweep at once. */
  async close(): Promise<void> {
    this.#periodic.stop();
    if (this.#isStarted) await this.#permit.close();
  }

  async #tick(): Promise<void> {
    const now = this.context.nodeClock.monotonic();
    if (now - this.#triedAt >= PASS / 2 || !this.#permit.isHeld) {
      this.#triedAt = now;
      await this.#permit.take();
    }
    const interval = this.rank === 0 ? INTERVAL : STAND_IN * INTERVAL;
    const isTime = this.#isMore || now - this.#sweptAt >= 0.8 * interval;
    this.#isMore = false;
    if (!this.#permit.isHeld || !isTime) return;
    this.#sweptAt = now;
    this.#isMore = await this.sweep.runPass();
  }
}
