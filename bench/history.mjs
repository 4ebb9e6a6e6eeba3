import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { memory, Gatekeeper, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { ROOT, compile, compiledPath } from '../tools/test/compile.mjs';
import { round } from './measure.mjs';
import { notedDriver } from './noted-driver.mjs';

// The package does not export what writes the past of jobs, so it comes from the sources.
await compile();
const [{ combined, ofRun }, { EMPTY_SHARD, withAddition }, { encodeJobShard }, { shardOf }] = await Promise.all(
  ['job-record', 'job-shard', 'job-shard.codec', 'pending-additions'].map(
    (name) => import(pathToFileURL(compiledPath(join(ROOT, `lib/operate/activity/jobs/${name}.ts`))).href),
  ),
);

const QUIET = { log() {}, warn() {}, error() {}, debug() {} };
const DAY = 86_400_000;
const [JOBS, DAYS] = [1000, 35];
/** Runs of one measurement, and measurements of each kind. */
const [RUNS, ROUNDS] = [20_000, 5];
/** ms after which all runs are written. */
const WRITTEN = 6000;

/** The cost of the history of runs: per run, and of the past of many jobs. */
export async function history() {
  return [...(await costPerRun()), ...(await pastOfManyJobs())];
}

async function costPerRun() {
  const taken = { on: [], off: [] };
  let calls = 0;
  for (let measurement = -1; measurement < ROUNDS; measurement++) {
    for (const kind of ['on', 'off']) {
      const counted = counting(memory());
      const gatekeeper = await open(counted.definition, { history: kind === 'on' });
      const cpu = await processorTime(gatekeeper);
      if (measurement >= 0) taken[kind].push(cpu / RUNS);
      if (kind === 'on') calls = counted.calls() / RUNS;
      await gatekeeper.close();
    }
  }
  return [
    row('processor time of a run with its history, memory store', median(taken.on), 'µs', median(taken.off)),
    row(`store calls per run for the past of its job, ${RUNS} runs at once`, calls, 'calls'),
  ];
}

async function processorTime(gatekeeper) {
  const before = process.cpuUsage();
  for (let run = 0; run < RUNS; run++) await gatekeeper.run('bench', () => undefined, { atLeastFor: 0 });
  await new Promise((done) => setTimeout(done, WRITTEN));
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** Counts the calls about keys of the past of jobs. */
function counting(inner) {
  let calls = 0;
  const counted = new Set(['read', 'compareAndSet', 'readMany']);
  const note = (method, of) => {
    if (counted.has(method) && String(of).startsWith('history:')) calls++;
  };
  const open = (options) => notedDriver(inner.open(options), note);
  return { definition: { kind: 'counting', isOwn: true, open }, calls: () => calls };
}

async function pastOfManyJobs() {
  const store = memory();
  const raw = store.open({});
  const texts = shards(Date.now());
  for (const [key, text] of texts) await raw.records.compareAndSet(key, undefined, text);
  const bytes = [...texts.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const gatekeeper = await open(store);
  const before = heap();
  const started = process.hrtime.bigint();
  const jobs = await gatekeeper.runs.jobs();
  const ms = Number(process.hrtime.bigint() - started) / 1e6;
  const grown = heap() - before;
  await new Promise((done) => setTimeout(done, 1100));
  const waited = process.hrtime.bigint();
  await gatekeeper.runs.jobs();
  const secondMs = Number(process.hrtime.bigint() - waited) / 1e6;
  const title = `${JOBS} jobs with 20 runs, 10 failures and ${DAYS} days`;
  await gatekeeper.close();
  return [
    row(`jobs of ${JOBS} that are kept: ${title}`, jobs.length, 'jobs'),
    row(`size in the store: ${title}`, bytes / 2 ** 20, 'MB'),
    row(`heap of a node that shows them: ${title}`, grown / 2 ** 20, 'MB'),
    row(`first reading of all: ${title}`, ms, 'ms'),
    row(`another reading, of unchanged texts: ${title}`, secondMs, 'ms'),
  ];
}

/** The texts of the store, by key. */
function shards(now) {
  const byShard = new Map();
  for (let index = 0; index < JOBS; index++) {
    const record = jobRecord(`bench-${index}`, now);
    const shard = shardOf(record.semaphore);
    byShard.set(shard, new Map(byShard.get(shard)).set(`${record.semaphore}\n${record.job}`, record));
  }
  const addition = { writer: 'bench', seq: 1, at: now, ended: new Set(), expiries: [] };
  const text = (jobs) => encodeJobShard(withAddition(EMPTY_SHARD, { ...addition, jobs }));
  return new Map([...byShard].map(([shard, jobs]) => [`history:${shard}`, text(jobs)]));
}

/** Two runs a day, one of three of which failed. */
function jobRecord(semaphore, now) {
  const node = { group: 'production', acquirer: 'app1', instance: 'a'.repeat(22) };
  const runs = Array.from({ length: 2 * DAYS }, (_, index) => {
    const failed = index % 3 === 0;
    const entry = {
      kind: 'run',
      semaphore,
      job: 'Jobs.work',
      node,
      at: now - (index * DAY) / 2,
      took: 1000 + 97 * index,
    };
    const run = { ...entry, token: now * 1024 + index, slot: 0, outcome: failed ? 'failed' : 'ok' };
    return ofRun(failed ? { ...run, message: 'm'.repeat(80) } : run, failed ? 's'.repeat(1000) : undefined);
  });
  return runs.reduce((one, other) => combined(one, other, now));
}

async function open(store, options = {}) {
  const definitions = [{ name: 'bench', duration: '10m' }];
  const rest = { acquirer: 'bench', definitions, definitionsDelay: 0, sweepInterval: '1h' };
  const gatekeeper = new Gatekeeper(parseGatekeeperOptions({ store, ...rest, ...options }), QUIET);
  await gatekeeper.start();
  return gatekeeper;
}

function heap() {
  global.gc();
  return process.memoryUsage().heapUsed;
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

function row(name, ours, unit, reference = null) {
  const compared = reference === null ? {} : { reference: round(reference), ratio: round(ours / reference) };
  return { name, ours: round(ours), reference: null, ratio: null, ...compared, unit, target: null, met: null };
}
