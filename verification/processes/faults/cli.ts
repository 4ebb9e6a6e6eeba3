import { randomInt } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FAULTS } from './faults.js';
import { lacks as whatLacks } from './needs.js';
import { planOf } from './plan.js';
import { report } from './report.js';
import { type Run, addRun, merge, readRuns } from './results.js';
import { type Outcome, runPlan } from './run-plan.js';
import { STORES } from './stores.js';
import { GROUP, runTaskFaults } from './tasks/run-task-faults.js';

const USAGE = `test:faults: real servers and real client processes under faults
  --fault <name>     ${FAULTS.map(({ name }) => name).join(', ')};
                     may be given several times; all of them unless given
  --store <name>     ${STORES.join(', ')}; likewise
  --seconds <n>      how long each fault is repeated (60)
  --seed <n>         order and timing of the faults (random, and printed)
  --results <path>   keeps the results in this file, and reports on all that are in it: so long runs can be done in parts.
                     Those of a server are written as soon as it is done
  --report <path>    writes the report there, too
  --tasks <n>        in place of all that: so many distributed tasks, in groups of 100, while nodes and members are
                     killed, frozen and stopped`;

/** @returns the exit code: 1 when a promise was broken */
export async function main(args: readonly string[], print: (text: string) => void): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      fault: { type: 'string', multiple: true },
      store: { type: 'string', multiple: true },
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
      results: { type: 'string' },
      report: { type: 'string' },
      tasks: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    print(USAGE);
    return 0;
  }
  const [seed, seconds] = [whole('seed', values.seed), whole('seconds', values.seconds)];
  if (values.tasks !== undefined) return runTasks(whole('tasks', values.tasks), seed, print);
  const lacks = await whatLacks();
  const plan = planOf({ faults: values.fault, stores: values.store }, lacks);
  const folder = await mkdtemp(join(tmpdir(), 'gatekeeper-faults-'));
  const began = new Date();
  print(`seed ${seed}; histories in ${folder}`);
  const signal = interruption();
  const { results: file } = values;
  const asRun = (outcome: Outcome): Run => ({
    seed,
    began: began.toISOString(),
    skipped: plan.skipped,
    ...outcome,
  });
  const keep = async (outcome: Outcome): Promise<void> => {
    if (file !== undefined) await addRun(file, asRun(outcome));
  };
  // Also if nothing can run here: the report says what was skipped.
  await keep({ results: [], failures: [] });
  const outcome = await runPlan(plan, { seed, lasts: seconds * 1000, folder, lacks, print, keep, signal }).catch(
    async (error: unknown) => {
      if (!signal.aborted) throw error;
      await rm(folder, { recursive: true });
      return undefined;
    },
  );
  if (!outcome) {
    const kept = file === undefined ? '' : `; the results of the servers that were done are in ${file}`;
    print(`${(signal.reason as Error).message}; all that was started has ended${kept}`);
    return 130;
  }
  const all = merge(file === undefined ? [asRun(outcome)] : await readRuns(file));
  const text = report(all);
  print(`\n${text}`);
  if (values.report !== undefined) await writeFile(values.report, text);
  const isBroken = all.failures.length > 0 || all.results.some(({ violations }) => violations.length > 0);
  if (isBroken) print(`The histories are kept: npm run history -- ${folder}/<store>-<fault>.jsonl`);
  else await rm(folder, { recursive: true });
  return isBroken ? 1 : 0;
}

async function runTasks(tasks: number, seed: number, print: (text: string) => void): Promise<number> {
  if (tasks % GROUP !== 0) throw new Error(`--tasks ${tasks}: give a multiple of ${GROUP}`);
  const folder = await mkdtemp(join(tmpdir(), 'gatekeeper-faults-'));
  print(`seed ${seed}`);
  const { figures, violations } = await runTaskFaults({ seed, tasks, folder, print });
  await rm(folder, { recursive: true });
  print(
    Object.entries(figures)
      .map(([name, figure]) => `${name}: ${figure}`)
      .join('\n'),
  );
  print(violations.length === 0 ? 'No promise was broken.' : `${violations.join('\n')}\nPROMISES WERE BROKEN.`);
  return violations.length === 0 ? 0 : 1;
}

/** The first Ctrl-C ends everything in good order, a second one at once: nothing outlives this process either way. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => controller.abort(new Error(`ended by ${signal}`)));
  }
  return controller.signal;
}

function whole(name: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`--${name} ${JSON.stringify(text)}: give a whole number above 0`);
}
