import type { HistoryEntry } from './history.js';
import { formatEntry } from './format.js';

/**
 * S1 too many held at once, S2 tokens out of order, S3 a stale write applied, S4 a holder that learnt of its end too late, L no takeover,
 * M a process counted on its membership lease after another one had judged it to be over,
 * H the history contradicts itself: then nothing that it seems to show is proved.
 */
export type Rule = 'S1' | 'S2' | 'S3' | 'S4' | 'M' | 'L' | 'H';

export interface Violation {
  readonly rule: Rule;
  /** ms since the first entry. */
  readonly at: number;
  readonly text: string;
  /** The few entries of the same semaphore and processes around it, and doubts about clocks, one a line. */
  readonly around: readonly string[];
}

/** Subject of a violation, to find the entries that explain it. */
interface Subject {
  readonly semaphore?: string;
  readonly processes?: readonly string[];
}

/** A history that is wrong all over must not be searched all over. */
const MOST_EXPLAINED = 50;
const MOST_LOOKED_AT = 2000;
const BEFORE = 8;
const AFTER = 3;

/** Collects what is found, each with the entries that led to it. */
export class Violations {
  readonly found: Violation[] = [];
  /** The index of the entry that is looked at now. */
  index = 0;

  constructor(private readonly entries: readonly HistoryEntry[]) {}

  get start(): number {
    return this.entries[0]?.at ?? 0;
  }

  add(rule: Rule, text: string, subject: Subject = {}): void {
    const at = (this.entries[this.index]?.at ?? this.start) - this.start;
    const around = this.found.length < MOST_EXPLAINED ? this.#around(subject) : [];
    this.found.push({ rule, at, text, around });
  }

  #around(subject: Subject): string[] {
    const before = this.#search(-1, this.index, BEFORE, subject).toReversed();
    const after = this.#search(1, this.index + 1, AFTER, subject);
    return [...before, ...after].map((entry) => formatEntry(entry, this.start));
  }

  #search(step: 1 | -1, from: number, count: number, subject: Subject): HistoryEntry[] {
    const found: HistoryEntry[] = [];
    for (let looked = 0; looked < MOST_LOOKED_AT && found.length < count; looked++) {
      const entry = this.entries[from + step * looked];
      if (!entry) break;
      if (isAbout(entry, subject)) found.push(entry);
    }
    return found;
  }
}

function isAbout(entry: HistoryEntry, { semaphore, processes }: Subject): boolean {
  if (entry.event === 'suspected') return true;
  if ('semaphore' in entry) return semaphore === undefined || entry.semaphore === semaphore;
  return processes === undefined || processes.includes(entry.process) || 'fault' in entry;
}
