import { readFileSync } from 'node:fs';
import { quoted } from '../decision/index.js';
import { UsageFailure } from './exit-code.js';
import { contextOptions, readContexts } from './contexts.js';
import { readJsonFile } from './json-file.js';
import type { Environment, TargetOptions } from './target-options.js';

/** The console or cluster that a command talks to. */
export type Target = RestTarget | HazelcastTarget;

export interface RestTarget {
  readonly kind: 'rest';
  readonly url: URL;
  readonly token: string | undefined;
}

export interface HazelcastTarget {
  readonly kind: 'hazelcast';
  readonly members: readonly string[];
  readonly clusterName: string;
  /** Further options of `hazelcast({...})`; checked by it. */
  readonly further: Readonly<Record<string, unknown>>;
}

const NO_TARGET =
  'say where: --url https://host/gatekeeper (or GATEKEEPER_URL) for a console, --hazelcast host:port (or GATEKEEPER_HAZELCAST) for a cluster, or --context for one of "gatekeeper contexts"';
const TWO_TARGETS = 'two targets were given (a console, a cluster or a context): leave one of them out';

/**
 * Finds the target. The command line wins over the environment, and the environment over the current context. Each of them
 * names a complete target.
 *
 * @throws UsageFailure
 */
export function resolveTarget(options: TargetOptions, env: Environment): Target {
  if (namesTarget(options)) return targetOf(options, env);
  const { GATEKEEPER_URL: url, GATEKEEPER_HAZELCAST: hazelcast, GATEKEEPER_CONTEXT: context } = env;
  const named = { ...options, ...given({ url, hazelcast, context }) };
  return targetOf(namesTarget(named) ? named : { ...options, context: readContexts(env).current }, env);
}

function namesTarget({ url, hazelcast, context }: TargetOptions): boolean {
  return url !== undefined || hazelcast !== undefined || context !== undefined;
}

function targetOf({ context, ...options }: TargetOptions, env: Environment): Target {
  const { url, hazelcast } = options;
  if ([url, hazelcast, context].filter((each) => each !== undefined).length > 1) throw new UsageFailure(TWO_TARGETS);
  if (context !== undefined) return targetOf(inContext(contextOptions(context, readContexts(env)), options), env);
  if (url !== undefined) return { kind: 'rest', url: parseUrl(url), token: tokenOf(options, env) };
  if (hazelcast === undefined) throw new UsageFailure(NO_TARGET);
  return {
    kind: 'hazelcast',
    members: hazelcast.split(',').map((member) => member.trim()),
    clusterName: options.cluster ?? (env['GATEKEEPER_CLUSTER'] || 'dev'),
    further: options.hazelcastOptions === undefined ? {} : readOptions(options.hazelcastOptions),
  };
}

/** A token on the command line wins over the context's. */
function inContext({ tokenFile, ...context }: TargetOptions, options: TargetOptions): TargetOptions {
  const isOther = options.token !== undefined || tokenFile === undefined;
  return { ...context, ...(!isOther && { tokenFile }), ...options };
}

/** A variable of the environment that is empty counts as absent. */
function given(variables: Readonly<Record<string, string | undefined>>): TargetOptions {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value));
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageFailure(`--url ${quoted(text)} is no address: give one such as https://host/gatekeeper`);
  }
  if (url.username || url.password) {
    throw new UsageFailure('--url holds a name or a password: give the token with --token-file or GATEKEEPER_TOKEN');
  }
  return url;
}

function tokenOf({ token, tokenFile }: TargetOptions, env: Environment): string | undefined {
  if (token !== undefined && tokenFile !== undefined) {
    throw new UsageFailure('--token and --token-file were given: leave one of them out');
  }
  if (token !== undefined) return checkedToken(token, '--token');
  if (tokenFile !== undefined) return checkedToken(readToken(tokenFile), `the file ${tokenFile}`);
  return env['GATEKEEPER_TOKEN'] ? checkedToken(env['GATEKEEPER_TOKEN'], 'GATEKEEPER_TOKEN') : undefined;
}

function readToken(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (cause) {
    const { message } = cause as Error;
    throw new UsageFailure(`--token-file can't be read (${message}): name a file that holds nothing but the token`, {
      cause,
    });
  }
}

/** Refuses a token that no header can carry, because the HTTP client's error would contain it. */
function checkedToken(token: string, source: string): string {
  if (/^[\u0021-\u007e]+$/.test(token)) return token;
  throw new UsageFailure(`${source} holds no token: one line of letters, digits and signs without blanks is needed`);
}

function readOptions(path: string): Record<string, unknown> {
  const read = readJsonFile('--hazelcast-options', path);
  if (typeof read === 'object' && read !== null && !Array.isArray(read)) return read as Record<string, unknown>;
  throw new UsageFailure(`--hazelcast-options ${path} holds no object: give { "mapName": "…", "clientConfig": { … } }`);
}
