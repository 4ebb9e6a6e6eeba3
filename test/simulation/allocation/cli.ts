import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { bugNamed } from '../../bugs/bugs.js';
import { WorkerPool } from '../worker-pool.js';
import { FAULTS, type Fault } from './faults.js';
import { type AllocationScheduleOptions, type AllocationScheduleResult, SOON, simulateAllocation } from './schedule.js';
import { type AllocationSurvey, sumOfAllocation } from './survey.js';

const USAGE = `sim --allocation: nodes divide resources under faults. The faults follow from the seed unless given.
  --seed <n>         one schedule with its trace
  --from <n>         first seed (1)
  --seeds <n>        how many schedules (1000)
  --faults <names>   exactly these, with commas: ${FAULTS.join(', ')}
  --workers <n>      threads (${availableParallelism()})
  --bug <name>       with a bug of test/bugs in the sources, until it is found; with --seed one schedule`;

/** Lines of the trace before a broken promise that a report shows. */
const STORY = 60;

type Print = (text: string) => void;

/** @returns the exit code: 1 when a promise was broken */
export async function main(args: readonly string[], print: Print): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      allocation: { type: 'boolean' },
      seed: { type: 'string' },
      from: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '1000' },
      faults: { type: 'string' },
      bug: { type: 'string' },
      workers: { type: 'string', default: String(availableParallelism()) },
      help: { type: 'boolean', default: false },
    },
  });
  const faults = values.faults?.split(',') as Fault[] | undefined;
  const isKnown = faults?.every((fault) => FAULTS.includes(fault)) ?? true;
  if (values.help || !isKnown) {
    print(USAGE);
    return isKnown ? 0 : 2;
  }
  const asked = faults ? { faults } : {};
  if (values.seed !== undefined) return replay(Number(values.seed), asked, print);
  if (values.bug !== undefined) return findBug(values.bug, Number(values.from), print);
  const pool = new WorkerPool(Number(values.workers));
  try {
    return await run(pool, Number(values.from), Number(values.seeds), asked, print);
  } finally {
    await pool.close();
  }
}

/** Runs schedules with a bug in the sources until the checker finds it. */
async function findBug(name: string, from: number, print: Print): Promise<number> {
  const { layer } = bugNamed(name);
  if (layer.kind !== 'allocation') {
    throw new Error(`${name} is not found by this simulation, but by: npm run test:bugs -- ${name}`);
  }
  const { faults, within, says } = layer;
  for (let seed = from; seed < from + within; seed++) {
    const { violations } = await simulateAllocation(seed, { faults });
    const said = violations.find((violation) => says.test(violation));
    if (said) print(`found after ${seed - from + 1} schedules: ${said}`);
    if (said) return 1;
  }
  print(`not found in ${within} schedules`);
  return 0;
}

async function replay(seed: number, asked: AllocationScheduleOptions, print: Print): Promise<number> {
  const { trace, violations, faults, settledAfter } = await simulateAllocation(seed, { ...asked, isTraced: true });
  for (const line of [...trace, ...violations]) print(line);
  print(
    `seed ${seed} with ${faults.join() || 'no faults'}: ${violations.length} promises broken; ${settledText(settledAfter)}`,
  );
  return violations.length > 0 ? 1 : 0;
}

function settledText(settledAfter: number | undefined): string {
  return settledAfter === undefined
    ? 'a lost shard has a grace'
    : `settled lease + tolerance + ${settledAfter.toFixed(0)} ms after the trouble`;
}

async function run(
  pool: WorkerPool,
  from: number,
  count: number,
  options: AllocationScheduleOptions,
  print: Print,
): Promise<number> {
  const began = performance.now();
  const parts = await pool.spread<AllocationSurvey>({ kind: 'allocation', first: from, count, options });
  const { schedules, changes, happenings, excusedTokens, settled, failures } = sumOfAllocation(parts);
  const took = performance.now() - began;
  print(
    `${schedules} schedules in ${(took / 1000).toFixed(1)} s (${(took / schedules).toFixed(1)} ms each): ` +
      `${changes} changes of owners, ${happenings} happenings; ${excusedTokens} tokens went back after a clock jump with lost data; ` +
      `${failures.length} schedules broke a promise`,
  );
  print(`settled after lease + tolerance + ms: ${spreadText(settled.inTime)}`);
  print(`  after lost data, wrong clocks, or a split: ${spreadText(settled.afterGrace)}`);
  if (failures.length > 0) print(`  seeds ${failures.map(({ seed }) => seed).join(' ')}`);
  for (const { seed, violations } of failures.slice(0, 10)) print(`  ${seed}: ${violations[0]}`);
  if (failures[0]) print(await allocationStory(failures[0], options));
  return failures.length > 0 ? 1 : 0;
}

function spreadText(values: readonly number[]): string {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]?.toFixed(0);
  const late = sorted.filter((value) => value > SOON).length;
  return `median ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)} (${values.length} schedules, ${late} of them after more than ${SOON})`;
}

/** The story of one failure up to the moment of the first broken promise, for people. */
export async function allocationStory(
  { seed, violations }: AllocationScheduleResult,
  options: AllocationScheduleOptions,
): Promise<string> {
  const { trace } = await simulateAllocation(seed, { ...options, isTraced: true });
  const end = trace.findIndex((line) => line.includes('!!!')) + 1;
  const asked = options.faults ? ` --faults ${options.faults.join()}` : '';
  return [
    `seed ${seed} broke a promise; all of it: npm run sim -- --allocation${asked} --seed ${seed}`,
    ...trace.slice(Math.max(0, end - STORY), end).map((line) => line.slice(0, 400)),
    ...violations,
  ].join('\n');
}
