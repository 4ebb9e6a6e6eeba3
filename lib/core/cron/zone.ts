/** ms */
const SECOND = 1000;
const DAY = 86_400_000;

/**
 * Local times of a time zone. A local time is written as the ms since 1970 that it would have in UTC, so that it can be
 * calculated with.
 */
export class Zone {
  readonly #format: Intl.DateTimeFormat | undefined;
  readonly #fixed: number = 0;

  /**
   * @param zone its name, or local time minus UTC in ms, if that never changes
   * @throws RangeError if there is no such zone
   */
  constructor(zone: string | number) {
    if (typeof zone === 'number') {
      this.#fixed = zone;
      return;
    }
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** Local time minus UTC at an instant, in ms. */
  offset(instant: number): number {
    if (!this.#format) return this.#fixed;
    const second = Math.floor(instant / SECOND) * SECOND;
    const found: Record<string, number> = {};
    for (const { type, value } of this.#format.formatToParts(second)) found[type] = Number(value);
    const { year, month, day, hour, minute, second: seconds } = found as Record<string, number>;
    return Date.UTC(year!, month! - 1, day, hour, minute, seconds) - second;
  }

  /**
   * The first instant with a local time. A local time that clocks skip in spring stands for the moment after the skip.
   * One that comes twice in autumn stands for the first of the two.
   */
  instantOf(local: number): number {
    const before = local - this.offset(local - DAY);
    if (this.offset(before) === local - before) return before;
    const after = local - this.offset(local + DAY);
    if (this.offset(after) === local - after) return after;
    return this.changeBetween(Math.min(before, after) - SECOND, Math.max(before, after));
  }

  /** The first instant after `from`, up to `to`, with another offset than `from`, in whole seconds. */
  changeBetween(from: number, to: number): number {
    const former = this.offset(from);
    let [low, high] = [Math.floor(from / SECOND), Math.ceil(to / SECOND)];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.offset(middle * SECOND) === former) low = middle;
      else high = middle;
    }
    return high * SECOND;
  }
}
