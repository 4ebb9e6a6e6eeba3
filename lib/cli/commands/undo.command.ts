import { Command, Option } from 'commander';
import { UNDO_COLUMNS } from '../../console/lists/changes.js';
import type { UndoPlan, UndoStep } from '../../gatekeeper/index.js';
import { type Batch, inBatches, tellFailures, undoable } from '../session/batches.js';
import { EXIT, type ExitCode } from '../options/exit-code.js';
import { OPERATIONS, type Operator } from '../operator/operator.js';
import { readEntryId, reasonOption } from '../options/option-readers.js';
import type { Runner, Session } from '../session/session.js';
import { plain } from '../text/plain.js';
import { cellsOf, excerpt } from '../text/table.js';

interface UndoOptions {
  readonly reason?: string;
  readonly dryRun?: true;
  readonly yes?: true;
}

export function undoCommand(runner: Runner): Command {
  return new Command('undo')
    .description('undo a change, or all of a change of many; only shows its plan unless --yes is given')
    .argument('<entry>', 'id of the change, as "audit" shows it', readEntryId)
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
  const { steps, remaining, missing } = await operator.call(OPERATIONS.undo, { body: { entry, dryRun: true } });
  session.output.result({ dryRun: true, steps, remaining, missing }, undoPlanText);
  return tellMissing(session, missing);
}

async function undo(session: Session, operator: Operator, entry: string, { reason }: UndoOptions) {
  let bulk: string | undefined;
  let missing = 0;
  const left = new Map<string, UndoStep>();
  const outcome = await inBatches(session, 'undone', async (limit) => {
    const plan = await operator.call(OPERATIONS.undo, { body: { entry, dryRun: false, reason, limit, bulk } });
    ({ bulk, missing } = plan);
    for (const step of plan.steps) if (step.outcome === 'left') left.set(step.name, step);
    return batchOf(plan);
  });
  const { done, failed, remaining } = outcome;
  const leftAlone = [...left.values()].map(({ name, why = '' }) => ({ name, why }));
  session.progress.clear();
  session.output.result(
    { dryRun: false, undone: done, left: leftAlone, failed, remaining, missing, ...undoable(done, bulk) },
    undoneText,
  );
  const exitCodes = [tellFailures(session, outcome), tellMissing(session, missing)];
  if (exitCodes.includes(EXIT.failed)) return EXIT.failed;
  return left.size > 0 ? EXIT.conflict : EXIT.done;
}

/** Says that the store has lost parts of a change of many. @returns the exit code */
function tellMissing(session: Session, missing: number): ExitCode {
  if (missing === 0) return EXIT.done;
  const parts = missing === 1 ? '1 part' : `${missing} parts`;
  session.output.note(
    `gatekeeper: the store has lost ${parts} of this change, which can't be undone: look for them with "gatekeeper status"`,
  );
  return EXIT.failed;
}

function batchOf({ steps, remaining }: UndoPlan): Batch {
  return {
    done: steps.filter(({ outcome }) => outcome === 'undone').map(({ name }) => name),
    failed: steps.flatMap(({ name, outcome, why = '' }) => (outcome === 'failed' ? [{ name, error: why }] : [])),
    remaining,
  };
}

/** Formats the steps of an undo. */
function undoPlanText({ steps, remaining }: { steps: readonly UndoStep[]; remaining: number }): string {
  const count = steps.filter(({ outcome }) => outcome === 'planned').length + remaining;
  const shown = excerpt(...cellsOf(UNDO_COLUMNS, steps));
  const end = count === 0 ? 'nothing to undo' : `${count} to undo; nothing was changed: add --yes to make the changes`;
  return `${shown}\n${end}`;
}

interface Undone {
  readonly undone: readonly string[];
  readonly left: readonly { readonly name: string; readonly why: string }[];
}

/** Formats the result of an undo: the number, and by name what was left alone. */
function undoneText({ undone, left }: Undone): string {
  const done = undone.length === 0 ? 'nothing was undone' : `undone ${undone.length}: ${undone.join(', ')}`;
  return [done, ...left.map(({ name, why }) => `left alone ${name}: ${why}`)].map(plain).join('\n');
}
