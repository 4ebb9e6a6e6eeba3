import { Periodic } from '../async/periodic.js';
import type { Context } from '../context/context.js';
import { SweepPermit } from '../permits/sweep-permit.js';
import type { TaskSweep } from './task-sweep.js';

/** ms between two looks of the node that sweeps. A delayed task becomes waiting so much late. */
const INTERVAL = 1000;
/** ms between two looks if there is more to do. */
const SOON = 20;
/** ms between two tries to get the turn, or to keep it. */
const TURN = 2500;

/** The sweep of tasks, on one node at a time: the node that has the permit of `gatekeeper:tasks`. */
export class Sweeping {
  readonly #permit: SweepPermit;
  readonly #periodic: Periodic;
  #isMore = false;
  #triedAt = -Infinity;
  #isStarted = false;

  constructor(
    private readonly sweep: Pick<TaskSweep, 'turn'>,
    private readonly context: Context,
  ) {
    const { nodeClock, random, events } = context;
    this.#permit = new SweepPermit(context, TURN, 'gatekeeper:tasks');
    this.#periodic = new Periodic(nodeClock, () => this.#tick(), {
      interval: () => this.#interval,
      chance: () => random.number(),
      onError: (error) => events.next({ type: 'problem', action: 'sweep the tasks', error }),
    });
  }

  /** Idempotent. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#periodic.start(0);
  }

  /** Gives the turn up, so that another node may sweep at once. */
  async close(): Promise<void> {
    this.#periodic.stop();
    if (this.#isStarted) await this.#permit.close();
  }

  get #interval(): number {
    if (!this.#permit.isHeld) return TURN;
    return this.#isMore ? SOON : INTERVAL;
  }

  async #tick(): Promise<void> {
    const now = this.context.nodeClock.monotonic();
    this.#isMore = false;
    if (now - this.#triedAt >= TURN || !this.#permit.isHeld) {
      this.#triedAt = now;
      await this.#permit.take();
    }
    if (this.#permit.isHeld) this.#isMore = await this.sweep.turn();
  }
}
