import type { NodeClock } from '../../core/async/node-clock.js';
import type { Alert, AlertKind } from '../../core/context/alert.js';
import type { NodeIdentity } from '../../core/context/node-identity.js';
import { type Condition, alertAbout, keyOf } from './alert.js';

/** Maximum number of troubles of jobs and semaphores in memory. Names of jobs may come from arguments. */
export const MOST_OPEN = 1000;
/** Kinds of these troubles. Faults of the health are few, so there is always room for them. */
const OF_JOBS: ReadonlySet<AlertKind> = new Set(['run-failed', 'run-missed', 'run-overdue', 'no-node']);

interface Entry {
  condition: Condition;
  /** Whether the trouble lasts. */
  isOn: boolean;
  /** Occurrences that no message has told. */
  count: number;
  /** Status in the last message; absent before the first. */
  told?: Alert['status'];
  /** Monotonic ms of the last message that it fires. */
  firedAt: number;
  /** Monotonic ms at which it last occurred, or was seen to last. */
  seenAt: number;
}

/**
 * The troubles that this node reports, and when a message about each is due. Pure but for its memory.
 *
 * | trouble                            | message                                                                    |
 * | ---------------------------------- | -------------------------------------------------------------------------- |
 * | begins                             | `firing`, at once                                                          |
 * | occurs again                       | `firing` with the count, `groupInterval` after the last `firing`           |
 * | lasts                              | `firing`, `repeatInterval` after the last `firing`                         |
 * | ends                               | `resolved`, at once; none if no message said that it fires                 |
 * | begins again soon after it ended   | its present status with the count, `groupInterval` after the last `firing` |
 *
 * So a job that fails at each second tick makes three messages per `groupInterval` at most.
 */
export class OpenAlerts {
  /** The one that was seen the longest ago first. */
  readonly #entries = new Map<string, Entry>();
  #leftOut = 0;

  constructor(
    private readonly node: NodeIdentity,
    private readonly clock: Pick<NodeClock, 'monotonic'>,
    private readonly intervals: { readonly groupInterval: number; readonly repeatInterval: number },
  ) {}

  has(condition: Pick<Condition, 'kind' | 'subject'>): boolean {
    return this.#entries.has(keyOf(condition));
  }

  /** Number of troubles that found no room, or made room for others, since the last call. */
  takeLeftOut(): number {
    const count = this.#leftOut;
    this.#leftOut = 0;
    return count;
  }

  /** Notes that a trouble began, or occurred again. */
  occur(condition: Condition): void {
    const entry = this.#entries.get(keyOf(condition));
    if (entry) this.#again(entry, condition);
    else if (this.#hasRoomFor(condition)) this.#see({ condition, isOn: true, count: 1, firedAt: -Infinity, seenAt: 0 });
    else this.#leftOut += 1;
  }

  /** Notes that a trouble lasts. */
  last(condition: Condition): void {
    const entry = this.#entries.get(keyOf(condition));
    if (!entry?.isOn) return this.occur(condition);
    entry.condition = { ...condition, since: entry.condition.since };
    this.#see(entry);
  }

  /** Notes that a trouble has ended. */
  end(condition: Pick<Condition, 'kind' | 'subject'>): void {
    const entry = this.#entries.get(keyOf(condition));
    if (entry) entry.isOn = false;
  }

  /** Forgets a trouble without a message, because another node reports it. */
  forget(condition: Pick<Condition, 'kind' | 'subject'>): void {
    this.#entries.delete(keyOf(condition));
  }

  /** The messages that are due now. Call this after each change, and from time to time. @param now cluster time */
  due(now: number): Alert[] {
    const at = this.clock.monotonic();
    return [...this.#entries].flatMap(([key, entry]) => {
      if (this.#isOver(entry, at)) this.#entries.delete(key);
      if (!this.#isDue(entry, at)) return [];
      const alert = alertAbout(entry.condition, this.node, entry.count, entry.isOn ? undefined : now);
      entry.told = alert.status;
      entry.count = 0;
      if (entry.isOn) entry.firedAt = at;
      return [alert];
    });
  }

  #see(entry: Entry): void {
    const key = keyOf(entry.condition);
    entry.seenAt = this.clock.monotonic();
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  #hasRoomFor({ kind }: Condition): boolean {
    return !OF_JOBS.has(kind) || this.#entries.size < MOST_OPEN || this.#dropFailedRun();
  }

  /**
   * Drops the failed run that was seen the longest ago. One that was seen within `groupInterval` stays: jobs that fail by
   * turns would drop each other, and each of their failures would make a message.
   */
  #dropFailedRun(): boolean {
    const at = this.clock.monotonic();
    for (const [key, { condition, seenAt }] of this.#entries) {
      if (at - seenAt < this.intervals.groupInterval) return false;
      if (condition.kind !== 'run-failed') continue;
      this.#entries.delete(key);
      this.#leftOut += 1;
      return true;
    }
    return false;
  }

  #again(entry: Entry, condition: Condition): void {
    const { since } = entry.isOn ? entry.condition : condition;
    entry.condition = { ...condition, since };
    entry.isOn = true;
    entry.count += 1;
    this.#see(entry);
  }

  #isDue({ isOn, count, told, firedAt }: Entry, at: number): boolean {
    if (!isOn && told === 'firing') return true;
    const isFree = at - firedAt >= this.intervals.groupInterval;
    if (count > 0) return isFree && (isOn || told !== undefined);
    return isOn && at - firedAt >= this.intervals.repeatInterval;
  }

  /** Kept until `groupInterval` is over, so that a trouble that comes back is not taken for a new one. */
  #isOver({ isOn, count, told, firedAt }: Entry, at: number): boolean {
    if (isOn || told === 'firing') return false;
    return told === undefined || (count === 0 && at - firedAt >= this.intervals.groupInterval);
  }
}
