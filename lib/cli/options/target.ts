import { readFileSync } from 'node:fs';
import { quoted, urlText } from '../../core/decision/index.js';
import { UsageFailure } from './exit-code.js';
import { contextOptions, readContexts } from './contexts.js';
import { readJsonFile } from './json-file.js';
import type { Environment, TargetOptions } from './target-options.js';

/** The console or cluster on which a command operates. */
export type Target = RestTarget | HazelcastTarget;

export interface RestTarget {
  readonly kind: 'rest';
  readonly url: URL;
  readonly token: string | undefined;
  /** The file that the token comes from, if it comes from one. */
  readonly tokenFile: string | undefined;
}

export interface HazelcastTarget {
  readonly kind: 'hazelcast';
  readonly members: readonly string[];
  readonly clusterName: string;
  /** More options of `hazelcast({...})`, which checks them. */
  readonly further: Readonly<Record<string, unknown>>;
}

const NO_TARGET =
  'no target is given: use --url https://host/gatekeeper (or GATEKEEPER_URL) for a console, --hazelcast host:port (or GATEKEEPER_HAZELCAST) for a cluster, or --context for one of "gatekeeper contexts"';
const TWO_TARGETS = 'two targets were given (a console, a cluster or a context): leave one of them out';

/**
 * Finds the target: from the command line, else from the environment, else the current context. The token, or the name of
 * the cluster, may come from another of these sources.
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
  if (url !== undefined) {
    return { kind: 'rest', url: parseUrl(url), token: tokenOf(options, env), tokenFile: options.tokenFile };
  }
  if (hazelcast === undefined) throw new UsageFailure(NO_TARGET);
  return {
    kind: 'hazelcast',
    members: hazelcast.split(',').map((member) => member.trim()),
    clusterName: options.cluster ?? (env['GATEKEEPER_CLUSTER'] || 'dev'),
    further: options.hazelcastOptions === undefined ? {} : readOptions(options.hazelcastOptions),
  };
}

/** A token on the command line replaces the context's. */
function inContext({ tokenFile, ...context }: TargetOptions, options: TargetOptions): TargetOptions {
  const isOther = options.token !== undefined || tokenFile === undefined;
  return { ...context, ...(!isOther && { tokenFile }), ...options };
}

/** Drops empty variables of the environment: they count as absent. */
function given(variables: Readonly<Record<string, string | undefined>>): TargetOptions {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value));
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageFailure(
      `--url ${quoted(urlText(text))} is not an address: give one such as https://host/gatekeeper`,
    );
  }
  if (url.username || url.password) {
    throw new UsageFailure('--url contains a name or a password: give the token with --token-file or GATEKEEPER_TOKEN');
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
    throw new UsageFailure(`--token-file can't be read (${message}): give a file that contains only the token`, {
      cause,
    });
  }
}

/** Refuses a token that no header can carry. Otherwise the HTTP client's error would show the token. */
function checkedToken(token: string, source: string): string {
  if (/^[\u0021-\u007e]+$/.test(token)) return token;
  throw new UsageFailure(
    `${source} contains no valid token: it must be one line of letters, digits and signs, without spaces`,
  );
}

function readOptions(path: string): Record<string, unknown> {
  const read = readJsonFile('--hazelcast-options', path);
  if (typeof read === 'object' && read !== null && !Array.isArray(read)) return read as Record<string, unknown>;
  throw new UsageFailure(
    `--hazelcast-options ${path} contains no object: give { "mapName": "…", "clientConfig": { … } }`,
  );
}
