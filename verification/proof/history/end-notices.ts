import type { EntryOf } from './history.js';
import { type Holding, formatHolding } from './permits.js';
import type { Processes } from './processes.js';
import { formatMs, formatTime } from './format.js';
import type { Violations } from './violations.js';

/**
 * S4: a holder learns of the end of its permit in time. After a freeze past the end the first check throws, and the
 * signal has aborted when the first turn of timers is over. An ended permit is never revived.
 */
export class EndNotices {
  /** ms from the end until holders that were not frozen learnt of it; negative if they learnt it before the end. */
  readonly late: number[] = [];

  constructor(
    private readonly violations: Violations,
    private readonly processes: Processes,
    private readonly slack: number,
  ) {}

  /** @param how the reason of the abort, "released", "killed", or "silence" when the history ends without a word */
  over(holding: Holding, how: string, at: number): void {
    const { process, until } = holding;
    const awake = this.processes.awakeAt(process, until);
    if (how === 'expired' && awake === until) this.late.push(at - until);
    const lastMoment = Math.min(at, this.processes.killedAt(process));
    if (lastMoment <= awake + this.slack) return;
    const what = how === 'silence' ? 'never learnt' : `did not learn before ${this.#time(at)} (${how})`;
    this.#violated(holding, `${what} that it ended at ${this.#time(until)}`);
  }

  /** A grant or a refresh came when the permit was over for its holder. */
  revived(holding: Holding, at: number): void {
    // Given back and taken anew before the store heard of it: the same permit goes on.
    if (holding.over === 'released' || at <= holding.until + this.slack) return;
    this.#violated(holding, `ended at ${this.#time(holding.until)} and was revived at ${this.#time(at)}`);
  }

  woken(holding: Holding, { at, callback, threw, aborted, since = at }: EntryOf<'woken'>): void {
    if (holding.until > since) return;
    const late = `${formatMs(at - holding.until)} after its end`;
    if (callback === 'after-timers' && aborted !== true) {
      this.#violated(holding, `woke, and the signal had not aborted after the first turn of timers, ${late}`);
    } else if (callback !== 'after-timers' && threw === false) {
      this.#violated(holding, `woke, and assertHeld() did not throw in a callback of ${callback}, ${late}`);
    }
  }

  #violated(holding: Holding, what: string): void {
    const { semaphore, process } = holding;
    this.violations.add('S4', `${formatHolding(holding)} and ${what}`, { semaphore, processes: [process] });
  }

  #time(at: number): string {
    return formatTime(at, this.violations.start);
  }
}
