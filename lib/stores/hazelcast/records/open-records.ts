import type { Client as HazelcastClient, IMap } from 'hazelcast-client';
import type { ResolvedOptions } from '../hazelcast.options.js';
import { CpRecords } from './cp-records.js';
import { LockedRecords } from './locked-records.js';
import { partitionKeys } from './map-pages.js';
import { MapRecords } from './map-records.js';
import type { Records } from './records.js';
import { mutexOf } from '../client-patches/lock-owner.js';

export interface OpenedRecords {
  readonly records: Records;
  /** The map whose removed entries mean removed records. */
  readonly map: IMap<string, unknown>;
}

interface Circumstances {
  readonly callTimeout: number;
  readonly ended: AbortSignal;
}

/** @throws CpMissingError if the options ask for CP and the cluster has no CP subsystem */
export async function openRecords(
  client: HazelcastClient,
  { mapName, cp, acquisition }: ResolvedOptions,
  circumstances: Circumstances,
): Promise<OpenedRecords> {
  const map = await client.getMap<string, unknown>(cp ? `${mapName}.keys` : mapName);
  let known: readonly string[] | undefined;
  const keys = () => (known ??= partitionKeys(client));
  if (cp) {
    const records = new CpRecords(client, mapName, map);
    await records.prove();
    return { records, map };
  }
  const records =
    acquisition === 'pessimistic'
      ? new LockedRecords(map, { ...circumstances, mutex: mutexOf(client) }, keys)
      : new MapRecords(map, keys);
  return { records, map };
}
