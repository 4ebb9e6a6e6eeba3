import type { NodeClock } from '../../core/async/node-clock.js';
import type { Pieces } from '../../core/async/slices.js';
import { type HistoryEntry, type RunEntry, type RunningEntry, jobKey, newerFirst } from './history-entry.js';

/** Default capacity of the journal, in entries. No more runs are kept. */
const ALL = 10_000;
/** Number of entries that are read when the former reading is recent. */
const NEWEST = 1000;
/** ms for which a reading counts as current. */
const FRESH = 1000;
/** ms after which more than {@link NEWEST} entries may be new. Then the whole journal is read again. */
const STALE = 60_000;
/** ms after which the whole journal is read in any case: until then, runs that have left it are still kept. */
const OUTDATED = 600_000;

/**
 * The newest run of each job. The runs are kept between two calls, because each call would otherwise read the whole
 * journal. Nothing is read without a call.
 */
export class LastRuns {
  #runs = new Map<string, RunEntry>();
  #running: RunningEntry[] = [];
  #readAt = -Infinity;
  #allReadAt = -Infinity;

  constructor(
    private readonly read: (limit: number) => Promise<HistoryEntry[]>,
    private readonly nodeClock: NodeClock,
  ) {}

  /** @throws StoreUnavailableError */
  async get(): Promise<RunEntry[]> {
    const now = this.nodeClock.monotonic();
    const age = now - this.#readAt;
    if (age >= FRESH) await this.#refresh(age < STALE && now - this.#allReadAt < OUTDATED);
    return this.known();
  }

  /** The runs of the latest reading. */
  known(): RunEntry[] {
    return [...this.#runs.values()];
  }

  /** The runs that went on at the latest reading. Those that began long ago may be missing. */
  running(): readonly RunningEntry[] {
    return this.#running;
  }

  async #refresh(isRecent: boolean): Promise<void> {
    const began = this.nodeClock.monotonic();
    const entries = await this.read(isRecent ? NEWEST : ALL);
    // A newer run of a job may have left the journal before this node read it. Then the known run is no longer the
    // newest.
    if (!isRecent) {
      this.#runs.clear();
      this.#allReadAt = began;
    }
    for (const entry of entries) {
      if (entry.kind === 'run') keepNewest(this.#runs, entry);
      else if (entry.kind === 'running') dropCrashed(this.#runs, entry);
    }
    dropOldest(this.#runs);
    this.#running = entries.filter((entry) => entry.kind === 'running');
    this.#readAt = began;
  }
}

/** Finds the newest run of each job. Nodes may write runs late, so the order of the entries does not show it. */
export function* newestRuns(runs: Iterable<RunEntry>): Pieces<Map<string, RunEntry>> {
  const newest = new Map<string, RunEntry>();
  for (const run of runs) {
    keepNewest(newest, run);
    yield 1;
  }
  return newest;
}

/** Forgets that a run crashed, if its node lives after all. */
function dropCrashed(runs: Map<string, RunEntry>, { run, node, ...job }: RunningEntry): void {
  const known = runs.get(jobKey(job));
  const isSame = known?.run === run && known.node.instance === node.instance;
  if (isSame && known.outcome === 'crashed') runs.delete(jobKey(job));
}

/** Names of jobs may come from arguments. */
function dropOldest(runs: Map<string, RunEntry>): void {
  if (runs.size <= ALL) return;
  const oldestFirst = [...runs].toSorted(([, one], [, other]) => one.at - other.at);
  for (const [key] of oldestFirst.slice(0, -ALL)) runs.delete(key);
}

function keepNewest(runs: Map<string, RunEntry>, run: RunEntry): void {
  const key = jobKey(run);
  const known = runs.get(key);
  if (!known || newerFirst(known, run) >= 0) runs.set(key, run);
}
