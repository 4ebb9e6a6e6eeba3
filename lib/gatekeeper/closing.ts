import { Deadline } from '../async/deadline.js';
import { answerWithin } from '../stores/answer-within.js';
import type { Parts } from './parts.js';

/**
 * First half of a shutdown: nothing new begins, and what runs may end. The store still answers.
 *
 * @param grace ms that runs and tasks have
 */
export async function drainParts(parts: Parts, grace: number): Promise<void> {
  const { context, directory, tasks, leaderWatch, cluster, allocation, membership } = parts;
  // First: a task that another node could take must not begin here.
  const working = tasks.close();
  parts.external.close();
  parts.missedRuns.stop();
  directory.declared.firstLoad.end();
  directory.birth.stopWaiting();
  const semaphores = [...directory.inUse.values()];
  for (const semaphore of semaphores) semaphore.stopWaiting();
  const idle = Promise.all(semaphores.map(({ runner }) => runner.idle()));
  const running = new Deadline(context.timers, grace).race(idle);
  leaderWatch.stop();
  const leaving = Promise.all([cluster.close(), allocation.close()]).then(() => membership.close());
  // Runs may outlast the grace: closeParts() ends their permits. The others get this node's resources meanwhile.
  await Promise.all([running.catch(() => undefined), working, leaving]);
}

/** Second half: releases permits, and closes everything that the gatekeeper opened. */
export async function closeParts(parts: Parts): Promise<void> {
  const { context, directory } = parts;
  parts.housekeeping.stop();
  parts.applicationWatch.stop();
  await parts.alerts?.close();
  const semaphores = [...directory.inUse.values()];
  await Promise.all([parts.sweeping.giveUpTurn(), ...semaphores.map((semaphore) => semaphore.close())]);
  await parts.archivist?.close();
  const { runHistory, runArchivist, jobHistories, moveHistory, audit, registry } = parts;
  await runHistory.close();
  await Promise.all([jobHistories, runArchivist, moveHistory, audit, registry].map((part) => part?.close()));
  context.clusterClock.stop();
  await endWatch(parts);
  await context.store.close();
  context.timers.close();
  parts.telemetry?.close();
  context.changes.complete();
  context.events.complete();
}

/** Ends the watch. An error must not stop the close of the store: an open connection would keep the process alive. */
async function endWatch({ context, sweeping, directory, requestedRuns }: Parts): Promise<void> {
  const { timers, timing, events } = context;
  const stop = () => Promise.all([sweeping, directory.birth, requestedRuns].map((watch) => watch.stop()));
  await answerWithin(timers, timing.callTimeout, 'end the watch', stop).catch((error: unknown) =>
    events.next({ type: 'problem', action: 'end the watch', error }),
  );
}
