import { Environment } from '../environment.js';
import { storeOf } from '../gatekeeper.config.js';
import type { SharedStore } from './shared-store.js';
import { startPostgres } from './temporary-postgres.js';
import { startRedis } from './temporary-redis.js';

const KINDS = {
  postgres: {
    name: 'PostgreSQL',
    variable: 'DATABASE_URL',
    start: startPostgres,
    leaves: 'the records stay in the schema gatekeeper_sample: DROP SCHEMA gatekeeper_sample CASCADE removes them',
  },
  redis: {
    name: 'Redis',
    variable: 'REDIS_URL',
    start: startRedis,
    leaves: 'the records stay in the keys gatekeeper-sample:*',
  },
} as const;

/** ms. Longer than an attempt to connect may take: after that its reason is known. */
const LONGEST_LOOK = 8000;

type Kind = (typeof KINDS)[keyof typeof KINDS] & { readonly store: keyof typeof KINDS };

/** PostgreSQL or Redis: the server that the user names, or a temporary one. @throws if it can't be used */
export async function serverStore(store: keyof typeof KINDS, url?: string): Promise<SharedStore> {
  const kind = { ...KINDS[store], store };
  if (url !== undefined) return givenServer(kind, url, '--url');
  const named = process.env[kind.variable];
  return named ? givenServer(kind, named, kind.variable) : ownServer(kind);
}

async function ownServer({ name, variable, start, store }: Kind): Promise<SharedStore> {
  console.log(`Starting a ${name} in a temporary folder ...`);
  const { server, url } = await start();
  const variables = { STORE: store, [variable]: url };
  return {
    name,
    variables,
    lines: [`server   ${placeOf(url)}   pid ${server.pid}`],
    ended: server.ended,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function givenServer({ name, variable, store, leaves }: Kind, url: string, from: string): Promise<SharedStore> {
  const variables = { STORE: store, [variable]: url };
  const warning = await look(variables).catch((cause: Error) => {
    throw new Error(`The ${name} of ${from} can't be used. ${cause.message}`, { cause });
  });
  if (warning !== undefined) console.warn(`Warning about the ${name} of ${from}: ${warning}`);
  return {
    name,
    variables,
    lines: [`server   ${placeOf(url)}   from ${from}; ${leaves}`],
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/**
 * Opens the store once as the apps do: one sentence is easier to read than the errors of three nodes.
 *
 * @returns a warning about the server, if there is one
 * @throws if an app could not use it
 */
async function look(variables: Readonly<Record<string, string>>): Promise<string | undefined> {
  const store = storeOf(new Environment(variables)).open({ callTimeout: LONGEST_LOOK });
  try {
    await store.records.read('sample');
    return store.health().problem;
  } finally {
    await store.close();
  }
}

/** Without user and password. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return 'of that address';
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
