import { Deadline } from '../core/async/deadline.js';
import type { Timers } from '../core/async/timers.js';
import type { Context } from '../core/context/context.js';
import { word } from '../core/decision/index.js';
import { formatDuration } from '../operate/insight/format-duration.js';
import type { Runner } from '../core/permits/runs/runner.js';
import type { Parts } from './build.js';
import type { ShutdownTime } from './process.js';

/** ms at the end of the grace in which runs may end after their signal has aborted; at most a tenth of the grace. */
const LAST_MOMENT = 200;

/**
 * First half of a shutdown: nothing new begins, and what runs may end. The store still answers. Permits go back as soon as
 * their work has ended, because the process may be killed before the second half.
 *
 * @param time.grace ms that runs and tasks have. Then the permits of the other runs end
 */
export async function drainParts(parts: Parts, { grace, killedAfter }: ShutdownTime): Promise<void> {
  const { context, directory, tasks, leaderWatch, cluster, allocation, membership } = parts;
  // First: a task that another node could take must not begin here.
  const working = tasks.close();
  parts.external.close();
  parts.missedRuns.stop();
  directory.declared.firstLoad.end();
  directory.birth.stopWaiting();
  const semaphores = [...directory.inUse.values()];
  for (const semaphore of semaphores) semaphore.drain();
  const idle = Promise.all(semaphores.map(({ runner }) => runner.idle()));
  const lastMoment = Math.min(LAST_MOMENT, grace / 10);
  const running = within(context.timers, grace - lastMoment, idle).then(async (areOver) => {
    // All of them, because each has its own line in the log and its own entry in the history.
    const cut = areOver ? [] : semaphores.filter(({ runner }) => runner.cut());
    if (cut.length === 0) return;
    if (killedAfter !== undefined)
      context.events.next({ type: 'problem', action: 'shut down', error: tooShort(grace, killedAfter) });
    if (await within(context.timers, lastMoment, idle)) return;
    for (const { name, runner } of cut) for (const run of runner.running) tellOfStuck(context, name, run);
  });
  leaderWatch.stop();
  const leaving = Promise.all([cluster.close(), allocation.close()]).then(() => membership.close());
  // Runs may outlast the grace: their permits expire. The others get this node's resources meanwhile.
  await Promise.all([running, working, leaving]);
}

/** The work may go on, so nothing else may run beside it before the permit has expired. */
function tellOfStuck({ events }: Context, semaphore: string, { job, left }: Runner['running'][number]): void {
  const error = new Error(
    `${word(job)} has not ended after its signal: its permit stays until it expires, in ${formatDuration(left)}, and nothing else ` +
      'runs under it before',
  );
  events.next({ type: 'problem', semaphore, action: 'shut down', error });
}

function tooShort(grace: number, killedAfter: number): Error {
  return new Error(
    `runs had ${grace} ms to end, because PM2 kills this process ${killedAfter} ms after its signal: a longer kill_timeout in ` +
      'the ecosystem file lets them end',
  );
}

/** @returns false after `time` ms */
function within(timers: Timers, time: number, work: Promise<unknown>): Promise<boolean> {
  return new Deadline(timers, time).race(work).then(
    () => true,
    () => false,
  );
}
