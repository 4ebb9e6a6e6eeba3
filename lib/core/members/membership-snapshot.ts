import { type Pieces, inSlices } from '../async/slices.js';
import type { Context } from '../context/context.js';
import { byName } from '../context/node-identity.js';
import { messageOf } from '../decision/index.js';
import { participantOf } from './living-members.js';
import { type MemberEntry, MEMBERS, PAGES, decodePage } from './member-page.js';
import type { MemberState } from './member-state.js';

/** The membership at one moment. */
export interface MembershipSnapshot {
  /** Sorted by group, acquirer and id. A node that is gone stays for about the time of a lease. */
  readonly members: readonly MemberState[];
  /** Why some nodes may be missing, in sentences: pages that can't be read. */
  readonly problems: readonly string[];
}

/**
 * Reads all nodes of the membership from the store. Any process can do that; it need not take part. It has observed no
 * lease, so it judges them by cluster time only, which is good enough to show them.
 *
 * @throws StoreUnavailableError
 */
export async function readMembership(context: Context): Promise<MembershipSnapshot> {
  const { store, timing, clusterClock, nodeClock } = context;
  if (!clusterClock.isFresh) await clusterClock.sample();
  const keys = Array.from({ length: PAGES }, (_, page) => `${MEMBERS.keyPrefix}${page}`);
  const texts = await store.records.readMany(keys);
  return inSlices(looked(texts, clusterClock.earliest() - timing.clockTolerance), nodeClock);
}

function* looked(texts: ReadonlyMap<string, string>, now: number): Pieces<MembershipSnapshot> {
  const problems: string[] = [];
  const latest = new Map<string, MemberEntry>();
  for (const [key, text] of texts) {
    try {
      // A node that gave a page up has an older entry in it.
      for (const entry of decodePage(key.slice(MEMBERS.keyPrefix.length), text).entries) {
        if ((latest.get(entry.instance)?.beat ?? 0) <= entry.beat) latest.set(entry.instance, entry);
      }
    } catch (error) {
      problems.push(messageOf(error));
    }
    yield 1;
  }
  return { members: [...latest.values()].map((entry) => stateOf(entry, now)).toSorted(byName), problems };
}

function stateOf(entry: MemberEntry, now: number): MemberState {
  const { expiresAt, scopes, ended } = entry;
  const state = ended ? 'left' : expiresAt < now ? 'lapsed' : 'living';
  return { ...participantOf(entry), state, expiresAt, ...(scopes && { scopes }) };
}
