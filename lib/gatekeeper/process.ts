import cluster from 'node:cluster';
import { readFileSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { nameSchema } from '../core/decision/index.js';

/* Facts about the process of a node: the names of the application and of the node, and how much time a shutdown has. */

/** A script of a tool, such as a test runner or PM2, says nothing about the application: its folder of work does. */
const OF_A_TOOL = /[\\/]node_modules[\\/]/;

/** Several applications of one package, as in a monorepo of Nest: `dist/apps/shop/main.js`. */
const APPS = /(?:^|[\\/])apps[\\/]([^\\/]+)[\\/]/;

/**
 * Finds the name of the application that runs in this process: the name in the next package.json above its script. If the
 * package has several applications below a folder `apps`, the folder of this one follows: "acme/shop".
 *
 * @param script the file that the process was started with
 * @param folder the process's working directory, for a script that belongs to a tool
 * @returns undefined if no package.json has a name, as beside a bundle
 */
export function applicationName(script = process.argv[1], folder = process.cwd()): string | undefined {
  const started = script === undefined ? undefined : realPath(script);
  const isOwn = started !== undefined && !OF_A_TOOL.test(started);
  const found = nameAbove(isOwn ? dirname(started) : folder);
  if (!found) return undefined;
  const [, app] = APPS.exec(isOwn ? relative(found.folder, started) : '') ?? [];
  const name = app === undefined ? found.name : `${found.name}/${app}`;
  return nameSchema.safeParse(name).success ? name : undefined;
}

/** Follows the links of a package's commands. A script without its extension is no file. */
function realPath(script: string): string {
  try {
    return realpathSync(script);
  } catch {
    // There is no such file, for example because Node added the extension. The path itself will do.
    return script;
  }
}

function nameAbove(folder: string): { readonly folder: string; readonly name: string } | undefined {
  for (let current = folder; ; current = dirname(current)) {
    const name = nameIn(join(current, 'package.json'));
    if (name !== undefined) return { folder: current, name };
    if (dirname(current) === current) return undefined;
  }
}

function nameIn(file: string): string | undefined {
  try {
    const { name } = JSON.parse(readFileSync(file, 'utf8')) as { readonly name?: unknown };
    return typeof name === 'string' && name !== '' ? name : undefined;
  } catch {
    // The file is missing or no JSON. The search goes on in the folder above.
    return undefined;
  }
}

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
