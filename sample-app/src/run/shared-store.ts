import { MissingToolError, startHazelcast } from 'nestjs-gatekeeper/testing';
import type { Choice } from './choice.js';
import { startEmbeddedStore } from './embedded-store.js';
import { serverStore } from './server-store.js';

/** The store through which the three nodes share their permits. */
export interface SharedStore extends AsyncDisposable {
  /** For people: "Hazelcast". */
  readonly name: string;
  /** Environment variables by which the apps reach it. */
  readonly variables: Readonly<Record<string, string>>;
  /** The same for a command that the user can copy, without passwords of the user. */
  readonly shownVariables: Readonly<Record<string, string>>;
  /** True if distributed tasks can be kept in it. */
  readonly keepsTasks: boolean;
  /** Its processes or addresses, one line each. */
  readonly lines: readonly string[];
  /** Resolves with the signal or exit code of its process, if this run started one and tells of its end. */
  readonly ended?: Promise<string>;
}

const INSTEAD =
  'This runner hosts an embedded store instead: memory(), which it serves to the three nodes with remote().';
const HAZELCAST_ADDS =
  'Hazelcast would add: tasks, permits that outlive this process, members that fail over to one another, and a quorum. ' +
  'With --store postgres or --store redis the sample uses those.';

/**
 * Starts the store, or connects to it. Without a choice: a Hazelcast member, or the embedded store where Java or Maven is
 * missing.
 *
 * @throws with advice, if the chosen store can't be started or reached
 */
export async function startStore(choice: Choice): Promise<SharedStore> {
  const { store } = choice;
  if (store === 'embedded') return embedded('The embedded store was asked for.');
  if (store === 'postgres' || store === 'redis') return serverStore(store, choice);
  console.log('Starting a Hazelcast member (the first time its jar is fetched with Maven) ...');
  try {
    return await hazelcastStore();
  } catch (error) {
    if (!(error instanceof MissingToolError)) throw error;
    if (store === 'hazelcast') throw new Error(`${error.inShort}, or use --store postgres`, { cause: error });
    return embedded(`${error.inShort}.`);
  }
}

function embedded(why: string): Promise<SharedStore> {
  console.log(`${why} ${INSTEAD}\n${HAZELCAST_ADDS}`);
  return startEmbeddedStore();
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
    keepsTasks: true,
    variables,
    shownVariables: variables,
    lines: cluster.members.map(({ address, pid }) => `member   ${address}${pid ? `   pid ${pid}` : ''}`),
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
}
