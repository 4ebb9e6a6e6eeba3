import type { Context } from '../context/context.js';
import { show } from '../decision/index.js';

/** ms, besides lease and `clockTolerance`, after which resources without an owner are an alarm. */
const PATIENCE = 5000;

/** Resources that have had no owner for too long. */
export interface UnownedResources {
  /** Name of the group. */
  readonly subject: string;
  /** In the node's monotonic ms. */
  readonly since: number;
  /** Which ones and since when, for people. */
  readonly sentence: string;
}

/** Raises an alarm, once each time, if resources of a group have had no owner for too long. */
export class UnownedAlarm {
  #since: number | undefined;
  #sentence: string | undefined;

  constructor(
    private readonly group: string,
    private readonly context: Context,
    /** ms */
    private readonly lease: number,
  ) {}

  /** The present alarm. */
  get current(): UnownedResources | undefined {
    if (this.#since === undefined || this.#sentence === undefined) return undefined;
    return { subject: this.group, since: this.#since, sentence: this.#sentence };
  }

  reset(): void {
    this.#since = undefined;
    this.#sentence = undefined;
  }

  /**
   * Call this again and again.
   *
   * @param count number of resources without an owner
   * @param why the reason, in a sentence
   */
  check(count: number, why: () => string): void {
    if (count === 0) return this.reset();
    const { nodeClock, timing, events } = this.context;
    this.#since ??= nodeClock.monotonic();
    const missing = nodeClock.monotonic() - this.#since;
    if (missing <= this.lease + timing.clockTolerance + PATIENCE) return;
    const isNew = this.#sentence === undefined;
    const { group } = this;
    this.#sentence = `${count} resources of group ${show(group)} have had no owner for ${Math.round(missing / 1000)} s: ${why()}`;
    if (isNew) events.next({ type: 'resources-unowned', group, count, sentence: this.#sentence });
  }
}
