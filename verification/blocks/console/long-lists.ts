import type { Driver } from 'nestjs-gatekeeper';
import type { RunEntry } from '../../../lib/operate/activity/index.js';
import { type JobRecord, MOST_RUNS, ofRun } from '../../../lib/operate/activity/jobs/job-record.js';
import { encodeJobShard } from '../../../lib/operate/activity/jobs/job-shard.codec.js';
import { shardOf } from '../../../lib/operate/activity/jobs/pending-additions.js';
import { createRecord, encodeRecord, parseDefinition } from '../../../lib/core/decision/index.js';

/** How much stands in a store. */
export interface Lengths {
  readonly semaphores: number;
  readonly nodes: number;
  /** Entries of each journal. */
  readonly entries: number;
}

const JOBS_EACH = 10;

/** Fills a store as a large cluster would: written at once, since thousands of calls would take minutes. */
export async function fill(store: Driver, lengths: Lengths): Promise<void> {
  const now = Date.now();
  for (let index = 0; index < lengths.semaphores; index++) {
    const name = nameOf(index);
    await store.records.compareAndSet(`semaphore:${name}`, undefined, recordText(name, index, now, lengths), {
      notify: 'none',
    });
  }
  for (let shard = 0; shard < SHARDS; shard++) {
    const nodes = Array.from({ length: lengths.nodes }, (_, index) => index).filter((each) => each % SHARDS === shard);
    const text = JSON.stringify({ v: 1, nodes: nodes.map((index) => cardOf(index, now, lengths)) });
    await store.records.compareAndSet(`nodes:${shard}`, await store.records.read(`nodes:${shard}`), text, {
      notify: 'none',
    });
  }
  const entries = Array.from({ length: lengths.entries }, (_, index) => index);
  await store.journal('audit').append(entries.map((index) => JSON.stringify(changeOf(index, now, lengths))));
  await store.journal('runs').append(entries.map((index) => JSON.stringify(runOf(index, now, lengths))));
}

/** Fills the past of the jobs: as many jobs as the store keeps of these, each with its last runs. */
export async function fillPast(store: Driver, lengths: Lengths): Promise<void> {
  const now = Date.now();
  const shards = new Map<number, Map<string, JobRecord>>();
  for (let index = 0; index < lengths.semaphores; index++) {
    const job = ofRun(runOf(index, now, lengths));
    const [run] = job.runs;
    const runs = Array.from({ length: MOST_RUNS }, (_, age) => ({ ...run!, at: run!.at - age * 1000 }));
    const shard = shardOf(job.semaphore);
    shards.set(shard, (shards.get(shard) ?? new Map()).set(job.semaphore, { ...job, runs }));
  }
  for (const [shard, jobs] of shards) {
    const text = encodeJobShard({ jobs, writers: new Map() });
    await store.records.compareAndSet(`history:${shard}`, await store.records.read(`history:${shard}`), text, {
      notify: 'none',
    });
  }
}

const SHARDS = 16;

/** In an order that is not the one in which they are shown. */
const nameOf = (index: number) => `team-${(index * 7919) % 997}-job-${index}`;
const instanceOf = (index: number) => `0000aaaa-0000-4000-8000-${String(index).padStart(12, '0')}`;
const nodeOf = (index: number) => ({
  group: `zone${index % 3}`,
  acquirer: `host-${index}`,
  instance: instanceOf(index),
});

function definitionOf(name: string) {
  const patterns = { groupPattern: 'zone[0-9]+', acquirerPattern: 'host-.*' };
  return parseDefinition({ name, permits: 3, duration: '10m', ...patterns }, 100);
}

function permitOf(index: number, now: number, { nodes }: Lengths) {
  const node = nodeOf(index % Math.max(1, nodes));
  const times = { grantedAt: now, expiresAt: now + 600_000, duration: 600_000 };
  return { id: `permit-${index}`, slot: 0, token: 1000 + index, ...node, holder: node.instance, ...times };
}

function recordText(name: string, index: number, now: number, lengths: Lengths): string {
  const record = createRecord(definitionOf(name), now, `nonce-${index}`);
  const change = {
    id: `change-${index}`,
    kind: 'edit' as const,
    by: 'dora',
    at: now,
    reason: 'a reason that was given',
  };
  const permits = [permitOf(index, now, lengths)];
  return encodeRecord({ ...record, revision: 2, seq: 3, lastToken: 1000 + index, change, permits });
}

function cardOf(index: number, now: number, { semaphores }: Lengths) {
  // Living for as long as the test takes.
  const times = { startedAt: now - 3_600_000, at: now, heartbeat: 600_000 };
  const jobs = Array.from({ length: JOBS_EACH }, (_, job) => ({
    job: `JobsService.job${job}`,
    semaphore: nameOf((index * JOBS_EACH + job) % semaphores),
    schedule: { kind: 'cron', expression: '0 3 * * *', next: now + 60_000, recent: [now - 180_000, now - 120_000] },
  }));
  return { ...nodeOf(index), host: `host-${index}`, pid: 1, ...times, clock: { offset: 0 }, jobs };
}

function changeOf(index: number, now: number, { semaphores }: Lengths) {
  const name = nameOf(index % semaphores);
  const definition = definitionOf(name);
  const change = { at: now - index, action: 'edit', semaphore: name, by: 'dora', reason: 'a reason that was given' };
  return { ...change, node: nodeOf(index), revision: 2, from: definition, to: { ...definition, permits: 4 } };
}

function runOf(index: number, now: number, { semaphores }: Lengths): RunEntry {
  const run = { semaphore: nameOf(index % semaphores), job: 'JobsService.job1', node: nodeOf(index), at: now - index };
  return { kind: 'run', ...run, took: 12, outcome: 'ok', token: 1000 + index, slot: 0 };
}
