import { Command } from 'commander';
import type { Columns } from '../../console/lists/column.js';
import { type Dump, dumpOf, leftOutOf, parseDump } from '../dump/dump.js';
import { type LoadStep, planLoad } from '../dump/load-plan.js';
import { readJsonFile } from '../options/json-file.js';
import { OPERATIONS, type Operator } from '../operator/operator.js';
import { reasonOption } from '../options/option-readers.js';
import { type Batch, inBatches, tellFailures } from '../session/batches.js';
import type { Runner, Session } from '../session/session.js';
import { EXIT, type ExitCode, exitCodeOf, CommandFailure } from '../options/exit-code.js';
import { forEachLimit } from '../../core/async/for-each-limit.js';
import { cellsOf, excerpt } from '../text/table.js';
import { differenceText } from '../../console/lists/definition-difference.js';
import { LEADER_PREFIX } from '../../core/decision/index.js';

export function dumpCommand(runner: Runner): Command {
  return new Command('dump').description('print all definitions as JSON, for a backup and for "load"').action(
    runner.action(async (session) => {
      const overview = await session.operate((operator) => operator.call(OPERATIONS.semaphores));
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
  const steps = planLoad(dump, (await operator.call(OPERATIONS.semaphores)).semaphores);
  session.output.result({ dryRun: true, steps }, loadText);
  return EXIT.done;
}

async function load(session: Session, operator: Operator, dump: Dump, reason: string | undefined) {
  const steps = planLoad(dump, (await operator.call(OPERATIONS.semaphores)).semaphores);
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

const LOAD_COLUMNS: Columns<LoadStep> = {
  name: { title: 'Name', value: ({ name }) => name },
  action: { title: 'Action', value: ({ actions }) => actions.join(', ') },
  change: { title: 'Change', value: ({ from, to }) => differenceText(from, to) },
};

/** Formats the changes that a load of a dump would make. */
function loadText({ steps }: { steps: readonly LoadStep[] }): string {
  if (steps.length === 0) return 'nothing to load: the cluster matches the dump already';
  return `${excerpt(...cellsOf(LOAD_COLUMNS, steps))}\n${steps.length} to load; nothing was changed: add --yes to make the changes`;
}

const NO_LEADERSHIP = 'only nodes make a leadership: start a node that takes part in it, then load again';

/**
 * Brings one semaphore to the state in the dump.
 *
 * @throws the error of the first failed action; earlier ones stay done
 */
async function applyStep(operator: Operator, step: LoadStep, reason: string | undefined): Promise<void> {
  const { name, groupPattern, acquirerPattern, permits, duration, pause } = step.to;
  const params = { name };
  const patterns = { groupPattern, acquirerPattern, permits, duration };
  for (const action of step.actions) {
    switch (action) {
      case 'define':
        if (name.startsWith(LEADER_PREFIX)) throw new CommandFailure(EXIT.notFound, NO_LEADERSHIP);
        await operator.call(OPERATIONS.define, { body: { name, ...patterns, reason } });
        break;
      case 'edit':
        await operator.call(OPERATIONS.edit, {
          params,
          body: { ...patterns, reason, expectedRevision: step.revision },
        });
        break;
      case 'pause':
        await operator.call(OPERATIONS.pause, { params, body: { reason: reason ?? pause?.reason } });
        break;
      case 'resume':
        await operator.call(OPERATIONS.resume, { params, body: { reason } });
        break;
    }
  }
}
