import type { RunEntry, RecordCollection } from 'nestjs-gatekeeper';
import type { StartEntry } from '../../lib/operate/activity/entry-schemas.js';
import { jobKey } from '../../lib/operate/activity/history-entry.js';
import { KEY_PREFIX } from '../../lib/operate/activity/jobs/job-histories.js';
import { type JobRecord, ofRun, ofStart, summedUp } from '../../lib/operate/activity/jobs/job-record.js';
import { encodeJobShard } from '../../lib/operate/activity/jobs/job-shard.codec.js';
import { shardOf } from '../../lib/operate/activity/jobs/pending-additions.js';

/** Writes runs into the past of their jobs, which had none, as nodes would. */
export async function notePast(
  records: Pick<RecordCollection, 'read' | 'compareAndSet'>,
  entries: readonly (RunEntry | StartEntry)[],
): Promise<void> {
  const shards = new Map<number, Map<string, JobRecord>>();
  for (const entry of entries) {
    const jobs = shards.get(shardOf(entry.semaphore)) ?? new Map<string, JobRecord>();
    shards.set(shardOf(entry.semaphore), jobs);
    const known = jobs.get(jobKey(entry));
    const record = entry.kind === 'start' ? ofStart(entry) : ofRun(entry);
    jobs.set(jobKey(entry), known ? summedUp([record, known], entry.at) : record);
  }
  for (const [shard, jobs] of shards) {
    const key = KEY_PREFIX + shard;
    await records.compareAndSet(key, await records.read(key), encodeJobShard({ jobs, writers: new Map() }));
  }
}
