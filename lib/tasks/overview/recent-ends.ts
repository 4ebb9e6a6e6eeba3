import type { Context } from '../../core/context/context.js';

/** ms that the counts cover, and of one of their parts. */
const SPAN = 60_000;
const PART = 10_000;
/** Types that are counted: programs may name any. */
const MOST_TYPES = 1000;

/** Attempts that ended on this node within the last minute. */
export interface EndCounts {
  /** Those that completed their task. */
  readonly completed: number;
  /** Those that failed, also if the task is tried again. */
  readonly failed: number;
}

/** How an attempt ended. */
export type AttemptEnd = keyof EndCounts;

/** The counts of one part of the span. */
interface Part {
  readonly number: number;
  completed: number;
  failed: number;
}

/** Counts the attempts that ended in the last minute, per type. */
export class RecentEnds {
  readonly #parts = new Map<string, Part[]>();

  constructor(private readonly clock: Pick<Context['nodeClock'], 'monotonic'>) {}

  /** @param type of the record, so that handlers of groups have a type of their own */
  note(type: string, end: AttemptEnd): void {
    const number = this.#now;
    const parts = this.#parts.get(type) ?? [];
    if (parts.length === 0 && this.#parts.size >= MOST_TYPES) return;
    const last = parts.at(-1);
    const part = last?.number === number ? last : { number, completed: 0, failed: 0 };
    part[end]++;
    this.#parts.set(type, part === last ? parts : [...recent(parts, number), part]);
  }

  /** The counts of a type. */
  of(type: string): EndCounts {
    const parts = recent(this.#parts.get(type) ?? [], this.#now);
    const sum = (end: AttemptEnd) => parts.reduce((total, part) => total + part[end], 0);
    return { completed: sum('completed'), failed: sum('failed') };
  }

  /** The types of which an attempt ended within the last minute. Forgets the others. */
  types(): string[] {
    for (const [type, parts] of this.#parts) if (recent(parts, this.#now).length === 0) this.#parts.delete(type);
    return [...this.#parts.keys()];
  }

  get #now(): number {
    return Math.floor(this.clock.monotonic() / PART);
  }
}

function recent(parts: readonly Part[], now: number): Part[] {
  return parts.filter(({ number }) => number > now - SPAN / PART);
}
