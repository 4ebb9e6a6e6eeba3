import { Command } from 'commander';
import type { RunNowPlan, RunNowStatus, RunnableNow } from '../../gatekeeper/index.js';
// Not from the index, because that also loads Nest, which takes long.
import { chosenJob } from '../../operate/run-now/run-plan.js';
import { EXIT, type ExitCode } from '../options/exit-code.js';
import { OPERATIONS, type Operator } from '../operator/operator.js';
import { readName, readSpan, reasonOption } from '../options/option-readers.js';
import type { Runner, Session } from '../session/session.js';
import { plain } from '../text/plain.js';
import { someOf } from '../../console/lists/texts.js';

interface RunOptions {
  readonly job?: string;
  readonly reason?: string;
  /** ms; false: do not wait */
  readonly wait: number | false;
  readonly dryRun?: true;
}

/** Longest time in ms that a node waits for the end of a run. */
const LONGEST_WAIT = 30_000;
/** ms */
const TIME_LIMIT = 600_000;

export function runCommand(runner: Runner): Command {
  return new Command('run')
    .description('run a job now, on a node that may run it, and wait for its end')
    .argument('<name>', 'name of the semaphore', readName)
    .option('--job <job>', 'name of the job, if the semaphore has several: "JobsService.export"')
    .addOption(reasonOption())
    .option('--wait <duration>', 'longest time to wait for the end; the run goes on afterwards', readSpan, TIME_LIMIT)
    .option('--no-wait', 'only ask; "gatekeeper history" shows the run')
    .option('--dry-run', 'show what would run and where, and run nothing')
    .action(
      runner.action<RunOptions, [string]>((session, options, name) =>
        session.operate((operator) =>
          options.dryRun ? plan(session, operator, name, options) : run(session, operator, name, options),
        ),
      ),
    );
}

/** @throws CannotRunError as the run would */
async function plan(
  session: Session,
  operator: Operator,
  name: string,
  { job: wanted }: RunOptions,
): Promise<ExitCode> {
  const { jobs, holders } = await operator.call(OPERATIONS.runPlan, { params: { name } });
  const { job, nodes } = chosenJob(name, jobs, wanted);
  session.output.result({ dryRun: true, semaphore: name, job, nodes, holders }, () =>
    plain(`would run ${job} of ${name} on ${nodesText(nodes)}${heldText(holders)}; nothing was changed`),
  );
  return EXIT.done;
}

/** The first node that gets a permit takes the run. */
function nodesText(nodes: RunnableNow['nodes']): string {
  const names = nodes.map(({ group, acquirer }) => `${group}/${acquirer}`);
  return names.length === 1 ? names[0]! : `the first of ${someOf(names)} that gets a permit`;
}

function heldText(holders: RunNowPlan['holders']): string {
  return holders.length === 0 ? '' : ` (held now by ${someOf(holders)})`;
}

async function run(session: Session, operator: Operator, name: string, { job, reason, wait }: RunOptions) {
  const asked = await operator.call(OPERATIONS.runNow, { params: { name }, body: { job, reason } });
  const status = wait === false ? asked : await followed(operator, asked, wait);
  session.output.result(status, statusText);
  return wait === false ? EXIT.done : exitCodeOf(status);
}

async function followed(operator: Operator, asked: RunNowStatus, wait: number): Promise<RunNowStatus> {
  const until = performance.now() + wait;
  let status = asked;
  while (goesOn(status) && performance.now() < until) {
    // The answer must come before the call's own timeout.
    const longest = Math.floor(Math.min(until - performance.now(), LONGEST_WAIT, operator.timeout / 2));
    const params = { name: asked.semaphore, id: asked.id };
    status = await operator.call(OPERATIONS.runStatus, { params, query: { wait: Math.max(longest, 0) } });
  }
  return status;
}

function goesOn({ state }: RunNowStatus): boolean {
  return state === 'asked' || state === 'running';
}

function exitCodeOf({ state, outcome }: RunNowStatus): ExitCode {
  if (state === 'not-taken') return EXIT.conflict;
  return outcome === 'ok' ? EXIT.done : EXIT.failed;
}

function statusText(status: RunNowStatus): string {
  const { semaphore, sentence } = status;
  return `${plain(semaphore)}: ${plain(sentence)}`;
}
