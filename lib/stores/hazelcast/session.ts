import type { Client as HazelcastClient } from 'hazelcast-client';
import type { RecordCollection } from '../../core/store/driver.js';
import type { ChangeFeed } from './change-feed.js';
import { atMost } from '../../core/store/at-most.js';
import { FlakeIdClock } from './flake-id-clock.js';
import type { ResolvedOptions } from './hazelcast.options.js';
import { CpRecords } from './texts/cp-records.js';
import { type Limits, LockedRecords } from './texts/locked-records.js';
import { MapRecords } from './texts/map-texts.js';

/** Objects that calls need while connected, looked up once. */
export interface Session {
  readonly client: HazelcastClient;
  readonly records: RecordCollection;
  readonly clock: FlakeIdClock;
  /** Aborts when the session ends. */
  readonly ended: AbortSignal;
}

/**
 * Opens a session on a connected client, and attaches the feed to it.
 *
 * @throws the client's error if it is not connected, or has no right to use a map or the generator
 * @throws CpMissingError if the options ask for CP and the cluster has no CP subsystem
 */
export async function openSession(
  client: HazelcastClient,
  options: ResolvedOptions,
  feed: ChangeFeed,
  { callTimeout, ended }: Limits,
): Promise<Session> {
  const clock = new FlakeIdClock((name) => client.getFlakeIdGenerator(name), {
    name: options.clockName,
    isTrusted: options.client === undefined,
    patience: callTimeout,
  });
  // Checks that members answer: proxies are cached, and even without a connection the client reports success for new
  // listeners. Not an operation of the map, because split-brain protection may refuse that on a healthy cluster. Two
  // tries, because the clock of the first member may have been set back.
  await clock.newId().catch(() => clock.newId());
  const records = await openRecords(client, options, { callTimeout, ended });
  // Listeners on a client whose session has ended would never be removed.
  ended.throwIfAborted();
  // A member that hangs must not keep the session from its beginning: without the key, hints only wake.
  await atMost(callTimeout, feed.loadKey(records));
  ended.throwIfAborted();
  await feed.attach(client, records.map);
  return { client, records, clock, ended };
}

async function openRecords(
  client: HazelcastClient,
  { mapName, cp, acquisition }: ResolvedOptions,
  limits: Limits,
): Promise<CpRecords | MapRecords> {
  if (cp) return CpRecords.open(client, mapName);
  const map = await client.getMap<string, unknown>(mapName);
  return acquisition === 'pessimistic' ? new LockedRecords(map, client, limits) : new MapRecords(map, client);
}

/** Number of members with data. A lite member is no replica, so it does not count for a quorum. */
export function dataMembers({ client }: Session): number {
  return client
    .getCluster()
    .getMembers()
    .filter(({ liteMember }) => !liteMember).length;
}
