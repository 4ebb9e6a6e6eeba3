import type { HistoryEntry, NodeIdentity, Driver } from 'nestjs-gatekeeper';
import { jobKey } from '../../../lib/operate/activity/history-entry.js';
import { KEY_PREFIX } from '../../../lib/operate/activity/jobs/job-histories.js';
import { type JobRecord, ofRun, summedUp } from '../../../lib/operate/activity/jobs/job-record.js';
import { encodeJobShard } from '../../../lib/operate/activity/jobs/job-shard.codec.js';
import { shardOf } from '../../../lib/operate/activity/jobs/pending-additions.js';
import { groupedBy } from '../../../lib/operate/insight/grouped.js';

interface Past {
  readonly semaphore: string;
  readonly job: string;
  /** Take turns. */
  readonly nodes: readonly NodeIdentity[];
  /** ms between two runs. */
  readonly every: number;
  /** ms that a run takes. */
  readonly took: number;
  readonly runs: number;
  /** Which run, counted back from the last, did not end well. */
  readonly bad?: Readonly<Record<number, 'failed' | 'lost'>>;
}

/** Runs as nodes would have noted them, oldest first. */
export function pastRuns({ semaphore, job, nodes, every, took, runs, bad = {} }: Past, now: number): HistoryEntry[] {
  return Array.from({ length: runs }, (_, index) => {
    const back = runs - index;
    const outcome = bad[back] ?? 'ok';
    return {
      kind: 'run',
      semaphore,
      job,
      node: nodes[Math.floor(index / 6) % nodes.length]!,
      at: now - back * every,
      took: Math.round(took * (0.7 + ((index * 7) % 10) / 16)),
      outcome,
      ...(outcome === 'failed' && { message: 'connect ETIMEDOUT 10.0.9.14:5432' }),
      token: (now - back * every) * 1024,
      slot: 0,
    };
  });
}

/** Terms of a scope, oldest first: one leader crashed, and no other led for a minute. */
export function pastTerms(semaphore: string, nodes: readonly NodeIdentity[], now: number): HistoryEntry[] {
  const terms = [
    [0, 40, 'resigned'],
    [1, 75, 'other-preferred'],
    [2, 22, 'expired'],
    [0, 64, 'closing'],
    [2, 30, 'other-preferred'],
  ] as const;
  let at = now - 240 * 60_000;
  return terms.map(([node, minutes, ended]) => {
    const took = minutes * 60_000;
    const term = { semaphore, job: 'leadership', node: nodes[node]!, at, took, token: at * 1024, slot: 0, ended };
    at += took + (ended === 'expired' ? 4 * 60_000 : 20);
    return { kind: 'run', outcome: ended === 'expired' ? 'lost' : 'ok', ...term };
  });
}

/** Writes entries as nodes do: into the journal, and runs also into the past of their jobs. */
export async function publishHistory(store: Driver, entries: readonly HistoryEntry[]): Promise<void> {
  const inOrder = entries.toSorted((one, other) => one.at - other.at);
  await store.journal('runs').append(inOrder.map((entry) => JSON.stringify(entry)));
  const runs = inOrder.filter((entry) => entry.kind === 'run');
  for (const ofShard of groupedBy(runs, ({ semaphore }) => shardOf(semaphore)).values()) {
    const records = [...groupedBy(ofShard, jobKey)].map(([key, all]): [string, JobRecord] => {
      const newestFirst = all.toReversed().map((run) => ofRun(run));
      return [key, summedUp(newestFirst, Date.now())];
    });
    const shard = encodeJobShard({ jobs: new Map(records), writers: new Map() });
    await store.records.compareAndSet(`${KEY_PREFIX}${shardOf(ofShard[0]!.semaphore)}`, undefined, shard);
  }
}
