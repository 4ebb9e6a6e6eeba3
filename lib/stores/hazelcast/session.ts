import type { Client as HazelcastClient, IMap } from 'hazelcast-client';
import type { ChangeFeed } from './change-feed.js';
import { MemberClock } from './member-clock.js';
import type { ResolvedOptions } from './hazelcast.options.js';

/** What calls need while connected, looked up once. */
export interface Session {
  readonly client: HazelcastClient;
  readonly map: IMap<string, unknown>;
  readonly clock: MemberClock;
}

/** @throws the client's error when it is not connected after all, or may not use the map or the generator */
export async function openSession(
  client: HazelcastClient,
  options: ResolvedOptions,
  feed: ChangeFeed,
): Promise<Session> {
  const [map, hints, generator] = await Promise.all([
    client.getMap<string, unknown>(options.mapName),
    client.getMap<string, string>(`${options.mapName}.hints`),
    client.getFlakeIdGenerator(options.clockName),
  ]);
  // The proof that members answer: proxies are cached, and a client without any connection registers listeners "with
  // success". Not an operation of the map, which split-brain protection may refuse while all else is well.
  await generator.newId();
  await feed.attach(client, map, hints);
  return { client, map, clock: new MemberClock(generator, options.client === undefined) };
}

/** Members that hold data: a lite member is no replica and makes no quorum. */
export function dataMembers({ client }: Session): number {
  return client
    .getCluster()
    .getMembers()
    .filter(({ liteMember }) => !liteMember).length;
}
