import type { EntryOf, HistoryEntry } from './history.js';
import { formatTime } from './format.js';
import type { Violations } from './violations.js';

/** M: once any process has judged a membership lease to be over, its own process does not count on it. */
export class Members {
  readonly #over = new Map<string, EntryOf<'judged'>>();

  constructor(private readonly violations: Violations) {}

  /** How many leases were judged to be over. */
  get judged(): number {
    return this.#over.size;
  }

  see(entry: HistoryEntry): void {
    if (entry.event === 'judged' && !this.#over.has(entry.incarnation)) this.#over.set(entry.incarnation, entry);
    if (entry.event !== 'counted') return;
    const { process, incarnation } = entry;
    const judged = this.#over.get(incarnation);
    if (!judged) return;
    const when = formatTime(judged.at, this.violations.start);
    const text = `${process} counts on its membership ${incarnation}, which ${judged.process} judged to be over at ${when}`;
    this.violations.add('M', text, { processes: [process, judged.process] });
  }
}
