import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { faultsOf, quoted } from '../../core/decision/index.js';
import { UsageFailure } from './exit-code.js';
import type { Environment, TargetOptions } from './target-options.js';

/** Of the environment: path of the file of contexts. */
const VARIABLE = 'GATEKEEPER_CONFIG';

const contextSchema = z.strictObject({
  url: z.string().optional(),
  tokenFile: z.string().optional(),
  store: z.string().optional(),
  storeOptions: z.string().optional(),
});

const contextsSchema = z.strictObject({
  current: z.string().optional(),
  contexts: z.record(z.string(), contextSchema),
});

/** A named cluster in the file of contexts. Its fields are options of the command line. */
export type NamedContext = z.output<typeof contextSchema>;

export interface Contexts {
  readonly path: string;
  /** Name of the context that is used if no target is given. */
  readonly current?: string | undefined;
  readonly byName: ReadonlyMap<string, NamedContext>;
}

/**
 * Reads the file of contexts. If there is no file at the usual place, there are no contexts.
 *
 * @throws UsageFailure if the file is invalid or can't be read, or if the environment names one that is not there
 */
export function readContexts(env: Environment): Contexts {
  const path = pathOf(env);
  if (!existsSync(path)) {
    if (env[VARIABLE])
      throw new UsageFailure(`${VARIABLE} names ${quoted(path)}, and there is no such file: correct or unset it`);
    return { path, byName: new Map() };
  }
  const parsed = contextsSchema.safeParse(parseFile(path));
  if (!parsed.success) throw new UsageFailure(`the contexts in ${path} can't be used: ${faultsOf(parsed.error)[0]}`);
  const { current, contexts } = parsed.data;
  return { path, current, byName: new Map(Object.entries(contexts)) };
}

/**
 * Returns the options of a context.
 *
 * @throws UsageFailure if there is no context of that name
 */
export function contextOptions(name: string, { path, byName }: Contexts): TargetOptions {
  const found = byName.get(name);
  if (!found) {
    const known = [...byName.keys()].map(quoted).join(', ') || 'none';
    throw new UsageFailure(`there is no context ${quoted(name)} in ${path}: it has ${known}`);
  }
  const { tokenFile, storeOptions, ...rest } = found;
  return {
    ...rest,
    ...(rest.store !== undefined && { storeFile: path }),
    ...(tokenFile !== undefined && { tokenFile: fileOf(tokenFile, path) }),
    ...(storeOptions !== undefined && { storeOptions: fileOf(storeOptions, path) }),
  };
}

function pathOf(env: Environment): string {
  const given = env[VARIABLE];
  if (given) return given;
  return join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'gatekeeper', 'config.json');
}

/** Resolves a path relative to the file of contexts. Absolute paths and "~/" are possible too. */
function fileOf(path: string, contexts: string): string {
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(dirname(contexts), path);
}

function parseFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new UsageFailure(`the contexts in ${path} can't be read: ${(cause as Error).message}`, { cause });
  }
}
