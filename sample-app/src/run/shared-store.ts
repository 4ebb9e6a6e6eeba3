import { MissingToolError, startHazelcast } from 'nestjs-gatekeeper/testing';
import { startEmbeddedStore } from './embedded-store.js';

/** The store through which the three nodes share their permits. */
export interface SharedStore extends AsyncDisposable {
  /** For people: "Hazelcast". */
  readonly name: string;
  /** Environment variables by which the apps reach it. */
  readonly variables: Readonly<Record<string, string>>;
  /** True if distributed tasks can be kept in it. */
  readonly keepsTasks: boolean;
  /** Its processes or addresses, one line each. */
  readonly lines: readonly string[];
}

const INSTEAD =
  'This runner hosts an embedded store instead: memory(), which it serves to the three nodes with remote().';
const HAZELCAST_ADDS =
  'Hazelcast would add: permits that outlive this process, members that fail over to one another, and a quorum.';

/**
 * Starts a Hazelcast member, or hosts the store in this process: when told to, and where Java or Maven is missing.
 *
 * @param isEmbedded `npm run sample -- --embedded`
 */
export async function startStore(isEmbedded: boolean): Promise<SharedStore> {
  if (isEmbedded) return embedded('Asked for with --embedded.');
  console.log('Starting a Hazelcast member (the first time its jar is fetched with Maven) ...');
  try {
    return await hazelcastStore();
  } catch (error) {
    if (error instanceof MissingToolError) return embedded(`${error.inShort}.`);
    throw error;
  }
}

function embedded(why: string): Promise<SharedStore> {
  console.log(`${why} ${INSTEAD}\n${HAZELCAST_ADDS}`);
  return startEmbeddedStore();
}

async function hazelcastStore(): Promise<SharedStore> {
  const cluster = await startHazelcast();
  return {
    name: 'Hazelcast',
    keepsTasks: true,
    variables: { HAZELCAST_MEMBERS: cluster.addresses.join(','), HAZELCAST_CLUSTER: cluster.clusterName },
    lines: cluster.members.map(({ address, pid }) => `member   ${address}${pid ? `   pid ${pid}` : ''}`),
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
}
