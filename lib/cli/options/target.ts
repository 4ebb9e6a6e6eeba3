import { readFileSync } from 'node:fs';
import { quoted, urlText } from '../../core/decision/index.js';
import { UsageFailure } from './exit-code.js';
import { contextOptions, readContexts } from './contexts.js';
import { readJsonFile } from './json-file.js';
import type { Environment, TargetOptions } from './target-options.js';

/** The console or store on which a command operates. */
export type Target = RestTarget | StoreTarget;

export interface RestTarget {
  readonly kind: 'rest';
  readonly url: URL;
  readonly token: string | undefined;
  /** The file that the token comes from, if it comes from one. */
  readonly tokenFile: string | undefined;
}

export interface StoreTarget {
  readonly kind: 'hazelcast' | 'postgres' | 'redis';
  /** Address of the store. It may contain a password. */
  readonly address: string;
  /** More options of `hazelcast({...})`, `postgres({...})` or `redis({...})`, which checks them. */
  readonly further: Readonly<Record<string, unknown>>;
  /** Whether the address stands on the command line, where all users of the machine can see it. */
  readonly isOnCommandLine: boolean;
  /** The file that the address comes from, if it comes from one. */
  readonly file: string | undefined;
}

/** Kinds of stores by the scheme of their address. */
const KINDS: ReadonlyMap<string | undefined, StoreTarget['kind']> = new Map([
  ['hazelcast', 'hazelcast'],
  ['postgres', 'postgres'],
  ['postgresql', 'postgres'],
  ['redis', 'redis'],
  ['rediss', 'redis'],
]);

const NO_TARGET =
  'no target is given: use --url https://host/gatekeeper (or GATEKEEPER_URL) for a console, --store postgres://…, redis://… or hazelcast://… (or GATEKEEPER_STORE) for a store, or --context for one of "gatekeeper contexts"';
const TWO_TARGETS = 'two targets were given (a console, a store or a context): leave one of them out';

/**
 * Finds the target: from the command line, else from the environment, else the current context. The token may come
 * from another of these sources.
 *
 * @throws UsageFailure
 */
export function resolveTarget(options: TargetOptions, env: Environment): Target {
  if (namesTarget(options)) return targetOf(options, env, options.store !== undefined);
  const { GATEKEEPER_URL: url, GATEKEEPER_STORE: store, GATEKEEPER_CONTEXT: context } = env;
  const named = { ...options, ...given({ url, store, context }) };
  return targetOf(namesTarget(named) ? named : { ...options, context: readContexts(env).current }, env);
}

function namesTarget({ url, store, context }: TargetOptions): boolean {
  return url !== undefined || store !== undefined || context !== undefined;
}

function targetOf({ context, ...options }: TargetOptions, env: Environment, isOnCommandLine = false): Target {
  const { url, store } = options;
  if ([url, store, context].filter((each) => each !== undefined).length > 1) throw new UsageFailure(TWO_TARGETS);
  if (context !== undefined) return targetOf(inContext(contextOptions(context, readContexts(env)), options), env);
  if (url !== undefined) {
    return { kind: 'rest', url: parseUrl(url), token: tokenOf(options, env), tokenFile: options.tokenFile };
  }
  if (store === undefined) throw new UsageFailure(NO_TARGET);
  const kind = KINDS.get(/^([a-z]+):\/\/./i.exec(store)?.[1]!.toLowerCase());
  if (!kind) throw new UsageFailure(NO_STORE(store));
  const further = options.storeOptions === undefined ? {} : readOptions(options.storeOptions);
  return { kind, address: store, further, isOnCommandLine, file: options.storeFile };
}

const NO_STORE = (text: string) =>
  `--store ${quoted(urlText(text))} is no address of a store: give postgres://host/database, redis://host:6379 or hazelcast://host:5701,host:5701/cluster`;

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
  const read = readJsonFile('--store-options', path);
  if (typeof read === 'object' && read !== null && !Array.isArray(read)) return read as Record<string, unknown>;
  throw new UsageFailure(
    `--store-options ${path} contains no object: give { "schema": "…" }, or what your store takes`,
  );
}
