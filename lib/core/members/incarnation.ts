import type { Context } from '../context/context.js';
import { type Instant, instantOf } from '../cell/plan.js';

/**
 * One unbroken membership lease of this node, by its own clocks. It counts from before the write was sent, on the
 * monotonic and on the wall clock, and ends `clockTolerance` early. Once over, it stays over.
 */
export class Incarnation {
  /** The lease counts from here: the last confirmed write, or the first write until one is confirmed. */
  #counted?: Instant;
  #hasJoined = false;
  #isOver = false;

  constructor(
    readonly id: string,
    /** ms */
    private readonly lease: number,
    private readonly context: Pick<Context, 'nodeClock' | 'timing'>,
  ) {}

  /** Whether a write of this incarnation was confirmed. */
  get hasJoined(): boolean {
    return this.#hasJoined;
  }

  /** Reads the clocks. */
  get isHeld(): boolean {
    return this.#hasJoined && !this.isOver;
  }

  /** Whether the lease has lapsed, also before a write was confirmed. Reads the clocks. */
  get isOver(): boolean {
    this.#isOver ||= this.#left <= 0;
    return this.#isOver;
  }

  /** ms until the lease ends; 0 if it is not held. Reads the clocks once. */
  get remaining(): number {
    const left = this.#left;
    this.#isOver ||= left <= 0;
    return this.#hasJoined && !this.#isOver ? left : 0;
  }

  /**
   * Call this before each write. The first one may be applied without an answer. Then the others see it, and may judge
   * it before a later write is confirmed.
   */
  begin(): void {
    this.#counted ??= instantOf(this.context.nodeClock);
  }

  /**
   * Takes over a confirmed write. Does nothing if the lease lapsed before the answer came: then it is broken.
   *
   * @param sent the moment before the write was sent
   */
  renew(sent: Instant): void {
    if (this.isOver) return;
    this.#counted = sent;
    this.#hasJoined = true;
  }

  end(): void {
    this.#isOver = true;
  }

  get #left(): number {
    if (!this.#counted) return Infinity;
    const { nodeClock, timing } = this.context;
    const passed = Math.max(nodeClock.monotonic() - this.#counted.monotonic, nodeClock.wall() - this.#counted.wall);
    return this.lease - timing.clockTolerance - passed;
  }
}
