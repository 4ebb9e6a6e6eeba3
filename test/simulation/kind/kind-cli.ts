import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { bugNamed } from '../../../verification/proof/bugs/bugs.js';
import { WorkerPool } from '../worker-pool.js';
import { type KindOptions, type KindResult, type ScheduleKind, kindIn } from './schedule-kind.js';

const usageOf = ({
  name,
  about,
  faults,
}: ScheduleKind) => `sim --${name}: ${about} under faults. The faults follow from the seed unless given.
  --seed <n>         one schedule with its trace
  --from <n>         first seed (1)
  --seeds <n>        how many schedules (1000)
  --faults <names>   exactly these, with commas: ${faults.join(', ')}
  --workers <n>      threads (${availableParallelism()})
  --bug <name>       with a bug of verification/proof/bugs in the sources, until it is found; with --seed one schedule`;

/** Lines of the trace before a broken promise that a report shows. */
const STORY = 60;

type Print = (text: string) => void;

/** @returns the exit code: 1 when a promise was broken */
export async function main(args: readonly string[], print: Print): Promise<number> {
  const kind = kindIn(args)!;
  const { values } = parseArgs({
    args: [...args],
    options: {
      [kind.name]: { type: 'boolean' },
      seed: { type: 'string' },
      from: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '1000' },
      faults: { type: 'string' },
      bug: { type: 'string' },
      workers: { type: 'string', default: String(availableParallelism()) },
      help: { type: 'boolean', default: false },
    },
  });
  const faults = values.faults?.split(',');
  const isKnown = faults?.every((fault) => kind.faults.includes(fault)) ?? true;
  if (values.help || !isKnown) {
    print(usageOf(kind));
    return isKnown ? 0 : 2;
  }
  const asked = faults ? { faults } : {};
  if (values.seed !== undefined) return replay(kind, Number(values.seed), asked, print);
  if (values.bug !== undefined) return findBug(kind, values.bug, Number(values.from), print);
  const pool = new WorkerPool(Number(values.workers));
  try {
    return await run(kind, pool, { from: Number(values.from), count: Number(values.seeds) }, asked, print);
  } finally {
    await pool.close();
  }
}

/** The story of one failure up to the moment of the first broken promise, for people. */
export async function storyOf(
  { name, simulate }: ScheduleKind,
  { seed, violations }: Pick<KindResult, 'seed' | 'violations'>,
  options: KindOptions = {},
): Promise<string> {
  const { trace } = await simulate(seed, { ...options, isTraced: true });
  const end = trace.findIndex((line) => line.includes('!!!')) + 1;
  const asked = options.faults ? ` --faults ${options.faults.join()}` : '';
  return [
    `seed ${seed} broke a promise; all of it: npm run sim -- --${name}${asked} --seed ${seed}`,
    ...trace.slice(Math.max(0, end - STORY), end).map((line) => line.slice(0, 400)),
    ...violations,
  ].join('\n');
}

/** Runs schedules with a bug in the sources until the checker finds it. */
async function findBug(kind: ScheduleKind, name: string, from: number, print: Print): Promise<number> {
  const { layer } = bugNamed(name);
  if (layer.kind !== kind.name) {
    throw new Error(`${name} is not found by this simulation, but by: npm run test:bugs -- ${name}`);
  }
  const { faults, within, says } = layer;
  for (let seed = from; seed < from + within; seed++) {
    const { violations } = await kind.simulate(seed, { faults });
    const said = violations.find((violation) => says.test(violation));
    if (said) print(`found after ${seed - from + 1} schedules: ${said}`);
    if (said) return 1;
  }
  print(`not found in ${within} schedules`);
  return 0;
}

async function replay(kind: ScheduleKind, seed: number, asked: KindOptions, print: Print): Promise<number> {
  const result = await kind.simulate(seed, { ...asked, isTraced: true });
  const { trace, violations, faults } = result;
  for (const line of [...trace, ...violations]) print(line);
  const broken = `${violations.length} promises broken`;
  print(`seed ${seed} with ${faults.join() || 'no faults'}: ${broken}; ${kind.end(result)}`);
  return violations.length > 0 ? 1 : 0;
}

async function run(
  kind: ScheduleKind,
  pool: WorkerPool,
  { from, count }: { readonly from: number; readonly count: number },
  options: KindOptions,
  print: Print,
): Promise<number> {
  const began = performance.now();
  const parts = await pool.spread<KindResult[]>({ kind: kind.name, first: from, count, options });
  const results = parts.flat().toSorted((one, other) => one.seed - other.seed);
  const took = performance.now() - began;
  const failures = results.filter(({ violations }) => violations.length > 0);
  const [first, ...more] = kind.summary(results);
  const happenings = results.reduce((sum, each) => sum + each.happenings, 0);
  print(
    `${results.length} schedules in ${(took / 1000).toFixed(1)} s (${(took / results.length).toFixed(1)} ms each): ` +
      `${first}; ${happenings} happenings; ${failures.length} schedules broke a promise`,
  );
  for (const line of more) print(line);
  if (failures.length > 0) print(`  seeds ${failures.map(({ seed }) => seed).join(' ')}`);
  for (const { seed, violations } of failures.slice(0, 10)) print(`  ${seed}: ${violations[0]}`);
  if (failures[0]) print(await storyOf(kind, failures[0], options));
  return failures.length > 0 ? 1 : 0;
}
