import cluster from 'node:cluster';
import { hostname } from 'node:os';

/** ms after a signal after which PM2 kills a process, unless `kill_timeout` or `PM2_KILL_TIMEOUT` says otherwise. */
const PM2_KILLS_AFTER = 1600;
/** ms of that time that are left for the end of runs that were cut, for the release of permits and for the history. */
const LAST_STEPS = 700;

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Default name of a node: the host's, with the number of the process among the workers of the host: "web-1#0". PM2 and
 * Node's cluster start several processes on one host, which would have one name.
 *
 * The number is the one that `pm2 ls` shows (`pm_id`), or `NODE_APP_INSTANCE`, or that of Node's cluster. A name proves
 * nothing: after a reload the new process has the name of the former one, and both may live.
 */
export function defaultName(variables: Variables = process.env): string {
  const { pm_id: id = variables.NODE_APP_INSTANCE } = variables;
  const number = id || cluster.worker?.id;
  return number === undefined ? hostname() : `${hostname()}#${number}`;
}

/** The time that a shutdown has. */
export interface ShutdownTime {
  /** ms for which it waits for runs, tasks and requests. */
  readonly grace: number;
  /** ms after which PM2 kills the process; absent if that leaves time enough. */
  readonly killedAfter?: number;
}

/** Shortens the grace of a shutdown that PM2 would cut off: a process that is killed gives nothing back. */
export function shutdownTime(shutdownGrace: number, variables: Variables = process.env): ShutdownTime {
  if (variables.pm_id === undefined) return { grace: shutdownGrace };
  const killedAfter = Number(variables.kill_timeout || variables.PM2_KILL_TIMEOUT) || PM2_KILLS_AFTER;
  const grace = Math.max(0, killedAfter - LAST_STEPS);
  return grace < shutdownGrace ? { grace, killedAfter } : { grace: shutdownGrace };
}

/** Whether a signal with which process managers stop a process ends it at once, because nothing listens to it. */
export function endsWithoutShutdown(variables: Variables = process.env): boolean {
  return process.listenerCount(variables.pm_id === undefined ? 'SIGTERM' : 'SIGINT') === 0;
}
