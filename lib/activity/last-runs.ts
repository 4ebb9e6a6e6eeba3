import type { NodeClock } from '../async/node-clock.js';
import type { Pieces } from '../async/slices.js';
import type { HistoryEntry, RunEntry } from './history-entry.js';

/** Default size of the journal. */
const ALL = 10_000;
/** Maximum number of entries per call of a store. */
const NEWEST = 1000;
/** ms for which a reading is fresh enough for people. */
const FRESH = 1000;
/** ms after which more than {@link NEWEST} entries may be new: then everything is read again. */
const STALE = 60_000;

/**
 * The newest run of each job. Kept between looks, because a look would otherwise read the whole journal. Read only on
 * demand.
 */
export class LastRuns {
  #runs = new Map<string, RunEntry>();
  #readAt = -Infinity;

  constructor(
    private readonly read: (limit: number) => Promise<HistoryEntry[]>,
    private readonly nodeClock: NodeClock,
  ) {}

  /** @throws StoreUnavailableError */
  async get(): Promise<RunEntry[]> {
    const age = this.nodeClock.monotonic() - this.#readAt;
    if (age >= FRESH) await this.#refresh(age < STALE);
    return this.known();
  }

  /** As they were last read. */
  known(): RunEntry[] {
    return [...this.#runs.values()];
  }

  async #refresh(isRecent: boolean): Promise<void> {
    const began = this.nodeClock.monotonic();
    const entries = await this.read(isRecent ? NEWEST : ALL);
    // Entries that fell out of the journal may have been followed by others that were never read.
    if (!isRecent) this.#runs.clear();
    for (const entry of entries) if (entry.kind === 'run') keepNewest(this.#runs, entry);
    this.#readAt = began;
  }
}

/** The newest run of each job. Nodes may write runs late, so entries are not always in order. */
export function* newestRuns(runs: Iterable<RunEntry>): Pieces<Map<string, RunEntry>> {
  const newest = new Map<string, RunEntry>();
  for (const run of runs) {
    keepNewest(newest, run);
    yield 1;
  }
  return newest;
}

export function jobKey({ semaphore, job }: { readonly semaphore: string; readonly job: string }): string {
  return `${semaphore}\n${job}`;
}

function keepNewest(runs: Map<string, RunEntry>, run: RunEntry): void {
  const key = jobKey(run);
  const known = runs.get(key);
  if (!known || known.at <= run.at) runs.set(key, run);
}
