import { Command } from 'commander';
import type { BulkResult } from '../../gatekeeper/index.js';
import { CommandFailure, EXIT } from '../exit-code.js';
import type { BulkCall, Operator } from '../operator.js';
import { readPattern, reasonOption } from '../option-readers.js';
import { inPortions, tellFailures } from '../portions.js';
import type { Runner, Session } from '../session.js';
import { plain } from '../text/plain.js';
import { noMatch, select } from './status.command.js';

interface Kind {
  readonly verb: 'paused' | 'resumed';
  readonly call: (operator: Operator, call: BulkCall) => Promise<BulkResult>;
}

const PAUSE: Kind = { verb: 'paused', call: (operator, call) => operator.pauseAll(call) };
const RESUME: Kind = { verb: 'resumed', call: (operator, call) => operator.resumeAll(call) };

export function pauseCommand(runner: Runner): Command {
  return bulkCommand(new Command('pause'), runner, PAUSE).description(
    'let nothing new run; runs that go on may finish',
  );
}

export function resumeCommand(runner: Runner): Command {
  return bulkCommand(new Command('resume'), runner, RESUME).description('undo a pause');
}

function bulkCommand(command: Command, runner: Runner, kind: Kind): Command {
  return command
    .argument('<pattern>', 'RE2; must match the whole name; ".*": all of them', readPattern)
    .addOption(reasonOption())
    .action(
      runner.action<{ reason?: string }, [string]>((session, { reason }, pattern) =>
        session.operate((operator) => changeAll(session, operator, kind, { names: pattern, reason })),
      ),
    );
}

async function changeAll(session: Session, operator: Operator, { verb, call }: Kind, request: BulkCall) {
  const outcome = await inPortions(session, verb, (limit) => call(operator, { ...request, limit }));
  const { done, failed } = outcome;
  if (done.length + failed.length === 0) await assertMatch(operator, request.names!);
  session.progress.clear();
  session.output.result({ [verb]: done, failed }, () => doneText(verb, done));
  return tellFailures(session, outcome);
}

/** What is so already is not an error; a name that nothing has is. */
async function assertMatch(operator: Operator, pattern: string): Promise<void> {
  const { semaphores } = await operator.overview();
  const defined = semaphores.filter(({ definition }) => definition !== undefined);
  if (select(defined, pattern).length === 0) throw new CommandFailure(EXIT.notFound, noMatch(pattern));
}

function doneText(verb: string, done: readonly string[]): string {
  if (done.length === 0) return `nothing to do: all that match are ${verb} already`;
  return plain(`${verb} ${done.length}: ${done.join(', ')}`);
}
