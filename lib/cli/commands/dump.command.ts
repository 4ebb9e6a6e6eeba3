import { Command } from 'commander';
import { type Dump, dumpOf, leftOutOf, parseDump } from '../dump/dump.js';
import { applyStep } from '../dump/load.js';
import { type LoadStep, planLoad } from '../dump/load-plan.js';
import { readJsonFile } from '../json-file.js';
import type { Operator } from '../operator.js';
import { reasonOption } from '../option-readers.js';
import { type Batch, inBatches, tellFailures } from '../batches.js';
import type { Runner, Session } from '../session.js';
import { loadText } from '../views/load.view.js';
import { EXIT, type ExitCode, exitCodeOf } from '../exit-code.js';
import { forEachLimit } from '../../core/async/for-each-limit.js';

export function dumpCommand(runner: Runner): Command {
  return new Command('dump').description('print all definitions as JSON, for a backup and for "load"').action(
    runner.action(async (session) => {
      const overview = await session.operate((operator) => operator.overview());
      session.output.json(dumpOf(overview));
      return tellFailures(session, { done: [], failed: leftOutOf(overview), remaining: 0 });
    }),
  );
}

export function loadCommand(runner: Runner): Command {
  return new Command('load')
    .description('restore the definitions of a dump; only shows its plan unless --yes is given')
    .argument('<file>', 'output of "gatekeeper dump"; "-": standard input')
    .addOption(reasonOption())
    .option('--yes', 'make the changes')
    .action(
      runner.action<{ reason?: string; yes?: true }, [string]>(async (session, { reason, yes }, file) => {
        const dump = parseDump(readJsonFile('the dump', file), file);
        return session.operate((operator) =>
          yes ? load(session, operator, dump, reason) : plan(session, operator, dump),
        );
      }),
    );
}

async function plan(session: Session, operator: Operator, dump: Dump): Promise<ExitCode> {
  const steps = planLoad(dump, (await operator.overview()).semaphores);
  session.output.result({ dryRun: true, steps }, loadText);
  return EXIT.done;
}

async function load(session: Session, operator: Operator, dump: Dump, reason: string | undefined) {
  const steps = planLoad(dump, (await operator.overview()).semaphores);
  let next = 0;
  const outcome = await inBatches(session, 'loaded', async (limit) => {
    const batch = steps.slice(next, (next += limit));
    return applied(operator, batch, reason, steps.length - Math.min(next, steps.length));
  });
  const { done, failed, remaining } = outcome;
  session.progress.clear();
  session.output.result({ dryRun: false, loaded: done, failed, remaining }, () => `loaded ${done.length}`);
  return tellFailures(session, outcome);
}

async function applied(
  operator: Operator,
  steps: readonly LoadStep[],
  reason: string | undefined,
  remaining: number,
): Promise<Batch> {
  const failed: { name: string; error: string }[] = [];
  const done: string[] = [];
  await forEachLimit(steps, async (step) => {
    try {
      await applyStep(operator, step, reason);
      done.push(step.name);
    } catch (error) {
      if (!isOfOne(error)) throw error;
      failed.push({ name: step.name, error: (error as Error).message });
    }
  });
  return { done, failed, remaining };
}

/** Whether an error concerns only one step. An unreachable target or missing rights concern all steps. */
function isOfOne(error: unknown): boolean {
  const exitCode = exitCodeOf(error);
  return exitCode !== EXIT.unreachable && exitCode !== EXIT.notAllowed;
}
