import { Command, Option } from 'commander';
import type { UndoPlan, UndoStep } from '../../gatekeeper/index.js';
import { type Batch, inBatches, tellFailures, undoable } from '../batches.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import type { Operator } from '../operator.js';
import { reasonOption } from '../option-readers.js';
import type { Runner, Session } from '../session.js';
import { undoPlanText, undoneText } from '../views/undo.view.js';

interface UndoOptions {
  readonly reason?: string;
  readonly dryRun?: true;
  readonly yes?: true;
}

export function undoCommand(runner: Runner): Command {
  return new Command('undo')
    .description('undo a change, or all of a change of many; only shows its plan unless --yes is given')
    .argument('<entry>', 'id of the change, as "audit" shows it')
    .addOption(reasonOption())
    .option('--dry-run', 'show what would change, and change nothing (the default)')
    .addOption(new Option('-y, --yes', 'make the changes').conflicts('dryRun'))
    .action(
      runner.action<UndoOptions, [string]>((session, options, entry) =>
        session.operate((operator) =>
          options.yes ? undo(session, operator, entry, options) : plan(session, operator, entry),
        ),
      ),
    );
}

async function plan(session: Session, operator: Operator, entry: string): Promise<ExitCode> {
  const { steps, remaining } = await operator.planUndo(entry);
  session.output.result({ dryRun: true, steps, remaining }, undoPlanText);
  return EXIT.done;
}

async function undo(session: Session, operator: Operator, entry: string, { reason }: UndoOptions) {
  let bulk: string | undefined;
  const left = new Map<string, UndoStep>();
  const outcome = await inBatches(session, 'undone', async (limit) => {
    const plan = await operator.undo(entry, { reason, limit, bulk });
    ({ bulk } = plan);
    for (const step of plan.steps) if (step.outcome === 'left') left.set(step.name, step);
    return batchOf(plan);
  });
  const { done, failed, remaining } = outcome;
  const leftAlone = [...left.values()].map(({ name, why = '' }) => ({ name, why }));
  session.progress.clear();
  session.output.result(
    { dryRun: false, undone: done, left: leftAlone, failed, remaining, ...undoable(done, bulk) },
    undoneText,
  );
  const exitCode = tellFailures(session, outcome);
  return exitCode === EXIT.done && left.size > 0 ? EXIT.conflict : exitCode;
}

function batchOf({ steps, remaining }: UndoPlan): Batch {
  return {
    done: steps.filter(({ outcome }) => outcome === 'undone').map(({ name }) => name),
    failed: steps.flatMap(({ name, outcome, why = '' }) => (outcome === 'failed' ? [{ name, error: why }] : [])),
    remaining,
  };
}
