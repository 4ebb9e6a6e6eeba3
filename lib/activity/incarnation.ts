import type { Context } from '../context/context.js';
import type { Instant } from '../records/plan.js';

/**
 * One unbroken membership lease of this node, by its own clocks. It counts from before the write was sent, on the
 * monotonic and on the wall clock, and ends `clockTolerance` early. Once over, it stays over.
 */
export class Incarnation {
  #sent?: Instant;
  #isOver = false;

  constructor(
    readonly id: string,
    /** ms */
    private readonly lease: number,
    private readonly context: Pick<Context, 'nodeClock' | 'timing'>,
  ) {}

  /** Whether a write of this incarnation was confirmed. */
  get hasJoined(): boolean {
    return this.#sent !== undefined;
  }

  /** Reads the clocks. */
  get isHeld(): boolean {
    if (this.#sent && this.remaining <= 0) this.#isOver = true;
    return this.#sent !== undefined && !this.#isOver;
  }

  /** ms until the lease ends; 0 or less if it is not held. Only reads the clocks. */
  get remaining(): number {
    if (!this.#sent || this.#isOver) return 0;
    const { nodeClock, timing } = this.context;
    const passed = Math.max(nodeClock.monotonic() - this.#sent.monotonic, nodeClock.wall() - this.#sent.wall);
    return this.lease - timing.clockTolerance - passed;
  }

  /**
   * Takes over a confirmed write. Does nothing if the lease lapsed before the answer came: then it is broken.
   *
   * @param sent the moment before the write was sent
   */
  renew(sent: Instant): void {
    if (this.#sent && !this.isHeld) return;
    this.#sent = sent;
  }

  end(): void {
    this.#isOver = true;
  }
}
