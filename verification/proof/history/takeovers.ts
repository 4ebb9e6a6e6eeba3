import type { Calls } from './calls.js';
import type { EntryOf, HistoryEntry } from './history.js';
import type { Limits } from './limits.js';
import type { Permits } from './permits.js';
import type { Processes } from './processes.js';
import { formatMs, formatTime } from './format.js';
import type { Violations } from './violations.js';

/** Limits for the takeovers of a semaphore, all in ms. */
export interface TakeoverTimes {
  /** The longest that its permits last. */
  readonly duration: number;
  /** `clockTolerance` of the processes. */
  readonly tolerance: number;
  /** A process that keeps asking must get the next permit this long after the former one is surely over. */
  readonly bound: number;
}

interface Loss {
  readonly process: string;
  readonly event: 'killed' | 'frozen';
  readonly semaphore: string;
  readonly permits: readonly string[];
  readonly at: number;
  /** From when on the takeover may be expected: a fault of the store puts it off. */
  from: number;
  /** A process asked early enough to be granted in time. */
  isWanted: boolean;
}

interface Environment {
  readonly permits: Permits;
  readonly limits: Limits;
  readonly processes: Processes;
  readonly calls: Calls;
}

/** L: after the holder of a permit died or froze, a process that keeps asking gets one soon after it is over. */
export class Takeovers {
  /** ms from the loss to the next grant. */
  readonly times: number[] = [];
  /**
   * Losses after which no process asked in time, or the history ended too early, or no times were given, or others held as
   * many as there may be since an edit.
   */
  unjudged = 0;
  #open: Loss[] = [];
  /** Permits that expired, the latest ones of each semaphore. */
  #expired: EntryOf<'ended'>[] = [];
  #faults = 0;

  constructor(
    private readonly violations: Violations,
    private readonly around: Environment,
    private readonly timesOf: (semaphore: string) => TakeoverTimes | undefined,
  ) {}

  /** To be called before the permits hear that a process was killed: they forget what it held. */
  see(entry: HistoryEntry, invoked: EntryOf<'invoked'> | undefined): void {
    const { event, at } = entry;
    if (event === 'killed' || event === 'frozen') this.#lost(entry, event);
    else if (event === 'thawed') this.#thawed(entry);
    else if (event === 'limited') this.#forgive(entry.semaphore, entry.permits, at);
    else if (event === 'ended' && entry.reason === 'expired') this.#noteEnd(entry);
    else if (event === 'fault-begun') this.#faults++;
    else if (event === 'fault-over') this.#faultOver(entry);
    if (this.#open.length === 0) return;
    const call = invoked ?? (event === 'invoked' ? entry : undefined);
    if (call?.verb === 'acquire') this.#note(call, at);
    if (event === 'granted') this.#granted(entry);
  }

  finish(end: number): void {
    for (const call of this.around.calls.open) {
      if (call.verb === 'acquire' && !this.around.processes.isExpired(call.process)) this.#note(call, end);
    }
    for (const loss of this.#open) {
      if (end > this.#deadline(loss) && loss.isWanted) this.#violated(loss, 'the history ends without a next grant');
      else this.unjudged++;
    }
    this.#open = [];
  }

  #lost({ process, at }: HistoryEntry, event: 'killed' | 'frozen'): void {
    const { limits, permits: known } = this.around;
    const held = known.heldBy(process, at);
    for (const semaphore of new Set(held.map((holding) => holding.semaphore))) {
      // A frozen process that is killed then was lost before.
      if (this.#open.some((loss) => loss.process === process && loss.semaphore === semaphore)) continue;
      const from = this.#faults > 0 ? Infinity : at;
      const permits = held.filter((holding) => holding.semaphore === semaphore).map(({ permit }) => permit);
      this.#open.push({ process, event, semaphore, permits, at, from, isWanted: false });
      this.#forgive(semaphore, limits.most(semaphore, at) ?? 0, at);
    }
  }

  /** No grant is expected while other processes hold all permits. */
  #forgive(semaphore: string, limit: number, at: number): void {
    const held = this.around.permits.heldOf(semaphore, at);
    this.#open = this.#open.filter((loss) => {
      if (loss.semaphore !== semaphore) return true;
      const others = held.filter(({ process }) => process !== loss.process).map(({ permit }) => permit);
      const lingering = this.#lingering(semaphore, at).filter(({ process }) => process !== loss.process);
      const taken = [...others, ...this.#lostAfter(loss), ...lingering.map(({ permit }) => permit)];
      if (new Set(taken).size < limit) return true;
      this.unjudged++;
      return false;
    });
  }

  #noteEnd(entry: EntryOf<'ended'>): void {
    this.#expired = [
      ...this.#expired.filter((other) => other.semaphore !== entry.semaphore),
      ...this.#lingering(entry.semaphore, entry.at),
      entry,
    ];
  }

  /** Permits that no process holds any more, but the record may have: by both tolerances, and for the time of a call. */
  #lingering(semaphore: string, at: number): EntryOf<'ended'>[] {
    const times = this.timesOf(semaphore);
    const since = at - (times ? 2 * times.tolerance + times.bound / 2 : 0);
    return this.#expired.filter((entry) => entry.semaphore === semaphore && entry.at > since);
  }

  /** Permits of processes that died later: they are held by none any more, but still stand in the record. */
  #lostAfter({ semaphore, at }: Loss): string[] {
    return this.#open
      .filter((other) => other.event === 'killed' && other.semaphore === semaphore && other.at > at)
      .flatMap(({ permits }) => permits);
  }

  /** Back in time: it goes on with what it still holds. */
  #thawed({ process, at }: HistoryEntry): void {
    const held = new Set(this.around.permits.heldBy(process, at).map(({ permit }) => permit));
    this.#open = this.#open.filter((loss) => loss.process !== process || !loss.permits.some((id) => held.has(id)));
  }

  #faultOver({ process, at }: HistoryEntry): void {
    if (this.#faults === 0) this.violations.add('H', 'a fault is over that never began', { processes: [process] });
    this.#faults = Math.max(0, this.#faults - 1);
    for (const loss of this.#open) {
      loss.from = this.#faults > 0 ? Infinity : at;
      loss.isWanted = false;
    }
  }

  #note(call: EntryOf<'invoked'>, until: number): void {
    for (const loss of this.#open) {
      const times = this.timesOf(loss.semaphore);
      if (!times || call.semaphore !== loss.semaphore) continue;
      const over = loss.from + times.duration + times.tolerance;
      if (call.at <= over + times.bound / 2 && until >= over) loss.isWanted = true;
    }
  }

  #granted({ semaphore, at, process, permit }: EntryOf<'granted'>): void {
    this.#open = this.#open.filter((loss) => {
      if (loss.semaphore !== semaphore) return true;
      if (loss.permits.includes(permit)) return true;
      this.times.push(at - loss.at);
      const isLate = at > this.#deadline(loss);
      if (!this.timesOf(semaphore) || (isLate && !loss.isWanted)) this.unjudged++;
      else if (isLate) this.#violated(loss, `${process} was granted the next permit after ${formatMs(at - loss.at)}`);
      return false;
    });
  }

  /** Never while a fault lasts, or when nothing was said about the semaphore. */
  #deadline({ semaphore, from }: Loss): number {
    const times = this.timesOf(semaphore);
    return this.#faults > 0 || !times ? Infinity : from + times.duration + times.tolerance + times.bound;
  }

  #violated({ process, event, semaphore, at, from }: Loss, what: string): void {
    const { duration, tolerance, bound } = this.timesOf(semaphore)!;
    const { start } = this.violations;
    const after = from === at ? 'after that' : `after the fault was over at ${formatTime(from, start)}`;
    this.violations.add(
      'L',
      `${process}, which held ${semaphore}, was ${event} at ${formatTime(at, start)}: ${what}; expected at the latest ${formatMs(duration)} + ${formatMs(tolerance)} + ${formatMs(bound)} ${after}`,
      { semaphore, processes: [process] },
    );
  }
}
