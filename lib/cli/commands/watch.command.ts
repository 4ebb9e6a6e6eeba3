import { Command } from 'commander';
import { systemClock } from '../../core/async/node-clock.js';
import { pause } from '../../core/async/pause.js';
import { CommandFailure, EXIT } from '../options/exit-code.js';
import { OPERATIONS, type Operator, type Overview } from '../operator/operator.js';
import { readPattern, readSpan } from '../options/option-readers.js';
import { patiently } from '../session/patiently.js';
import type { Runner, Session } from '../session/session.js';
import { plain } from '../text/plain.js';
import { type FollowedList, followed } from '../../console/lists/followed-list.js';
import { timeText } from '../../console/lists/texts.js';
import { type Change, changesBetween } from '../views/changes.js';
import { statusText } from '../views/status.view.js';
import { Wakeup } from '../session/wakeup.js';
import { noMatch, select } from './status.command.js';

/** ms between two looks without hints, and until hints that broke off are asked for again. */
const INTERVAL = 2000;

interface WatchOptions {
  readonly interval?: number;
}

export function watchCommand(runner: Runner): Command {
  return new Command('watch')
    .description('show semaphores, then a line for each change, until interrupted; with --json each line is JSON')
    .argument('[pattern]', 'RE2; must match the whole name', readPattern)
    .option(
      '--interval <duration>',
      'longest time between two looks; a hint of a change leads to a look at once (default: 2s)',
      readSpan,
    )
    .action(
      runner.action<WatchOptions, [string | undefined]>((session, { interval = INTERVAL }, pattern) =>
        session.operate((operator) => watch(session, operator, pattern, interval)),
      ),
    );
}

async function watch(session: Session, operator: Operator, pattern: string | undefined, interval: number) {
  const interruption = session.interruption();
  const end = new AbortController();
  const wakeup = new Wakeup(interruption);
  const hints = watchHints(operator, () => wakeup.now(), AbortSignal.any([interruption, end.signal]));
  try {
    await follow(session, wakeup, { operator, pattern, interval, interruption });
  } finally {
    end.abort();
    await hints;
  }
}

/** Calls `onHint` at each hint, also after the hints broke off, as they do when the answering node restarts. */
async function watchHints(operator: Operator, onHint: () => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // Without hints, the next look finds the changes. It also reports a target that is away.
    await operator.hints(onHint, signal).catch(() => undefined);
    await pause(systemClock, INTERVAL, { signal });
  }
}

interface Watched {
  readonly operator: Operator;
  readonly pattern: string | undefined;
  readonly interval: number;
  readonly interruption: AbortSignal;
}

async function follow(session: Session, wakeup: Wakeup, { operator, pattern, interval, interruption }: Watched) {
  let list: FollowedList | undefined;
  const look = async (): Promise<Overview> => {
    list = followed(list, await operator.call(OPERATIONS.semaphoreParts, { query: { known: list?.known } }));
    return { now: list.now, semaphores: select(list.semaphores, pattern) };
  };
  const first = await wakeup.unlessAborted(look());
  if (first) showFirst(session, first, pattern);
  const patient = patiently(session, interruption, look);
  let before = first;
  while (before && !interruption.aborted) {
    await wakeup.within(interval);
    const after = await wakeup.unlessAborted(patient());
    for (const change of after ? changesBetween(before, after) : []) session.output.item(change, line);
    before = after ?? before;
  }
}

/** @throws CommandFailure if no name matches: otherwise a misspelt name would be watched without any output */
function showFirst({ output }: Session, { now, semaphores }: Overview, pattern: string | undefined): void {
  if (pattern !== undefined && semaphores.length === 0) throw new CommandFailure(EXIT.notFound, noMatch(pattern));
  output.item({ at: now, status: semaphores }, (_, isWide) => statusText(semaphores, isWide));
}

function line({ at, semaphore, sentence }: Change): string {
  return plain(`${timeText(at)}  ${semaphore}  ${sentence}`);
}
