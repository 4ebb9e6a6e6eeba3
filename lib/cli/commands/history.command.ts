import { Command, Option } from 'commander';
import { JOB_COLUMNS } from '../../console/lists/runs.js';
import type { HistoryEntry, RunKind, RunsQuery, JobSummary } from '../../gatekeeper/index.js';
// Not from the index, because that also loads Nest, which takes long.
import { RUN_KINDS, entryKey } from '../../operate/activity/jobs/runs-query.js';
import { OPERATIONS, type Operator } from '../operator/operator.js';
import { entriesOption, readName, readSought, readTime } from '../options/option-readers.js';
import { patiently } from '../session/patiently.js';
import type { Runner, Session } from '../session/session.js';
import { historyLine, historyText } from '../views/journals.view.js';
import { Wakeup } from '../session/wakeup.js';
import { cellsOf, table } from '../text/table.js';

/** ms between two looks of `--follow`. */
const INTERVAL = 2000;
/** Entries of one look of `--follow`, unless more are wanted. */
const MOST_FOLLOWED = 1000;

interface HistoryOptions extends Pick<RunsQuery, 'since' | 'until' | 'by' | 'job' | 'node' | 'limit'> {
  readonly show?: RunKind;
  readonly failed?: true;
  readonly follow?: true;
}

export function historyCommand(runner: Runner): Command {
  return new Command('history')
    .description('show runs and skipped runs, newest first')
    .argument('[name]', 'name of the semaphore (default: all)', readName)
    .option('--failed', 'only runs that failed, crashed or lost their permit; the same as --show failed')
    .addOption(new Option('--show <kind>', 'only runs of this kind').choices(RUN_KINDS))
    .option('--since <time>', 'only runs that ended since then: "1d" ago, or "2026-11-21T03:00:00Z"', readTime)
    .option('--until <time>', 'only runs that began until then', readTime)
    .option('--by <name>', 'only runs of the semaphore, job or node with this name', readSought)
    .option('--job <name>', 'only runs of this job', readSought)
    .option('--node <name>', 'only runs on this node: acquirer, group/acquirer or instance', readSought)
    .option('--follow', 'go on with a line for each new run, until interrupted; with --json each line is JSON')
    .addOption(entriesOption())
    .action(
      runner.action<HistoryOptions, [string | undefined]>(async (session, options, semaphore) => {
        const { failed, follow, ...rest } = options;
        const query: RunsQuery = { ...rest, ...(failed && { show: 'failed' }), semaphore };
        await session.operate((operator) =>
          follow ? followRuns(session, operator, query) : showRuns(session, operator, query),
        );
      }),
    );
}

export function runsCommand(runner: Runner): Command {
  return new Command('runs')
    .description('show each job: its last run, last failure, success rate and durations of the last day and 7 days')
    .argument('[name]', 'name of the semaphore or job (default: all)')
    .action(
      runner.action<object, [string | undefined]>(async (session, _options, name) => {
        const { jobs: all } = await session.operate((operator) => operator.call(OPERATIONS.jobs));
        const jobs = all.filter(({ semaphore, job }) => name === undefined || semaphore === name || job === name);
        session.output.result({ jobs }, (result) => runsText(result.jobs));
      }),
    );
}

async function showRuns({ output }: Session, operator: Operator, query: RunsQuery): Promise<void> {
  output.result({ entries: await entriesOf(operator, query) }, (result) => historyText(result.entries));
}

async function entriesOf(operator: Operator, { since, until, ...rest }: RunsQuery): Promise<readonly HistoryEntry[]> {
  const query = { ...rest, since: timeOf(since), until: timeOf(until) };
  return (await operator.call(OPERATIONS.history, { query })).entries;
}

/** A time before now is sent as a duration, so that the clock of the answering node counts. */
function timeOf(time: number | undefined): string | undefined {
  return time === undefined ? undefined : time < 0 ? `${-time}ms` : String(time);
}

/** Prints the newest entries, then each entry that a later look has for the first time, oldest first. */
async function followRuns(session: Session, operator: Operator, query: RunsQuery): Promise<void> {
  const interruption = session.interruption();
  const wakeup = new Wakeup(interruption);
  // The first look finds as many as the later ones, so that only changes are new to them: also the end of a run that began
  // before all that is printed now.
  const followed = { ...query, limit: Math.max(query.limit, MOST_FOLLOWED) };
  const first = (await wakeup.unlessAborted(entriesOf(operator, followed))) ?? [];
  print(session, first.slice(0, query.limit));
  let known = new Set(first.map(keyOf));
  const look = patiently(session, interruption, () => entriesOf(operator, followed));
  while (!interruption.aborted) {
    await wakeup.within(INTERVAL);
    const entries = await wakeup.unlessAborted(look());
    if (!entries) continue;
    print(
      session,
      entries.filter((entry) => !known.has(keyOf(entry))),
    );
    known = new Set(entries.map(keyOf));
  }
}

function print({ output }: Session, entries: readonly HistoryEntry[]): void {
  for (const entry of entries.toReversed()) output.item(entry, historyLine);
}

/** A run that ended is another entry than the run that went on. */
function keyOf(entry: HistoryEntry): string {
  return `${entry.kind === 'run' ? entry.outcome : entry.kind}\n${entryKey(entry)}`;
}

/** Formats jobs, one line each. */
function runsText(jobs: readonly JobSummary[]): string {
  return jobs.length > 0 ? table(...cellsOf(JOB_COLUMNS, jobs)) : 'no runs';
}
