import { type View, isBehind } from './record.js';
import { graceFor, merged } from './recovery.js';
import type { NameEntry } from './shard-names.js';
import { LONGEST_ON_DEMAND, type ShardRecord, leasesIn, rewriteShard } from './shard.js';

/** Whether a shard lacks writes that `known` had, or belongs to another birth. */
export function isShardBehind(shard: ShardRecord, known: ShardRecord): boolean {
  return isBehind(shard, known) || shard.birth !== known.birth;
}

/**
 * Restores a shard that the store lost, from this node's copy, with a grace for all names. The grace lasts as long as
 * the longest permit that any holder may have, even one that this node never saw.
 */
export function restoreShard(
  known: ShardRecord,
  found: ShardRecord | undefined,
  view: View,
  nonce: string,
): ShardRecord {
  const both = [known, ...(found ? [found] : [])];
  const leases = both.flatMap(leasesIn);
  const entries = both.flatMap(({ names }) => [...names.values()]);
  const asked = entries.flatMap(({ permits }) => permits.map((permit) => permit.asked?.duration ?? 0));
  const defined = entries.map(({ definition }) => definition?.duration ?? 0);
  const stamped = Math.max(view.now, ...both.map(({ at }) => at));
  const grace = graceFor([LONGEST_ON_DEMAND, ...asked, ...defined], leases, stamped, nonce);
  return rewriteShard(found ? mergeShards(known, found) : known, { grace }, view, nonce);
}

/** Extends a grace to the duration of a definition that was restored: a permit of it may exist that no node knew. */
export function withGraceFor(shard: ShardRecord, duration: number, view: View): ShardRecord {
  const { grace, nonce } = shard;
  if (!grace || duration === 0) return shard;
  return { ...shard, grace: graceFor([duration], [grace], view.now, nonce) };
}

/** All data of both. This may restore an operator's definition that was removed meanwhile, but it never loses one. */
function mergeShards(known: ShardRecord, found: ShardRecord): ShardRecord {
  let { names } = found;
  for (const [name, entry] of known.names) {
    const other = found.names.get(name);
    names = names.with(name, other ? mergeEntries(entry, other) : entry);
  }
  return {
    ...known,
    birth: found.birth,
    seq: Math.max(known.seq, found.seq),
    lastToken: Math.max(known.lastToken, found.lastToken),
    revision: Math.max(known.revision, found.revision),
    names,
    claims: new Map([...found.claims, ...known.claims]),
  };
}

function mergeEntries(known: NameEntry, found: NameEntry): NameEntry {
  const [newer, older] = found.revision > known.revision ? [found, known] : [known, found];
  const permits = merged(newer.permits, older.permits);
  // If only the older entry has a definition, the newer one is a use on demand and did not remove it.
  return newer.definition || !older.definition
    ? { ...newer, permits }
    : { ...older, revision: newer.revision, permits };
}
