import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { findBug } from '../../verification/proof/bugs/find-in-simulation.js';
import { WorkerPool } from './worker-pool.js';
import { story } from './report.js';
import { type ScheduleOptions, simulate } from './schedule.js';
import { LENGTHS } from './kind/length.js';
import { DEPLOYS, HOLES, KEPT, FAULT_MIXES } from './kind/fault-mix.js';

const USAGE = `sim: schedules of a simulated cluster. The mix of faults and the length follow from the seed unless given.
  --seed <n>         one schedule with its trace
  --from <n>         first seed (1)
  --count <n>        how many schedules (100000)
  --faults <name>    ${Object.keys(KEPT).join(', ')};
                     with rolling deploys: ${Object.keys(DEPLOYS).join(', ')};
                     with known holes: ${Object.keys(HOLES).join(', ')}
  --members          with membership leases as short as those of permits
  --leaders          with a leader and such membership leases, under the faults of leadership
  --allocation       nodes that divide resources: --allocation --help
  --tasks            nodes that work on tasks: --tasks --help
  --length <name>    ${Object.keys(LENGTHS).join(', ')}
  --workers <n>      threads (${availableParallelism()})
  --bug <name>       with a bug of verification/proof/bugs in the sources, until it is found; with --seed the trace of one schedule`;

type Print = (text: string) => void;

/** @returns the exit code: 1 when a promise was broken */
export async function main(args: readonly string[], print: Print): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' },
      from: { type: 'string', default: '1' },
      count: { type: 'string', default: '100000' },
      faults: { type: 'string' },
      length: { type: 'string' },
      members: { type: 'boolean', default: false },
      leaders: { type: 'boolean', default: false },
      bug: { type: 'string' },
      workers: { type: 'string', default: String(availableParallelism()) },
      help: { type: 'boolean', default: false },
    },
  });
  const { faults: faultMix, length } = values;
  const isKnown = isAbsentOrIn(FAULT_MIXES, faultMix) && isAbsentOrIn(LENGTHS, length);
  if (values.help || !isKnown) {
    print(USAGE);
    return isKnown ? 0 : 2;
  }
  const asked = {
    ...(faultMix && { faultMix }),
    ...(length && { length }),
    hasMembers: values.members || values.leaders,
    hasLeaders: values.leaders,
  } as ScheduleOptions;
  if (values.seed !== undefined) return replay(Number(values.seed), asked, print);
  if (values.bug !== undefined) return findBug(values.bug, Number(values.from), print);
  const pool = new WorkerPool(Number(values.workers));
  try {
    return await run(pool, Number(values.from), Number(values.count), asked, print);
  } finally {
    await pool.close();
  }
}

function isAbsentOrIn(table: object, name: string | undefined): boolean {
  return name === undefined || name in table;
}

async function replay(seed: number, asked: ScheduleOptions, print: Print): Promise<number> {
  const { trace, violations, faultMix, length } = await simulate(seed, { ...asked, isTraced: true });
  for (const line of [...trace, ...violations]) print(line);
  print(`seed ${seed}, a ${length} schedule with faults "${faultMix}": ${violations.length} promises broken`);
  return violations.length > 0 ? 1 : 0;
}

async function run(
  pool: WorkerPool,
  from: number,
  count: number,
  asked: ScheduleOptions,
  print: Print,
): Promise<number> {
  const began = performance.now();
  const { schedules, grants, terms, happenings, failures } = await pool.survey(from, count, asked);
  const took = performance.now() - began;
  const share = ((100 * failures.length) / schedules).toFixed(3);
  print(
    `${schedules} schedules${asked.faultMix ? ` with faults "${asked.faultMix}"` : ''} in ${(took / 1000).toFixed(1)} s ` +
      `(${(took / schedules).toFixed(2)} ms each): ${grants} grants, ${terms} terms, ${happenings} happenings; ` +
      `${failures.length} schedules (${share} %) broke a promise`,
  );
  if (failures.length > 0) print(`  seeds ${failures.map(({ seed }) => seed).join(' ')}`);
  if (failures[0]) print(await story(failures[0], asked, 60));
  return failures.length > 0 ? 1 : 0;
}
