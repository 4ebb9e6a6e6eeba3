import { MissingToolError, startHazelcast } from 'nestjs-gatekeeper/testing';
import type { Choice } from './choice.js';
import { embeddedStore } from './embedded-store.js';
import { serverStore } from './server-store.js';

/** The store through which the three nodes share their permits. */
export interface SharedStore extends AsyncDisposable {
  /** For people, behind "through": "Hazelcast". */
  readonly name: string;
  /** Environment variables by which the apps reach it. */
  readonly variables: Readonly<Record<string, string>>;
  /** Its processes or addresses, one line each. */
  readonly lines: readonly string[];
  /** Resolves with the signal or exit code of its process, if this run started one and tells of its end. */
  readonly ended?: Promise<string>;
}

/**
 * Starts the store, or connects to it.
 *
 * @throws with advice, if it can't be started or reached
 */
export async function startStore({ store, url }: Choice): Promise<SharedStore> {
  if (store === 'embedded') return embeddedStore();
  if (store !== 'hazelcast') return serverStore(store, url);
  console.log('Starting a Hazelcast member (the first time its jar is fetched with Maven) ...');
  return hazelcastStore().catch((error: unknown) => {
    if (!(error instanceof MissingToolError)) throw error;
    throw new Error(`${error.inShort}, or start the sample without --store`, { cause: error });
  });
}

async function hazelcastStore(): Promise<SharedStore> {
  const cluster = await startHazelcast();
  const variables = {
    STORE: 'hazelcast',
    HAZELCAST_MEMBERS: cluster.addresses.join(','),
    HAZELCAST_CLUSTER: cluster.clusterName,
  };
  return {
    name: 'Hazelcast',
    variables,
    lines: cluster.members.map(({ address, pid }) => `member   ${address}${pid ? `   pid ${pid}` : ''}`),
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
}
