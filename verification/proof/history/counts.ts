import type { HistoryEntry } from './history.js';

/** How often what happened. */
export class Counts {
  #grants = 0;
  #refreshes = 0;
  #releases = 0;
  readonly #denials: Record<string, number> = {};
  readonly #failures: Record<string, number> = {};

  see(entry: HistoryEntry): void {
    if (entry.event === 'granted') this.#grants++;
    else if (entry.event === 'refreshed') this.#refreshes++;
    else if (entry.event === 'released') this.#releases++;
    else if (entry.event === 'denied') count(this.#denials, entry.reason);
    else if (entry.event === 'failed') count(this.#failures, entry.error);
  }

  figures(unanswered: number) {
    return {
      grants: this.#grants,
      refreshes: this.#refreshes,
      releases: this.#releases,
      denials: this.#denials,
      failures: { ...this.#failures, ...(unanswered > 0 && { unanswered }) },
    };
  }
}

function count(counts: Record<string, number>, what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}
